import textwrap

import pytest

from agenthard.audit.detectors.environment import PromptCodeExample
from agenthard.audit.detectors.environment.prompt_code_example import code_faults
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import EnvironmentSpec, Status, ToolSpec, UserSpec
from tests.builders import make_task

TOOLS = frozenset({"lend_book", "Desk.save"})


def claims(text: str) -> list[str]:
    return [fault.claim for fault in code_faults(textwrap.dedent(text), TOOLS)]


def test_a_method_that_is_named_and_not_called() -> None:
    text = """
        Example:
        ```python
        desk = Desk()
        desk.save
        done = desk.close
        ```
        Elsewhere: desk.close() ends the day.
    """
    assert claims(text) == ["names the method 'save' without calling it", "names the method 'close' without calling it"]


def test_a_property_that_is_only_ever_read_is_fine() -> None:
    assert claims("```python\nsize = desk.size\ndesk.save()\n```") == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\nlend_book(7, 'Ada'\n```",
        "```py\nif True\n    pass\n```",
        '```json\n{"book": 7,}\n```',
        "Call `lend_book(7, member='Ada`.",
        '<function_call>{"name": "lend_book", "args": {"book": 7}</function_call>',
        'Action: lend_book\nAction Input: {"book": 7, "member" "Ada"}\nObservation: done',
    ],
)
def test_examples_that_do_not_parse(block: str) -> None:
    [claim] = claims(block)
    assert "is not valid" in claim or "is not a complete call" in claim


@pytest.mark.parametrize(
    "block",
    [
        "```python\nlend_book(7, 'Ada')\n```",
        "    ```python\n    lend_book(7, 'Ada')\n    ```",
        "```python\n>>> lend_book(7, 'Ada')\nTrue\n```",
        "```python\nlend_book(<book>, <member>)\n```",
        '```json\n{"book": 7, ...}\n```',
        '```json\n{"book": 7}\n```',
        "```\nthis is no code (\n```",
        '<tool_call>{"name": "lend_book", "arguments": {"book": 7}}</tool_call>',
        "<tool_call>{'name': 'lend_book'}</tool_call>",
        '<tool_call>{"name": <name>}</tool_call>',
        'Action Input: {"book": 7,\n"member": "Ada"}',
        "```bash\nls (\n```",
        "Call `lend_book(7)` or `lend_book(...)`; `shelve(7` is unknown.",
        "```python\n\n```",
    ],
)
def test_examples_that_are_fine_or_sketches(block: str) -> None:
    assert claims(block) == []


def test_hostile_code_is_survived() -> None:
    assert len(claims("```python\n" + "(" * 5_000 + "\n```")) <= 1
    assert len(claims("```json\n" + "[" * 200_000 + "\n```")) <= 1
    assert claims("```python\nx = '\0'\n```") != []


def test_one_cause_per_example_and_only_what_the_agent_reads() -> None:
    environment = EnvironmentSpec(tools=(ToolSpec(name="save"),), policy="```python\ndesk.save\n```")
    user = UserSpec(kind="simulated", instruction="```python\ndesk.save\n```")
    tasks = [make_task(f"lib/{i}", environment=environment, user=user) for i in range(2)]
    result = check_shard(tasks, {}, [PromptCodeExample()])
    assert {hit.hit.cause for hit in result.hits} == {"desk.save in /environment/policy"}
    assert [row.status for row in result.coverage] == [Status.FLAGGED, Status.FLAGGED]


def test_without_a_prompt_for_the_agent_nothing_is_checked() -> None:
    task = make_task(environment=EnvironmentSpec(), user=UserSpec(kind="simulated", instruction="Lend it."))
    [row] = check_shard([task], {}, [PromptCodeExample()]).coverage
    assert row.status is Status.NOT_CHECKED
