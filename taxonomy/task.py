"""An agent task and its four parts: user, environment, evaluation, ground truth."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from agenthard.taxonomy.record import Origin, Record


class ToolCall(Record):
    """One call of a tool: what an agent did, or what the ground truth says it should do."""

    name: str
    """Name of the tool, as the benchmark spells it."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Arguments by parameter name; in a ground truth a value may hold any-of nodes (agenthard.taxonomy.accepted)."""
    requestor: Literal["assistant", "user"] = "assistant"
    """Who makes the call: the agent, or a simulated user with tools of its own."""
    positional: int = 0
    """How many leading arguments were given by position in the source text and bound to names by the reader."""
    text: str | None = None
    """The call as written in the benchmark, when it is source text rather than JSON."""
    id: str | None = None
    """Call id inside a trajectory, or the benchmark's own id of a ground-truth action."""


class ToolEffect(Record):
    """What a call did besides answering, as its harness recorded it."""

    exit_code: int | None = None
    """Exit code of a command; None where there is none."""
    trouble: str | None = None
    """What went wrong, in a word of the benchmark; None when nothing did."""
    changed: tuple[str, ...] = ()
    """Paths of the files that it added, changed or removed."""


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    """Who speaks; "tool" is a tool's response."""
    content: str = ""
    """Text of the message."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tool calls made in this message."""
    tool_call_id: str | None = None
    """For a tool message: the id of the call it answers."""
    tool_name: str | None = None
    """For a tool message: the name of the tool, when the log says it."""
    requestor: Literal["assistant", "user"] = "assistant"
    """For a tool message: whose call it answers."""
    effect: ToolEffect | None = Field(default=None, exclude_if=lambda effect: effect is None)
    """For a tool message: what the call did, where the harness records it."""


class Signature(Record):
    """The parameters that a tool's implementation really takes, read from its source without running it."""

    parameters: tuple[str, ...]
    """Parameter names in order, without self."""
    required: tuple[str, ...] = ()
    """Those without a default."""
    extra_keywords: bool = False
    """True when the implementation takes ``**kwargs``."""
    source: str
    """The ``def`` line, as written."""
    origin: Origin
    """Where the implementation is defined."""


class ToolSpec(Record):
    """A tool as it is documented to the agent or to the simulated user."""

    name: str
    """Name the model calls."""
    description: str = ""
    """Documentation text."""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema (draft 2020-12) of the arguments object; a type the benchmark calls otherwise is translated."""
    returns: dict[str, Any] | None = None
    """JSON Schema of the response, when the benchmark documents one."""
    language: Literal["json", "python", "java", "javascript"] = "json"
    """Language whose types the values follow; java and javascript values may be written as source text."""
    effect: Literal["read", "write", "unknown"] = "unknown"
    """Whether a call can change the state, as far as the source knows."""
    group: str | None = None
    """The class, API or server that the tool belongs to."""
    implementation: Signature | None = None
    """What the code takes, when the benchmark's code is at hand."""
    origin: Origin | None = None
    """Where the documentation is written."""


class UserSpec(Record):
    """What the user wants and how the user is played."""

    kind: Literal["scripted", "simulated"]
    """scripted: the user's turns are fixed; simulated: a model plays the user from the instruction."""
    turns: tuple[tuple[Message, ...], ...] = ()
    """Scripted turns, each a list of messages; an empty turn reveals something else (a tool, say)."""
    instruction: str = ""
    """Text given to the simulator."""
    context: dict[str, str] = Field(default_factory=dict)
    """Further texts given to the simulator, by the benchmark's own field name (known_info, persona ...)."""


class EnvironmentSpec(Record):
    """Where the agent acts. Tasks of one domain share one instance of this record."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools of the agent."""
    user_tools: tuple[ToolSpec, ...] = ()
    """Tools of the simulated user."""
    policy: str = ""
    """System prompt or policy text given to the agent."""
    state: Any = None
    """Initial state that the tasks share (a database), as JSON; never written out per task."""
    state_name: str | None = None
    """Name of the shared state, such as its file."""


