"""Tools on times."""

from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, Values

ZONES = (
    *("Africa/Cairo", "Africa/Nairobi", "America/Bogota", "America/Chicago", "America/Halifax", "America/Lima"),
    *("Asia/Dubai", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Seoul", "Asia/Tokyo", "Australia/Sydney"),
    *("Europe/Athens", "Europe/Berlin", "Europe/Lisbon", "Europe/Paris", "Pacific/Auckland", "Pacific/Honolulu"),
)


def _convert(values: Values, files: Files) -> dict[str, str]:
    if values["zone"] not in ZONES:
        raise ToolUseError("this time zone is not known here")
    try:
        moment = datetime.fromisoformat(values["timestamp"])
    except ValueError as error:
        raise ToolUseError("the time is not written by ISO 8601") from error
    if moment.tzinfo is None or not 1990 <= moment.year <= 2020:
        raise ToolUseError("the time has to have an offset, and lie between 1990 and 2020")
    return {"timestamp": moment.astimezone(ZoneInfo(values["zone"])).isoformat()}


def _convert_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    here, there = rng.sample(ZONES, 2)
    start = datetime(2001, 1, 1, tzinfo=ZoneInfo("UTC"))
    moment = (start + timedelta(seconds=rng.randrange(18 * 365 * 86_400))).astimezone(ZoneInfo(here))
    return {"timestamp": moment.isoformat(), "zone": there}


TIMES = (
    tool(
        "timezone_convert",
        "tells a time in another time zone",
        ["timestamp:T! the time with its offset", "zone:T! the other time zone"],
        ["timestamp:T the time there"],
        _convert,
        _convert_fill,
    ),
)
