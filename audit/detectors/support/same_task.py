"""When two tasks are the same task: what the agent sees and where it acts are equal."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from agenthard.audit.detectors.base import Observation
from agenthard.audit.detectors.support.courtesy import content_words
from agenthard.audit.detectors.support.gold_overlap import contradiction
from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.audit.detectors.support.slipped_words import slipped_words
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, GroundTruth


def _environment_key(environment: EnvironmentSpec) -> str:
    documented = sorted(
        canonical_json([kind, tool.name, tool.description, tool.parameters])
        for kind, tools in (("agent", environment.tools), ("user", environment.user_tools))
        for tool in tools
    )
    return _digest(canonical_json([documented, " ".join(environment.policy.split()), environment.state]))


_environment_key_of = IdentityCache(_environment_key)


def same_task_key(task: AgentTask) -> str:
    """Hash what makes a task: the user's words, the tools, the policy and the state.

    Words are compared without regard to white space, tools without regard to their order. The ground truth and the
    ids do not count.
    """
    return _digest(canonical_json([_words(task, _single_spaced), _setting(task)]))


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


def _words(task: AgentTask, reduce: Callable[[str], str]) -> list[Any]:
    user = task.user
    said = [[[message.role, reduce(message.content)] for message in turn] for turn in user.turns]
    return [said, reduce(user.instruction), {key: reduce(text) for key, text in user.context.items()}]


def _setting(task: AgentTask) -> str:
    return _digest(canonical_json([task.initial_state, task.hidden_tools, _environment_key_of(task.environment)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def observe_task(task: AgentTask) -> Iterator[Observation]:
    """Note a task's key, its gold and a quote of what the user asks. A task without words is passed over."""
    texts = list(task.user_texts())
    if not texts:
        return
    pointer = texts[-1][0]
    truth = task.ground_truth
    setting = _setting(task)
    yield Observation(
        task_id=task.id,
        key=_digest(canonical_json([_words(task, _single_spaced), setting])),
        value={
            "near": _digest(canonical_json([_words(task, content_words), setting])),
            "setting": setting,
            "said": _words(task, _single_spaced),
            "cluster": task.cluster,
            "subtask": task.subtask,
            "traits": sorted(task.traits),
            "ground_truth": truth.model_dump(mode="json"),
        },
        evidence=(quote(task, pointer), quote(task, "/ground_truth")),
    )


def groups(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    """Yield the groups of two or more same tasks, in the order of their first members.

    Variants of one base task in different files are meant to be alike: of each base task, only those of the file that
    comes first are kept.
    """
    yield from _groups(observations, lambda observation: observation.key)


def near_groups(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    """Yield the groups of tasks that are the same but for words that carry nothing, and that have one ground truth.

    The words that count are those of ``content_words``. Of tasks that are the same to the letter the first stands for
    all.
    """
    for members in _groups(observations, lambda each: f"{each.value['near']} {_gold(each)}"):
        first: dict[str, Observation] = {}
        for member in members:
            first.setdefault(member.key, member)
        if len(first) > 1:
            yield list(first.values())


def slip_groups(observations: Sequence[Observation]) -> Iterator[tuple[list[Observation], list[tuple[str, str]]]]:
    """Yield the pairs of tasks that are the same but for slips of the keyboard, with the words that differ.

    Their setting and their ground truth are equal, and the ground truth wants something: where nothing is to be done,
    equal ground truths say little.
    """
    wanting = [each for each in observations if _wants(GroundTruth.model_validate(each.value["ground_truth"]))]
    for members in _groups(wanting, lambda each: f"{each.value['setting']} {_gold(each)}"):
        first: dict[str, Observation] = {}
        for member in members:
            first.setdefault(member.value["near"], member)
        for one, other in combinations(first.values(), 2):
            slips = _slips(one.value["said"], other.value["said"])
            if slips:
                yield [one, other], slips


def _wants(truth: GroundTruth) -> bool:
    return any(truth.turns) or bool(truth.outputs) or bool(truth.answers)


def _gold(observation: Observation) -> str:
    truth = observation.value["ground_truth"]
    calls = [[(call["name"], call["arguments"], call["requestor"]) for call in turn] for turn in truth["turns"]]
    gold = [calls, *(truth[part] for part in ("semantics", "outputs", "answers", "call_matching"))]
    return canonical_json([gold, observation.value["traits"]])


def _slips(one: list[Any], other: list[Any]) -> list[tuple[str, str]]:
    """Compare the texts of two tasks, in the form of ``_words``; nothing where they differ in another way."""
    first, second = (dict(texts_in(words)) for words in (one, other))
    if first.keys() != second.keys():
        return []
    found: list[tuple[str, str]] = []
    for at, text in first.items():
        slips = slipped_words(text, second[at])
        if not slips and content_words(text) != content_words(second[at]):
            return []
        found += slips
    return found


def _groups(observations: Sequence[Observation], key: Callable[[Observation], str]) -> Iterator[list[Observation]]:
    """Yield the groups of two or more observations with one key, in the order of their first members.

    Variants of one base task in different files are meant to be alike: of each base task, only those of the file that
    comes first are kept.
    """
    by_key: dict[str, list[Observation]] = {}
    for observation in observations:
        by_key.setdefault(key(observation), []).append(observation)
    for members in by_key.values():
        first_file: dict[str, str] = {}
        kept = []
        for member in members:
            cluster, subtask = member.value["cluster"], member.value["subtask"]
            if cluster is None or first_file.setdefault(cluster, subtask) == subtask:
                kept.append(member)
        if len(kept) > 1:
            yield kept


def contradicts(a: Observation, b: Observation) -> str | None:
    """Say why no run can meet the ground truths of two same tasks; None when one may."""
    first, second = (GroundTruth.model_validate(item.value["ground_truth"]) for item in (a, b))
    return contradiction(first, second, a.value["traits"], b.value["traits"])


def group_cause(what: str, members: Sequence[Observation]) -> str:
    """Name a group so that the same pair of base tasks in several variant files is one cause."""
    return f"{what}: " + " = ".join(sorted({member.value["cluster"] or member.task_id for member in members}))
