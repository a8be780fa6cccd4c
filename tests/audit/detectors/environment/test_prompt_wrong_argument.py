from pathlib import Path

import pytest

from agenthard.audit.detectors.environment import PromptWrongArgument
from agenthard.audit.evidence import failure
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, EnvironmentSpec, ToolSpec
from tests.builders import make_task

BOOK = ToolSpec(
    name="desk.book",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "size": {"type": "string", "enum": ["Small", "large"]}},
    },
)
OPEN = ToolSpec(name="log", parameters={"type": "object", "properties": {"x": {}}, "additionalProperties": True})


def task(policy: str) -> AgentTask:
    return make_task(environment=EnvironmentSpec(tools=(BOOK, OPEN), policy=policy))


@pytest.mark.parametrize(
    ("policy", "clause"),
    [
        ('Always call book(city="Velling", reason="asked").', "no parameter 'reason'"),
        ('Call `desk.book(size="huge")` when in doubt.', "does not take 'huge'"),
        ("Always pass `reason` to `book`.", "no parameter 'reason'"),
        ("Please include `reason=...` when the user gives one in the `desk.book` tool.", "no parameter 'reason'"),
        ("The parameter `reason` of the `book` tool is never empty.", "no parameter 'reason'"),
        ('{"tool": "desk.book", "args": {"city": "Velling", "paidBy": "card"}}', "no parameter 'paidBy'"),
        (
            '[{"type": "function", "function": {"name": "book", "arguments": "{\\"size\\": \\"huge\\"}"}}]',
            "take 'huge'",
        ),
        ("<function=book><parameter=size>huge</parameter></function>", "does not take 'huge'"),
        ('<invoke name="book">\n<parameter name="size">huge</parameter>\n</invoke>', "does not take 'huge'"),
        ("<book><city>Velling</city><paid_by>card</paid_by></book>", "no parameter 'paid_by'"),
        ("Thought: a big one.\nAction: book\nAction Input: {'size': 'huge'}", "does not take 'huge'"),
        ('```python\nseat = book(\n    city="Velling",\n    paid_by="card",\n)\n```', "no parameter 'paid_by'"),
    ],
)
def test_what_a_tool_does_not_take(policy: str, clause: str) -> None:
    [hit] = PromptWrongArgument().inspect(task(policy))
    assert clause in hit.claim
    assert [failure(item, task(policy), {}) for item in hit.evidence] == [None, None]


@pytest.mark.parametrize(
    "policy",
    [
        'Call book(city="Velling", size="small").',
        'Call book(size="<size>") with the size wanted.',
        "Call book(size=wanted).",
        'Call borrow(reason="asked").',  # not offered: prompt-unknown-tool
        'Call log(reason="asked").',  # takes further arguments
        "Pass `city` to `book`.",
        "Give the `reason` for `book` in your reply.",
        'book(reason="never closed',
        '```python\ndef book(reason):\n    pass\nbook(reason="its own")\n```',
        '{"name": "book", "description": "Book.", "parameters": {"type": "object", "properties": {"x": {}}}}',
        '{"name": "book", "arguments": {"<argument>": "..."}}',
        '{"name": "book", "arguments": {"size": "<small or large>"}}',
        "`desk.book` does not take the `paid_by` argument.",
        "The user must provide their `email` before you call `desk.book`.",
        "Show the `paid_by` field that `desk.book` returns.",
        'Set `city` as asked, then send "hello" with `desk.book`.',
        '{"name": "book", "arguments": ' + '{"a": ' * 3_000,
    ],
)
def test_what_it_takes_or_nobody_can_tell(policy: str) -> None:
    assert list(PromptWrongArgument().inspect(task(policy))) == []


def test_without_a_prompt_nothing_is_checked() -> None:
    assert PromptWrongArgument().not_applicable(task("")) is not None


@pytest.mark.corpora
def test_no_policy_of_either_tau_benchmark_is_flagged(corpora: Path) -> None:
    sources = TauBench(corpora / "tau-bench_59a200c"), Tau2Bench(corpora / "tau2-bench_v0.1.3")
    tasks = [task for source in sources for task in source.tasks(Quarantine())]
    assert len(tasks) > 400
    assert [hit.claim for task in tasks for hit in PromptWrongArgument().inspect(task)] == []


@pytest.mark.parametrize(
    ("policy", "clause"),
    [
        ("Fill in `paid_by` before you call `desk.book`.", "no parameter 'paid_by'"),
        ("- **desk.book**: give the `paid_by` flag", "no parameter 'paid_by'"),
        ("`desk.book` needs a payer argument.", "no parameter 'payer'"),
        ("Call `desk.book` with `paid_by=card`.", "no parameter 'paid_by'"),
        ("Default `size` for `desk.book`: `huge`.", "does not take 'huge'"),
        ('When calling `desk.book`, use "huge" for `size`.', "does not take 'huge'"),
        ("Unless told otherwise, `size` of `desk.book` must be `huge`.", "does not take 'huge'"),
    ],
)
def test_what_a_sentence_tells_beside_a_tool_is_suspected(policy: str, clause: str) -> None:
    [hit] = PromptWrongArgument().inspect(task(policy))
    assert clause in hit.claim
    assert hit.tier == "suspected"
    assert [failure(item, task(policy), {}) for item in hit.evidence] == [None, None]


def test_a_field_of_the_state_is_no_argument() -> None:
    known = task("Set the `paid_by` field with `desk.book`.").model_copy(update={"initial_state": {"paid_by": "Ada"}})
    assert list(PromptWrongArgument().inspect(known)) == []
