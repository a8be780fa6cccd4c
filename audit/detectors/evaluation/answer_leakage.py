"""Check: a trait of the candidates gives the answer away."""

from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.probes import GiveAway, Scene, read_scene, run_battery
from agenthard.audit.probes.report import FEWEST
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_FIXES = {
    "order": "Shuffle the candidates of every choice again.",
    "pool order": "Write the list of all items in an order that does not depend on the answers, such as by id.",
    "ids": "Draw the ids of all items together, after the answers are fixed and the items are shuffled.",
    "text": "Name all items together, after they are shuffled, and number them at random.",
    "range": "Keep every candidate inside the range from which the right ones are drawn.",
    "consistency": "When a value of a candidate is changed, change what depends on it too.",
    "limits": "Draw the limits of the rules so that the right candidate lies no nearer to them than others.",
    "duplicates": "Remove repeated candidates, or repeat right ones as often.",
}
_FIX = "Choose the wrong candidates so that they have this trait as often as the right one."


class AnswerLeakage(SuiteDetector):
    """No trait of a candidate tells that it is the right one, other than the task's own rules.

    A task that offers candidates states them in its ``metadata``::

        {"candidates": {
            "kind": "course",                             # optional: tasks of a kind share their attributes
            "shown": [{"id": "C9", "price": 210}],        # optional: items of the same sort that the task shows
            "pool": ["C7", "C9", "C12"],                  # optional: all ids, in the order of the public file
            "sets": [{"id": "(0, 3)",                    # optional: names the choice
                "candidates": [{"id": "C7", "price": 140, "name": "Algebra 3"}, {"id": "C12", ...}],
                "truth": "C7",
                "rules": [{"attribute": "price", "max": 400}],     # optional: "max" or "min"
                "look_ahead": {"mean": [0.2, -0.1]}}]}}            # optional: scores by way to look

    Simple ways to guess are tried on all choices of the benchmark: the order, the ids, every attribute and text field,
    the order of the pool, ranges, contradictions, frequencies, limits, the odd one out, duplicates, and classifiers
    that learn from some tasks and guess in others. Each is measured over all candidates, and where rules are stated
    also among the candidates that meet them. A way to guess is flagged when it hits more or less often than chance:
    exact p below 0.05 after Holm's correction for the number of ways, and the 95 % interval, clustered by task, on one
    side of chance. A trait that names every answer is confirmed; one that closes less than 15 % of the gap between a
    guess and certainty is a cosmetic note. Tasks with the same candidates are one task said twice, and count once.
    There is one finding per trait, on the tasks where the trait points to the answer. Look-ahead reads the rules, so it
    is reasoning and never flagged.

    Flagged: the right candidate always has the lowest number in its name, because it was made first.

    Not flagged: the right candidate is the only one that meets the stated rules; it is first in 6 % of 400 choices.

    When it is wrong: a trait can be the way to solve the task without being stated as a rule ("book the cheapest
    flight"); state it as a rule, or accept the finding. Of twenty benchmarks without any give-away, at most about one
    gets a finding. With few choices a weak give-away goes unnoticed.
    """

    id = "answer-leakage"
    title = "A trait of the candidates gives the answer away"
    version = "4"
    category = "answer-leakage"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    why = "A solver that knows the trait is right without solving the task, so a pass no longer shows what it should."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks that state their candidates can be checked."""
        return None if "candidates" in task.metadata else "the task states no candidates to choose from"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note the candidates and what the solver reads; quote the answers."""
        data, text = task.metadata["candidates"], "\n".join(text for _, text in task.user_texts())
        scene = read_scene(data, task.id, text)
        evidence = tuple(
            quote(task, f"/metadata/candidates/sets/{index}/truth", note=f"the answer of choice {choice.id}")
            for index, choice in enumerate(scene.sets)
        )
        yield Observation(task_id=task.id, key="", value={"candidates": data, "text": text}, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion | Undecided]:
        """Yield one hit per trait that gives answers away."""
        first: dict[str, Observation] = {}
        for note in observations:
            first.setdefault(canonical_json(note.value["candidates"]), note)
        observations = list(first.values())
        scenes = [read_scene(note.value["candidates"], note.task_id, note.value["text"]) for note in observations]
        choices = sum(len(scene.sets) for scene in scenes)
        if choices < FEWEST:
            reason = f"{choices} choices in the benchmark; {FEWEST} are needed to tell a shortcut from luck"
            yield Undecided(task_ids=tuple(scene.id for scene in scenes), reason=reason)
            return
        report = run_battery(scenes)
        answers = _answers(scenes, observations)
        for shortcut in report.give_aways():
            yield _conclusion(shortcut, answers)


def _answers(scenes: Sequence[Scene], observations: Sequence[Observation]) -> dict[tuple[str, str], Evidence]:
    return {
        (scene.id, choice.id): item
        for scene, note in zip(scenes, observations, strict=True)
        for choice, item in zip(scene.sets, note.evidence, strict=True)
    }


def _conclusion(shortcut: GiveAway, answers: dict[tuple[str, str], Evidence]) -> Conclusion:
    best = shortcut.best
    more = f" {shortcut.agreeing} more results of this trait agree." if shortcut.agreeing else ""
    measures = {name: float(getattr(best, name)) for name in ("n", "hits", "rate", "low", "high", "chance", "p_holm")}
    measures["effect"] = shortcut.effect
    return Conclusion(
        task_ids=best.tasks,
        hit=Hit(
            claim=best.sentence + more,
            evidence=tuple(answers[example] for example in best.examples),
            fix=_FIXES.get(best.family, _FIX),
            cause=f"trait {shortcut.trait}",
            measures=measures,
            tier=Tier.CONFIRMED if shortcut.grade == "certain" else None,
            severity=Severity.COSMETIC if shortcut.grade == "note" else None,
        ),
    )
