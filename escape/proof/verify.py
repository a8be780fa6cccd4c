"""Proves a room again: its graph is executed from the sources, its texts are read, and the oracle plays it."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, Literal

from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.narrative.read import QUOTED, cues_of, hints_in, mark_of, notes_in
from agenthard.escape.ports import WrongTypeError
from agenthard.escape.proof.structure import structure_problems
from agenthard.escape.room import Certificate, Instance
from agenthard.escape.templates import find_template
from agenthard.escape.templates.template import Files, ToolUseError
from agenthard.escape.values import execute

_SECONDS = 1
"""CPU time that the tools of a room may take together: those of an honest room take milliseconds."""
ProblemKind = Literal["structure", "link", "execution", "answer", "hint", "leak", "oracle", "certificate"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a room says of itself and that is not so."""

    kind: ProblemKind
    """What it is about."""
    message: str
    """What is wrong."""
    part: str = ""
    """Id of the part; empty for the room."""


@dataclass(frozen=True)
class Report:
    """What was found about a room."""

    id: str
    """Id of the room."""
    problems: tuple[Problem, ...]
    """What is wrong; nothing when the room is proved."""
    certificate: Certificate
    """What was computed."""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems


def verify(instance: Instance) -> Report:
    """Prove a room.

    Args:
        instance: The room, from wherever it comes; nothing in it is trusted.

    Returns:
        What was found: the parts fit together; every tool gives what is recorded when it runs on what is recorded,
        and the exit gives the answer; the texts narrow every parameter to its one source; no value is told that is
        computed; the oracle solves it in the fewest calls; a certificate, if there is one, says the same.
    """
    broken = [Problem("structure", message, part) for part, message in structure_problems(instance)]
    if broken:
        return Report(instance.id, tuple(broken), Certificate("", 0, 0, 0, 0))
    problems = [*_link_problems(instance), *execution_problems(instance)]
    hints = list(_hint_problems(instance))
    problems += [*hints, *_leaks(instance)]
    calls, turns = 0, 0
    if not problems:
        calls, turns, failure = oracle_replay(instance)
        problems += [Problem("oracle", failure)] if failure else []
    params = sum(len(part.params) for part in instance.room.parts)
    found = Certificate(execution_hash(instance), params - len(hints), calls, turns, len(instance.hidden))
    if instance.certificate is not None and not problems and found != instance.certificate:
        problems.append(Problem("certificate", "the certificate is not about this room"))
    return Report(instance.id, tuple(problems), found)


def certified(instance: Instance, report: Report) -> Instance:
    """Return a room with the certificate of its proof."""
    return replace(instance, certificate=report.certificate)


def execution_hash(instance: Instance) -> str:
    """Hash all values of a room."""
    values = {id: [dict(m.inputs), dict(m.outputs)] for id, m in sorted(instance.secret.mechanisms.items())}
    return hashlib.sha256(json.dumps([values, instance.secret.answer], sort_keys=True).encode()).hexdigest()[:16]


def oracle_replay(instance: Instance) -> tuple[int, int, str]:
    """Play a room knowing everything.

    Returns:
        The calls without the submission, the turns when calls that do not wait for each other share one, and why the
        room was not solved; empty when it was.
    """
    environment = Environment(instance, Conditions(turns=-1, calls_per_turn=10_000))
    calls, depth = 0, dict[str, int]()
    for id in instance.order():
        before = [depth[link.source] for link in instance.secret.links if link.target == id]
        mechanism = instance.secret.mechanisms[id]
        kind = next(part.kind for part in instance.room.parts if part.id == id)
        environment.begin_turn()
        steps: list[tuple[str, dict[str, Any]]] = [("investigate", {"node_id": id})]
        if kind != "item":
            name = "use_tool" if kind in ("tool", "terminal") else "use_item"
            steps.append((name, {"node_id": id, "params": dict(mechanism.inputs)}))
        for name, arguments in steps:
            answer = environment.call(name, arguments)
            calls += 1
            if not answer["ok"]:
                return calls, 0, f"{name} of {id} is refused: {answer['message']}"
        depth[id] = max(before, default=1 if kind != "item" else 0) + 1
    environment.begin_turn()
    if not environment.call("submit_answer", {"answer": instance.secret.answer})["ok"]:
        return calls, 0, "the recorded answer is not accepted"
    return calls, max(depth.values()) + 1, ""


