"""Parse a judge's answer into a verdict, or an error that says why it is not one. The judge has read hostile text.

An answer is one JSON object. A block of thoughts may come first (``<think>...</think>``), then words without braces,
and the object may be in a code fence; nothing may follow it. Two objects, or an object with words after it, are not
read: a judge that cites a verdict found in the task must not be taken to give it.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from agenthard.audit.judge.verdict import Verdict
from agenthard.taxonomy.errors import AgentHardError

MOST_CHARACTERS = 200_000
"""Length from which on an answer is not read."""
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OPEN_THOUGHTS = re.compile(r"<think(?:ing)?>")
_SHOWN = 200
"""Characters of the answer's own words that a message repeats."""


class UnreadableVerdictError(AgentHardError, ValueError):
    """An answer is not a verdict; the message says why, in a line or two."""

    code = "AH402"
    remedy = "Nothing: the judge is asked again up to its limit, then the task counts as not judged."


def read_verdict(text: str, categories: Sequence[str]) -> Verdict:
    """Read a verdict from a judge's answer.

    Args:
        text: The answer.
        categories: Ids of the categories that the judge was offered.

    Raises:
        UnreadableVerdictError: It is too long, no JSON object or more than one, a field given twice, a field that is
            missing, unknown or wrong, issues that do not fit the outcome, a category that was not offered.
    """
    written = answer_object(text)
    try:
        verdict = Verdict.model_validate_json(written, strict=True)
    except ValidationError as error:
        faults = "; ".join(f"{_place(fault['loc'])}: {fault['msg'][:_SHOWN]}" for fault in error.errors()[:5])
        raise UnreadableVerdictError(f"the answer is not a verdict: {faults}") from None
    for number, issue in enumerate(verdict.issues):
        if issue.category not in categories:
            offered = ", ".join(categories)
            raise UnreadableVerdictError(
                f"issues.{number}.category: {issue.category[:_SHOWN]!r} is not one of {offered}"
            )
    return verdict


def answer_object(text: str) -> str:
    """Return the text of the one JSON object that an answer is.

    Raises:
        UnreadableVerdictError: It is too long, no JSON object or more than one, or a field is given twice.
    """
    if len(text) > MOST_CHARACTERS:
        raise UnreadableVerdictError(f"the answer has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    written = _object_in(text)
    _refuse_double_fields(written)
    return written


def _object_in(text: str) -> str:
    answer = _THOUGHTS.sub("", text, count=1).removeprefix("\ufeff").strip()
    before, brace, behind = answer.partition("{")
    if not brace:
        raise UnreadableVerdictError(f"the answer holds no JSON object; it begins {answer[:_SHOWN]!r}")
    if _OPEN_THOUGHTS.search(before):
        raise UnreadableVerdictError("the answer ends within its thoughts")
    if "}" in before:
        raise UnreadableVerdictError("braces precede the JSON object, so it cannot be told what the answer is")
    written = brace + behind
    return written.removesuffix("```").rstrip() if "```" in before else written


def _refuse_double_fields(written: str) -> None:
    """Refuse what a lenient parser accepts: duplicate fields, NaN and infinities, and too deep nesting."""
    try:
        json.loads(written, object_pairs_hook=_unique, parse_constant=_no_number)
    except UnreadableVerdictError:
        raise
    except RecursionError:
        raise UnreadableVerdictError("the answer is nested too deeply") from None
    except ValueError as error:
        reason = str(error)[:_SHOWN]
        raise UnreadableVerdictError(f"the answer is not one JSON object with nothing after it: {reason}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableVerdictError(f"the field {name[:_SHOWN]!r} is given twice")
        found[name] = value
    return found


def _no_number(word: str) -> NoReturn:
    raise UnreadableVerdictError(f"{word} is not a number in JSON")


def _place(parts: tuple[int | str, ...]) -> str:
    return ".".join(map(str, parts))[:_SHOWN] or "the whole"
