"""The checks of the evaluator, as the mapping describes them."""

from collections.abc import Callable, Iterator, Set
from typing import Any

from agenthard.audit.sources.mapping.mapping import ScoringMap, ValuePath
from agenthard.audit.sources.mapping.paths import text_list
from agenthard.taxonomy.task import Check, GroundTruth

ANSWER_NOTES = {
    "exact": "the final answer must equal one of these texts",
    "contains": "the final answer must contain one of these texts",
    "whole_words": "one of these texts must stand in the final answer as whole words",
    "judge": "a model judges whether the final answer means one of these texts",
    "none": "no code compares the final answer",
}
OUTPUT_NOTES = {
    "contains": "must be part of the agent's replies",
    "whole_words": "must stand in the agent's replies as whole words",
    "none": "no code looks for it",
}
ANY_CALL_NOTE = "any call suffices"


def checks(
    spec: ScoringMap, truth: GroundTruth, traits: Set[str], value_at: Callable[[ValuePath | None], Any]
) -> tuple[Check, ...]:
    """Return the checks of a task.

    Args:
        spec: what the mapping says about scoring.
        truth: the ground truth.
        traits: conventions of the task.
        value_at: looks up a place in the row.
    """
    found = [*_calls(truth, traits), *_texts(spec, truth), *_stated(spec, value_at)]
    if not spec.note:
        return tuple(found)
    return tuple(check.model_copy(update={"note": "; ".join(filter(None, (check.note, spec.note)))}) for check in found)


def _calls(truth: GroundTruth, traits: Set[str]) -> Iterator[Check]:
    if "expects_any_call" in traits:
        yield Check(kind="tool_calls", scored=True, note=ANY_CALL_NOTE)
    elif "expects_no_call" in traits and not any(truth.turns):
        yield Check(kind="no_call", scored=True)
    elif truth.call_matching != "none":
        kind = "final_state" if truth.call_matching == "state" else "tool_calls"
        several = len(truth.turns) > 1
        for index, turn in enumerate(truth.turns):
            if turn or not several:
                yield Check(kind=kind, scored=True, pointer=f"/ground_truth/turns/{index}")


def _texts(spec: ScoringMap, truth: GroundTruth) -> Iterator[Check]:
    for index, text in enumerate(truth.outputs):
        scored, note = spec.outputs != "none", OUTPUT_NOTES[spec.outputs]
        pointer = f"/ground_truth/outputs/{index}"
        yield Check(kind="output_substring", scored=scored, expected=text, pointer=pointer, note=note)
    if truth.answers:
        kind = "judge" if spec.answer == "judge" else "output_substring"
        yield Check(
            kind=kind,
            scored=spec.answer != "none",
            expected=list(truth.answers),
            pointer="/ground_truth/answers",
            note=ANSWER_NOTES[spec.answer],
        )


def _stated(spec: ScoringMap, value_at: Callable[[ValuePath | None], Any]) -> Iterator[Check]:
    for text in text_list(value_at(spec.rubric)):
        yield Check(kind="rubric", scored=spec.rubric_scored, expected=text)
    assertions = value_at(spec.assertions)
    for item in assertions if isinstance(assertions, list) else [] if assertions is None else [assertions]:
        yield Check(kind="state_assertion", scored=True, expected=item)
    state = value_at(spec.final_state)
    if state is not None:
        yield Check(kind="final_state", scored=True, expected=state)
