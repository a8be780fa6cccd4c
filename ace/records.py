"""An instance as two lines of JSON: the public part, and the private part with certificate and provenance."""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from agenthard.ace.errors import MalformedInstanceError
from agenthard.ace.instance import Answer, Certificate, Instance, Provenance, Puzzle


@dataclass(frozen=True, slots=True)
class _Private:
    id: str
    answer: Answer
    certificate: Certificate | None
    provenance: Provenance | None


_T = TypeVar("_T")
_PUZZLE = TypeAdapter(Puzzle)
_PRIVATE = TypeAdapter(_Private)


def puzzle_line(puzzle: Puzzle) -> bytes:
    """Writes the public part of an instance.

    Args:
        puzzle: The public part.

    Returns:
        JSON in UTF-8 without a line break: an object with the fields of ``agenthard.ace.instance.Puzzle``.
    """
    return _PUZZLE.dump_json(puzzle)


def answer_line(instance: Instance) -> bytes:
    """Writes the private part of an instance.

    Args:
        instance: The instance.

    Returns:
        JSON in UTF-8 without a line break: ``id``, ``answer``, and ``certificate`` and ``provenance`` or null. A
        certificate without a query plan has no field for it.
    """
    private = _Private(instance.id, instance.answer, instance.certificate, instance.provenance)
    planned = instance.certificate is None or instance.certificate.plan is not None
    return _PRIVATE.dump_json(private, exclude=None if planned else {"certificate": {"plan"}})


def read_puzzle(line: bytes) -> Puzzle:
    """Reads the public part of an instance.

    Args:
        line: What ``puzzle_line`` wrote.

    Returns:
        The public part.

    Raises:
        MalformedInstanceError: A field is missing or of the wrong type; the message names it.
    """
    return _parsed(_PUZZLE, line)


def read_instance(puzzle: Puzzle, line: bytes) -> Instance:
    """Reads the private part of an instance.

    Args:
        puzzle: The public part of the same instance.
        line: What ``answer_line`` wrote.

    Returns:
        The instance.

    Raises:
        MalformedInstanceError: A field is missing or of the wrong type, or the line does not belong to the puzzle.
    """
    private = _parsed(_PRIVATE, line)
    if private.id != puzzle.id:
        raise MalformedInstanceError(f"the puzzle {puzzle.id!r} is paired with the answer of {private.id!r}")
    if len(private.answer.slots) != len(puzzle.slots):
        raise MalformedInstanceError(f"{len(puzzle.slots)} slots have {len(private.answer.slots)} answers")
    for slot in private.answer.slots:
        if slot.stage not in (1, 2, 3, 4, None):
            raise MalformedInstanceError(
                f"a slot is on preference level {slot.stage}, which is not one of 1, 2, 3, 4, null"
            )
    return Instance(puzzle, private.answer, private.certificate, private.provenance)


def _parsed(adapter: TypeAdapter[_T], line: bytes) -> _T:
    try:
        return adapter.validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise MalformedInstanceError(f"{where}: {first['msg']} ({error.error_count()} such problems)") from error
