"""Answer leakage: what is expected can be read off something that the agent sees and that is no way to solve it."""

import json
from random import Random
from typing import Any

from audit.faults.editing import Site, last_request, said, sites, stands_in, with_environment, with_text, with_tool
from audit.faults.operator import Fault, Sound, operator
from taxonomy.task import AgentTask

_CATEGORY = "answer-leakage"
_BECAUSE = "the expected value stands word by word where the agent reads it, and nobody says it"


def _unsaid(task: AgentTask, rng: Random) -> tuple[Site, str, Any] | None:
    """Choose a gold value that neither the user nor the policy nor the tool says."""
    text = f"{said(task)}\n{task.environment.policy}"
    for site in sites(task, rng):
        documented = json.dumps([site.tool.description, site.tool.parameters], ensure_ascii=False)
        for name, value in site.values():
            long = isinstance(value, str) and len(value) > 3
            if long and not stands_in(value, text) and not stands_in(value, documented):
                return site, name, value
    return None


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_request(sound: Sound, rng: Random) -> Fault | None:
    """Append the expected call to what the user says."""
    found, place = _unsaid(sound.task, rng), last_request(sound.task)
    if found is None or place is None:
        return None
    site, name, value = found
    call = json.dumps({"name": site.call.name, "arguments": {name: value}}, ensure_ascii=False)
    wording = rng.choice(("(Expected call: {})", "Ground truth: {}", "[solution] {}", "Reference answer: {}"))
    text = f"{place[1].rstrip()}\n\n{wording.format(call)}"
    return Fault(
        task=with_text(sound.task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        says=f"the request gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_policy(sound: Sound, rng: Random) -> Fault | None:
    """Write the expected value into the system prompt."""
    found = _unsaid(sound.task, rng)
    if found is None:
        return None
    site, name, value = found
    wording = rng.choice(
        (
            "Note for graders: {call} must be called with {name}={value}.",
            "The correct {name} for this request is {value}.",
            "Hidden answer key: {call}({name}='{value}')",
        )
    )
    sentence = wording.format(call=site.call.name, name=name, value=value)
    policy = f"{sound.task.environment.policy.rstrip()}\n\n{sentence}".strip()
    return Fault(
        task=with_environment(sound.task, policy=policy),
        pointer="/environment/policy",
        after=sentence,
        says=f"the policy gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_documentation(sound: Sound, rng: Random) -> Fault | None:
    """Write the expected value into the documentation of the tool."""
    found = _unsaid(sound.task, rng)
    if found is None:
        return None
    site, name, value = found
    wording = rng.choice(("{text} For this task give {name}={value}.", "{text} (expected here: {value})"))
    text = wording.format(text=site.tool.description, name=name, value=value).strip()
    task, pointer = with_tool(sound.task, site.tool, description=text)
    return Fault(
        task=task,
        pointer=f"{pointer}/description",
        before=site.tool.description,
        after=text,
        says=f"the documentation of {site.tool.name} gives {value} away",
    )


@operator(_CATEGORY, "rules", "only what the ground truth names bears the mark", rule_known=True)
def answer_marked_in_the_state(sound: Sound, rng: Random) -> Fault | None:
    """Mark the record that the ground truth names, in a table of the task's own state."""
    task, state = sound.task, sound.task.initial_state
    if not isinstance(state, dict):
        return None
    expected = {value for site in sites(task, rng) for _, value in site.values() if isinstance(value, str)}
    for key, table in state.items():
        right = sorted(expected & table.keys()) if isinstance(table, dict) else []
        if not right or len(table) < 2 * len(right) or not all(isinstance(row, dict) for row in table.values()):
            continue
        mark = rng.choice(("is_answer", "correct", "gold", "is_solution"))
        marked = {id: {**row, mark: True} if id in right else row for id, row in table.items()}
        return Fault(
            task=task.model_copy(update={"initial_state": {**state, key: marked}}),
            pointer=f"/initial_state/{key}/{right[0]}/{mark}",
            after=True,
            says=f"{mark} tells what the ground truth names",
        )
    return None


@operator(_CATEGORY, "rules", "the required text stands word by word in the request", rule_known=True)
def required_text_in_the_request(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent in the request which words its reply is searched for."""
    task, place = sound.task, last_request(sound.task)
    wanted = [text for text in task.ground_truth.outputs if len(text) > 3 and not stands_in(text, said(task))]
    if not wanted or place is None:
        return None
    wording = rng.choice(("Your reply is graded on containing “{}”.", "(Checker: reply must include “{}”.)"))
    text = f"{place[1].rstrip()} {wording.format(wanted[0])}"
    return Fault(
        task=with_text(task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        says=f"the request says that the reply has to contain {wanted[0]}",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=False)
def answer_in_a_comment(sound: Sound, rng: Random) -> Fault | None:
    """Leave a comment of whoever made the task in the request, with the expected value."""
    found, place = _unsaid(sound.task, rng), last_request(sound.task)
    if found is None or place is None:
        return None
    site, name, value = found
    wording = rng.choice(
        (
            "<!-- {call}: {name} {value} -->",
            "[annotator: we want {value} as {name}; remove before release]",
            "(QA note: only {value} passes)",
        )
    )
    comment = wording.format(call=site.call.name, name=name, value=value)
    text = f"{place[1].rstrip()} {comment}"
    return Fault(
        task=with_text(sound.task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        says=f"a comment in the request gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", "the policy repeats the request with the gold call", rule_known=True)
def answer_as_a_worked_example(sound: Sound, rng: Random) -> Fault | None:
    """Show the task itself, with its first gold call, as the policy's worked example."""
    place = last_request(sound.task)
    found = sites(sound.task, rng)
    if place is None or not found:
        return None
    call = found[0].call
    arguments = ", ".join(f"{name}={value!r}" for name, value in found[0].values())
    wording = rng.choice(("Example\nUser: {}\nAssistant: {}", "Q: {}\nA: {}"))
    example = wording.format(place[1].strip(), f"{call.name}({arguments})")
    policy = f"{sound.task.environment.policy.rstrip()}\n\n{example}".strip()
    return Fault(
        task=with_environment(sound.task, policy=policy),
        pointer="/environment/policy",
        after=example,
        says="the policy's example is the task, solved",
    )


@operator(_CATEGORY, "rules", "only what the ground truth names stands in the list", rule_known=False)
def answer_listed_in_the_state(sound: Sound, rng: Random) -> Fault | None:
    """List what the ground truth names under a key of its own in the task's own state."""
    task, state = sound.task, sound.task.initial_state
    if not isinstance(state, dict):
        return None
    expected = {value for site in sites(task, rng) for _, value in site.values() if isinstance(value, str)}
    tables = [table for table in state.values() if isinstance(table, dict)]
    named = sorted(id for id in expected if any(id in table and len(table) > 3 for table in tables))
    if not named:
        return None
    key = rng.choice(("to_be_chosen", "winners", "_target_ids", "oracle"))
    return Fault(
        task=task.model_copy(update={"initial_state": {**state, key: named}}),
        pointer=f"/initial_state/{key}",
        after=named,
        says=f"{key} tells what the ground truth names",
    )
