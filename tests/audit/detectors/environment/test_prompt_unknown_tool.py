from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.environment import PromptUnknownTool
from agenthard.audit.detectors.support.prompt_tools import named_tools
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, EnvironmentSpec, Message, Status, ToolSpec, UserSpec
from tests.builders import make_task
from tests.corpora import tasks_of

TOOLS = EnvironmentSpec(
    tools=(ToolSpec(name="lend_book"), ToolSpec(name="Desk.return_book")), user_tools=(ToolSpec(name="check_card"),)
)


def task(instruction: str = "", policy: str = "", task_id: str = "lib/1") -> AgentTask:
    environment = TOOLS.model_copy(update={"policy": policy})
    user = UserSpec(kind="simulated", instruction=instruction)
    return make_task(task_id, environment=environment, user=user)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ground it on the results of the `get_card` tool call.", "get_card"),
        ("Then use the get_card tool.", "get_card"),
        ("Call the function `getCard` first.", "getCard"),
        ("There is a tool called get_card.", "get_card"),
        ("First run get_card(member='Ada').", "get_card"),
        ("Use the `get_card()` function.", "get_card"),
        ("Results of `get_card` are binding.", "get_card"),
        ("After the loan, call get_card and wait.", "get_card"),
        ("Whatever `getCard` returns is final.", "getCard"),
        ("TRIGGER 'get_card' BEFORE ALL ELSE.", "get_card"),
        ("Then execute **getCard**.", "getCard"),
        ("`get_card` must be called before the loan.", "get_card"),
        ("The getCard function comes first.", "getCard"),
        ("**Available functions:**\n\n1. `get_card` - shows a card\n", "get_card"),
        ('{"function": "get_card", "parameters": {"member": "Ada"}}', "get_card"),
        ('{"functionCall": {"name": "get_card", "args": {}}}', "get_card"),
        ('<tool_call name="get_card"></tool_call>', "get_card"),
        ("Tool: get_card\nInput: {}", "get_card"),
        ("```python\nget_card('Ada')\n```", "get_card"),
    ],
)
def test_texts_that_name_a_tool(text: str, name: str) -> None:
    assert [found.name for found in named_tools(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "The status is `pending` or `lent_out`.",
        "Pass `member_id` as given.",
        "Send the payment request tool a sum.",
        "Ask for the name, card_number (on the back) and shelf.",
        "This tool is slow, and that function works.",
        "The tool name_of_member is asked for in the tool results.",
        "```python\ndef get_card():\n    print('Ada')\nget_card()\n```",
        "There is no `get_card` tool.",
        'Answer as {"name": "tool_name", "arguments": {}}.',
        "Have the user call tool_name(args), as the page says.",
        "Call it as name_of_tool(x), and use the `function_name` function.",
        "Call `agent_tool_name` first, then the `toolName` tool.",
        'Only where a page says so (e.g., "have the member call do_this(args)").',
        "For example, calls of the form `do_this(...)`.",
        "Open the GitHub function on an iPhone.",
        "Rooms:\n- `reading_room`: quiet",
        "The tool response is shown.",
        "Call the member and answer from memory; the results of `pending` loans count.",
    ],
)
def test_texts_that_do_not(text: str) -> None:
    assert [found.name for found in named_tools(text) if found.name != "name_of_member"] == []


@pytest.mark.parametrize(
    "text",
    [
        '**LIE:** "I paid at the desk. I called the pay_fine() function right now. Check again."',
        "Pretend that you called pay_fine() already.",
        "Claim to have run the `pay_fine` tool.",
        "Say: “The page told me to call pay_fine() at home.”",
    ],
)
def test_what_the_user_only_claims_is_no_instruction(text: str) -> None:
    assert list(PromptUnknownTool().inspect(task(text))) == []
    assert len(list(PromptUnknownTool().inspect(task(policy=text)))) == 1, "a policy that says so names a tool"


