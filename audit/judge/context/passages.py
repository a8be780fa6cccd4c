"""Collect all passages that a judge may be shown of a task, before `trim` fits them into the token budget."""

from collections.abc import Iterator, Sequence

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.dates import date_passages
from agenthard.audit.judge.context.material import Material, Omission, Part, Passage, text_tokens
from agenthard.audit.judge.context.observations import check_passages, replay_passages, run_passages
from agenthard.audit.judge.context.state_index import StateIndex, own_index, shared_index, unrelated
from agenthard.audit.judge.context.state_selection import SMALL, select
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.finding import Coverage, Finding
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, Message, ToolCall, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory

ABOUT = 6000
"""Characters up to which a value of the metadata is shown."""
TINY = 2_000
"""Tokens up to which a state is never cut. Of a larger one that is still shown whole, nothing says what is needed."""
_REPEATED = ("user", "evaluation")
"""Parts that the metadata often repeats."""
_FREE = 24
"""Characters from which a text of the metadata that occurs elsewhere too is not repeated."""


def gather(
    task: AgentTask,
    findings: Sequence[Finding] = (),
    coverage: Sequence[Coverage] = (),
    runs: Sequence[Trajectory] = (),
) -> Material:
    """Gather everything that a decision about a task may need.

    The ground truth is replayed where the task can be executed here. Every passage with a pointer is a contiguous piece
    of the text there.

    Args:
        task: the task.
        findings: findings of the audit; those on this task are shown, except findings of judges.
        coverage: what each check did; rows of other tasks do not matter.
        runs: runs to show; those of other tasks do not matter.

    Returns:
        The material. Only records of the shared state to which something in the task leads are in it
        (agenthard.audit.judge.context.relevance), and of the metadata only what is short and occurs nowhere else.
    """
    described = [*_user(task), *_policy(task), *_tools(task)]
    wanted = [*_evaluation(task), *_ground_truth(task)]
    checks = list(check_passages(task, findings, coverage))
    observed = [*replay_passages(task), *checks, *run_passages(task, runs)]
    records, others, dates = _state(task, [passage.text for passage in observed])
    about, too_long = _about(task, [passage.text for passage in (*described, *wanted) if passage.part in _REPEATED])
    passages = [*about, *described, *records, *wanted, *observed, *dates]
    return Material(task_id=task.id, passages=tuple(_unlike(passages)), omitted=(*too_long, *others))


def _unlike(passages: list[Passage]) -> Iterator[Passage]:
    """Make the labels of passages unique."""
    seen: set[str] = set()
    for passage in passages:
        label, number = passage.label, 2
        while label in seen:
            label, number = f"{passage.label}#{number}", number + 1
        seen.add(label)
        yield passage if label == passage.label else passage.model_copy(update={"label": label})


def _about(task: AgentTask, shown: Sequence[str]) -> tuple[list[Passage], list[Omission]]:
    passages, omitted = [], []
    for key, value in task.metadata.items():
        pointer, text = join("/metadata", key), value if isinstance(value, str) else canonical_json(value)
        if len(text) > ABOUT:
            what = f"{key} of the metadata, {len(text)} characters"
            omitted.append(Omission(label=pointer, what=what, tokens=text_tokens(text)))
        elif value not in (None, "", [], {}) and not _repeated(value, shown):
            passages.append(_passage(pointer, "about", f"metadata: {key}", text))
    return passages, omitted


def _repeated(value: object, shown: Sequence[str]) -> bool:
    """Tell whether all of a text, or of a list of texts, is shown already."""
    texts = value if isinstance(value, list) and value else [value]
    return all(
        isinstance(text, str) and len(text) >= _FREE and any(text in s or canonical_json(text) in s for s in shown)
        for text in texts
    )


def _user(task: AgentTask) -> Iterator[Passage]:
    simulated = "instruction to the simulated user" if task.user.kind == "simulated" else "instruction"
    if task.user.instruction:
        yield _passage("/user/instruction", "user", simulated, task.user.instruction, needed=True)
    for key, text in task.user.context.items():
        if text:
            yield _passage(join("/user/context", key), "user", f"{simulated}: {key}", text, needed=True)
    for i, turn in enumerate(task.user.turns):
        if not turn:
            revealed = ", ".join(task.hidden_tools.get(str(i), ()))
            title = f"turn {i}: no message" + (f"; now these tools can be called: {revealed}" if revealed else "")
            yield _passage(f"/user/turns/{i}", "user", title, "[]", needed=True)
        for j, message in enumerate(turn):
            yield from _message(f"/user/turns/{i}/{j}", f"turn {i}, {message.role}", message)


def _message(pointer: str, title: str, message: Message) -> Iterator[Passage]:
    if message.content:
        yield _passage(f"{pointer}/content", "user", title, message.content, needed=True)
    if message.tool_calls:
        text = canonical_json(message.tool_calls)
        yield _passage(f"{pointer}/tool_calls", "user", f"{title} calls tools", text, needed=True)


def _policy(task: AgentTask) -> Iterator[Passage]:
    if task.environment.policy:
        title = "policy (system prompt of the agent)"
        yield _passage("/environment/policy", "policy", title, task.environment.policy, needed=True)


