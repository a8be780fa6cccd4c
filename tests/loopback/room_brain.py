"""Plays escape rooms as a model does: all it knows stands in the conversation, and it follows the hints."""

import json
from typing import Any

from agenthard.escape.narrative.read import cues_of, hints_in, mark_of, notes_in
from tests.loopback.talk import Answer, Asked, Called

_PER_TURN = 2


def escape(asked: Asked) -> Answer:
    """Looks at what was not looked at, uses what it has all values for, submits the answer, or gives up.

    A call that failed for no fault is made again.
    """
    parts, answers = _known(asked)
    for part in parts.values():
        if part["kind"] == "terminal" and part.get("outputs"):
            return _calls([("submit_answer", {"answer": next(iter(part["outputs"].values()))})])
    fresh = [id for id, part in parts.items() if "text" not in part]
    if fresh:
        return _calls([("investigate", {"node_id": id}) for id in fresh])
    texts = [asked.said[1].text, *(part["text"] for part in parts.values())]
    notes = cues_of(note for text in texts for note in notes_in(text))
    bearers = {mark_of(part["brief"]): part for part in parts.values()}
    uses = []
    for id, part in parts.items():
        if part["kind"] == "item" or part.get("outputs") is not None:
            continue
        values = {name: _value(part, name, notes, bearers) for name in part["params"]}
        call = "use_tool" if part["kind"] in ("tool", "terminal") else "use_item", {"node_id": id, "params": values}
        refused = answers.get(_text(*call), {"message": "no fault"})
        if None not in values.values() and "no fault" in refused.get("message", ""):
            uses.append(call)
    return _calls(uses or [("give_up", {"reason": "the hints lead no further"})])


def _known(asked: Asked) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Everything in sight with what is known of it, and the last answer to each call."""
    start = json.loads("{" + asked.said[1].text.rpartition("\n\n{")[2])
    parts = {each["node_id"]: dict(each) for each in start["visible"]}
    answers: dict[str, dict[str, Any]] = {}
    waiting: list[Called] = []
    for said in asked.said:
        if said.role == "assistant":
            waiting = list(said.calls)
        elif said.role == "tool":
            call, answer = waiting.pop(0), json.loads(said.text)
            arguments = json.loads(call.text)
            answers[_text(call.name, arguments)] = answer
            parts |= {each["node_id"]: dict(each) for each in answer.get("new_entities", ())}
            if answer["ok"] and "node_id" in answer:
                wanted = ("text", "params", "gives", "outputs")
                parts[answer["node_id"]] |= {name: answer[name] for name in wanted if name in answer}
    return parts, answers


def _value(part: dict[str, Any], name: str, notes: dict[str, list[str]], bearers: dict[str, Any]) -> str | None:
    for cue in hints_in(part["text"]).get(name, ()):
        if cue in notes:
            return notes[cue][0]
        source = bearers.get(cue, {})
        type = part["params"][name].partition(":")[0]
        given = {output: about.partition(":")[0] for output, about in source.get("gives", {}).items()}
        for output, value in (source.get("outputs") or {}).items():
            if given.get(output, type) == type:
                return str(value)
    return None


def _calls(calls: list[tuple[str, dict[str, Any]]]) -> Answer:
    return Answer(calls=tuple(Called(name, arguments) for name, arguments in calls[:_PER_TURN]))


def _text(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps([name, arguments], sort_keys=True)
