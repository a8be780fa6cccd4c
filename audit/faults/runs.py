"""Flaws of runs: users who leave their role, scores that look odd."""

import json
from collections.abc import Callable
from random import Random
from statistics import median

from audit.faults.operator import Fault, Sound, operator
from audit.faults.run_faults import run_fault, some_runs
from taxonomy.task import Message
from taxonomy.trajectory import Trajectory

_ROLE, _SCORES = "user-role-confusion", "suspicious-score-pattern"

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


def _misspoken(sound: Sound, rng: Random, lines: tuple[str, ...], says: str) -> Fault | None:
    """Let the user say one of the lines at the end of some runs."""
    talking = tuple(run for run in sound.runs if run.status == "ok" and len(run.messages) > 2)
    if sound.task.user.kind != "simulated" or len(talking) < 2:
        return None
    chosen, line = some_runs(talking, rng), rng.choice(lines)
    runs = []
    for run in sound.runs:
        if run.id in chosen:
            said = [index for index, message in enumerate(run.messages) if message.role == "user"]
            at = said[-1] if said else len(run.messages)
            messages = (*run.messages[:at], Message(role="user", content=line), *run.messages[at + 1 :])
            run = run.model_copy(update={"messages": messages})
        runs.append(run)
    return run_fault(sound, runs, "/messages", None, line, says)


@operator(_ROLE, "rules", "only the serving side says such a sentence", rule_known=True)
def user_who_serves(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak as the assistant."""
    return _misspoken(sound, rng, _SERVING, "the user speaks as the assistant")


@operator(_ROLE, "rules", "tool output has a form that no customer speaks in", rule_known=True)
def user_who_invents_results(sound: Sound, rng: Random) -> Fault | None:
    """Let the user report the result of a tool of the agent's."""
    return _misspoken(sound, rng, _INVENTING, "the user invents a result of the agent's tools")


@operator(_ROLE, "rules", "no customer speaks of a script or a prompt", rule_known=True)
def user_who_reveals(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak of its instructions."""
    return _misspoken(sound, rng, _REVEALING, "the user reveals its instructions")


_NARRATING = (
    "(The customer nods, thanks the agent and leaves.)",
    "[The caller is satisfied with this and ends the conversation.]",
    "*The user reads the answer and has no further wishes.*",
)


@operator(_ROLE, "rules", "a call with its arguments as JSON is no speech", rule_known=True)
def user_who_calls_tools(sound: Sound, rng: Random) -> Fault | None:
    """Let the user make the first call of the ground truth itself."""
    calls = [call for _, call in sound.task.gold_calls()]
    if not calls:
        return None
    line = f"Action: {calls[0].name}\nAction Input: {json.dumps(calls[0].arguments, ensure_ascii=False)}"
    return _misspoken(sound, rng, (line,), "the user makes a call of the agent's tools")


@operator(_ROLE, "rules", "nobody speaks of himself as the customer who does something now", rule_known=False)
def user_who_narrates(sound: Sound, rng: Random) -> Fault | None:
    """Let the user tell, as a narrator, what the user does."""
    return _misspoken(sound, rng, _NARRATING, "the user narrates instead of speaking")


def _rescored(sound: Sound, passes: Callable[[Trajectory], bool], says: str) -> Fault | None:
    scored = [run for run in sound.runs if run.passed is not None]
    if len({run.model for run in scored}) < 8:
        return None
    runs = [
        run if run.passed is None else run.model_copy(update={"passed": passes(run), "score": float(passes(run))})
        for run in sound.runs
    ]
    return None if runs == list(sound.runs) else run_fault(sound, runs, "/passed", None, None, says)


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
    middle = median([sound.strength[run.model] for run in sound.runs if run.model in sound.strength] or [0.0])
    return _rescored(sound, lambda run: sound.strength[run.model] < middle, "models that are better elsewhere fail")