def _link_problems(instance: Instance) -> Iterator[Problem]:
    mechanisms = instance.secret.mechanisms
    for part in instance.room.parts:
        for input, link in instance.feeds(part.id).items():
            if mechanisms[link.source].outputs[link.output] != mechanisms[part.id].inputs[input]:
                yield Problem("link", f"{input} is not what {link.source} gives", part.id)


def execution_problems(instance: Instance) -> Iterator[Problem]:
    """Execute every tool on what is recorded, and yield what differs; stops when the room takes too long."""
    start = process_time()
    try:
        files = Files.restored(instance.secret.files)
    except ValueError:
        yield Problem("execution", "a file is not stored in base 64")
        return
    for id, mechanism in instance.secret.mechanisms.items():
        template = find_template(mechanism.template)
        assert template is not None, "templates were checked before"
        if template.kind in ("item", "lock", "container"):
            continue
        if process_time() - start > _SECONDS:
            yield Problem("execution", f"its tools take more than {_SECONDS} seconds of CPU time together")
            return
        try:
            outputs = execute(template, mechanism.inputs, files, instance.secret.salt)
        except (ToolUseError, WrongTypeError) as error:
            yield Problem("execution", f"it cannot be executed: {error}", id)
            continue
        if outputs != mechanism.outputs:
            yield Problem("execution", "executed, it gives something else than is recorded", id)
        if template.kind == "terminal" and outputs.get("flag") != instance.secret.answer:
            yield Problem("answer", "the exit does not give the recorded answer", id)


def _hint_problems(instance: Instance) -> Iterator[Problem]:
    """Read the texts as a careful reader does: the signs of each hint have to lead to one thing, the right one."""
    texts = (instance.room.story, *(part.detail for part in instance.room.parts))
    notes = cues_of(note for text in texts for note in notes_in(text))
    bearers: dict[str, list[str]] = {}
    for part in instance.room.parts:
        bearers.setdefault(mark_of(part.brief), []).append(part.id)
    bearers.pop("", None)
    for part in instance.room.parts:
        hints, feeds = hints_in(part.detail), instance.feeds(part.id)
        for param in part.params:
            found = {("part", id) for cue in hints.get(param.name, ()) for id in bearers.get(cue, ())}
            found |= {("note", value) for cue in hints.get(param.name, ()) for value in notes.get(cue, ())}
            link = feeds.get(param.name)
            right = ("part", link.source) if link else ("note", instance.secret.mechanisms[part.id].inputs[param.name])
            if len(found) != 1:
                yield Problem("hint", f"the hint of {param.name} leads to {len(found)} things, not to one", part.id)
            elif found != {right}:
                yield Problem("hint", f"the hint of {param.name} leads to something else than its source", part.id)


def _leaks(instance: Instance) -> Iterator[Problem]:
    """No text may hold what has to be computed or found, and no hidden part may be named before it appears."""
    texts = [instance.room.story, *(text for part in instance.room.parts for text in (part.brief, part.detail))]
    told = {note.value for text in texts for note in notes_in(text)}
    whole = "\n".join(texts)
    around = QUOTED.sub("", whole)
    for id, mechanism in instance.secret.mechanisms.items():
        for name, value in mechanism.outputs.items():
            # A value may be a piece of a told one, as what a pattern matches is: which piece, only using it tells.
            if value in told or (value in around and len(value) > 2):
                yield Problem("leak", f"a text tells its {name}, which only using it should", id)
    if instance.secret.answer in whole:
        yield Problem("leak", "a text tells the answer")
    shown = "\n".join(
        text for part in instance.room.parts if part.id in instance.room.visible for text in (part.brief, part.detail)
    )
    for part in instance.room.parts:
        if part.id in instance.hidden and (part.id in f"{instance.room.story}\n{shown}"):
            yield Problem("leak", "a text names it before it appears", part.id)
