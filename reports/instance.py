"""One task with everything that a person needs to judge its findings, as plain data.

The same data serves the audit page, which loads it from files next to it (`instance_files`), and any other view:
``templates/instance.js`` draws it, and needs nothing else (``dom.js`` for making elements).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.reports.instance_runs import Quoted, describe_messages, describe_runs, spans
from agenthard.reports.look_first import urgency
from agenthard.reports.marked_text import Piece, laid_out, pieces
from agenthard.reports.places import Places, Quotable, scoring_title
from agenthard.reports.proof_text import proof_view
from agenthard.taxonomy.finding import Finding, NativeText
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

Block = dict[str, Any]
"""One text: ``title``, ``place`` (file:line), ``kind`` (message, text, json or tool) and ``text`` (pieces)."""
_LARGEST_STATE = 60_000
"""Characters of a state of the task's own that are laid out."""


class Described(Quotable, Protocol):
    """What descriptions need of an audit."""

    @property
    def findings(self) -> Sequence[Finding]:
        """Findings to show; none = describe the tasks without what checks say."""

    @property
    def decision(self) -> Mapping[str, Decision]:
        """Decisions by task id."""


class Instances:
    """Describes tasks of one audit."""

    def __init__(self, result: Described, places: Places) -> None:
        """Index the findings by task.

        Args:
            result: the audit.
            places: finds quotes in the benchmark's files.
        """
        self._result, self._places = result, places
        self._findings: dict[str, list[Finding]] = {}
        for finding in map(self._with_native, result.findings):
            named = (*finding.task_ids, *finding.also_in, *(item.task_id for item in finding.evidence))
            for task_id in dict.fromkeys(named):
                self._findings.setdefault(task_id, []).append(finding)

    def _with_native(self, finding: Finding) -> Finding:
        items = (item.model_copy(update={"native": self._places.native(item)}) for item in finding.evidence)
        return finding.model_copy(update={"evidence": tuple(items)})

    def describe(
        self, task: AgentTask, runs: Sequence[Trajectory] = (), replay: ShownReplay | None = None
    ) -> dict[str, Any]:
        """Describe one task.

        Args:
            task: the task.
            runs: its runs.
            replay: the replay of its ground truth; None when the audit did not execute it.

        Returns:
            ``id``, ``place`` (file:line), ``action`` and ``reasons`` of the decision, ``findings``, ``parts`` (each
            with ``key``, ``title``, ``note`` and ``blocks``), ``models`` (see `describe_runs`) and ``replay``
            (``environment``, ``steps`` and ``more``; None without one). All values are texts, numbers, lists and
            objects with these keys; no key is a text of the benchmark.
        """
        found = sorted(self._findings.get(task.id, []), key=lambda f: (task.id not in f.task_ids, urgency(f)))
        quoted = _quoted(found)
        cited = {item.trajectory_id for _, item in quoted if item.trajectory_id}
        cited |= {finding.proof.trajectory_id for finding in found if finding.proof and finding.proof.trajectory_id}
        decision = self._result.decision[task.id]
        place = self._places.of_task(task)
        return {
            "id": task.id,
            "place": str(place) if place else "",
            "action": decision.action,
            "reasons": list(decision.reasons),
            "findings": [_finding(finding, task.id) for finding in found],
            "parts": [part for part in _Parts(task, self._places, quoted).all() if part["blocks"] or part["note"]],
            "models": describe_runs(runs, quoted, cited),
            "replay": None if replay is None else replay.model_dump(mode="json", exclude={"task_id"}),
        }

    def messages(self, run: Trajectory, start: int, **limits: int) -> dict[str, Any]:
        """Describe messages of a run from a place on; see `describe_messages`."""
        return describe_messages(run, _quoted(self._findings.get(run.task_id, [])), start, **limits)


def _quoted(findings: Iterable[Finding]) -> list[Quoted]:
    return [(finding.id, item) for finding in findings for item in finding.evidence]


def _finding(finding: Finding, task_id: str) -> dict[str, Any]:
    proof = finding.proof is not None and finding.proof.task_id == task_id
    return {
        "id": finding.id,
        "check": finding.check,
        "claim": finding.claim,
        "tier": finding.tier,
        "severity": finding.severity,
        "touches": task_id in finding.task_ids,
        "proof": proof_view(finding) if proof else None,
    }


