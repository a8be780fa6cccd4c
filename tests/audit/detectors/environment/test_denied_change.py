import pytest

from agenthard.audit.detectors.environment import DeniedChange
from agenthard.taxonomy import ToolSpec

DENIALS = [
    "Looks only; nothing is changed.",
    "Read-only, safe to call any time.",
    "This is a read-only operation.",
    "Has no effect on any record.",
    "Runs without side effects.",
    "It does not modify the database.",
    "It never touches any data.",
    "Leaves everything as it was.",
    "No record will be altered.",
    "A pure look-up.",
    "[read-only]",
    "readOnly: true",
    "destructive=False",
    "This call doesn't make any changes.",
    "It never saves to disk.",
    "No modifications are made.",
]


@pytest.mark.parametrize("denial", DENIALS)
def test_a_write_that_denies_its_change(denial: str) -> None:
    tool = ToolSpec(name="set_window", effect="write", description=f"Put a parcel into a window. {denial}")
    [hit] = DeniedChange().inspect_tool(tool)
    assert [item.quote for item in hit.evidence] == [denial, "write"]


@pytest.mark.parametrize("denial", DENIALS)
def test_a_tool_that_reads_may_say_so(denial: str) -> None:
    for effect, name in (("read", "get_window"), ("unknown", "get_window"), ("unknown", "cancel_preview")):
        assert list(DeniedChange().inspect_tool(ToolSpec(name=name, effect=effect, description=denial))) == []


def test_where_nothing_is_marked_the_name_tells() -> None:
    [hit] = DeniedChange().inspect_tool(ToolSpec(name="desk.cancelBooking", description="Read-only. Cancel a booking."))
    assert hit.evidence[1].quote == "desk.cancelBooking"


@pytest.mark.parametrize(
    "description",
    [
        "Put a parcel into a window.",
        "Make a file read-only.",
        "Set the read-only flag of a file.",
        "Move the parcel. It does not change the payment method.",
        "Nothing is changed if the parcel has left.",
        "Change the window without changing the day.",
        "Has no effect when the parcel has left.",
        "Only shows up for pending parcels.",
        "Set read_only=true to look first.",
        "It never writes to the log.",
        "Updates a row; unspecified fields remain unchanged.",
        "",
    ],
)
def test_what_denies_nothing_of_the_whole_tool(description: str) -> None:
    assert list(DeniedChange().inspect_tool(ToolSpec(name="set_window", effect="write", description=description))) == []
