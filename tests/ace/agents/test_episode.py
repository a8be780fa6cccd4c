import pytest

from agenthard.ace.agents import Episode
from agenthard.ace.environment import Ending, Environment
from agenthard.play.episode import OutOfTurnsError
from agenthard.taxonomy.task import ToolCall
from tests.ace.environment import small


def solved() -> Episode:
    environment = Environment(small.puzzle())
    small.fill(environment, "C11", "C21")
    return Episode(environment, "someone", 2, condition="paper", max_turns=1)


def test_the_record_of_an_episode() -> None:
    episode = solved()
    call = ToolCall(name="done", id="a")
    episode.say("Ready.", [call])
    episode.hear("###STOP###", call)
    episode.hear("Bye.")
    run = episode.trajectory(Ending.OPEN)
    assert (run.id, run.task_id) == ("someone/course_r2_c2_h2_b2/paper/2", "course_r2_c2_h2_b2")
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "tool", "user"]
    assert (run.messages[3].tool_call_id, run.messages[3].tool_name) == ("a", "done")
    assert (run.usage["turns"], run.usage["messages"], run.usage["calls"]) == (1, 5, 2)


def test_the_task_may_have_another_id_than_the_instance() -> None:
    run = Episode(Environment(small.puzzle()), "someone", 0, task_id="b.json/x").trajectory()
    assert (run.id, run.task_id) == ("someone/b.json/x//0", "b.json/x")


def test_no_turn_beyond_the_limit() -> None:
    episode = solved()
    episode.say("one")
    with pytest.raises(OutOfTurnsError):
        episode.say("two")
    assert episode.trajectory().usage["turns"] == 1


@pytest.mark.parametrize(
    ("ending", "passed"),
    [(ending, ending is not Ending.TRUNCATIONS) for ending in Ending],
)
def test_only_overruns_unmake_a_right_grid(ending: Ending, passed: bool) -> None:
    run = solved().trajectory(ending)
    assert (run.score, run.passed, run.ending) == (1.0, passed, ending.value)


def test_no_verdict_on_what_was_nobodys_fault() -> None:
    run = solved().trajectory(Ending.ERROR, status="infrastructure_error", reason="gone")
    assert (run.score, run.passed, run.status_reason) == (1.0, None, "gone")
