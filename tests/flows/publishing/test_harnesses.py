"""The real code of the benchmarks reads what was published and scores attempts at it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution import managed_environments as venvs
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.tau import packages
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.publishing.versions import read_publication
from agenthard.taxonomy.accepted import concrete_values
from tests.flows.audits import audit_by_steps
from tests.flows.publishing.conftest import published

pytestmark = [pytest.mark.corpora, pytest.mark.long]
HARNESS = Path(__file__).parent / "harness"


def publication(source: str, path: Path, folder: Path, *domains: str, policy: str = "") -> Path:
    """Audit a benchmark and publish its clean split."""
    given = {}
    if policy:
        (folder / "policy.yaml").write_text(policy, encoding="utf-8")
        given["policy"] = str(folder / "policy.yaml")
    settings = AuditSettings(source=source, path=str(path), domains=domains, out=str(folder / "run"), **given)
    audit_by_steps(settings)
    published(folder / "run", folder / "out")
    return folder / "out"


def call(words: list[str], cwd: Path, path: list[Path], **environment: str) -> str:
    """Run Python without anything of ours on its path."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "TAU2", "BFCL"))}
    given = {**clean, **environment, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", *words], cwd=cwd, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A managed home with bfcl-eval and the packages of τ², shared by all workers."""
    folder = tmp_path_factory.getbasetemp().parent / "agenthard-home"
    for benchmark, version in (("bfcl", "2025.7.17"), ("tau2", None)):
        try:
            venvs.create(benchmark, version, folder)
        except UnavailableError:
            try:  # another worker was creating it at the same time
                venvs.create(benchmark, version, folder)
            except UnavailableError as error:
                pytest.skip(f"the code of {benchmark} cannot be fetched: {error}")
    return folder


@pytest.mark.network
def test_bfcl_eval_reads_the_published_split_and_scores_it(corpora: Path, home: Path, tmp_path: Path) -> None:
    categories = ("simple", "parallel", "multi_turn_base", "live_irrelevance", "live_simple")
    out = publication("bfcl", corpora / "bfcl_v3_2025-07-17", tmp_path, *categories)
    made = read_publication(out)
    installed = next(venvs.find("bfcl", "2025.7.17", home).folder.glob("lib/python*/site-packages"))
    shutil.copytree(installed / "bfcl_eval", tmp_path / "code" / "bfcl_eval", ignore=shutil.ignore_patterns("data"))
    shutil.copytree(out / "native", tmp_path / "code", dirs_exist_ok=True)  # as the card says

    kept: dict[str, list[Any]] = {name: [] for name in categories}
    for task in BFCL(out / "native").tasks(Quarantine()):
        kept[task.subtask].append(task)
    for name, tasks in kept.items():
        right, wrong = [], []
        for task in tasks:
            turns = task.ground_truth.turns
            if name == "multi_turn_base":
                result: Any = [[[each.text for each in turn]] for turn in turns]
                nothing: Any = [[] for _ in turns]
            else:
                calls = [each for turn in turns for each in turn]
                result = [{each.name: next(iter(concrete_values(each.arguments, 1)), {})} for each in calls]
                nothing = [{"no_such_function": {}}]
            right.append({"id": task.native_id, "result": result})
            wrong.append({"id": task.native_id, "result": nothing})
        write_lines(tmp_path / "result" / "right" / f"BFCL_v3_{name}_result.json", right)
        write_lines(tmp_path / "result" / "wrong" / f"BFCL_v3_{name}_result.json", wrong)
    (tmp_path / "score").mkdir()
    words = [str(HARNESS / "run_bfcl.py"), str(tmp_path / "result"), str(tmp_path / "score"), *categories]
    call(words, tmp_path, [tmp_path / "code", installed], BFCL_PROJECT_ROOT=str(tmp_path / "project"))

    def scored(model: str, name: str) -> tuple[int, int]:
        file = tmp_path / "score" / model / f"BFCL_v3_{name}_score.json"
        head = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
        return head["correct_count"], head["total_count"]

    assert sum(scored("right", name)[1] for name in categories) == made.kept == len(made.tasks)
    assert scored("right", "multi_turn_base") == (len(kept["multi_turn_base"]),) * 2
    assert scored("right", "live_irrelevance") == (len(kept["live_irrelevance"]),) * 2
    for name in ("simple", "parallel", "live_simple"):  # a few golds are known to fail before their own checker
        correct, total = scored("right", name)
        assert total == len(kept[name]) and correct >= total - 3
        assert scored("wrong", name) == (0, total)
    assert scored("wrong", "live_irrelevance")[0] == 0
    assert scored("wrong", "multi_turn_base")[0] == 0
    table = (tmp_path / "score" / "data_overall.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 3  # the head and both models: the table of scores was written to its end


@pytest.mark.network
def test_tau2_reads_the_published_split_and_scores_it(corpora: Path, home: Path, tmp_path: Path) -> None:
    checkout = corpora / "tau2-bench_v1.0.1"
    out = publication("tau2", checkout, tmp_path, "airline")
    made = read_publication(out)
    installed = packages.installed(home)
    assert installed is not None
    said = call(
        [str(HARNESS / "run_tau2.py"), "airline"],
        tmp_path,
        [checkout / "src", installed],
        TAU2_DATA_DIR=str(out / made.native_home / "data"),
    )
    found = json.loads(said.splitlines()[-1])
    assert {f"airline/{each}" for each in found["ids"]} == set(made.tasks)
    assert 0 < made.removed and len(found["ids"]) == made.kept
    listed = {each for ids in found["splits"].values() for each in ids}
    assert listed == set(found["ids"]) and set(found["splits"]) == {"train", "test", "base"}
    assert set(found["gold"].values()) == {1.0} and set(found["nothing"].values()) == {0.0}
    assert found["policy"] and (out / "native" / "data" / "tau2" / "user_simulator").is_dir()
    assert made.licence.id == "mit"


def test_every_domain_of_tau2_is_read_back(corpora: Path, tmp_path: Path) -> None:
    out = publication("tau2", corpora / "tau2-bench_v1.0.1", tmp_path, "telecom", "banking_knowledge")
    made = read_publication(out)
    found = {task.id for task in Tau2Bench(out / "native").tasks(Quarantine())}
    assert found == set(made.tasks) and {each.split("/")[0] for each in found} == {"telecom", "banking_knowledge"}
    lists = json.loads((out / "native/data/tau2/domains/telecom/split_tasks.json").read_text(encoding="utf-8"))
    assert {f"telecom/{each}" for each in lists["base"]} == {each for each in found if each.startswith("telecom/")}


def test_acebench_s_eval_main_scores_the_published_split(corpora: Path, tmp_path: Path) -> None:
    checkout = corpora / "acebench_2025-02-26"
    policy = "version: test\nrules: []\noverrides:\n  normal_atom_bool_1: {action: drop, reason: test, by: ada}\n"
    categories = ("normal_atom_bool", "normal_single_turn_single_function", "special_incomplete")
    out = publication("acebench", checkout, tmp_path, *categories, policy=policy)
    made = read_publication(out)
    assert made.removed == 1 and made.licence.id == "mit"
    work = tmp_path / "ACEBench"
    for name in ("eval_main.py", "category.py", "model_eval", "model_inference"):
        copy = shutil.copytree if (checkout / name).is_dir() else shutil.copyfile
        work.mkdir(exist_ok=True)
        copy(checkout / name, work / name)
    shutil.copytree(out / "native" / "data_all", work / "data_all")

    def lines(path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

    data = work / "data_all" / "data_en"
    for name in categories:
        questions, answers = lines(data / f"data_{name}.json"), lines(data / "possible_answer" / f"data_{name}.json")
        assert [each["id"] for each in questions] == [each["id"] for each in answers]
        for model, reply in (("right", _acebench_reply), ("wrong", lambda truth: "[nothing()]")):
            rows = [{"id": each["id"], "result": reply(each["ground_truth"])} for each in answers]
            write_lines(work / "result_all" / "result_en" / model / f"data_{name}_result.json", rows)
            (work / "score_all" / "score_en" / model).mkdir(parents=True, exist_ok=True)
    words = ["eval_main.py", "--language", "en", "--model", "right", "wrong", "--category", *categories]
    call(words, work, [work])

    def scored(model: str, name: str) -> dict[str, Any]:
        head: dict[str, Any] = lines(work / "score_all" / "score_en" / model / f"data_{name}_score.json")[0]
        return head

    counts = {name: scored("right", name)["total_count"] for name in categories}
    assert sum(counts.values()) == made.kept
    for name in categories[:2]:
        assert scored("right", name)["accuracy"] > 0.9 and scored("wrong", name)["accuracy"] == 0


def _acebench_reply(truth: Any) -> str:
    """A reply with the calls of the ground truth; one that names all missing parameters for the special category."""
    first = truth[0] if isinstance(truth, list) else truth
    if all(isinstance(value, list) and all(isinstance(each, str) for each in value) for value in first.values()):
        return json.dumps(first)
    calls = (
        f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in first.items()
    )
    return f"[{', '.join(calls)}]"


def test_tau_bench_s_own_lists_hold_the_kept_tasks(corpora: Path, tmp_path: Path) -> None:
    checkout = corpora / "tau-bench_59a200c_code"
    out = publication("tau-bench", checkout, tmp_path, "airline")
    made = read_publication(out)
    work = shutil.copytree(checkout, tmp_path / "tau-bench")
    for file in (file for file in work.rglob("*") if file.is_file()):
        file.chmod(0o644)
    for folder in (folder for folder in work.rglob("*") if folder.is_dir()):
        folder.chmod(0o755)
    shutil.copytree(out / "native", work, dirs_exist_ok=True)
    code = "import json, sys, unittest.mock as mock; sys.modules['litellm'] = mock.MagicMock(); "  # client of models
    code += "from tau_bench.envs.airline.tasks_test import TASKS as found; "
    code += "print(json.dumps([task.user_id for task in found]))"
    users = json.loads(call(["-c", code], work, [work]).splitlines()[-1])
    tasks = {task.id: task for task in TauBench(checkout).tasks(Quarantine())}
    assert users == [tasks[each].metadata["user_id"] for each in made.tasks]
    ids = json.loads((out / "native" / "ids.json").read_text(encoding="utf-8"))
    assert list(ids.values()) == list(made.tasks) and made.renumbered


@pytest.fixture(autouse=True)
def _own_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Audits run without the code of benchmarks: they decide by what the files say."""
    monkeypatch.setenv("AGENTHARD_HOME", str(home.parent / "no-home"))
    yield
