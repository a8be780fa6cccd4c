"""The flaws of the demo benchmark: small changes of tasks, environments and runs, each with the check that finds it."""

from typing import Any

from agenthard.flows.demo.library_desk import EVENING, LIBRARY, LibraryDesk
from agenthard.flows.demo.models import SIMULATORS
from agenthard.flows.demo.parcel_service import NIGHT, PARCELS, ParcelService
from agenthard.flows.demo.scenario import Setting
from agenthard.flows.demo.world import World
from agenthard.taxonomy import ToolCall
from agenthard.taxonomy.record import Record


class Flaw(Record):
    """A change that makes a part of the benchmark wrong."""

    check: str
    """Id of the check that is expected to find it."""
    category: str
    """Taxonomy category."""
    cause: str
    """Where it sits: a task by its id, or a tool, a policy or a user simulator in words."""
    change: str
    """What is changed."""


class TaskFlaw(Flaw):
    """A change of the task that ``cause`` names."""

    edits: dict[str, Any]
    """New values by JSON Pointer into the task; a last token ``-`` appends to a list."""
    copied: bool = False
    """The changed task stands beside the original instead of replacing it."""


class EnvironmentFlaw(Flaw):
    """A change of a tool or a policy."""

    edits: dict[str, Any]
    """New values by JSON Pointer into the environment."""
    settings: tuple[str, ...]
    """Names of the settings that have it."""
    tools: frozenset[str] = frozenset()
    """Only tasks that call one of these are affected; empty: all tasks of the settings."""


class RunFlaw(Flaw):
    """Something that goes wrong in runs of one task."""

    task_id: str
    """The task."""
    asked: ToolCall | None = None
    """A call whose response is often mixed up; None: the user is confused."""
    answered: ToolCall | None = None
    """The call whose response is given instead."""


def _tool(world: type[World], name: str) -> str:
    return f"/tools/{[tool.name for tool in world.tools()].index(name)}"


def _policy(place: Setting, old: str, new: str) -> dict[str, Any]:
    if old not in place.environment.policy:
        raise ValueError(f"the policy of {place.name} does not contain {old!r}")
    return {"/policy": place.environment.policy.replace(old, new)}


_BATHTUB = "KP-49353"
_STOP = "Stop the delivery of a parcel."

ENVIRONMENT_FLAWS = (
    EnvironmentFlaw(
        check="tool-doc-contradiction",
        category="misleading-tool-design",
        cause="tool quote_price",
        change='the default of service is "normal", which is none of standard, express and bulky',
        edits={_tool(ParcelService, "quote_price") + "/parameters/properties/service/default": "normal"},
        settings=(PARCELS.name, NIGHT.name),
        tools=frozenset({"quote_price"}),
    ),
    EnvironmentFlaw(
        check="identical-tool-descriptions",
        category="misleading-tool-design",
        cause="tools cancel_shipment and return_to_sender",
        change="both are described by the same sentence",
        edits={_tool(ParcelService, name) + "/description": _STOP for name in ("cancel_shipment", "return_to_sender")},
        settings=(PARCELS.name, NIGHT.name),
        tools=frozenset({"cancel_shipment", "return_to_sender"}),
    ),
    EnvironmentFlaw(
        check="tool-doc-implementation",
        category="misleading-tool-design",
        cause="tool cancel_hold",
        change="an optional parameter notify is documented that the code does not take",
        edits={
            _tool(LibraryDesk, "cancel_hold") + "/parameters/properties/notify": {
                "type": "boolean",
                "description": "Whether the next member in line gets a message.",
                "default": True,
            }
        },
        settings=(LIBRARY.name, EVENING.name),
        tools=frozenset({"cancel_hold"}),
    ),
    EnvironmentFlaw(
        check="prompt-unknown-tool",
        category="incorrect-system-prompt",
        cause="policy of parcels-night",
        change="the policy tells the agent to use lookup_parcel; the tool is called track_parcel",
        edits=_policy(NIGHT, "`track_parcel` tool", "`lookup_parcel` tool"),
        settings=(NIGHT.name,),
    ),
    EnvironmentFlaw(
        check="prompt-code-example",
        category="incorrect-system-prompt",
        cause="policy of library-evening",
        change="the example of a call in the policy lost its closing parenthesis",
        edits=_policy(EVENING, "hours=2)", "hours=2"),
        settings=(EVENING.name,),
    ),
)

