"""Tasks on which models make the ground truth's calls, and fail for a text that their replies lack."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.model_agreement import EXEMPLARS, MIN_MODELS, by_task, how_many, measured
from agenthard.audit.detectors.support.run_effects import effect_of_gold, effect_of_run
from agenthard.audit.detectors.support.score_matrix import quote_verdict
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class SameMissingText(SuiteDetector):
    """Tasks whose failed runs do what the ground truth does, and lack one and the same required text.

    Rule: a failed run makes the calls of the ground truth that can change something, and no others; its replies have
    all required texts but one. Texts are compared as substrings, in lower case and without commas. A model counts when
    more than half of its scored runs fail so. At least five models lack the same text, and fewer mostly pass. Then the
    text decides the score alone: either no text asks for it, or it is wrong, or it can be said in other words.

    Flagged: ten of twenty-one models make the right exchange and never say "1093.34"; none passes.
    Not flagged: eleven models that lack "4" where fifteen pass; models that also change something else.

    When it is wrong: the request asks for the text in so many words, and the models forget it, or they miscalculate a
    total, each in its own way. It is a signal and drops nothing.
    """

    id = "same-missing-text"
    title = "Models do all that is asked but for one required text"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = "Where models that change the right things fail for one text, the request does not ask for it or it is wrong."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only a task with calls and required texts can fail by a text alone."""
        if not task.ground_truth.outputs:
            return "no text is required"
        return None if effect_of_gold(task) is not None else "the ground truth has no calls"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note, per model, the text that its failed runs mostly lack, and whether it mostly passes."""
        gold = effect_of_gold(task)
        scored: dict[str, list[bool]] = defaultdict(list)
        lacking: dict[str, Counter[int]] = defaultdict(Counter)
        examples: dict[tuple[str, int], Evidence] = {}
        for run in runs:
            effect = effect_of_run(task, run) if run.passed is not None else None
            if run.passed is None or effect is None:
                continue
            scored[run.model].append(run.passed)
            missing = [] if run.passed or effect.lines != gold else _missing(task, run)
            if len(missing) == 1:
                lacking[run.model][missing[0]] += 1
                examples.setdefault((run.model, missing[0]), quote_verdict(run))
        for model, verdicts in sorted(scored.items()):
            texts = sorted(text for text, times in lacking[model].items() if 2 * times > len(verdicts))
            value = {"passes": 2 * sum(verdicts) > len(verdicts), "text": texts[0] if texts else None}
            evidence = (examples[model, texts[0]], _required(task, texts[0])) if texts else ()
            yield Observation(task_id=task.id, key=model, value=value, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task and text that more models lack than pass."""
        tasks, undecided = by_task(observations)
        yield from undecided
        for task, items in tasks.items():
            passing = sum(item.value["passes"] for item in items)
            groups: dict[int, list[Observation]] = defaultdict(list)
            for item in items:
                if item.value["text"] is not None:
                    groups[item.value["text"]].append(item)
            group = max(groups.values(), key=len, default=[])
            if len(group) >= MIN_MODELS and len(group) > passing:
                yield Conclusion(task_ids=(task,), hit=_hit(task, group, len(items), passing))


def _missing(task: AgentTask, run: Trajectory) -> list[int]:
    replies = [_plain(message.content) for message in run.messages if message.role == "assistant"]
    texts = enumerate(task.ground_truth.outputs)
    return [i for i, text in texts if not any(_plain(text) in reply for reply in replies)]


def _plain(text: str) -> str:
    return text.casefold().replace(",", "")


def _required(task: AgentTask, index: int) -> Evidence:
    return quote(task, f"/ground_truth/outputs/{index}", note="the required text")


def _hit(task: str, group: Sequence[Observation], models: int, passing: int) -> Hit:
    required = group[0].evidence[1]
    return Hit(
        claim=f"On task {task} {how_many(len(group), models)} mostly make the calls of the ground truth, and fail for "
        f"the one text {required.quote!r} that their replies lack; {passing} mostly pass.",
        fix="Let the user ask for the text, check that it is right, or do not require it.",
        cause=f"task {task}",
        evidence=(*(item.evidence[0] for item in group[:EXEMPLARS]), required),
        measures=measured(len(group), models, passing),
    )
