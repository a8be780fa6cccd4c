from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.user import LeftoverWording
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Finding
from tests.audit.detectors.evaluation.open_tasks import open_task

COMMON = (
    "Write a report that compares the systems Trains vs Planes in less than nine hundred words.\n"
    "Number the sources that you cite.\nWrite valid JSON and confirm that you are done."
)


def findings(*tasks: AgentTask) -> tuple[Finding, ...]:
    detector = LeftoverWording()
    found, _ = conclude("lab", [t.id for t in tasks], [check_shard(list(tasks), {}, [detector])], [detector])
    return tuple(found)


def task(question: str, name: str) -> AgentTask:
    return open_task(f"{question}\n{COMMON}", task_id=f"lab/{name}", cluster=name)


def test_a_line_of_another_subject() -> None:
    [finding] = findings(task("Should we travel by Trains or Planes?", "a"), task("How do roses grow?", "b"))
    assert finding.task_ids == ("lab/b",)
    assert "Trains" in finding.claim


def test_twins_on_one_subject() -> None:
    assert findings(task("Trains or Planes for us?", "a"), task("Are Trains or Planes cheaper?", "b")) == ()


def test_one_task_alone() -> None:
    assert findings(task("How do roses grow?", "b")) == ()
