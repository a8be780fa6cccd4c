import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import UnaskedName
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Finding, Severity
from tests.audit.detectors.evaluation.open_tasks import open_task


def findings(*tasks: AgentTask) -> tuple[Finding, ...]:
    detector = UnaskedName()
    found, _ = conclude("lab", [t.id for t in tasks], [check_shard(list(tasks), {}, [detector])], [detector])
    return tuple(found)


@pytest.mark.parametrize("name", ["#score-value", "window.app.isReplaying", "notes.md", "exportLog()"])
def test_a_name_that_nothing_asks_for(name: str) -> None:
    [finding] = findings(open_task("Show the score.", f"`{name}` must be right."))
    assert finding.severity is Severity.AFFECTS_SCORE


def test_where_the_agent_reads_the_criteria_it_is_cosmetic() -> None:
    [finding] = findings(open_task("Show the score.\nRubric:\n- `#score-value` must be right."))
    assert finding.severity is Severity.COSMETIC


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        ("Show `#score-value`.", "`#score-value` must be right."),
        ("Fill `notes_<user>.md`.", "`notes_ada.md` holds a line."),
        ("Show the score.", "A recording `play.webm` shows it."),
        ("Show the score.", "An element (e.g. `#score`) shows it."),
        ("Show the score.", "Running `python check_score.py` exits with 0."),
    ],
)
def test_names_that_are_asked_for_or_not_the_agents(said: str, criterion: str) -> None:
    assert findings(open_task(said, criterion)) == ()


def test_an_earlier_task_of_the_scenario_asked_for_it() -> None:
    first = open_task("Show `#score-value`.", "It is right.", cluster="s1")
    later = open_task("Go on.", "`#score-value` must stay.", task_id="lab/s1/subtask2", cluster="s1")
    other = open_task("Go on.", "`#score-value` must stay.", task_id="lab/s2/subtask1", cluster="s2")
    assert [finding.task_ids for finding in findings(first, later, other)] == [("lab/s2/subtask1",)]
