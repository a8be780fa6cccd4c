"""The objects inside an airline call that τ²-bench validates, with the words of its validation."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agenthard.taxonomy.errors import AgentHardError

_DOCUMENTED = re.compile(r"(https://errors\.pydantic\.dev/)\d+\.\d+/")
_RECORDED = r"\g<1>2.11/"

Model = TypeVar("Model", bound=BaseModel)


class InvalidPayloadError(AgentHardError, ValueError):
    """An object does not fit; the message is the one recorded runs show."""

    code = "AH305"
    remedy = "Nothing: the tool answers with the message, as the benchmark's own tool does."


class FlightInfo(BaseModel):
    """A leg to book."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    flight_number: str
    """Flight number, such as HAT001."""
    date: str
    """Day, as YYYY-MM-DD."""


class Passenger(BaseModel):
    """A traveller."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    first_name: str
    """First name."""
    last_name: str
    """Last name."""
    dob: str
    """Date of birth, as YYYY-MM-DD."""


class Payment(BaseModel):
    """A part of the price and what pays it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    payment_id: str
    """Payment method of the user's profile."""
    amount: int
    """Dollars."""


def checked(model: type[Model], values: list[Any]) -> list[dict[str, Any]]:
    """Validate objects and return them with the model's fields only.

    Raises:
        InvalidPayloadError: when one does not fit.
    """
    try:
        return [model.model_validate(value).model_dump() for value in values]
    except ValidationError as error:
        raise InvalidPayloadError(_DOCUMENTED.sub(_RECORDED, str(error))) from error
