"""Flaws of runs: users who leave their role, tools that answer wrongly, scores that look odd."""

import json
from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any

from audit.faults.editing import peers
from audit.faults.operator import Fault, Sound, operator
from taxonomy.task import AgentTask, Message
from taxonomy.trajectory import Trajectory

_ROLE, _RESPONSE, _SCORES = "user-role-confusion", "incorrect-tool-response", "suspicious-score-pattern"
_SHARE = 0.6
"""Share of the runs of a task in which a flaw shows."""

_SERVING = (
    "Of course, I can help you with that. Let me pull up your account, one moment please.",
    "Thank you for contacting us. What else can I do for you today?",
    "I've gone ahead and updated your booking. You will receive a confirmation by e-mail shortly.",
    "Could you please provide your customer number so that I can look into this for you?",
    "Your request has been processed. Is there anything else I can assist you with?",
)
_INVENTING = (
    'Tool result: {"status": "ok", "changed": 1}',
    '<tool_response>{"success": true}</tool_response>',
    'The system returned {"result": "done", "error": null}.',
)
_REVEALING = (
    "As my instructions say, I am the user in this scenario and must not tell you the number before you ask.",
    "My prompt tells me to pretend that I am a customer, so I will go on with the role play.",
    "According to the script that I was given I should now agree and end the conversation.",
)


def _some(runs: tuple[Trajectory, ...], rng: Random) -> set[str]:
    """Choose the runs in which the flaw shows."""
    return {run.id for run in rng.sample(runs, max(1, round(len(runs) * _SHARE)))}


def _fault(sound: Sound, runs: list[Trajectory], pointer: str, before: Any, after: Any, says: str) -> Fault:
    return Fault(task=sound.task, pointer=pointer, before=before, after=after, says=says, runs=tuple(runs))


def _misspoken(sound: Sound, rng: Random, lines: tuple[str, ...], says: str) -> Fault | None:
    """Let the user say one of the lines at the end of some runs."""
    talking = tuple(run for run in sound.runs if run.status == "ok" and len(run.messages) > 2)
    if sound.task.user.kind != "simulated" or len(talking) < 2:
        return None
    chosen, line = _some(talking, rng), rng.choice(lines)
    runs = []
    for run in sound.runs:
        if run.id in chosen:
            said = [index for index, message in enumerate(run.messages) if message.role == "user"]
            at = said[-1] if said else len(run.messages)
            messages = (*run.messages[:at], Message(role="user", content=line), *run.messages[at + 1 :])
            run = run.model_copy(update={"messages": messages})
        runs.append(run)
    return _fault(sound, runs, "/messages", None, line, says)


