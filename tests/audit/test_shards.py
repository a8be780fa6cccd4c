"""The pipeline between detectors and findings: errors, evidence, causes, order."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import (
    Conclusion,
    Detector,
    Hit,
    Observation,
    SuiteDetector,
    TaskDetector,
    ToolDetector,
    Undecided,
)
from agenthard.audit.evidence import quote
from agenthard.audit.shard_file import read_shard_file, write_shard_file
from agenthard.audit.shards import ShardResult, check_shard
from agenthard.taxonomy import AgentTask, Evidence, Severity, Status, Tier, ToolCall, ToolSpec, Trajectory
from agenthard.taxonomy.task import EnvironmentSpec, GroundTruth, Message, UserSpec
from tests.builders import LEND, make_run, make_task


class _Named(Detector):
    title = "test"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED


class Sevens(_Named, TaskDetector):
    id: ClassVar[str] = "sevens"

    def not_applicable(self, task: AgentTask) -> str | None:
        return "no gold" if not any(task.gold_calls()) else None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        for pointer, call in task.gold_calls():
            if call.arguments.get("book_id") == 7:
                yield Hit(claim="a seven", evidence=(quote(task, f"{pointer}/arguments/book_id"),))
            if call.arguments.get("book_id") == 13:
                raise ValueError("unlucky")
            if call.arguments.get("book_id") == 8:
                yield Hit(claim="an invented quote", evidence=(quote(task, pointer, text="never written"),))


class ShortDocs(_Named, ToolDetector):
    id: ClassVar[str] = "short-docs"

    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        if len(tool.description) < 30:
            evidence = Evidence(task_id="", pointer="/description", quote=tool.description)
            yield Hit(claim=f"{tool.name} says little", evidence=(evidence,))


class Twins(_Named, SuiteDetector):
    id: ClassVar[str] = "twins"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        pointer = "/user/turns/0/0/content"
        evidence = (quote(task, pointer),)
        yield Observation(task_id=task.id, key=task.user.turns[0][0].content, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        groups: dict[str, list[Observation]] = {}
        for item in observations:
            groups.setdefault(item.key, []).append(item)
        for group in groups.values():
            if len(group) > 1:
                hit = Hit(claim="twins", evidence=group[0].evidence, cause=group[0].key)
                yield Conclusion(task_ids=tuple(item.task_id for item in group), hit=hit)
            else:
                yield Undecided(task_ids=(group[0].task_id,), reason="alone")


class Runs(Twins):
    id: ClassVar[str] = "runs"
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        yield Observation(task_id=task.id, key="n", value=len(list(runs)))

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        raise RuntimeError("cannot conclude")


def task_with(task_id: str, book: int, tool: ToolSpec = LEND) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"book_id": book})
    return make_task(
        task_id,
        environment=EnvironmentSpec(tools=(tool,)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),)),
    )


TASKS = [task_with("a", 7), task_with("b", 13), task_with("c", 8), task_with("d", 1)]
DETECTORS: tuple[Detector, ...] = (Sevens(), ShortDocs(), Twins(), Runs())


def stored(result: ShardResult) -> ShardResult:
    with tempfile.TemporaryDirectory() as scratch:
        write_shard_file(Path(scratch) / "shard.zip", result)
        found = read_shard_file(Path(scratch) / "shard.zip")
        return replace(found, observations=dict(found.observations), shared_keys=dict(found.shared_keys))


def run(shards: list[list[AgentTask]]) -> tuple[list, dict]:
    runs = {"a": [make_run("a")]}
    results = [check_shard(shard, runs, DETECTORS) for shard in shards]
    results = [stored(result) for result in results]
    ids = [task.id for shard in shards for task in shard]
    findings, coverage = conclude("library", ids, results, DETECTORS)
    assert len(coverage) == len(ids) * len(DETECTORS)
    return findings, {(row.task_id, row.check): row for row in coverage}


def test_an_exception_or_a_bad_quote_is_an_error_of_that_pair_alone() -> None:
    findings, coverage = run([TASKS])
    assert [f.task_ids for f in findings if f.check == "sevens"] == [("a",)]
    assert coverage["b", "sevens"].status is Status.ERROR
    assert "unlucky" in coverage["b", "sevens"].reason
    assert coverage["c", "sevens"].status is Status.ERROR
    assert "the quote is not at" in coverage["c", "sevens"].reason
    assert coverage["d", "sevens"].status is Status.CLEAN


def test_one_flawed_tool_is_one_finding_with_all_its_tasks() -> None:
    findings, coverage = run([TASKS[:2], TASKS[2:]])
    tools = [f for f in findings if f.check == "short-docs"]
    assert [f.task_ids for f in tools] == [("a", "b", "c", "d")]
    assert tools[0].evidence[0].pointer == "/environment/tools/0/description"
    assert coverage["d", "short-docs"].status is Status.FLAGGED


def test_a_flawed_tool_that_the_gold_never_calls_only_accompanies() -> None:
    quiet = LEND.model_copy(update={"name": "whisper"})
    findings, coverage = run([[task_with("a", 1, quiet)]])
    found = next(f for f in findings if f.check == "short-docs")
    assert (found.task_ids, found.also_in) == ((), ("a",))
    assert "never calls" in coverage["a", "short-docs"].reason


def test_suite_detectors_see_all_shards_and_may_leave_tasks_undecided() -> None:
    findings, coverage = run([TASKS[:1], TASKS[1:]])
    assert [f.task_ids for f in findings if f.check == "twins"] == [("a", "b", "c", "d")]
    findings, coverage = run([TASKS[:1]])
    assert coverage["a", "twins"].status is Status.NOT_CHECKED
    assert coverage["a", "twins"].reason == "alone"


def test_a_failing_conclusion_makes_its_tasks_errors_and_absent_runs_are_not_checked() -> None:
    _, coverage = run([TASKS])
    assert coverage["a", "runs"].status is Status.ERROR
    assert "cannot conclude" in coverage["a", "runs"].reason
    assert coverage["b", "runs"].status is Status.NOT_CHECKED
    assert "--runs" in coverage["b", "runs"].reason


def test_sharding_does_not_change_anything() -> None:
    whole, whole_coverage = run([TASKS])
    parts, parts_coverage = run([[task] for task in TASKS])
    assert whole == parts
    assert whole_coverage == parts_coverage
    assert len({finding.id for finding in whole}) == len(whole)


def test_a_task_without_tools_is_not_checked_by_tool_checks() -> None:
    _, coverage = run([[make_task("a", environment=EnvironmentSpec())]])
    assert coverage["a", "short-docs"].status is Status.NOT_CHECKED


def test_variants_of_one_task_that_quote_the_same_share_a_finding() -> None:
    def variant(task_id: str, cluster: str | None, *books: int) -> AgentTask:
        calls = tuple(ToolCall(name="lend_book", arguments={"book_id": book}) for book in books)
        gold = GroundTruth(semantics="required", turns=((), calls) if task_id == "shifted" else (calls,))
        return make_task(task_id, cluster=cluster, ground_truth=gold)

    tasks = [
        variant("base", "c", 7, 7),
        variant("shifted", "c", 7),
        variant("other", "d", 7),
        variant("alone", None, 7),
    ]
    shards = [check_shard([task], {}, [Sevens()]) for task in tasks]
    findings, coverage = conclude("library", [task.id for task in tasks], shards, [Sevens()])
    assert sorted(f.task_ids for f in findings) == [("alone",), ("base",), ("base", "shifted"), ("other",)]
    assert {row.status for row in coverage} == {Status.FLAGGED}
    first = next(f for f in findings if f.task_ids == ("base", "shifted"))
    alone, _ = conclude("library", ["shifted"], [check_shard([tasks[1]], {}, [Sevens()])], [Sevens()])
    assert alone[0].id == first.id


class Alike(Twins):
    id: ClassVar[str] = "alike"
    seen: ClassVar[list[str]] = []

    def shared_keys(self, observation: Observation) -> tuple[str, ...]:
        return (observation.key,)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        self.seen.extend(item.task_id for item in observations)
        return super().conclude(observations)


def test_a_check_of_shared_keys_sees_only_what_shares_one() -> None:
    said = {"a": "Lend me a book.", "b": "Good night.", "c": "Lend me a book."}
    users = [UserSpec(kind="scripted", turns=((Message(role="user", content=text),),)) for text in said.values()]
    tasks = [make_task(name, user=user) for name, user in zip(said, users, strict=True)]
    shards = [stored(check_shard([task], {}, [Alike()])) for task in tasks]
    findings, coverage = conclude("library", list(said), shards, [Alike()])
    assert Alike.seen == ["a", "c"]
    assert [finding.task_ids for finding in findings] == [("a", "c")]
    assert [row.status for row in coverage] == [Status.FLAGGED, Status.CLEAN, Status.FLAGGED]
