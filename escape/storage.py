"""Rooms as lines of JSON, and suites of them: ``rooms`` are public, ``secrets`` decide and score."""

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agenthard.audit.sources.formats.suite import Layout, MalformedInstanceError, Part, Suites
from agenthard.escape.room import Certificate, Instance, Provenance, Room, Secret


@dataclass(frozen=True, slots=True)
class _Private:
    id: str
    secret: Secret
    certificate: Certificate | None
    provenance: Provenance | None


_T = TypeVar("_T")
_ROOM = TypeAdapter(Room)
_PRIVATE = TypeAdapter(_Private)
_INSTANCE = TypeAdapter(Instance)


def to_data(instance: Instance) -> dict[str, Any]:
    """Return a whole room as JSON data."""
    data: dict[str, Any] = _INSTANCE.dump_python(instance, mode="json", exclude=_unused(instance))
    return data


def from_data(data: Any) -> Instance:
    """Return the room of JSON data.

    Raises:
        MalformedInstanceError: It is none; the message names the field.
    """
    try:
        return _INSTANCE.validate_python(data)
    except ValidationError as error:
        raise MalformedInstanceError(_reason(error)) from error


def _room_line(instance: Instance) -> bytes:
    return _ROOM.dump_json(instance.room)


def _secret_line(instance: Instance) -> bytes:
    private = _Private(instance.id, instance.secret, instance.certificate, instance.provenance)
    return _PRIVATE.dump_json(private, exclude=_unused(instance))


def _unused(instance: Instance) -> dict[str, Any] | None:
    """A room of which no model wrote anything has no field for it."""
    made = instance.provenance
    return {"provenance": {"written"}} if made is not None and not made.written else None


def _read_room(line: bytes) -> Room:
    return _parsed(_ROOM, line)


def _read_instance(room: Room, line: bytes) -> Instance:
    private = _parsed(_PRIVATE, line)
    if private.id != room.id:
        raise MalformedInstanceError(f"the room {room.id!r} is paired with the secret of {private.id!r}")
    return Instance(room, private.secret, private.certificate, private.provenance)


def _parsed(adapter: TypeAdapter[_T], line: bytes) -> _T:
    try:
        return adapter.validate_json(line, strict=True)
    except ValidationError as error:
        raise MalformedInstanceError(_reason(error)) from error


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "the line"
    return f"{where}: {first['msg']} ({error.error_count()} such problems)"


SUITES: Suites[Room, Instance] = Suites(
    Layout(
        format="agenthard-escape",
        version=1,
        command="agenthard escape generate",
        public=Part(
            name="rooms",
            word="room",
            line=_room_line,
            columns={"id": "text", "theme": "text", "nodes": "number"},
            row=lambda each: {"id": each.id, "theme": each.room.theme, "nodes": each.room.nodes},
        ),
        private=Part(
            name="secrets",
            word="secret",
            line=_secret_line,
            columns={"id": "text", "min_calls": "number", "hidden": "number"},
            row=lambda each: {
                "id": each.id,
                "min_calls": each.certificate.min_calls if each.certificate else None,
                "hidden": len(each.hidden),
            },
        ),
        read_public=_read_room,
        read_whole=_read_instance,
        id_of=lambda room: room.id,
    )
)
"""Reader and writer of suites."""
