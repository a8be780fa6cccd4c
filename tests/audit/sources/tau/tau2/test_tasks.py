import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask
from tests.audit.sources.tau.tau2.conftest import ASSERTED, CALL, FIRST, SECOND, write

AIRLINE = "data/tau2/domains/airline"


def read(root: Path, domains: tuple[str, ...] = ()) -> tuple[list[AgentTask], Quarantine]:
    quarantine = Quarantine()
    return list(Tau2Bench(root, domains).tasks(quarantine)), quarantine


def test_tasks_of_all_domains_are_read_in_order(checkout: Path) -> None:
    tasks, quarantine = read(checkout)
    assert quarantine.items == []
    assert [task.id for task in tasks] == [
        "airline/0", "airline/1", f"telecom/{CALL['id']}", f"telecom/{ASSERTED['id']}",
    ]  # fmt: skip
    assert tasks[0].environment is tasks[1].environment
    assert tasks[0].environment is not tasks[2].environment
    assert tasks[0].environment.state == {"seats": {"A1": "Ada"}}
    assert tasks[0].environment.state_name == f"{AIRLINE}/db.json"


def test_structured_instructions_become_context_in_the_simulators_order(checkout: Path) -> None:
    first = read(checkout)[0][0]
    assert (first.user.kind, first.user.instruction) == ("simulated", "")
    assert list(first.user.context.items()) == [
        ("reason_for_call", "You want a refund."),
        ("known_info", "You are Ada, seat A1."),
        ("task_instructions", "Insist twice."),
    ]
    assert first.metadata == {"purpose": "Refuse a refund.", "notes": "Old case."}


def test_instructions_may_be_one_text(checkout: Path) -> None:
    second = read(checkout)[0][1]
    assert second.user.instruction == "Just say hello."
    assert second.user.context == {"persona": "Short."}


def test_the_ticket_is_not_told_to_the_user(checkout: Path) -> None:
    call = read(checkout)[0][2]
    assert call.metadata["ticket"] == "Bo has no data abroad."
    assert "ticket" not in call.user.context


def test_a_missing_basis_means_database_and_communication(checkout: Path) -> None:
    first = read(checkout)[0][0]
    assert (first.ground_truth.semantics, first.ground_truth.call_matching) == ("reference_path", "state")
    assert [(c.kind, c.scored, c.expected, c.pointer) for c in first.evaluation.checks] == [
        ("final_state", True, None, "/ground_truth/turns/0"),
        ("output_substring", True, "1144", "/ground_truth/outputs/0"),
        ("judge", False, "Agent refuses.", ""),
    ]
    assert first.ground_truth.turns[0][0].id == "0_0"
    assert first.traits == {"redundant_calls_free", "deliberate_probes"}


def test_only_what_the_basis_names_is_scored(checkout: Path) -> None:
    _, second, call, asserted = read(checkout)[0]
    assert second.evaluation.checks == ()
    assert (second.ground_truth.turns, second.ground_truth.call_matching) == (((),), "none")
    assert [(c.kind, c.scored) for c in asserted.evaluation.checks] == [
        ("state_assertion", True),
        ("output_substring", False),
    ]
    assert (asserted.ground_truth.semantics, asserted.ground_truth.call_matching) == ("reference_path", "none")
    assert [(c.kind, c.scored, c.pointer) for c in call.evaluation.checks] == [
        ("tool_calls", True, "/ground_truth/turns/0/0"),
        ("tool_calls", True, "/ground_truth/turns/0/1"),
        ("state_assertion", True, ""),
        ("output_substring", False, "/ground_truth/outputs/0"),
    ]
    assert call.evaluation.checks[1].expected == {"name": "transfer", "compare_args": []}
    assert (call.ground_truth.semantics, call.ground_truth.call_matching) == ("required", "any_order")


def test_actions_of_the_user_and_the_initial_state_are_kept(checkout: Path) -> None:
    call = read(checkout)[0][2]
    assert [action.requestor for action in call.ground_truth.turns[0]] == ["user", "assistant"]
    assert call.initial_state == CALL["initial_state"]