TASK_FLAWS = (
    TaskFlaw(
        check="call-schema",
        category="malformed-tool-call",
        cause="parcels/11",
        change="the gold gives the weight as text instead of an integer",
        edits={"/ground_truth/turns/0/0/arguments/weight_grams": "1250"},
    ),
    TaskFlaw(
        check="call-schema",
        category="malformed-tool-call",
        cause="library/9",
        change="the gold gives place_hold a parameter notify_by, which the tool does not have",
        edits={"/ground_truth/turns/0/1/arguments/notify_by": "post"},
    ),
    TaskFlaw(
        check="near-miss-value",
        category="incorrect-tool-call",
        cause="parcels/14",
        change="the gold leaves the note at KP-41983, which does not exist; the customer says KP-41938",
        edits={"/ground_truth/turns/0/0/arguments/tracking_id": "KP-41983"},
    ),
    TaskFlaw(
        check="all-fail",
        category="incorrect-tool-call",
        cause="parcels/10",
        change="the gold ships to Ludo Fennwick; the customer says Fenwick. No rule reads names, but the scores tell",
        edits={"/ground_truth/turns/1/0/arguments/recipient_name": "Ludo Fennwick"},
    ),
    TaskFlaw(
        check="ungrounded-argument",
        category="redundant-tool-call",
        cause="parcels/13",
        change="the gold wants the reference SF-20418 on the label, which nobody mentions",
        edits={"/ground_truth/turns/0/0/arguments/reference": "SF-20418"},
    ),
    TaskFlaw(
        check="turn-count",
        category="incorrect-tool-call",
        cause="parcels/7",
        change="the gold of the third turn is gone",
        edits={
            "/ground_truth/turns": [
                [{"name": "track_parcel", "arguments": {"tracking_id": _BATHTUB}}],
                [
                    {
                        "name": "reschedule_delivery",
                        "arguments": {"tracking_id": _BATHTUB, "date": "2025-03-20", "window": "morning"},
                    }
                ],
            ]
        },
    ),
    TaskFlaw(
        check="duplicate-task",
        category="duplicate-or-conflicting-task",
        cause="library/8",
        change="the task stands in the benchmark twice",
        edits={},
        copied=True,
    ),
    TaskFlaw(
        check="conflicting-gold",
        category="duplicate-or-conflicting-task",
        cause="parcels/18",
        change='the task stands in the benchmark a second time, with the reason "damaged" in its gold',
        edits={"/ground_truth/turns/0/0/arguments/reason": "damaged"},
        copied=True,
    ),
    TaskFlaw(
        check="do-nothing-passes",
        category="too-lenient",
        cause="library/22",
        change="the due date that the member asks for is no longer required in the reply",
        edits={"/ground_truth/outputs": [], "/evaluation/checks": [{"kind": "final_state", "scored": True}]},
    ),
    TaskFlaw(
        check="substring-check",
        category="too-lenient",
        cause="parcels/23",
        change='the required text is cut from "2025-03-12" to "12", which also stands in the 1,120 grams',
        edits={"/ground_truth/outputs/0": "12", "/evaluation/checks/1/expected": "12"},
    ),
    TaskFlaw(
        check="unscored-requirement",
        category="unscored-requirement",
        cause="library/16",
        change="a requirement on what the assistant says was added, and no code scores it",
        edits={
            "/evaluation/checks/-": {
                "kind": "judge",
                "scored": False,
                "expected": "The assistant tells the member how many cents of the fine are left.",
            }
        },
    ),
)

RUN_FLAWS = (
    RunFlaw(
        check="user-role-confusion",
        category="user-role-confusion",
        cause=f"simulator {SIMULATORS[1]}",
        task_id="library/4",
        change=f"the simulator {SIMULATORS[1]} often takes itself for the assistant in this task",
    ),
    RunFlaw(
        check="wrong-entity-response",
        category="incorrect-tool-response",
        cause="tool track_parcel",
        task_id="parcels/2",
        change="track_parcel often answers the question for KP-41938 with the parcel KP-43075",
        asked=ToolCall(name="track_parcel", arguments={"tracking_id": "KP-41938"}),
        answered=ToolCall(name="track_parcel", arguments={"tracking_id": "KP-43075"}),
    ),
)
