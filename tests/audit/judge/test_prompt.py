import re
from pathlib import Path

import pytest

import agenthard.audit.judge.templates as wording
from agenthard.audit.judge.context.applicable import applicable
from agenthard.audit.judge.context.budget import trim
from agenthard.audit.judge.context.material import Material, Omission, Passage
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.prompt import build_prompt
from agenthard.audit.judge.templates import prompt_version
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import EnvironmentSpec, GroundTruth, UserSpec
from agenthard.taxonomy.categories import Category, Taxonomy, builtin_taxonomy
from tests.audit.judge.prompting import material, passages_in, prompt_of
from tests.builders import make_task

BENCHMARKS = re.compile(
    r"\b(bfcl|tau|acebench|agencybench|complexfuncbench|drafterbench|airline|retail|telecom|gorilla)\b", re.I
)
PLAYED = make_task(
    user=UserSpec(kind="simulated", instruction="You are Ada."),
    ground_truth=GroundTruth(semantics="reference_path", turns=((),), call_matching="state"),
)


def test_the_system_message_holds_no_word_of_the_task() -> None:
    one = make_task("secret/1", benchmark="secret-bench", environment=EnvironmentSpec(policy="secret policy"))
    other = make_task("hidden/2", metadata={"note": "hidden"}, environment=EnvironmentSpec(policy="hidden policy"))
    assert prompt_of(one).system == prompt_of(other).system
    assert "secret" not in prompt_of(one).system


def test_the_wording_names_no_benchmark() -> None:
    folder = Path(str(wording.__file__)).with_name("prompts")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert set(wording.WORDS) <= set(texts)
    assert {name: found[0] for name, text in texts.items() if (found := BENCHMARKS.search(text))} == {}


def test_only_applicable_categories_are_named_anywhere() -> None:
    task = make_task(environment=EnvironmentSpec())
    ids = {category.id for category in applicable(task, builtin_taxonomy())}
    system = prompt_of(task).system
    for category in builtin_taxonomy().categories:
        assert (category.id in system) == (category.id in ids), category.id


def test_a_category_comes_with_rule_and_both_examples() -> None:
    for category in applicable(make_task(), builtin_taxonomy()):
        assert f"- `{category.id}`: {category.rule}\n" in prompt_of(make_task()).system
        assert f"Yes: {category.positive} No: {category.negative}\n" in prompt_of(make_task()).system


def test_passages_stand_by_part_in_the_order_given() -> None:
    shown = Material(
        task_id="lib/1",
        passages=(
            Passage(label="/user", part="user", title="user", text="Lend."),
            Passage(label="replay/1", part="replay", title="call 1", text="lent"),
            Passage(label="/user/context/a", part="user", title="a", text="Ada"),
        ),
        omitted=(Omission(label="/environment/state", what="483 of 500 users", tokens=9),),
    )
    prompt = prompt_of(PLAYED, shown)
    assert [label for label, _ in passages_in(prompt)] == [
        "left out",
        "/user | user",
        "/user/context/a | a",
        "replay/1 | call 1",
    ]
    assert "/environment/state: 483 of 500 users" in prompt.user
    assert prompt.user.index("## User") < prompt.user.index("## Replay of the ground truth")
    assert "a replay is a fact" in prompt.system


def test_what_is_not_shown_is_not_explained() -> None:
    prompt = prompt_of(make_task())
    assert "a replay is a fact" not in prompt.system and "Runs show" not in prompt.system
    assert "Left out" not in prompt.user


def test_a_task_without_ground_truth_is_not_compared_call_by_call() -> None:
    free = make_task(ground_truth=GroundTruth(semantics="none", call_matching="none"))
    assert "call by call and argument by argument" not in prompt_of(free).system
    assert "call by call and argument by argument" in prompt_of(make_task()).system


def test_only_an_investigating_judge_hears_of_tools() -> None:
    assert "lookup/1" not in prompt_of(make_task()).system
    assert "lookup/1" in prompt_of(make_task(), investigates=True).system


def test_the_fixed_part_is_short() -> None:
    """With all categories, replay, checks, runs and look-ups: below 5,900 tokens."""
    parts = [Passage(label=part, part=part, title="", text="") for part in ("replay", "checks", "run")]
    everything = material("Lend.").model_copy(update={"passages": tuple(parts)})
    task = PLAYED.model_copy(update={"traits": frozenset({"redundant_calls_free", "deliberate_probes"})})
    system = build_prompt(task, everything, builtin_taxonomy().categories, True).system
    assert len(system) / 4 < 5_900, "characters / 4, which English prose meets within 15 %"


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "domain"),
    [
        (Tau2Bench, "tau2-bench_v0.1.3", "airline"),
        (BFCL, "bfcl_v3_2025-07-17", "multi_turn_miss_func"),
        (AceBench, "acebench_2025-02-26", "agent_multi_turn"),
    ],
)
def test_prompts_of_real_tasks(corpora: Path, source: type[Source], folder: str, domain: str) -> None:
    """Fenced as a whole, in the room given, and with nothing in the fixed part that is the benchmark's."""
    tasks = [task for task in source(corpora / folder, (domain,)).tasks(Quarantine()) if task.subtask == domain]
    for task in tasks[::20]:
        shown = trim(gather(task), task, 60_000)
        prompt = prompt_of(task, shown)
        assert len(passages_in(prompt)) == len(shown.passages) + bool(shown.omitted)
        assert all(passage.text in prompt.user for passage in shown.passages)
        assert len(prompt.system) / 4 < 5_500 and not BENCHMARKS.search(prompt.system)
        assert prompt.version == prompt_version()


def test_the_version_follows_words_schema_and_taxonomy(monkeypatch: pytest.MonkeyPatch) -> None:
    base = builtin_taxonomy()
    first = base.categories[0]

    def version(*changed: Category, number: str = base.version) -> str:
        return prompt_version(Taxonomy(version=number, categories=(*changed, *base.categories[1:])))

    versions = {
        prompt_version(base),
        version(first, number="next"),
        version(first.model_copy(update={"rule": "Another rule."})),
        version(first.model_copy(update={"negative": "Another example."})),
    }
    assert len(versions) == 4
    assert version(first.model_copy(update={"checks": ("another-check",)})) == prompt_version(base) == prompt_version()
    wording._version.cache_clear()
    monkeypatch.setattr(wording, "LAYOUT", "other")
    assert prompt_version(base) not in versions
    wording._version.cache_clear()
    monkeypatch.undo()
    assert prompt_version(base) in versions


def test_the_version_follows_what_is_read_of_a_yaml_file_and_not_its_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    read = wording._read

    def version(more: str) -> str:
        wording.data.cache_clear()
        wording._version.cache_clear()
        monkeypatch.setattr(wording, "_read", lambda name: read(name) + (more if name == "wording.yaml" else ""))
        return prompt_version()

    try:
        assert version("") == version("# A comment.\n") != version("another: word\n")
    finally:
        monkeypatch.undo()
        wording.data.cache_clear()
        wording._version.cache_clear()
