"""Answer leakage: the agent can read the expected answer off something that is not part of the solution."""

import json
from random import Random
from typing import Any

from agenthard.audit.faults.editing import (
    Site,
    contains_word,
    last_request,
    sites,
    user_text,
    with_environment,
    with_parameter,
    with_text,
    with_tool,
)
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.wordings import draw_wording, placed, wordings
from agenthard.taxonomy.task import AgentTask

_CATEGORY = "answer-leakage"
_BECAUSE = "the agent can read the expected value word by word, and the user does not say it"

_MARKS: tuple[tuple[Any, Any], ...] = ((True, None), (True, False), (1, 0), ("yes", "no"), ("x", None), (1.0, 0.0))
"""How the right record is marked, and how the others are; None leaves them without a mark."""


def _unsaid(task: AgentTask, rng: Random) -> tuple[Site, str, Any] | None:
    """Choose a gold value that neither the user nor the policy nor the tool says."""
    text = f"{user_text(task)}\n{task.environment.policy}"
    for site in sites(task, rng):
        documented = json.dumps([site.tool.description, site.tool.parameters], ensure_ascii=False)
        for name, value in site.values():
            long = isinstance(value, str) and len(value) > 3
            if long and not contains_word(value, text) and not contains_word(value, documented):
                return site, name, value
    return None


def _expected(site: Site, name: str, value: Any) -> dict[str, str]:
    call = json.dumps({"name": site.call.name, "arguments": {name: value}}, ensure_ascii=False)
    return {"tool": site.call.name, "name": name, "value": str(value), "json": call}


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_request(sound: Sound, rng: Random) -> Fault | None:
    """Put the expected call, or its value, before, into or after what the user says."""
    found, place = _unsaid(sound.task, rng), last_request(sound.task)
    if found is None or place is None:
        return None
    site, name, value = found
    text = placed(place[1], draw_wording("answer-in-the-request", rng, **_expected(*found)), rng)
    return Fault(
        task=with_text(sound.task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        claim=f"the request gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_policy(sound: Sound, rng: Random) -> Fault | None:
    """Write the expected value into the system prompt."""
    found = _unsaid(sound.task, rng)
    if found is None:
        return None
    site, name, value = found
    sentence = draw_wording("answer-in-the-policy", rng, **_expected(*found))
    policy = placed(sound.task.environment.policy, sentence, rng)
    return Fault(
        task=with_environment(sound.task, policy=policy),
        pointer="/environment/policy",
        after=sentence,
        claim=f"the policy gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def answer_in_the_documentation(sound: Sound, rng: Random) -> Fault | None:
    """Write the expected value into the documentation of the tool or its parameter: a text, example or default."""
    found = _unsaid(sound.task, rng)
    if found is None:
        return None
    site, name, value = found
    sentence = draw_wording("answer-in-the-documentation", rng, **_expected(*found))
    schema, place = site.properties[name], rng.choice(("tool", "parameter", "examples", "default"))
    if place == "tool":
        after: Any = placed(site.tool.description, sentence, rng)
        task, pointer = with_tool(sound.task, site.tool, description=after)
        pointer += "/description"
    else:
        key = "description" if place == "parameter" else place
        told = {"description": placed(schema.get("description", ""), sentence, rng), "examples": [value]}
        after = told.get(key, value)
        task, pointer = with_parameter(sound.task, site.tool, name, {**schema, key: after})
        pointer += f"/{key}"
    return Fault(
        task=task,
        pointer=pointer,
        before=site.tool.description if place == "tool" else schema.get(key),
        after=after,
        claim=f"the documentation of {site.tool.name} gives {value} away",
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
        mark, (yes, no) = rng.choice(wordings("answer-marked-in-the-state")), rng.choice(_MARKS)
        marked = {
            id: {**row, mark: yes} if id in right else row if no is None else {**row, mark: no}
            for id, row in table.items()
        }
        return Fault(
            task=task.model_copy(update={"initial_state": {**state, key: marked}}),
            pointer=f"/initial_state/{key}/{right[0]}/{mark}",
            after=yes,
            claim=f"{mark} tells what the ground truth names",
        )
    return None


@operator(_CATEGORY, "rules", "the required text is word by word in the request", rule_known=True)
def required_text_in_the_request(sound: Sound, rng: Random) -> Fault | None:
    """Tell the agent in the request which words its reply is searched for."""
    task, place = sound.task, last_request(sound.task)
    wanted = [text for text in task.ground_truth.outputs if len(text) > 3 and not contains_word(text, user_text(task))]
    if not wanted or place is None:
        return None
    text = placed(place[1], draw_wording("required-text-in-the-request", rng, text=wanted[0]), rng)
    return Fault(
        task=with_text(task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        claim=f"the request says that the reply has to contain {wanted[0]}",
    )


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=False)
def answer_in_a_comment(sound: Sound, rng: Random) -> Fault | None:
    """Leave a comment of an author in the request, with the expected value."""
    found, place = _unsaid(sound.task, rng), last_request(sound.task)
    if found is None or place is None:
        return None
    site, name, value = found
    text = placed(place[1], draw_wording("answer-in-a-comment", rng, **_expected(*found)), rng)
    return Fault(
        task=with_text(sound.task, place[0], text),
        pointer=place[0],
        before=place[1],
        after=text,
        claim=f"a comment in the request gives {name} = {value} away",
    )


@operator(_CATEGORY, "rules", "the policy repeats the request with the gold call", rule_known=True)
def answer_as_a_worked_example(sound: Sound, rng: Random) -> Fault | None:
    """Show the task itself, with its first gold call, as the policy's worked example."""
    place = last_request(sound.task)
    found = sites(sound.task, rng)
    if place is None or not found:
        return None
    call = found[0].call
    given = dict(found[0].values())
    source = f"{call.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    request = place[1].strip()
    example = draw_wording(
        "answer-as-a-worked-example",
        rng,
        tool=call.name,
        call=source,
        json=json.dumps(given, ensure_ascii=False),
        object=json.dumps({"name": call.name, "arguments": given}, ensure_ascii=False),
        request=request,
        request_json=json.dumps(request, ensure_ascii=False),
        call_json=json.dumps(source, ensure_ascii=False),
    )
    policy = placed(sound.task.environment.policy, example, rng)
    return Fault(
        task=with_environment(sound.task, policy=policy),
        pointer="/environment/policy",
        after=example,
        claim="the policy's example is the task, solved",
    )


@operator(_CATEGORY, "rules", "the list has only what the ground truth names", rule_known=False)
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
    key = rng.choice(wordings("answer-listed-in-the-state"))
    told = rng.choice((named, ", ".join(named), {id: True for id in named}, [{"id": id} for id in named]))
    inside = rng.choice(("", "meta", "_debug"))
    if inside in state:
        return None
    return Fault(
        task=task.model_copy(update={"initial_state": {**state, **({inside: {key: told}} if inside else {key: told})}}),
        pointer=f"/initial_state/{inside}/{key}" if inside else f"/initial_state/{key}",
        after=told,
        claim=f"{key} tells what the ground truth names",
    )