class _Parts:
    """The parts of one task."""

    def __init__(self, task: AgentTask, places: Places, quoted: Sequence[Quoted]) -> None:
        self._task, self._places = task, places
        self._quoted = [(name, item) for name, item in quoted if item.trajectory_id is None]

    def all(self) -> list[dict[str, Any]]:
        gold, native = self._fields("ground_truth", ("turns", "outputs", "answers"))
        environment = self._task.environment
        tools = (*self._tools("tools"), *self._tools("user_tools"), *self._hidden())
        policy = [self._text("Policy", "/environment/policy", environment.policy)] if environment.policy else []
        return [
            _part("user", "User", _simulated(self._task), self._user()),
            _part("ground_truth", "Ground truth", _MEANS[self._task.ground_truth.semantics], gold),
            _part("evaluation", "Evaluation", "", self._evaluation(native)),
            _part("environment", "Policy", "", policy),
            _part("environment", "Tools", "", tools),
            _part("environment", "State", self._shared_state(), self._state()),
        ]

    def _user(self) -> list[Block]:
        user, blocks = self._task.user, []
        for i, turn in enumerate(user.turns):
            for j, message in enumerate(turn):
                title = f"Turn {i + 1}: {message.role}" if len(user.turns) > 1 else message.role.capitalize()
                calls = "".join(f"\n{call.name} {canonical_json(call.arguments)}" for call in message.tool_calls)
                blocks.append(self._text(title, f"/user/turns/{i}/{j}", message.content + calls, "message"))
        if user.instruction:
            blocks.append(self._text("Instruction", "/user/instruction", user.instruction, "message"))
        for key, text in user.context.items():
            if text and text != user.instruction:
                blocks.append(self._text(key, f"/user/context/{key}", text, "message"))
        return blocks

    def _tools(self, kind: str) -> Iterable[Block]:
        for i, tool in enumerate(getattr(self._task.environment, kind)):
            title = tool.name if kind == "tools" else f"{tool.name} (a tool of the user)"
            yield self._json(title, f"/environment/{kind}/{i}", tool, "tool")

    def _hidden(self) -> Iterable[Block]:
        if self._task.hidden_tools:
            yield self._json(
                "Withheld at first, by the turn that reveals them", "/hidden_tools", self._task.hidden_tools
            )

    def _state(self) -> list[Block]:
        blocks = []
        if self._task.initial_state is not None:
            blocks.append(self._json("Of this task", "/initial_state", self._task.initial_state))
        for name, item in self._quoted:
            if item.pointer.startswith("/environment/state"):
                shown, place = self._places.excerpt(item), self._places.of(item)
                text: list[Piece] = [shown.before, [shown.quote, [name]], shown.after]
                blocks.append(_block(item.note or "Quoted", str(place or ""), "json", text))
        return blocks

    def _shared_state(self) -> str:
        environment = self._task.environment
        if environment.state is None:
            return ""
        name = f" ({environment.state_name})" if environment.state_name else ""
        return f"Tasks share a state{name}. It is not repeated here; what findings quote of it is."

    def _evaluation(self, gold: Sequence[NativeText]) -> list[Block]:
        blocks = []
        for i, check in enumerate(self._task.evaluation.checks):
            title = scoring_title(check)
            expected = "" if check.expected is None else _as_text(check.expected)
            text = "\n".join(filter(None, (check.note, f"expected: {expected}" if expected else "")))
            blocks.append(self._text(title, f"/evaluation/checks/{i}", text or "No further convention is stated."))
        native = self._places.passage(self._task, "/evaluation")
        if native is not None and not any(_within(native, known) for known in gold):
            blocks.append(self._native("As the file states it", native))
        return blocks

    def _fields(self, part: str, names: Sequence[str]) -> tuple[list[Block], list[NativeText]]:
        """Describe a part as its files write it, and the fields that no file states as our record has them."""
        record = getattr(self._task, part)
        below = [p for p in sorted(self._task.origins) if p.startswith(f"/{part}/")]
        native: list[NativeText] = []
        blocks, stated = [], set()
        for pointer in (f"/{part}", *(f"/{part}/{name}" for name in names), *below):
            passage = self._places.passage(self._task, pointer)
            if passage is None:
                continue
            stated.add("/".join(pointer.split("/")[:3]))
            if not any(_within(passage, known) for known in native):
                native.append(passage)
                blocks.append(self._native(_title(pointer), passage))
        for name in names:
            value = getattr(record, name)
            if any(value) and not stated & {f"/{part}", f"/{part}/{name}"}:
                blocks.append(self._json(name.capitalize(), f"/{part}/{name}", value))
        return blocks, native

    def _json(self, title: str, pointer: str, value: Any, kind: str = "json") -> Block:
        passage = self._places.passage(self._task, pointer)
        if passage is not None and not self._is_quoted_otherwise(pointer):
            return self._native(title, passage, kind)
        text = value if isinstance(value, str) else _as_text(value)
        return self._text(title, pointer, text, kind)

    def _is_quoted_otherwise(self, pointer: str) -> bool:
        """Tell whether a finding quotes something here that the file does not write."""
        own = (item for _, item in self._quoted if item.task_id == self._task.id and item.native is None)
        return any(f"{item.pointer}/".startswith(f"{pointer}/") for item in own)

    def _native(self, title: str, passage: NativeText, kind: str = "json") -> Block:
        """Show JSON of a file, with the quotes that are in it."""
        raw = passage.text
        data = b"" if raw.isascii() else raw.encode("utf-8")

        def place(offset: int) -> int:
            offset -= passage.start
            return len(data[:offset].decode("utf-8", "ignore")) if data else offset

        inside = [
            (max(place(item.native.start), 0), place(item.native.end), name)
            for name, item in self._quoted
            if item.native and item.trajectory_id is None and item.native.file == passage.file
            if item.native.end <= passage.end and item.native.end > passage.start
        ]
        text, marks = laid_out(raw, inside) if len(raw) <= _LARGEST_STATE else (raw, inside)
        return _block(title, f"{passage.file}:{passage.line}", kind, pieces(text, marks))

    def _text(self, title: str, pointer: str, text: str, kind: str = "text") -> Block:
        """Show a text of our record, with the quotes that are in it."""
        shared = pointer.startswith("/environment/")
        quoted = [
            (name, item)
            for name, item in self._quoted
            if (shared or item.task_id == self._task.id)
            and (f"{item.pointer}/".startswith(f"{pointer}/") or f"{pointer}/".startswith(f"{item.pointer}/"))
        ]
        words_of_ours = pointer.startswith("/evaluation/")
        place = None if words_of_ours else self._places.of_part(self._task, pointer)
        return _block(title, str(place or ""), kind, pieces(text, spans(text, quoted)))