@pytest.mark.parametrize("criteria", [None, {"nl_assertions": ["Greets."]}])
def test_without_actions_and_assertions_there_is_no_gold_and_no_state_check(
    checkout: Path, criteria: dict[str, Any] | None
) -> None:
    write(checkout / AIRLINE / "tasks.json", [{**SECOND, "evaluation_criteria": criteria}])
    (task,), _ = read(checkout, ("airline",))
    assert (task.ground_truth.semantics, task.ground_truth.turns) == ("none", ())
    assert not any(check.scored for check in task.evaluation.checks)


def test_persona_variants_share_a_cluster(checkout: Path) -> None:
    tasks, _ = read(checkout)
    assert tasks[0].cluster is None
    assert tasks[2].cluster == tasks[3].cluster == "telecom/[roaming]off|abroad"


def test_effects_follow_the_tool_type(checkout: Path) -> None:
    tools = read(checkout)[0][0].environment.tools
    assert [(tool.name, tool.effect) for tool in tools] == [
        ("find_seat", "read"),
        ("take_seat", "write"),
        ("calculate", "read"),
        ("odd", "unknown"),
    ]
    assert tools[0].returns == {"title": "Seat", "description": "The seat."}


def test_telecoms_policy_and_state_are_put_together_as_the_benchmark_does(checkout: Path) -> None:
    environment = read(checkout)[0][2].environment
    assert environment.policy == (
        "<main_policy>\nMain.\n</main_policy>\n<tech_support_policy>\nManual.\n</tech_support_policy>"
    )
    assert environment.state == {
        "assistant": {"lines": [{"number": "555", "since": "2025-01-20T14:30:00"}]},
        "user": {"device": {"on": True}},
    }
    assert json.dumps(environment.state)
    assert [tool.name for tool in environment.user_tools] == ["toggle_roaming"]


def test_the_workflow_variant_is_opened_by_name(checkout: Path) -> None:
    tasks, quarantine = read(checkout, ("telecom-workflow",))
    assert quarantine.items == []
    assert tasks[0].id == f"telecom-workflow/{CALL['id']}"
    assert "Workflow." in tasks[0].environment.policy and "Manual." not in tasks[0].environment.policy


@pytest.mark.parametrize("below", ["data", "data/tau2", AIRLINE.rpartition("/")[0]])
def test_folders_inside_the_checkout_can_be_opened(checkout: Path, below: str) -> None:
    whole, inside = Tau2Bench(checkout), Tau2Bench(checkout / below)
    assert inside.version() == whole.version()
    assert inside.root == checkout
    assert list(inside.tasks(Quarantine())) == list(whole.tasks(Quarantine()))


def test_origins_lead_to_the_values_in_the_files(checkout: Path) -> None:
    tasks, _ = read(checkout)
    call = tasks[2]
    document = json.loads((checkout / "data/tau2/domains/telecom/tasks.json").read_text())
    for pointer, value in (
        ("/ground_truth/turns/0/1", CALL["evaluation_criteria"]["actions"][1]),
        ("/ground_truth/outputs/0", "done"),
        ("/user/context/known_info", "You are Bo."),
        ("/user/context/persona", "You are impatient."),
        ("/evaluation/checks/2", CALL["evaluation_criteria"]["env_assertions"][0]),
        ("/evaluation/checks/3", "done"),
        ("/initial_state", CALL["initial_state"]),
        ("/metadata/ticket", CALL["ticket"]),
    ):
        origin = call.origins[pointer]
        assert origin.file == "data/tau2/domains/telecom/tasks.json"
        assert resolve(document, origin.pointer) == value
    assert call.origins["/ground_truth/turns/0/1"].pointer == "/0/evaluation_criteria/actions/1"
    assert tasks[0].origins["/environment/policy"].file == f"{AIRLINE}/policy.md"
    assert call.origins["/environment/state/user"].file == "data/tau2/domains/telecom/user_db.toml"