def test_a_claim_elsewhere_does_not_hide_an_instruction() -> None:
    text = "Pretend that you called pay_fine(). Later, call pay_fine() for real, and use the 'get_card' tool."
    assert len(list(PromptUnknownTool().inspect(task(text)))) == 2


def test_one_finding_for_all_tasks_with_the_same_sentence() -> None:
    tasks = [task("Use the `get_card` tool.", task_id=f"lib/{i}") for i in range(3)]
    detector = PromptUnknownTool()
    [finding], _ = conclude("library", [t.id for t in tasks], [check_shard(tasks, {}, [detector])], [detector])
    assert finding.task_ids == ("lib/0", "lib/1", "lib/2")
    assert [item.pointer for item in finding.evidence] == ["/user/instruction", "/environment/user_tools/0/name"]
    assert finding.evidence[1].quote == "check_card"


def test_tools_of_the_agent_of_the_user_and_of_a_group_are_known() -> None:
    text = "Use the `lend_book` tool, the `Desk.return_book` tool, the return_book tool and the `check_card` tool."
    assert list(PromptUnknownTool().inspect(task(text, text))) == []


def test_what_the_text_says_to_use_is_suspected_beside_a_tool_of_like_name() -> None:
    [hit] = PromptUnknownTool().inspect(task(policy="Use `check_fine` first, and pay with `gift_card`."))
    assert "'check_fine'" in hit.claim
    assert hit.tier == "suspected"


def test_withheld_tools_are_known() -> None:
    withheld = task("Use the `get_card` tool.").model_copy(update={"hidden_tools": {"1": ("get_card",)}})
    assert list(PromptUnknownTool().inspect(withheld)) == []


def test_a_withheld_tool_can_be_the_nearest() -> None:
    withheld = task("Use the `get_cards` tool.").model_copy(update={"hidden_tools": {"1": ("get_card",)}})
    [hit] = PromptUnknownTool().inspect(withheld)
    assert hit.evidence[1].pointer == "/hidden_tools/1/0"


def test_policy_and_system_messages_are_read_and_users_are_not() -> None:
    system = Message(role="system", content="Use the `a_b` tool.")
    said = Message(role="user", content="Use the `c_d` tool.")
    user = UserSpec(kind="scripted", turns=((system, said),))
    scripted = make_task(user=user, environment=EnvironmentSpec(policy="The `e_f` tool."))
    assert [hit.evidence[0].pointer for hit in PromptUnknownTool().inspect(scripted)] == [
        "/environment/policy",
        "/user/turns/0/0/content",
    ]


def test_what_is_not_checked() -> None:
    silent = make_task(environment=EnvironmentSpec())
    refusing = task("Use the `get_card` tool.").model_copy(update={"traits": frozenset({"expects_no_call"})})
    rows = check_shard([silent, refusing], {}, [PromptUnknownTool()]).coverage
    assert [row.status for row in rows] == [Status.NOT_CHECKED, Status.NOT_CHECKED]


def test_long_words_take_no_time() -> None:
    assert named_tools("a" + "_" * 200_000 + "b c_" * 50_000) == ()


@pytest.mark.corpora
def test_tau(corpora: Path) -> None:
    tasks = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3")
    hits = check_shard(tasks, {}, [PromptUnknownTool()]).hits
    assert {hit.hit.cause for hit in hits} == {"get_status_bar in /user/context/task_instructions"}
    assert {task_id for hit in hits for task_id in hit.task_ids} == {t.id for t in tasks if t.subtask == "telecom"}
    newer = tasks_of(Tau2Bench, corpora / "tau2-bench_v1.0.1")
    assert len({t.id for t in newer if t.subtask == "banking_knowledge"}) == 97
    assert {hit.hit.cause for hit in check_shard(newer, {}, [PromptUnknownTool()]).hits} == {
        "get_status_bar in /user/context/task_instructions"
    }
    first = tasks_of(TauBench, corpora / "tau-bench_59a200c")
    assert check_shard(first, {}, [PromptUnknownTool()]).hits == ()
