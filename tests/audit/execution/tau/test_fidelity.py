from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.tau import TauBenchEnvironment, packages
from agenthard.audit.execution.tau.evaluator import answered_calls
from agenthard.audit.execution.tau.fidelity import DomainFidelity, Tally, measure_replays, verify_checkout
from agenthard.audit.sources.fetch import HOME_VARIABLE
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.taxonomy import Message, ToolCall, Trajectory
from tests.audit.execution.conftest import write
from tests.audit.execution.tau.conftest import make_task
from tests.builders import make_run

STOP = Message(role="user", content="Bye. ###STOP###")


def ask(name: str, number: str, **arguments: object) -> Message:
    return Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments, id=number),))


def answer(text: str, number: str) -> Message:
    return Message(role="tool", content=text, tool_call_id=number)


def recorded(*messages: Message, passed: bool = True) -> Trajectory:
    return make_run("airline/0", passed=passed, messages=messages)


def test_responses_and_verdicts_are_compared() -> None:
    task = make_task("tau-bench", "airline", [])
    thought, wrong = (
        (ask("think", "1", thought="x"), answer("", "1")),
        (ask("think", "2", thought="y"), answer("no", "2")),
    )
    runs = [
        recorded(*thought, *wrong, STOP),
        recorded(*thought, STOP, passed=False),
        recorded(*thought, Message(role="user", content="And?"), passed=False),
    ]
    found = measure_replays(TauBenchEnvironment(), {task.id: task}, runs)
    assert (found.calls["think"], found.equal["think"]) == (4, 3)
    difference = found.differences[0]
    assert (difference.position, difference.recorded, difference.replayed) == (1, "no", "")
    assert (found.scored, found.agreeing) == (2, 1)
    assert found.disagreements[0].parts == {"database": True, "outputs": True}


def test_each_run_starts_afresh() -> None:
    task = make_task("tau-bench", "airline", [])
    text = "Certificate certificate_3221322 added to user ada_1 with amount 50."
    run = recorded(ask("send_certificate", "1", user_id="ada_1", amount=50), answer(text, "1"), STOP, passed=False)
    found = measure_replays(TauBenchEnvironment(), {task.id: task}, [run, run])
    assert found.differences == []
    assert found.scored == found.agreeing == 2


def test_responses_find_their_calls_by_id_and_unanswered_calls_are_left_out() -> None:
    both = Message(role="assistant", tool_calls=(ToolCall(name="a", id="1"), ToolCall(name="b", id="2")))
    messages = [both, answer("two", "2"), answer("one", "1"), both, answer("two", "2"), STOP, answer("late", "1")]
    assert [(call.name, text) for call, text in answered_calls(messages)] == [("b", "two"), ("a", "one"), ("b", "two")]


ENVIRONMENT = """
import json
from pathlib import Path
from types import SimpleNamespace

from pydantic import BaseModel
from tau2.data_model.message import ToolMessage

DATA = Path(__file__).parents[4] / "data/tau2/domains/airline"


class Database(BaseModel):
    users: dict[str, dict]
    reservations: dict[str, dict]
    flights: dict[str, dict]


class Environment:
    def __init__(self):
        self.tools = SimpleNamespace(db=Database(**json.loads((DATA / "db.json").read_text())))

    def get_tools(self):
        schema = {"description": "Show.", "parameters": {"type": "object", "properties": {"user_id": {}}}}
        return [SimpleNamespace(name="get_user_details", openai_schema={"function": schema})]

    def get_policy(self):
        return "Help."

    def get_response(self, call):
        user = self.tools.db.users.get(call.arguments["user_id"])
        if user is None:
            return ToolMessage(content="Error: ANSWER", error=True)
        return ToolMessage(content=json.dumps(user))

    def get_db_hash(self):
        return json.dumps(self.tools.db.model_dump(), sort_keys=True)


def get_environment():
    return Environment()
"""
MESSAGE = """
from typing import Any

from pydantic import BaseModel


class ToolCall(BaseModel):
    id: str
    name: str
    arguments: dict[str, Any]
    requestor: str = "assistant"


class ToolMessage(BaseModel):
    content: str
    error: bool = False
"""
TASKS = """[{"id": "0", "user_scenario": {"instructions": "Look."}, "evaluation_criteria": {"actions": [
  {"action_id": "a", "name": "get_user_details", "arguments": {"user_id": "ann"}},
  {"action_id": "b", "name": "get_user_details", "arguments": {"user_id": "bob"}}], "reward_basis": ["DB"]}}]"""
TOOLS = """[{"function": {"name": "get_user_details", "description": "Show.",
  "parameters": {"type": "object", "properties": {"user_id": {}}}}, "x_tool_type": "read"}]"""
DATA = "data/tau2/domains/airline"


def checkout(folder: Path, answer: str) -> Path:
    return write(
        folder,
        {
            "src/tau2/data_model/message.py": MESSAGE,
            "src/tau2/domains/airline/environment.py": ENVIRONMENT.replace("ANSWER", answer),
            f"{DATA}/db.json": '{"users": {"ann": {"name": "Ann"}}, "reservations": {}, "flights": {}}',
            f"{DATA}/tasks.json": TASKS,
            f"{DATA}/tools.json": TOOLS,
            f"{DATA}/policy.md": "Help.",
        },
    )


