"""The functions of `import agenthard as ah`."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

import agenthard as ah
from agenthard.audit.decisions.suppressions import SuppressionError
from agenthard.audit.detectors import registry
from agenthard.audit.detectors.selection import SelectionError
from agenthard.audit.sources.base import SourceError
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import UsageError
from tests.builders import make_task


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo benchmark with a few of its runs."""
    folder = write_demo(tmp_path_factory.mktemp("benchmark") / "demo").root
    runs = folder / "runs.jsonl"
    few = runs.read_text().splitlines(keepends=True)[::16]
    runs.write_text("".join(few))
    return folder


@pytest.fixture(scope="module")
def result(benchmark: Path) -> ah.AuditResult:
    return ah.audit(ah.open_source("native", benchmark), runs=[benchmark / "runs.jsonl"])


@pytest.fixture(scope="module")
def commanded(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command writes."""
    out = tmp_path_factory.mktemp("commanded") / "run"
    command(benchmark, out, "native", "--runs", str(benchmark / "runs.jsonl"))
    return out


def command(benchmark: Path, out: Path, source: str, *options: str) -> None:
    words = ["audit", source, str(benchmark), *options, "--workers", "1", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "agenthard", *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr


def contents(run: Path) -> dict[str, bytes]:
    """All files of a run folder but its work; where it lies is in no byte of them."""
    files = [path for path in run.rglob("*") if path.is_file() and path.relative_to(run).parts[0] != "work"]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in files}


@pytest.mark.long
def test_the_written_result_has_the_bytes_that_the_command_writes(
    result: ah.AuditResult, commanded: Path, tmp_path: Path
) -> None:
    written = result.write(tmp_path / "run")
    assert contents(written) == contents(commanded)
    for name in ("work/plan.json", "work/key"):
        assert (written / name).read_bytes() == (commanded / name).read_bytes()
    shards = {path.name: path.read_bytes() for path in (commanded / "work" / "shards").iterdir()}
    assert {path.name: path.read_bytes() for path in (written / "work" / "shards").iterdir()} == shards


@pytest.mark.long
@pytest.mark.corpora
def test_a_public_benchmark_has_the_bytes_that_the_command_writes(corpora: Path, tmp_path: Path) -> None:
    folder = corpora / "agencybench"
    written = ah.audit(ah.detect(folder), runs=[folder]).write(tmp_path / "ours")
    command(folder, tmp_path / "theirs", "agencybench", "--runs", str(folder))
    assert contents(written) == contents(tmp_path / "theirs")


def test_a_choice_of_checks_and_suppressions_is_that_of_the_command(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suppressions = [
        {"check": "turn-count", "task": "parcels/7", "reason": "planned", "until": "2999-12-31"},
        {"check": "call-schema", "task": "parcels/11", "reason": "was planned", "until": "2020-01-31"},
    ]
    found = ah.audit(
        ah.open_source("native", benchmark),
        select=["ground_truth", "turn-count"],
        ignore=["duplicate-task"],
        suppressions=suppressions,
    )
    assert [(each.finding.check, each.finding.task_ids) for each in found.suppressed] == [
        ("turn-count", ("parcels/7",))
    ]
    assert "turn-count" not in {finding.check for finding in found.findings} and "duplicate-task" in found.not_asked
    said = repr(found)
    assert "1 suppressed finding does not count: " in said and "1 suppression has expired and counts again" in said

    tables = [
        f'[[suppressions]]\ncheck = "{each["check"]}"\ntask = "{each["task"]}"\nreason = "{each["reason"]}"\n'
        f"until = {each['until']}\n"
        for each in suppressions
    ]
    (tmp_path / "agenthard.toml").write_text("\n".join(tables))
    monkeypatch.chdir(tmp_path)
    command(
        benchmark,
        tmp_path / "theirs",
        "native",
        *("--select", "ground_truth", "--select", "turn-count", "--ignore", "duplicate-task"),
    )
    written = found.write(tmp_path / "ours")
    assert contents(written) == contents(tmp_path / "theirs")
    read = ah.AuditResult.read(written)
    assert (read.suppressed, read.expired, read.not_asked) == (found.suppressed, found.expired, found.not_asked)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"select": ["cal-schema"]}, SelectionError, "did you mean call-schema"),
        ({"suppressions": [{"finding": "0" * 12, "until": "2999-12-31"}]}, SuppressionError, "suppressions.0.reason"),
        (
            {"suppressions": [{"check": "turn-count", "task": "no", "reason": "x", "until": "2999-12-31"}]},
            SuppressionError,
            "has no task 'no'",
        ),
        (
            {"suppressions": [{"finding": "0" * 12, "reason": "x", "until": "2999-12-31"}]},
            SuppressionError,
            "that the audit does not have: 000000000000",
        ),
    ],
)
def test_a_wrong_choice_is_refused(
    benchmark: Path, options: dict[str, Any], error: type[ah.errors.AgentHardError], said: str
) -> None:
    with pytest.raises(error) as caught:
        ah.audit(ah.open_source("native", benchmark), **options)
    assert said in str(caught.value)


def test_the_command_continues_a_written_result(result: ah.AuditResult, benchmark: Path, tmp_path: Path) -> None:
    written = result.write(tmp_path / "run")
    before = contents(written)
    command(benchmark, written, "native", "--runs", str(benchmark / "runs.jsonl"))
    assert contents(written) == before


@pytest.mark.long
def test_workers_change_nothing(result: ah.AuditResult, benchmark: Path) -> None:
    again = ah.audit(ah.open_source("native", benchmark), runs=[benchmark / "runs.jsonl"], workers=2)
    assert again == result


def test_nothing_is_silent(result: ah.AuditResult, benchmark: Path, tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text((benchmark / "tasks.jsonl").read_text() + "{not json\n")
    (tmp_path / "environments.jsonl").write_bytes((benchmark / "environments.jsonl").read_bytes())
    domain = result.tasks[0].subtask
    found = ah.audit(ah.open_source("native", tmp_path, [domain]))
    others = len([task for task in result.tasks if task.subtask != domain])
    assert [item.line for item in found.quarantined] == [len(result.tasks) + 1]
    assert [item.left_out for item in found.not_read] == [True] * len(found.not_read) != []
    assert f"quarantined 1, not read 0, left out {others};" in repr(found)
    assert "run folder: not written" in repr(found)
    assert found.errors == []
    assert [row.model for row in result.runs] != []


def test_repr_is_the_first_screen(result: ah.AuditResult) -> None:
    lines = repr(result).splitlines()
    assert lines[0].endswith(f"{len(result.tasks)} tasks read")
    assert f"with {len(result.kept_ids)} tasks" in repr(result)


def test_an_audit_prints_nothing_and_leaves_no_handler(benchmark: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF)]
    ah.audit(ah.open_source("native", benchmark))
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF)] == before
    assert capfd.readouterr() == ("", "")


def test_an_audit_does_not_import_prefect(benchmark: Path) -> None:
    code = (
        f"import sys, agenthard as ah; ah.audit(ah.open_source('native', {str(benchmark)!r})); "
        "print('prefect' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_opening_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no source 'nothing'"):
        ah.open_source("nothing", tmp_path)
    with pytest.raises(SourceError, match="there is nothing at this path"):
        ah.detect(tmp_path / "absent")


def test_detecting_a_source(benchmark: Path, tmp_path: Path) -> None:
    source = ah.detect(benchmark)
    assert (source.name, source.root) == ("native", benchmark)
    with pytest.raises(SourceError, match=r"no source recognises it[\s\S]*\n  native: "):
        ah.detect(tmp_path)
    (tmp_path / "tasks.jsonl").write_text("")
    (tmp_path / "mapping.yaml").write_text("")
    with pytest.raises(SourceError, match=r"2 sources recognise it \(mapping, native\)"):
        ah.detect(tmp_path)


class Shouting(ah.TaskDetector):
    """A user who writes in capitals."""

    id = "shouting"
    title = "users who write in capitals"
    version = "1"
    category = "ambiguous-instruction"
    severity = ah.Severity.COSMETIC
    tier = ah.Tier.SUSPECTED

    def inspect(self, task: ah.AgentTask) -> Iterable[ah.Hit]:
        if "LEND" in (task.user.turns[0][0].content or ""):
            yield ah.Hit(claim="The user shouts.", evidence=(ah.quote(task, "/user/turns/0/0/content"),))


@pytest.fixture
def shouting() -> Iterator[type[Shouting]]:
    yield ah.register(Shouting)
    registry.unregister("shouting")


def shouted() -> ah.AgentTask:
    return make_task(user={"kind": "scripted", "turns": [[{"role": "user", "content": "LEND book 7 to Ada."}]]})


def test_checking_one_task() -> None:
    findings, coverage = ah.check(shouted(), ["call-schema", Shouting])
    assert [finding.claim for finding in findings] == ["The user shouts."]
    assert [(row.check, row.status.value) for row in coverage] == [("call-schema", "clean"), ("shouting", "flagged")]
    assert {row.check for row in ah.check(shouted()).coverage} == {each.id for each in registry.detectors()}
    with pytest.raises(UsageError, match="no check 'nothing'"):
        ah.check(shouted(), ["nothing"])


@pytest.mark.usefixtures("shouting")
def test_a_registered_check_is_part_of_every_audit(tmp_path: Path) -> None:
    line = {**shouted().model_dump(mode="json", exclude_defaults=True), "origins": {}}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(line) + "\n")
    source = ah.open_source("native", tmp_path)
    plain = ah.audit(source, workers=2)
    assert [finding.check for finding in plain.findings] == ["shouting"]
    assert ah.register(Shouting) is Shouting  # as running a notebook's cell twice does
    assert [each.id for each in registry.detectors()].count("shouting") == 1
    written = plain.write(tmp_path / "run")
    registry.unregister("shouting")
    assert ah.audit(source).findings == ()
    assert [finding.check for finding in ah.AuditResult.read(written).findings] == ["shouting"]


def test_registering_refuses_what_cannot_work() -> None:
    class Incomplete(ah.TaskDetector):
        id = "incomplete"

    with pytest.raises(UsageError, match="Incomplete: set title, version, category, severity, tier"):
        ah.register(Incomplete)

    class Elsewhere(Shouting):
        category = "nonsense"

    with pytest.raises(UsageError, match="no category 'nonsense'"):
        ah.register(Elsewhere)

    class Taken(Shouting):
        id = "call-schema"

    with pytest.raises(UsageError, match="another check has the id 'call-schema'"):
        ah.register(Taken)
    assert registry.registered() == ()


def test_what_needs_a_folder_says_so(result: ah.AuditResult, benchmark: Path) -> None:
    unwritten = ah.audit(ah.open_source("native", benchmark))
    for call in (
        lambda: ah.repair(unwritten),
        lambda: ah.compare(unwritten, unwritten),
        lambda: ah.publish(unwritten),
        lambda: ah.survey([unwritten]),
    ):
        with pytest.raises(UsageError, match=r"call result.write\(FOLDER\) first"):
            call()
    with pytest.raises(UsageError, match=r"call result.write\(FOLDER\) first"):
        ah.judge(unwritten, "judges.yaml")


def test_repairing_and_comparing(result: ah.AuditResult, tmp_path: Path) -> None:
    result.write(tmp_path / "run")
    outcome = ah.repair(result)
    assert outcome.findings == len(result.findings)
    assert (tmp_path / "run" / "repair" / "repairs.json").is_file()
    comparison = ah.compare(result, tmp_path / "run")
    assert comparison.new_defects == 0  # type: ignore[union-attr]


def test_publishing_and_a_survey(result: ah.AuditResult, tmp_path: Path) -> None:
    result.write(tmp_path / "run")
    published = ah.publish(result, out=tmp_path / "published")
    assert (published.version, published.counts["kept"]) == ("1.0.0", len(result.kept_ids))
    assert ah.publish(tmp_path / "run", out=tmp_path / "published").changed is False
    found = ah.survey([result], tmp_path / "survey" / "index.html", title="Ours")
    assert [each.flagged.n for each in found.benchmarks] == [len(result.tasks)]
    assert (tmp_path / "survey" / "index.html").is_file()


def test_a_leaderboard_of_a_frame() -> None:
    wide = pandas.DataFrame({"model": ["a", "b"], "t1": [1, 0], "t2": [1, 0], "t3": [1, 1]})
    found = ah.leaderboard(wide, drop=["t2"])
    assert [split.name for split in found.splits] == ["initial", "cleaned"]
    assert [(row.model, row.passed) for row in found.leaderboards[1].rows] == [("a", 2), ("b", 1)]


def test_judging_works_where_a_loop_is_running(
    result: ah.AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "none")
    result.write(tmp_path / "run")
    judges = Path(__file__).parents[2] / "docs/examples/judges.yaml"

    async def cell() -> ah.AuditResult:
        return ah.judge(result, judges, sample=1, token_budget=1)

    judged = asyncio.run(cell())
    assert judged.judging is not None
    assert judged.judging.answered == 0
    assert judged.folder == tmp_path / "run-judged"
    assert "judges: 0 of" in repr(judged)