def _part(key: str, title: str, note: str, blocks: Iterable[Block]) -> dict[str, Any]:
    return {"key": key, "title": title, "note": note, "blocks": list(blocks)}


def _block(title: str, place: str, kind: str, text: list[Piece]) -> Block:
    return {"title": title, "place": place, "kind": kind, "text": text}


def _within(inner: NativeText, outer: NativeText) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end


def _title(pointer: str) -> str:
    """Name a part of a ground truth.

    >>> _title("/ground_truth"), _title("/ground_truth/outputs"), _title("/ground_truth/turns/0/2")
    ('As the file states it', 'Outputs', 'Turn 1, call 3')
    """
    words = pointer.split("/")[2:]
    if words[:1] == ["turns"] and len(words) > 1:
        return ", ".join(f"{what} {int(number) + 1}" for what, number in zip(("Turn", "call"), words[1:], strict=False))
    return words[0].capitalize() if words else "As the file states it"


def _as_text(value: Any) -> str:
    def plain(item: Any) -> Any:
        if isinstance(item, BaseModel):
            return item.model_dump(mode="json", exclude_defaults=True, exclude={"origin", "implementation"})
        return sorted(item) if isinstance(item, (set, frozenset)) else str(item)

    return json.dumps(value, ensure_ascii=False, indent=2, default=plain)


def _simulated(task: AgentTask) -> str:
    return "A model plays the user from these texts." if task.user.kind == "simulated" else ""


_MEANS: Mapping[str, str] = {
    "required": "A right run makes these calls.",
    "reference_path": "These calls are one way to the right state.",
    "milestones": "A right run passes these points.",
    "none": "The benchmark states no calls for this task.",
}