@pytest.mark.parametrize(
    ("task", "pointer", "reason"),
    [
        ({"id": "1"}, "/1/user_scenario", "Field required"),
        ({**SECOND, "id": 1}, "/1/id", "valid string"),
        (
            {**SECOND, "evaluation_criteria": {"actions": [{"name": "x", "arguments": "{}"}]}},
            "/1/evaluation_criteria/actions/0/arguments",
            "valid dictionary",
        ),
        (
            {**FIRST, "id": "1", "user_scenario": {"instructions": {"task_instructions": "x"}}},
            "/1/user_scenario/instructions/reason_for_call",
            "Field required",
        ),
        (FIRST, "/1/id", "used on line"),
    ],
)
def test_a_malformed_task_is_quarantined_and_the_others_go_on(
    checkout: Path, task: dict[str, Any], pointer: str, reason: str
) -> None:
    write(checkout / AIRLINE / "tasks.json", [FIRST, task, {**SECOND, "id": "2"}])
    tasks, quarantine = read(checkout, ("airline",))
    assert [t.id for t in tasks] == ["airline/0", "airline/2"]
    (item,) = quarantine.items
    assert (item.file, item.pointer) == (f"{AIRLINE}/tasks.json", pointer)
    assert reason in item.reason
    assert item.line is not None and item.line > 1


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("tools.json", "[{}]", "/function"),
        ("db.json", "{", "as JSON"),
        ("split_tasks.json", '{"train": []}', "'base'"),
    ],
)
def test_a_broken_shared_file_takes_only_its_domain_out(checkout: Path, file: str, text: str, reason: str) -> None:
    write(checkout / AIRLINE / file, text)
    tasks, quarantine = read(checkout)
    assert {task.subtask for task in tasks} == {"telecom"}
    (item,) = quarantine.items
    assert item.file == f"{AIRLINE}/{file}" and reason in item.reason


def test_a_domain_without_tools_is_not_audited_as_if_it_had_none(checkout: Path) -> None:
    (checkout / AIRLINE / "tools.json").unlink()
    tasks, quarantine = read(checkout, ("airline",))
    assert tasks == []
    assert "no tools; expected tools.json" in quarantine.items[0].reason


def test_where_there_are_splits_the_default_one_is_read(checkout: Path) -> None:
    write(checkout / AIRLINE / "split_tasks.json", {"base": ["1"], "train": ["0"]})
    tasks, quarantine = read(checkout, ("airline",))
    assert [task.id for task in tasks] == ["airline/1"]
    assert quarantine.items == []


def test_the_benchmarks_test_domain_is_opened_by_name_only(checkout: Path) -> None:
    for name in ("tasks.json", "tools.json", "policy.md"):
        content = (checkout / AIRLINE / name).read_text()
        write(checkout / "data/tau2/domains/mock" / name, content)
    assert {task.subtask for task in read(checkout)[0]} == {"airline", "telecom"}
    assert [task.id for task in read(checkout, ("mock",))[0]] == ["mock/0", "mock/1"]


def test_version_tells_the_release_and_follows_the_code(checkout: Path) -> None:
    before = Tau2Bench(checkout).version()
    assert (before.label, before.files) == ("v0.1.3", 12)
    write(checkout / "src/tau2/domains/telecom/tools.py", "class T:\n    pass\n")
    assert Tau2Bench(checkout).version().content_hash != before.content_hash


def test_a_folder_of_something_else_is_refused(checkout: Path, tmp_path: Path) -> None:
    assert Tau2Bench.recognises(checkout / "data")
    assert not Tau2Bench.recognises(tmp_path / "nothing")
    with pytest.raises(SourceError, match="not τ²-bench; expected a checkout"):
        Tau2Bench(tmp_path / "nothing")
    with pytest.raises(SourceError, match="no domain trains; there are airline, telecom, telecom-workflow"):
        Tau2Bench(checkout, ["trains"])
