"""Builds the record of a native task of τ²-bench, with the benchmark's scoring conventions."""

import re
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from agenthard.audit.sources.tau.records import Native
from agenthard.audit.sources.tau.tau2.checkout import Domain
from agenthard.audit.sources.tau.tau2.python_tools import DISCOVERABLE
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolCall, UserSpec

DEFAULT_BASIS = ("DB", "COMMUNICATE")
"""What a run is scored on when the task does not name it."""
STATE_NOTE = (
    "the hashes of the agent's and the user's database after the run must equal those after the ground truth's calls; "
    "a ground-truth call that fails is passed over with a warning"
)
OUTPUT_NOTE = (
    "the text in lower case must be part of one agent message in lower case without commas; "
    "parts of longer numbers count, and a required text with a comma can never be found"
)
ACTION_NOTE = (
    "some call of the agent or the user must have this name and agree on the arguments in compare_args (null: on every "
    "argument that the call gives); order and further calls do not count"
)
_PERSONA = re.compile(r"\[PERSONA:[^\]]*\]$")
_INSTRUCTIONS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


class Instructions(Native):
    """What the user simulator is told."""

    reason_for_call: str
    """Why the user calls."""
    known_info: str | None = None
    """What the user knows."""
    unknown_info: str | None = None
    """What the user does not know."""
    task_instructions: str
    """How the user behaves."""


class UserScenario(Native):
    """The simulated user."""

    persona: str | None = None
    """Who the user is in general."""
    instructions: Instructions | str
    """The situation, structured or as one text."""


class Action(Native):
    """One call of the reference path."""

    action_id: str | None = None
    """Id within the task."""
    requestor: Literal["assistant", "user"] = "assistant"
    """Who makes the call."""
    name: str
    """Tool."""
    arguments: dict[str, Any]
    """Arguments."""
    compare_args: list[str] | None = None
    """Arguments that an action check compares; None means all."""


class Criteria(Native):
    """How a run is scored."""

    actions: list[Action] | None = None
    """The reference path."""
    env_assertions: list[dict[str, Any]] | None = None
    """Assertions on the final state."""
    communicate_info: list[str] | None = None
    """Texts the agent has to say."""
    nl_assertions: list[str] | None = None
    """Assertions for a judge."""
    reward_basis: list[str] = Field(default=list(DEFAULT_BASIS))
    """Which of them count."""


class NativeTask(Native):
    """A task as the benchmark writes it."""

    id: str
    """The benchmark's id."""
    description: dict[str, Any] | None = None
    """Purpose, policies and notes."""
    user_scenario: UserScenario
    """The user."""
    ticket: str | None = None
    """The case as described to an agent that works without a user."""
    initial_state: dict[str, Any] | None = None
    """Changes to the databases before the run."""
    evaluation_criteria: Criteria | None = None
    """The scoring; without it every run passes."""


def to_task(
    benchmark: str, domain: str, value: dict[str, Any], shared: Domain, place: Callable[[str], Origin]
) -> AgentTask:
    """Build the record of one task.

    Args:
        benchmark: name of the source.
        domain: the domain.
        value: the task as written.
        shared: what all tasks of the domain share.
        place: turns a JSON Pointer inside ``value`` into a place in the files.

    Raises:
        ValidationError: when the native task lacks a field or has one of a wrong type.
    """
    native = NativeTask.model_validate(value)
    criteria = native.evaluation_criteria
    checks, places = _checks(criteria) if criteria else ([], {})
    instructions = native.user_scenario.instructions
    return AgentTask(
        id=f"{domain}/{native.id}",
        native_id=native.id,
        benchmark=benchmark,
        subtask=domain,
        user=UserSpec(
            kind="simulated",
            instruction=instructions if isinstance(instructions, str) else "",
            context=_context(native.user_scenario),
        ),
        environment=shared.environment,
        initial_state=native.initial_state if _holds_something(native.initial_state) else None,
        hidden_tools=_hidden_tools(shared.environment),
        evaluation=EvaluationSpec(checks=tuple(checks)),
        ground_truth=_ground_truth(criteria),
        traits=frozenset({"redundant_calls_free", "deliberate_probes"}),
        cluster=f"{domain}/{_PERSONA.sub('', native.id)}" if _PERSONA.search(native.id) else None,
        metadata=_metadata(value),
        origins={**_origins(native, place), **{k: place(v) for k, v in places.items()}, **shared.origins},
    )


def _holds_something(value: Any) -> bool:
    """Tell whether a value is more than nulls and empty members, which the benchmark treats as nothing."""
    if isinstance(value, dict | list):
        return any(_holds_something(item) for item in (value.values() if isinstance(value, dict) else value))
    return value is not None