class Check(Record):
    """One thing that the evaluator looks at, or that the task states and the evaluator does not look at."""

    kind: Literal["tool_calls", "final_state", "output_substring", "state_assertion", "rubric", "judge", "no_call"]
    """How it is checked; no_call: the agent must not call any tool."""
    scored: bool
    """False when the requirement is stated but no code scores it."""
    expected: Any = None
    """What is expected: the required text, the rubric, the assertion."""
    pointer: str = ""
    """JSON Pointer into the task record of what is compared (for example /ground_truth/outputs/0)."""
    note: str = ""
    """Convention a reader needs, such as 'case-insensitive, commas removed'."""


class EvaluationSpec(Record):
    """How a run of the task becomes a score."""

    checks: tuple[Check, ...] = ()
    """All checks; a run passes when every scored one passes."""


class GroundTruth(Record):
    """What a right run does, in the benchmark's eyes."""

    semantics: Literal["required", "reference_path", "milestones", "none"]
    """required: these calls; reference_path: one way to the right state; milestones: points to pass; none: no gold."""
    turns: tuple[tuple[ToolCall, ...], ...] = ()
    """Calls per turn; a task without turns has one entry."""
    outputs: tuple[str, ...] = ()
    """Texts that the agent's replies have to contain."""
    answers: tuple[str, ...] = ()
    """Accepted final answers (any one suffices)."""
    call_matching: Literal["exact", "any_order", "state", "none"] = "exact"
    """How calls are scored: compared in order, in any order, only through the state they leave, or not at all."""


class AgentTask(Record):
    """One task of a benchmark."""

    id: str
    """Unique within the benchmark; the domain precedes the native id where native ids repeat across domains."""
    native_id: str
    """The benchmark's own id."""
    benchmark: str
    """Name of the source, such as bfcl."""
    subtask: str = ""
    """Category, domain or file of the benchmark."""
    user: UserSpec
    """The user."""
    environment: EnvironmentSpec
    """The environment that tasks share."""
    initial_state: Any = None
    """State of this task alone, as JSON (BFCL's initial_config, tau2's initial_state)."""
    hidden_tools: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tools withheld at the start, by the 0-based turn that reveals them ("" = never)."""
    evaluation: EvaluationSpec
    """The evaluation."""
    ground_truth: GroundTruth
    """The ground truth."""
    traits: frozenset[str] = frozenset()
    """Conventions of this task that checks respect, such as expects_no_call or expects_refusal."""
    cluster: str | None = None
    """Tasks with the same cluster are variants of one base task."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Anything else the benchmark states about the task (purpose, difficulty)."""
    origins: dict[str, Origin] = Field(default_factory=dict)
    """Where parts come from, by JSON Pointer into this record; the longest matching prefix counts."""
    content_hash: str | None = None
    """Hash of the benchmark's own bytes that make the task one of a release; an environment looks up by it whether it
    has the code of that release. A repaired task keeps the hash of the unchanged one. None: the source does not say."""

    def gold_calls(self) -> Iterator[tuple[str, ToolCall]]:
        """Yield each ground-truth call with its JSON Pointer into this record."""
        for i, turn in enumerate(self.ground_truth.turns):
            for j, call in enumerate(turn):
                yield f"/ground_truth/turns/{i}/{j}", call

    def user_texts(self) -> Iterator[tuple[str, str]]:
        """Yield each non-empty text of the user with its JSON Pointer into this record."""
        if self.user.instruction:
            yield "/user/instruction", self.user.instruction
        for key, text in self.user.context.items():
            if text:
                yield f"/user/context/{key}", text
        for i, turn in enumerate(self.user.turns):
            for j, message in enumerate(turn):
                if message.content:
                    yield f"/user/turns/{i}/{j}/content", message.content

    def tool(self, name: str, requestor: str = "assistant") -> ToolSpec | None:
        """Find a tool by name among those of the agent or of the user."""
        tools = self.environment.tools if requestor == "assistant" else self.environment.user_tools
        return next((tool for tool in tools if tool.name == name), None)
