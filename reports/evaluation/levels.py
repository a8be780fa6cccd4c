"""Records at levels of the benchmark's factors, which are written and read as if they had a field for each factor."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from agenthard.taxonomy.record import Record


class AtLevels(Record):
    """A record with a field ``levels`` (factor → level), in whose place the factors are written."""

    @model_serializer(mode="wrap")
    def _flat(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for name, value in handler(self).items():
            written |= value if name == "levels" else {name: value}
        return written

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "levels" in data:
            return data
        known = {name: value for name, value in data.items() if name in cls.model_fields}
        return known | {"levels": {name: value for name, value in data.items() if name not in known}}
