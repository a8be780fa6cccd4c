from agenthard.audit.execution.mutation.mutants import copied_and_removed
from agenthard.taxonomy import EnvironmentSpec
from tests.builders import make_task
from tests.library import TEXT, call, tool

FILES = EnvironmentSpec(
    tools=(
        tool("mv", "write", source=TEXT, destination=TEXT),
        tool("cp", "write", source=TEXT, destination=TEXT),
        tool("rm", "write", file_name=TEXT),
    )
)
MOVE = call("mv", source="a", destination="b")


def test_a_move_is_a_copy_and_a_removal() -> None:
    task = make_task(environment=FILES)
    assert copied_and_removed(task, MOVE) == (
        call("cp", source="a", destination="b"),
        call("rm", file_name="a"),
    )


def test_without_such_tools_there_is_none() -> None:
    assert copied_and_removed(make_task(), MOVE) == ()
    assert copied_and_removed(make_task(environment=FILES), call("rm", file_name="a")) == ()
