"""Flaws of runs: users who leave their role, scores that look odd."""

import json
from collections.abc import Callable
from random import Random
from statistics import median

from agenthard.audit.faults.operator import Fault, Sound, operator, run_fault, sample_runs
from agenthard.audit.faults.wordings import draw_wording
from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Trajectory

_ROLE, _SCORES = "user-role-confusion", "suspicious-score-pattern"


def _misspoken(sound: Sound, rng: Random, line: str, claim: str) -> Fault | None:
    """Let the user say a line in some runs, in the place of what it says there or after it."""
    talking = tuple(run for run in sound.runs if run.status == "ok" and len(run.messages) > 2)
    if sound.task.user.kind != "simulated" or len(talking) < 2:
        return None
    chosen, adds = sample_runs(talking, rng), rng.random() < 0.4
    runs = []
    for run in sound.runs:
        if run.id in chosen:
            said = [index for index, message in enumerate(run.messages) if message.role == "user"]
            at = rng.choice(said[1:] or said) if said else len(run.messages)
            before = f"{run.messages[at].content}\n" if adds and said else ""
            messages = (*run.messages[:at], Message(role="user", content=before + line), *run.messages[at + 1 :])
            run = run.model_copy(update={"messages": messages})
        runs.append(run)
    return run_fault(sound, runs, "/messages", None, line, claim)


@operator(_ROLE, "rules", "only the serving side says such a sentence", rule_known=True)
def user_who_serves(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak as the assistant."""
    return _misspoken(sound, rng, draw_wording("user-who-serves", rng), "the user speaks as the assistant")


@operator(_ROLE, "rules", "tool output has a form that no customer speaks in", rule_known=True)
def user_who_invents_results(sound: Sound, rng: Random) -> Fault | None:
    """Let the user report the result of a tool of the agent's."""
    line = draw_wording("user-who-invents-results", rng)
    return _misspoken(sound, rng, line, "the user invents a result of the agent's tools")


@operator(_ROLE, "rules", "no customer speaks of a script or a prompt", rule_known=True)
def user_who_reveals(sound: Sound, rng: Random) -> Fault | None:
    """Let the user speak of its instructions."""
    return _misspoken(sound, rng, draw_wording("user-who-reveals", rng), "the user reveals its instructions")


@operator(_ROLE, "rules", "a user does not speak in calls with arguments", rule_known=True)
def user_who_calls_tools(sound: Sound, rng: Random) -> Fault | None:
    """Let the user make the first call of the ground truth itself."""
    calls = [call for _, call in sound.task.gold_calls()]
    if not calls:
        return None
    call = calls[0]
    line = draw_wording(
        "user-who-calls-tools",
        rng,
        tool=call.name,
        json=json.dumps(call.arguments, ensure_ascii=False),
        python=", ".join(f"{name}={value!r}" for name, value in call.arguments.items()),
    )
    return _misspoken(sound, rng, line, "the user makes a call of the agent's tools")


@operator(_ROLE, "rules", "people do not speak of themselves as the customer who does something now", rule_known=False)
def user_who_narrates(sound: Sound, rng: Random) -> Fault | None:
    """Let the user tell, as a narrator, what the user does."""
    return _misspoken(sound, rng, draw_wording("user-who-narrates", rng), "the user narrates instead of speaking")


def _rescored(sound: Sound, passes: Callable[[Trajectory], bool], claim: str) -> Fault | None:
    scored = [run for run in sound.runs if run.passed is not None]
    if len({run.model for run in scored}) < 8:
        return None
    runs = [
        run if run.passed is None else run.model_copy(update={"passed": passes(run), "score": float(passes(run))})
        for run in sound.runs
    ]
    return None if runs == list(sound.runs) else run_fault(sound, runs, "/passed", None, None, claim)


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