def _tools(task: AgentTask) -> Iterator[Passage]:
    called = {(call.requestor, call.name) for _, call in task.gold_calls()}
    hidden = {name: turn for turn, names in task.hidden_tools.items() for name in names}
    for who, name, passages in documented(task.environment):
        needed = (who, name) in called
        for number, passage in enumerate(passages):
            title = passage.title
            if number == 0 and who == "assistant" and name in hidden:
                title += f", withheld until turn {hidden[name]}" if hidden[name] else ", withheld in all turns"
            yield passage.model_copy(update={"title": title, "needed": needed})
    if task.hidden_tools:
        title = "tools withheld at the start, by the turn (from 0) that reveals them"
        yield _passage("/hidden_tools", "tools", title, canonical_json(task.hidden_tools), needed=True)


def state_passages(task: AgentTask) -> list[Passage]:
    """Return the records of the state, its own or shared, to which something in the task leads."""
    return _state(task, ())[0]


def _state(task: AgentTask, observed: Sequence[str]) -> tuple[list[Passage], list[Omission], list[Passage]]:
    """Return the records, the statements of what is left out, and what is known of their dates."""
    passages: list[Passage] = []
    omitted: list[Omission] = []
    shown: list[tuple[StateIndex, set[int]]] = []
    for index in (own_index(task), shared_index(task.environment)):
        ranks = select(task, index, observed)
        for rank, number in ranks:
            needed = rank == 0 and (index.tokens > SMALL or index.tokens <= TINY)
            passages.append(index.records[number].passage.model_copy(update={"rank": rank, "needed": needed}))
        omitted += unrelated(index, [number for _, number in ranks])
        shown.append((index, {number for _, number in ranks}))
    return passages, omitted, list(date_passages(task, shown))


def _evaluation(task: AgentTask) -> Iterator[Passage]:
    for i, check in enumerate(task.evaluation.checks):
        title = f"evaluation: {check.kind}, " + ("scored" if check.scored else "stated and NOT scored")
        yield _passage(f"/evaluation/checks/{i}", "evaluation", title, canonical_json(check), needed=True)


def _ground_truth(task: AgentTask) -> Iterator[Passage]:
    truth = task.ground_truth
    for name, value in (("semantics", truth.semantics), ("call_matching", truth.call_matching)):
        yield _passage(f"/ground_truth/{name}", "ground_truth", f"ground truth: {name}", value, needed=True)
    for i, turn in enumerate(truth.turns):
        if not turn:
            title = f"ground truth of turn {i}: no call"
            yield _passage(f"/ground_truth/turns/{i}", "ground_truth", title, "[]", needed=True)
        for j, call in enumerate(turn):
            title = f"ground truth of turn {i}, call {j}: {call.name}{_accepted(call)}"
            text = canonical_json(call)
            yield _passage(f"/ground_truth/turns/{i}/{j}", "ground_truth", title, text, needed=True)
    for part in ("outputs", "answers"):
        for i, text in enumerate(getattr(truth, part)):
            title = "ground truth: required output" if part == "outputs" else "ground truth: accepted answer"
            yield _passage(f"/ground_truth/{part}/{i}", "ground_truth", title, text, needed=True)


def _accepted(call: ToolCall) -> str:
    has_choice = f'"{ANY_OF}"' in canonical_json(call.arguments)
    return f" (any value of a list {ANY_OF} is accepted; $optional: it may be left out)" if has_choice else ""


def _passage(label: str, part: Part, title: str, text: str, *, needed: bool = False) -> Passage:
    """Make a passage that is labelled by its pointer."""
    return Passage(label=label, part=part, title=title, text=text, pointer=label, needed=needed)


_KINDS: tuple[tuple[Part, str, str], ...] = (("tools", "assistant", "agent"), ("user_tools", "user", "user"))
_EFFECTS = {"read": " (read)", "write": " (write)", "unknown": ""}


def _documented(environment: EnvironmentSpec) -> list[tuple[str, str, list[Passage]]]:
    return [
        (who, tool.name, list(_passages(f"/environment/{part}/{i}", part, f"tool of the {whose}", tool)))
        for part, who, whose in _KINDS
        for i, tool in enumerate(getattr(environment, part))
    ]


documented: IdentityCache[EnvironmentSpec, list[tuple[str, str, list[Passage]]]] = IdentityCache(_documented)
"""Whose tool it is, its name and its passages, for all tools of an environment; the first passage names the tool."""


def _passages(at: str, part: Part, kind: str, tool: ToolSpec) -> Iterator[Passage]:
    """Yield what the documentation says, and the code's signature where it takes something else."""
    takes = canonical_json(tool.parameters)
    title = f"{kind}: {tool.name}{_EFFECTS[tool.effect]}"
    title += "" if tool.language == "json" else f", {tool.language} values"
    if tool.description:
        without = "" if tool.parameters.get("properties") else ", no parameters"
        yield _passage(f"{at}/description", part, title + without, tool.description)
        if not without:
            yield _passage(f"{at}/parameters", part, f"parameters of {tool.name}", takes)
    else:
        yield _passage(f"{at}/parameters", part, f"{title}, no description; its parameters", takes)
    if tool.returns and not tool.returns.keys().isdisjoint(("properties", "description", "items")):
        yield _passage(f"{at}/returns", part, f"what {tool.name} returns", canonical_json(tool.returns))
    if tool.implementation and not _as_documented(tool):
        source = tool.implementation.source
        yield _passage(f"{at}/implementation/source", part, f"implementation of {tool.name}", source)


def _as_documented(tool: ToolSpec) -> bool:
    """Tell whether the code takes, and requires, the documented parameters."""
    code = tool.implementation
    return code is not None and (
        set(code.parameters) == set(tool.parameters.get("properties") or ())
        and set(code.required) == set(tool.parameters.get("required") or ())
    )
