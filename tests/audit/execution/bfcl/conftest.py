"""Hand-written BFCL tasks, and the package in the managed environment (or in one made for the tests)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution import managed_environments as venvs
from agenthard.audit.execution.bfcl import BfclEnvironment
from agenthard.audit.execution.bfcl.environment import SCRIPT
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.workers import WorkerLimits, WorkerPool
from agenthard.audit.sources.fetch import HOME_VARIABLE
from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.calls import parse_call
from agenthard.audit.sources.formats.tool_docs import tool
from agenthard.taxonomy import AgentTask, EnvironmentSpec, EvaluationSpec, GroundTruth, Origin, ToolSpec, UserSpec

LIMITS = WorkerLimits(wall_seconds=30, cpu_seconds=1, memory_bytes=512 << 20)
PLACE = Origin(file="by hand")
RELEASES = {"v3": "2025.7.17", "v4": "2026.3.23"}


@pytest.fixture(scope="session")
def bfcl_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A managed home with both known releases; made once for all workers, if the index can be reached."""
    home = tmp_path_factory.getbasetemp().parent / "agenthard-home"
    try:
        for version in RELEASES.values():
            venvs.create("bfcl", version, home)
    except UnavailableError as error:
        pytest.skip(f"bfcl-eval is not installed and cannot be fetched: {error}")
    return home


@pytest.fixture(scope="session")
def bfcl_python(request: pytest.FixtureRequest) -> Path:
    """Interpreter of an environment with bfcl-eval of version 3; the installed one where there is one."""
    try:
        return venvs.find("bfcl", RELEASES["v3"]).python
    except UnavailableError:
        home: Path = request.getfixturevalue("bfcl_home")
        return venvs.find("bfcl", RELEASES["v3"], home).python


@pytest.fixture
def both_releases(bfcl_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BfclEnvironment]:
    """The environment as an audit uses it, with both releases installed."""
    monkeypatch.setenv(HOME_VARIABLE, str(bfcl_home))
    environment = BfclEnvironment()
    yield environment
    environment.close()


@pytest.fixture(scope="session")
def bfcl_pool(bfcl_python: Path) -> Iterator[WorkerPool]:
    pool = WorkerPool(bfcl_python, SCRIPT, LIMITS)
    yield pool
    pool.close()


@pytest.fixture
def bfcl(bfcl_pool: WorkerPool) -> Iterator[BfclEnvironment]:
    environment = BfclEnvironment(bfcl_pool)
    yield environment
    environment.close()


def documented(name: str, properties: dict[str, Any], group: str | None = None, language: Any = "python") -> ToolSpec:
    parameters = {"type": "dict", "properties": properties, "required": list(properties)[:1]}
    return tool({"name": name, "parameters": parameters}, language, PLACE, group=group)


FILE_TOOLS = (
    documented("cd", {"folder": {"type": "string"}}, "GorillaFileSystem"),
    documented("mv", {"source": {"type": "string"}, "destination": {"type": "string"}}, "GorillaFileSystem"),
    documented("touch", {"file_name": {"type": "string"}}, "GorillaFileSystem"),
    documented("cat", {"file_name": {"type": "string"}}, "GorillaFileSystem"),
    documented("logarithm", {"value": {"type": "float"}, "base": {"type": "float"}}, "MathAPI"),
)
ATTIC: dict[str, Any] = {
    "GorillaFileSystem": {
        "root": {
            "attic": {
                "type": "directory",
                "contents": {
                    "note.txt": {"type": "file", "content": "call the plumber"},
                    "box": {"type": "directory", "contents": {}},
                },
            }
        }
    }
}


@pytest.fixture
def attic() -> Callable[..., AgentTask]:
    """A multi-turn task on a small file system; each argument is a turn of ground-truth calls."""

    def make(*turns: list[str], task_id: str = "multi_turn_base_0") -> AgentTask:
        names = {one.name: list(one.parameters["properties"]) for one in FILE_TOOLS}
        gold = tuple(tuple(parse_call(text, names) for text in turn) for turn in turns)
        return AgentTask(
            id=task_id,
            native_id=task_id,
            benchmark="bfcl",
            subtask=task_id.rsplit("_", 1)[0],
            user=UserSpec(kind="scripted"),
            environment=EnvironmentSpec(tools=FILE_TOOLS),
            initial_state=ATTIC,
            evaluation=EvaluationSpec(),
            ground_truth=GroundTruth(semantics="reference_path", turns=gold, call_matching="state"),
        )

    return make


@pytest.fixture
def single() -> Callable[..., AgentTask]:
    """A single-turn task of a category, with BFCL's own form of an answer."""

    def make(category: str, tools: list[ToolSpec], answer: list[Any]) -> AgentTask:
        calls, _ = answer_calls(answer, tools, one_function="parallel" not in category and "multiple" not in category)
        return AgentTask(
            id=f"{category}_0",
            native_id=f"{category}_0",
            benchmark="bfcl",
            subtask=category,
            user=UserSpec(kind="scripted"),
            environment=EnvironmentSpec(tools=tuple(tools)),
            evaluation=EvaluationSpec(),
            ground_truth=GroundTruth(semantics="required", turns=(calls,)),
        )

    return make
