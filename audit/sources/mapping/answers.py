"""Accepted final answers, also those of multiple-choice questions."""

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from agenthard.audit.sources.mapping.texts import as_text, text_list


def accepted_answers(given: Any, choices: Any, first: int) -> tuple[str, ...]:
    """Return the accepted answers of a task; an index or a letter of a choice is accepted with the choice's text.

    Args:
        given: an answer, or a list of accepted ones.
        choices: None, a list of choices, or an object of choices by label.
        first: number of the first choice, where answers are numbers.

    >>> [accepted_answers(given, ["Oslo", "Rome"], 0) for given in ("B", 1, "Oslo", "Bern")]
    [('B', 'Rome'), ('B', 'Rome'), ('Oslo',), ('Bern',)]
    """
    labelled = _labelled(choices)
    answers: list[str] = []
    for text in text_list(given):
        answers += _choice(text, labelled, first) or [text]
    return tuple(dict.fromkeys(answers))


def candidates(given: Any, choices: Any, first: int) -> dict[str, Any] | None:
    """State the choices of a task so that checks can look for traits that give the answer away.

    Returns:
        One choice, in the form that :class:`audit.detectors.evaluation.answer_leakage.AnswerLeakage` reads; None when
        there are no choices or the answer is not exactly one of them.

    >>> candidates("B", ["Oslo", "Rome"], 0)["sets"][0]["truth"]
    'B'
    """
    labelled = _labelled(choices)
    texts = text_list(given)
    found = _choice(texts[0], labelled, first) if len(texts) == 1 else []
    truth = [label for label, text in labelled.items() if text == (found[-1] if found else None)]
    if len(truth) != 1:
        return None
    listed = [{"id": label, "text": text} for label, text in labelled.items()]
    return {"sets": [{"candidates": listed, "truth": truth[0]}]}


def _labelled(choices: Any) -> dict[str, str]:
    if isinstance(choices, Mapping):
        if isinstance(choices.get("text"), list) and isinstance(choices.get("label"), list):
            return {as_text(k): as_text(v) for k, v in zip(choices["label"], choices["text"], strict=False)}
        return {as_text(key): as_text(value) for key, value in choices.items()}
    if isinstance(choices, list):
        return {label: as_text(choice) for label, choice in zip(ascii_uppercase, choices, strict=False)}
    return {}


def _choice(text: str, labelled: Mapping[str, str], first: int) -> list[str]:
    if text in labelled.values():
        return [text]
    if text in labelled:
        return [text, labelled[text]]
    index = int(text) - first if text.isdigit() else -1
    label = list(labelled)[index] if 0 <= index < len(labelled) else None
    return [label, labelled[label]] if label is not None else []
