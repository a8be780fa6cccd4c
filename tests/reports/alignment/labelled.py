"""Labelled tasks and answers, written as short texts, that the tests of this folder share."""

from collections.abc import Mapping

from agenthard.audit.statistics.sampling_frame import SamplingFrame
from agenthard.reports.alignment.answers import Answer, Answers, Outcome
from agenthard.reports.alignment.measures import Labelled
from agenthard.reports.alignment.truth import Truth

OUTCOMES: dict[str, Outcome] = {"f": "flagged", "c": "clean", "u": "undecided", "e": "error"}


def make_truth(task_id: str, flawed: bool, **changes: object) -> Truth:
    """The truth about one task, with the given fields replaced."""
    values: dict[str, object] = {
        "task_id": task_id, "flawed": flawed, "annotators": 1, "categories": (), "components": (),
        "category_known": not flawed, "component_known": not flawed, "cluster": None, "looked_again": False,
        "confirmed_later": False, "modes": (),
    }  # fmt: skip
    return Truth.model_validate(values | changes)


def make_answers(said: str, name: str = "judge", categories: Mapping[str, tuple[str, ...]] | None = None) -> Answers:
    """Answers on the tasks t0, t1 ...: f flagged, c clean, u undecided, e error, anything else not asked."""
    named = categories or {}
    by_task = {
        f"t{i}": Answer(outcome=OUTCOMES[letter], categories=named.get(f"t{i}", ()), reason=f"because {letter}")
        for i, letter in enumerate(said)
        if letter in OUTCOMES
    }
    return Answers(name=name, kind="judge", by_task=by_task)


def make_labelled(
    truth: str, clusters: str = "", strata: str = "", population: dict[str, int] | None = None
) -> Labelled:
    """Labelled tasks t0, t1 ...: x flawed, o sound; a letter each names the cluster and the stratum."""
    tasks = tuple(make_truth(f"t{i}", letter == "x") for i, letter in enumerate(truth))
    frame = SamplingFrame(
        tasks=tuple(task.task_id for task in tasks),
        clusters=tuple(clusters) or None,
        strata=tuple(strata) or None,
        population=population,
    )
    return Labelled(truth=tasks, frame=frame)