def test_equal_answers_are_counted_and_end_well(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["env", "verify", "tau2", "--checkout", str(checkout(tmp_path, "User bob not found"))]
    )
    assert done.exit_code == 0, done.output
    assert "2 of 2" in done.output and "1 of 1" in done.output


def test_a_difference_shows_both_sides_and_exit_code_1(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["env", "verify", "tau2", "--checkout", str(checkout(tmp_path, "nobody"))])
    assert done.exit_code == 1
    assert "1 of 2" in done.output and "airline/0: call 1 (get_user_details) differs" in done.output
    assert "ours:   Error: User bob not found" in done.output and "theirs: Error: nobody" in done.output


def test_a_folder_without_code_is_one_message(tmp_path: Path) -> None:
    data = checkout(tmp_path / "data", "nobody")
    empty = tmp_path / "empty"
    empty.mkdir()
    for benchmark, words in (("tau2", "holds no code of tau2"), ("bfcl", "has no tools of ours")):
        command = ["env", "verify", benchmark, "--checkout", str(empty), "--data", str(data)]
        assert words in str(CliRunner().invoke(app, command).exception)


def all_equal(found: list[DomainFidelity]) -> dict[str, tuple[int, int]]:
    """Return calls and states compared, by domain, when nothing differs and nothing failed."""
    for domain in found:
        assert not domain.differences and not domain.failed, domain
        assert all(tally.equal == tally.total for tally in (domain.read, domain.calls, domain.states))
    return {domain.domain: (domain.calls.total, domain.states.total) for domain in found}


@pytest.fixture
def tau2_packages(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The packages of τ²-bench: those of the managed home, else installed once for all tests, if the index is there."""
    if packages.installed() is None:
        monkeypatch.setenv(HOME_VARIABLE, str(tmp_path_factory.getbasetemp().parent / "agenthard-home"))
    packages.lacking.cache_clear()
    try:
        yield packages.install()
    except UnavailableError as error:
        pytest.skip(f"the packages of τ²-bench are not installed and cannot be fetched: {error}")
    finally:
        packages.lacking.cache_clear()


@pytest.mark.network
def test_packages_are_installed_into_an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    done = CliRunner().invoke(app, ["env", "create", "tau2"])
    if isinstance(done.exception, CommandError):
        pytest.skip(f"the package index cannot be reached: {done.exception}")
    assert done.output.startswith("tau2 1 is installed (addict 2.4.0, deepdiff 8.6.1")
    assert sorted(path.name for path in tmp_path.rglob("loguru")) == ["loguru"]
    listed = CliRunner().invoke(app, ["env", "list"]).output
    assert str(tmp_path / "environments/tau2/1") in listed and "unpinned" not in listed
    assert not list(tmp_path.rglob(".building-*"))
    refused = CliRunner().invoke(app, ["env", "create", "tau2", "--version", "7"]).exception
    assert str(refused) == "tau2 7 is not known; there is tau2 1"


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize("data", ["tau-bench_59a200c_code", "tau-bench_59a200c"])
def test_tau_bench_equals_its_own_code(corpora: Path, data: str) -> None:
    found = verify_checkout("tau-bench", corpora / "tau-bench_59a200c_code", corpora / data)
    assert all_equal(found) == {"airline": (158, 50), "retail": (582, 115)}


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.network
@pytest.mark.usefixtures("tau2_packages")
def test_tau2_equals_its_own_code(corpora: Path) -> None:
    code = corpora / "tau2-bench_v1.0.1"
    found = verify_checkout("tau2", code, code)
    nothing = (0, 0)
    compared = {"airline": (142, 50), "banking_knowledge": nothing, "mock": nothing, "telecom": nothing}
    assert all_equal(found) == compared
    assert {domain.domain: domain.run for domain in found} == {
        "airline": 142,
        "banking_knowledge": 955,
        "mock": 8,
        "telecom": 516,
    }
    assert {domain.domain: domain.read for domain in found} == {
        "airline": Tally(total=15, equal=15),
        "banking_knowledge": Tally(total=21, equal=21),
        "mock": Tally(total=7, equal=7),
        "telecom": Tally(total=44, equal=44),
    }


@pytest.mark.corpora
@pytest.mark.network
@pytest.mark.usefixtures("tau2_packages")
def test_tau2_equals_the_code_of_a_later_release(corpora: Path) -> None:
    found = verify_checkout("tau2", corpora / "tau2-bench_v1.0.1", corpora / "tau2-bench_v0.1.3")
    assert all_equal(found) == {"airline": (148, 50), "retail": (553, 114), "telecom": (0, 0)}
    assert {domain.domain: domain.run for domain in found} == {"airline": 148, "retail": 553, "telecom": 516}
    assert {domain.domain: domain.only_in_code for domain in found if domain.only_in_code} == {
        "retail": ("get_item_details",)
    }
