"""The base of every record: frozen, strict about unknown fields, documented field by field."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen pydantic model; an unknown field is an error, and field docstrings become the JSON Schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Origin(Record):
    """Where a part of a record comes from in the benchmark's own files."""

    file: str
    """Path relative to the benchmark's root folder, with forward slashes."""
    line: int | None = None
    """1-based line of the document in a JSON Lines file; None when the whole file is one document."""
    pointer: str = ""
    """JSON Pointer (RFC 6901) inside that document."""
