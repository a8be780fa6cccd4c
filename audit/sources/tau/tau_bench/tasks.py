"""Builds the record of a native task of τ-bench, with the benchmark's scoring conventions."""

from typing import Any

from pydantic import AliasChoices, Field

from agenthard.audit.sources.tau.records import Native
from agenthard.audit.sources.tau.tau_bench.layout import Domain, NativeTask
from agenthard.taxonomy.task import AgentTask, Check, EvaluationSpec, GroundTruth, ToolCall, UserSpec

STATE_NOTE = (
    "the hash of the database after the run must equal its hash after the ground truth's calls; "
    "a ground-truth call that fails is passed over silently"
)
OUTPUT_NOTE = (
    "the text in lower case must be part of one agent reply in lower case without commas; "
    "parts of longer numbers count, and a required text with a comma can never be found"
)
_USED = ("instruction", "actions", "outputs")


class Action(Native):
    """One call of a ground truth."""

    name: str
    """Tool."""
    arguments: dict[str, Any] = Field(validation_alias=AliasChoices("kwargs", "arguments"))
    """Arguments; early releases use another name than kwargs."""


class Fields(Native):
    """The fields of a task that scoring and simulation use."""

    instruction: str
    """Text for the user simulator."""
    actions: list[Action]
    """The ground truth."""
    outputs: list[str] = []
    """Texts the agent has to say."""
    user_id: str | None = None
    """The user of the database whom the simulator plays."""


def to_task(benchmark: str, domain: str, native: NativeTask, shared: Domain) -> AgentTask:
    """Build the record of one task.

    Args:
        benchmark: name of the source.
        domain: domain or split.
        native: the task as written.
        shared: what all tasks of the domain share.

    Raises:
        ValidationError: when the native task lacks a field or has one of a wrong type.
    """
    fields = Fields.model_validate(native.value)
    texts = native.action_texts or (None,) * len(fields.actions)
    calls = tuple(
        ToolCall(name=action.name, arguments=action.arguments, text=text)
        for action, text in zip(fields.actions, texts, strict=True)
    )
    checks = [Check(kind="final_state", scored=True, pointer="/ground_truth/turns/0", note=STATE_NOTE)]
    for i, text in enumerate(fields.outputs):
        pointer = f"/ground_truth/outputs/{i}"
        checks.append(Check(kind="output_substring", scored=True, expected=text, pointer=pointer, note=OUTPUT_NOTE))
    origins = {
        "": native.place(""),
        "/user/instruction": native.place("/instruction"),
        "/ground_truth/turns": native.place("/actions"),
        "/ground_truth/outputs": native.place("/outputs"),
    }
    for i, action in enumerate(native.value["actions"]):
        arguments = "kwargs" if "kwargs" in action else "arguments"
        origins[f"/ground_truth/turns/0/{i}"] = native.place(f"/actions/{i}")
        origins[f"/ground_truth/turns/0/{i}/arguments"] = native.place(f"/actions/{i}/{arguments}")
    origins |= {f"/ground_truth/outputs/{i}": native.place(f"/outputs/{i}") for i in range(len(fields.outputs))}
    return AgentTask(
        id=f"{domain}/{native.index}",
        native_id=str(native.index),
        benchmark=benchmark,
        subtask=domain,
        user=UserSpec(kind="simulated", instruction=fields.instruction),
        environment=shared.environment,
        evaluation=EvaluationSpec(checks=tuple(checks)),
        ground_truth=GroundTruth(
            semantics="reference_path", turns=(calls,), outputs=tuple(fields.outputs), call_matching="state"
        ),
        traits=frozenset({"redundant_calls_free"}),
        metadata={key: value for key, value in native.value.items() if key not in _USED},
        origins={**origins, **shared.origins},
    )
