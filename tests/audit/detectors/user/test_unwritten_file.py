"""Steps of a series that read a file which no earlier step mentions."""

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.user import UnwrittenFile
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Finding, Message, Status, UserSpec
from tests.builders import make_task


def series(*texts: str) -> list[AgentTask]:
    return [
        make_task(
            f"lib/subtask{i}",
            cluster="lib",
            user=UserSpec(kind="scripted", turns=((Message(role="user", content=text),),)),
        )
        for i, text in enumerate(texts, 1)
    ]


def find(*texts: str) -> list[Finding]:
    detectors, tasks = [UnwrittenFile()], series(*texts)
    return conclude("library", [task.id for task in tasks], [check_shard(tasks, {}, detectors)], detectors)[0]


def test_a_file_that_no_earlier_step_names() -> None:
    (finding,) = find("Save the loans as `out/loans.json`.", "Read out/lendings.json and count them.")
    assert finding.task_ids == ("lib/subtask2",) and "'lendings.json'" in finding.claim


def test_files_that_are_named_before() -> None:
    assert find("Save the loans as `out/loans.json`.", "Read loans.json and count them.") == []
    assert find("Save `loans.json`.", "Write notes.txt with a summary, then read notes.txt aloud.") == []
    assert find("Lend a book.", "Read loans.json and count them.") == []  # the workspace may come with it


def test_single_tasks_are_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [UnwrittenFile()]).coverage
    assert row.status is Status.NOT_CHECKED
