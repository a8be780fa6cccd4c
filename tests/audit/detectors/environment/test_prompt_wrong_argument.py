from pathlib import Path

import pytest

from audit.detectors.environment import PromptWrongArgument
from audit.evidence import failure
from audit.sources.base import Quarantine
from audit.sources.tau2 import Tau2Bench
from audit.sources.tau_bench import TauBench
from taxonomy import AgentTask, EnvironmentSpec, ToolSpec
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
        '```python\nbook(reason="a sketch")\n```',
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