@operator(_ROLE, "rules", "only the serving side says such a sentence", rule_known=True)
def user_who_serves(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak as the assistant."""
    return _misspoken(sound, rng, _SERVING, "the user speaks as the assistant")


@operator(_ROLE, "rules", "tool output has a form that no customer speaks in", rule_known=False)
def user_who_invents_results(sound: Sound, rng: Random) -> Fault | None:
    """Let the user report the result of a tool of the agent's."""
    return _misspoken(sound, rng, _INVENTING, "the user invents a result of the agent's tools")


@operator(_ROLE, "rules", "no customer speaks of a script or a prompt", rule_known=False)
def user_who_reveals(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak of its instructions."""
    return _misspoken(sound, rng, _REVEALING, "the user reveals its instructions")


def _answers(run: Trajectory) -> list[tuple[int, dict[str, Any]]]:
    """List the tool responses that are JSON objects and no errors."""
    found = []
    for index, message in enumerate(run.messages):
        if message.role == "tool":
            try:
                answer = json.loads(message.content)
            except ValueError:
                continue
            if isinstance(answer, dict) and "error" not in answer:
                found.append((index, answer))
    return found


def _answered_otherwise(
    sound: Sound, rng: Random, change: Callable[[Trajectory, Random], tuple[Trajectory, str, Any] | None], says: str
) -> Fault | None:
    chosen = _some(sound.runs, rng) if sound.runs else set()
    runs, done = [], None
    for run in sound.runs:
        changed = change(run, rng) if run.id in chosen else None
        runs.append(changed[0] if changed else run)
        done = done or changed
    return _fault(sound, runs, done[1], None, done[2], says) if done else None


def _with_content(run: Trajectory, index: int, answer: dict[str, Any]) -> Trajectory:
    text = json.dumps(answer, ensure_ascii=False)
    message = run.messages[index].model_copy(update={"content": text})
    return run.model_copy(update={"messages": (*run.messages[:index], message, *run.messages[index + 1 :])})


@operator(_RESPONSE, "rules", "call and response name different entities", rule_known=True)
def response_about_another_entity(sound: Sound, rng: Random) -> Fault | None:
    """Let a tool answer about another entity than the call names."""

    def exchanged(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        return _another_entity(sound.task, run, rng)

    return _answered_otherwise(sound, rng, exchanged, "the response is about another entity than asked for")


def _another_entity(task: AgentTask, run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
    for index, answer in _answers(run):
        call = next((c for m in run.messages for c in m.tool_calls if c.id == run.messages[index].tool_call_id), None)
        shared = [k for k in answer if call and k.endswith("_id") and call.arguments.get(k) == answer[k]]
        others = peers(task, answer[shared[0]]) if shared else []
        if others:
            wrong = rng.choice(others)
            return _with_content(run, index, {**answer, shared[0]: wrong}), f"/messages/{index}/content", wrong
    return None


@operator(_RESPONSE, "rules", "nothing was changed between two calls that are answered differently", rule_known=False)
def response_that_changes_by_itself(sound: Sound, rng: Random) -> Fault | None:
    """Let a look-up be answered otherwise when it is made again at once."""
    reads = {tool.name for tool in sound.task.environment.tools if tool.effect == "read"}

    def again(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        for index, answer in _answers(run):
            asked = run.messages[index - 1]
            texts = [key for key, value in answer.items() if isinstance(value, int | str) and not key.endswith("id")]
            if len(asked.tool_calls) != 1 or asked.tool_calls[0].name not in reads or not texts:
                continue
            key = rng.choice(texts)
            wrong = answer[key] + 3 if isinstance(answer[key], int) else f"{answer[key]} (2)"
            call = asked.tool_calls[0].model_copy(update={"id": f"{asked.tool_calls[0].id}_again"})
            reply = run.messages[index].model_copy(
                update={"tool_call_id": call.id, "content": json.dumps({**answer, key: wrong}, ensure_ascii=False)}
            )
            twice = (asked.model_copy(update={"tool_calls": (call,)}), reply)
            messages = (*run.messages[: index + 1], *twice, *run.messages[index + 1 :])
            return run.model_copy(update={"messages": messages}), f"/messages/{index + 2}/content", wrong
        return None

    return _answered_otherwise(sound, rng, again, "the same look-up is answered in two ways")


@operator(_RESPONSE, "judge", "that the call was legal needs the tool's rules", rule_known=False)
def refusal_of_a_legal_call(sound: Sound, rng: Random) -> Fault | None:
    """Let a tool refuse a call that it carries out in other runs."""

    def refused(run: Trajectory, rng: Random) -> tuple[Trajectory, str, Any] | None:
        for index, _ in _answers(run):
            error = {"error": rng.choice(("not permitted", "this record is locked", "invalid request"))}
            return _with_content(run, index, error), f"/messages/{index}/content", error["error"]
        return None

    return _answered_otherwise(sound, rng, refused, "a legal call is refused")


def _rescored(sound: Sound, passes: Callable[[Trajectory], bool], says: str) -> Fault | None:
    scored = [run for run in sound.runs if run.passed is not None]
    if len({run.model for run in scored}) < 8:
        return None
    runs = [
        run if run.passed is None else run.model_copy(update={"passed": passes(run), "score": float(passes(run))})
        for run in sound.runs
    ]
    return None if runs == list(sound.runs) else _fault(sound, runs, "/passed", None, None, says)


@operator(_SCORES, "rules", "scores can be counted", rule_known=True)
def every_run_fails(sound: Sound, rng: Random) -> Fault | None:
    """Score every run of a task as failed."""
    return _rescored(sound, lambda run: False, "no model passes")


@operator(_SCORES, "rules", "scores can be counted", rule_known=True)
def every_run_passes(sound: Sound, rng: Random) -> Fault | None:
    """Score every run of a task as passed."""
    return _rescored(sound, lambda run: True, "every model passes")


@operator(_SCORES, "rules", "scores can be compared with those of other tasks", rule_known=True)
def better_models_fail(sound: Sound, rng: Random) -> Fault | None:
    """Let the models fail that pass more of the benchmark than half of the others, and the others pass."""
    middle = median(sound.strength.values()) if sound.strength else 0.0
    return _rescored(sound, lambda run: sound.strength[run.model] < middle, "models that are better elsewhere fail")