def _hidden_tools(environment: EnvironmentSpec) -> dict[str, tuple[str, ...]]:
    """Name the agent's tools that are not shown: it reads about them, unlocks them, and calls them through another."""
    hidden = tuple(tool.name for tool in environment.tools if tool.group == DISCOVERABLE)
    return {"": hidden} if hidden else {}


def _context(user: UserScenario) -> dict[str, str]:
    """Return the texts in the order in which the simulator is given them."""
    texts = {"persona": user.persona}
    if isinstance(user.instructions, Instructions):
        texts |= {name: getattr(user.instructions, name) for name in _INSTRUCTIONS}
    return {name: text for name, text in texts.items() if text is not None}


def _ground_truth(criteria: Criteria | None) -> GroundTruth:
    if criteria is None or criteria.actions is None:
        outputs = tuple(criteria.communicate_info or ()) if criteria else ()
        return GroundTruth(semantics="none", outputs=outputs, call_matching="none")
    required = "ACTION" in criteria.reward_basis
    by_state: Literal["state", "none"] = "state" if "DB" in criteria.reward_basis else "none"
    calls = tuple(
        ToolCall(name=action.name, arguments=action.arguments, requestor=action.requestor, id=action.action_id)
        for action in criteria.actions
    )
    return GroundTruth(
        semantics="required" if required else "reference_path",
        turns=(calls,),
        outputs=tuple(criteria.communicate_info or ()),
        call_matching="any_order" if required else by_state,
    )


def _checks(criteria: Criteria) -> tuple[list[Check], dict[str, str]]:
    """List what the evaluator looks at, and what it does not although the task states it, with native places."""
    basis = criteria.reward_basis
    found: list[tuple[Check, str]] = []
    if "DB" in basis and (criteria.actions is not None or criteria.env_assertions is not None):
        pointer = "/ground_truth" if criteria.actions is None else "/ground_truth/turns/0"
        found.append((Check(kind="final_state", scored=True, pointer=pointer, note=STATE_NOTE), "actions"))
    for i, action in enumerate(criteria.actions or () if "ACTION" in basis else ()):
        pointer, expected = f"/ground_truth/turns/0/{i}", {"name": action.name, "compare_args": action.compare_args}
        check = Check(kind="tool_calls", scored=True, expected=expected, pointer=pointer, note=ACTION_NOTE)
        found.append((check, f"actions/{i}"))
    for i, assertion in enumerate(criteria.env_assertions or ()):
        check = Check(kind="state_assertion", scored="ENV_ASSERTION" in basis, expected=assertion)
        found.append((check, f"env_assertions/{i}"))
    for i, text in enumerate(criteria.communicate_info or ()):
        pointer, scored = f"/ground_truth/outputs/{i}", "COMMUNICATE" in basis
        check = Check(kind="output_substring", scored=scored, expected=text, pointer=pointer, note=OUTPUT_NOTE)
        found.append((check, f"communicate_info/{i}"))
    for i, text in enumerate(criteria.nl_assertions or ()):
        check = Check(kind="judge", scored="NL_ASSERTION" in basis, expected=text, note="judged by a model, if at all")
        found.append((check, f"nl_assertions/{i}"))
    places = {f"/evaluation/checks/{i}": f"/evaluation_criteria/{at}" for i, (_, at) in enumerate(found)}
    return [check for check, _ in found], places


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    """Keep what the task states apart from its four parts, flattened by one level for the description."""
    description = value.get("description")
    flat = description if isinstance(description, dict) else {}
    rest = {key: value[key] for key in value if key not in (*NativeTask.model_fields, "annotations")}
    kept = {**flat, "ticket": value.get("ticket"), "annotations": value.get("annotations"), **rest}
    return {key: item for key, item in kept.items() if item is not None}


def _origins(native: NativeTask, place: Callable[[str], Origin]) -> dict[str, Origin]:
    criteria = native.evaluation_criteria or Criteria()
    scenario = "/user_scenario/instructions"
    places = {
        "": "",
        "/user": "/user_scenario",
        "/user/instruction": scenario,
        "/user/context/persona": "/user_scenario/persona",
        "/initial_state": "/initial_state",
        "/evaluation": "/evaluation_criteria",
        "/ground_truth": "/evaluation_criteria",
        "/ground_truth/turns": "/evaluation_criteria/actions",
        "/ground_truth/outputs": "/evaluation_criteria/communicate_info",
        "/metadata/ticket": "/ticket",
    }
    places |= {f"/user/context/{name}": f"{scenario}/{name}" for name in _INSTRUCTIONS}
    for key, count in (("actions", criteria.actions), ("communicate_info", criteria.communicate_info)):
        target = "/ground_truth/turns/0" if key == "actions" else "/ground_truth/outputs"
        places |= {f"{target}/{i}": f"/evaluation_criteria/{key}/{i}" for i in range(len(count or ()))}
    return {pointer: place(native_pointer) for pointer, native_pointer in places.items()}
