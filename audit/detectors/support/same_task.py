"""When two tasks are the same task, and whether one run can meet both ground truths."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from agenthard.audit.detectors.base import Observation
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.audit.detectors.support.sharing import IdentityCache, LastCache
from agenthard.audit.detectors.support.spelling import slipped_words
from agenthard.audit.detectors.support.text import content_words, squash
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.accepted import alternatives, is_any_of, is_optional
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, GroundTruth, ToolCall

COMPARED = ("ground_truth", "traits")
"""What `contradicts` compares of the values of two observations."""


def contradiction(a: GroundTruth, b: GroundTruth, traits_a: Sequence[str], traits_b: Sequence[str]) -> str | None:
    """Return why no run can meet both ground truths.

    Compared are: call against no call; required calls, paired so that each pair shares an accepted call; accepted
    final answers, of which one has to be shared. Calls that count only through the state they leave are not compared
    here: different calls can leave the same state.

    Args:
        a: one ground truth.
        b: the other.
        traits_a: traits of the one task.
        traits_b: traits of the other.

    Returns:
        The reason, or None when a run may meet both.
    """
    wants = (_wants_value(a, traits_a), _wants_value(b, traits_b))
    if "no call" in wants and set(wants) & {"a call", "calls"}:
        return "one wants no call at all, the other wants one"
    if wants == ("calls", "calls") and {a.call_matching, b.call_matching} <= {"exact", "any_order"}:
        return _calls_apart(_flat(a), _flat(b), ordered=a.call_matching == b.call_matching == "exact")
    if a.answers and b.answers and not {squash(text) for text in a.answers} & {squash(text) for text in b.answers}:
        return "no final answer is accepted by both"
    return None


def _wants_value(truth: GroundTruth, traits: Sequence[str]) -> str:
    if "expects_no_call" in traits:
        return "no call"
    if "expects_any_call" in traits:
        return "a call"
    return "calls" if truth.semantics == "required" and _flat(truth) else "nothing comparable"


def _flat(truth: GroundTruth) -> list[ToolCall]:
    return [call for turn in truth.turns for call in turn]


def _calls_apart(a: list[ToolCall], b: list[ToolCall], *, ordered: bool) -> str | None:
    if len(a) != len(b):
        return f"one wants {len(a)} calls, the other {len(b)}"
    if ordered:
        return next((reason for x, y in zip(a, b, strict=True) if (reason := _call_apart(x, y))), None)
    if sorted(call.name for call in a) != sorted(call.name for call in b):
        return "they call different tools"
    reasons = [[_call_apart(x, y) for y in b] for x in a]
    if _pairs_up(reasons):
        return None
    return next((row[0] for row in reasons if len(b) == 1), None) or "their calls cannot be paired"


def _pairs_up(reasons: list[list[str | None]]) -> bool:
    if any(None not in row for row in reasons):
        return False
    if all(row[place] is None for place, row in enumerate(reasons)):
        return True
    from scipy.optimize import linear_sum_assignment  # deferred: 40 MB, and rarely needed

    costs = [[0 if reason is None else 1 for reason in row] for row in reasons]
    rows, columns = linear_sum_assignment(costs)
    return all(costs[i][j] == 0 for i, j in zip(rows, columns, strict=True))


def _call_apart(a: ToolCall, b: ToolCall) -> str | None:
    if a.name != b.name:
        return f"one calls {a.name!r}, the other {b.name!r}"
    name = _member_apart(a.arguments, b.arguments)
    return None if name is None else f"no value of {name!r} of {a.name!r} is accepted by both"


def _member_apart(a: dict[str, Any], b: dict[str, Any]) -> str | None:
    for name in (*a, *(name for name in b if name not in a)):
        if name in a and name in b:
            if not _overlap(a[name], b[name]):
                return name
        elif not is_optional(a.get(name, b.get(name))):
            return name
    return None


def _overlap(a: Any, b: Any) -> bool:
    if is_any_of(a) or is_any_of(b):
        if is_optional(a) and is_optional(b):
            return True
        return any(_overlap(x, y) for _, x in alternatives(a) for _, y in alternatives(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return _member_apart(a, b) is None
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_overlap(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) and isinstance(b, str):
        return a == b or (squash(a) == squash(b) != "")
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


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


def _observe(task: AgentTask) -> tuple[Observation, ...]:
    """Note a task's key, its gold and a quote of what the user asks. A task without words is skipped."""
    texts = list(task.user_texts())
    if not texts:
        return ()
    pointer = texts[-1][0]
    truth = task.ground_truth
    setting = _setting(task)
    observation = Observation(
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
            "words_only": _has_words_only(task),
        },
        evidence=(quote(task, pointer), quote(task, "/ground_truth")),
    )
    return (observation,)


def _has_words_only(task: AgentTask) -> bool:
    """Tell whether nothing is known of a task except its words: neither tools nor policy nor state nor ground truth."""
    known, truth = task.environment, task.ground_truth
    return not (known.tools or known.policy or known.state is not None or any(task.gold_calls()) or truth.outputs)


observe_task = LastCache(_observe)


def groups(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    """Yield the groups of two or more same tasks, in the order of their first members.

    Variants of one base task in different files are meant to be alike: of each base task, only those of the file that
    comes first are kept.
    """
    yield from _groups(observations, lambda observation: observation.key)


def near_groups(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    """Yield the groups of tasks that are the same except for words that carry nothing, and that have one ground truth.

    The words that count are those of ``content_words``. Of tasks that are the same to the letter the first represents
    all.
    """
    for members in _groups(observations, lambda each: f"{each.value['near']} {_gold(each)}"):
        first: dict[str, Observation] = {}
        for member in members:
            first.setdefault(member.key, member)
        if len(first) > 1:
            yield list(first.values())


def slip_groups(observations: Sequence[Observation]) -> Iterator[tuple[list[Observation], list[tuple[str, str]]]]:
    """Yield the pairs of tasks that are the same except for slips of the keyboard, with the words that differ.

    Their setting and their ground truth are equal, and the ground truth wants something: where nothing is to be done,
    equal ground truths say little.
    """
    wanting = [each for each in observations if _wants(GroundTruth.model_validate(each.value["ground_truth"]))]
    for members in _groups(wanting, setting_and_gold):
        first: dict[str, Observation] = {}
        for member in members:
            first.setdefault(member.value["near"], member)
        for one, other in combinations(first.values(), 2):
            slips = _slips(one.value["said"], other.value["said"])
            if slips:
                yield [one, other], slips


def setting_and_gold(observation: Observation) -> str:
    """Name what a task shares with those that it may be the same as, whatever its words are."""
    return f"{observation.value['setting']} {_gold(observation)}"


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
    """Return why no run can meet the ground truths of two same tasks; None when one may."""
    first, second = (GroundTruth.model_validate(item.value["ground_truth"]) for item in (a, b))
    return contradiction(first, second, a.value["traits"], b.value["traits"])


def group_cause(what: str, members: Sequence[Observation]) -> str:
    """Name a group so that the same pair of base tasks in several variant files is one cause."""
    return f"{what}: " + " = ".join(sorted({member.value["cluster"] or member.task_id for member in members}))
