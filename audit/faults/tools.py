"""Tools: documentation that misleads a careful reader, and needed tools that are not offered."""

from random import Random
from typing import Any

from agenthard.audit.faults.editing import Site, sites, with_environment, with_parameter, with_tool
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import fits, replay_of_gold
from agenthard.audit.faults.wordings import draw_wording, misspell, placed, wordings

_MISLEADING, _INSUFFICIENT = "misleading-tool-design", "insufficient-toolset"
_READS = ("get", "list", "show", "find", "fetch", "view", "search", "lookup", "read", "describe")
_OPTIONAL: tuple[dict[str, Any], ...] = (
    {"type": "string", "description": "Optional; leave it out if in doubt."},
    {"type": "boolean", "description": "Whether to do so.", "default": False},
    {"type": "integer", "minimum": 0, "default": 0},
    {"type": ["string", "null"], "default": None},
)
_BECAUSE = "two parts of the documentation exclude each other"


def _scalar(site: Site, rng: Random) -> tuple[str, dict[str, Any]] | None:
    """Choose a given parameter with choices, or a number."""
    names = [name for name, _ in site.values()]
    found = [
        n for n in names if "enum" in site.properties[n] or site.properties[n].get("type") in ("integer", "number")
    ]
    name = rng.choice(found) if found else None
    return None if name is None else (name, site.properties[name])


def _not_allowed(schema: dict[str, Any], rng: Random) -> Any:
    """Choose a value that a careless author takes for a default."""
    ways: list[Any] = [rng.choice(wordings("default-that-is-not-allowed"))]
    for choice in schema.get("enum", ())[:1]:
        ways += [f"{choice}".upper(), f"{choice}s", [choice]]
    if "enum" not in schema:
        ways += [str(schema.get("minimum", 7)), schema.get("minimum", 1) - 1, schema.get("maximum", 99) + 1, 0.5, [1]]
    return rng.choice(ways)


@operator(_MISLEADING, "rules", _BECAUSE, rule_known=True)
def default_that_is_not_allowed(sound: Sound, rng: Random) -> Fault | None:
    """Document a default that type or choices of the parameter exclude."""
    for site in sites(sound.task, rng):
        if (chosen := _scalar(site, rng)) is None:
            continue
        name, schema = chosen
        wrong = _not_allowed(schema, rng)
        if fits({key: value for key, value in schema.items() if key != "default"}, wrong) is False:
            task, pointer = with_parameter(sound.task, site.tool, name, {**schema, "default": wrong})
            claim = f"the default {wrong!r} of {name} is not allowed"
            return Fault(task=task, pointer=pointer, before=schema.get("default"), after=wrong, claim=claim)
    return None


@operator(_MISLEADING, "rules", _BECAUSE, rule_known=True)
def example_that_is_not_allowed(sound: Sound, rng: Random) -> Fault | None:
    """Give an example, in a parameter's text or schema, that type or choices of the parameter exclude."""
    for site in sites(sound.task, rng):
        if (chosen := _scalar(site, rng)) is None:
            continue
        name, schema = chosen
        wrong = rng.choice(wordings("example-words"))
        key = rng.choice(("description", "description", "description", "examples", "example"))
        said = draw_wording("example-that-is-not-allowed", rng, word=wrong)
        text = schema.get("description", "").rstrip(". " if said.startswith(",") else " ") + said
        after = {"description": text, "examples": [wrong], "example": wrong}[key]
        if fits({k: value for k, value in schema.items() if k != key}, wrong) is False:
            task, pointer = with_parameter(sound.task, site.tool, name, {**schema, key: after})
            pointer += f"/{key}"
            claim = f"{name} is said to take {wrong}, which is not allowed"
            return Fault(task=task, pointer=pointer, before=schema.get(key), after=after, claim=claim)
    return None


@operator(_MISLEADING, "rules", "the required name is documented nowhere", rule_known=True)
def required_but_undocumented(sound: Sound, rng: Random) -> Fault | None:
    """Require a parameter that is documented nowhere."""
    for site in sites(sound.task, rng):
        misspelt = [misspell(each, rng) for each in site.properties if len(each) > 4]
        name = rng.choice((rng.choice(wordings("required-but-undocumented")), *misspelt[:1]))
        if name not in site.properties:
            required = list(site.tool.parameters.get("required", ()))
            required.insert(rng.randrange(len(required) + 1), name)
            task, pointer = with_tool(sound.task, site.tool, parameters={**site.tool.parameters, "required": required})
            claim = f"{site.tool.name} requires {name}, which is documented nowhere"
            return Fault(task=task, pointer=f"{pointer}/parameters/required", after=name, claim=claim)
    return None


@operator(_MISLEADING, "rules", "the two documentations are equal", rule_known=True)
def same_words_for_two_tools(sound: Sound, rng: Random) -> Fault | None:
    """Describe a tool that is needed with the very words of another that takes the same."""
    used = {call.name for _, call in sound.task.gold_calls()}
    for site in sites(sound.task, rng):
        twins = [
            tool
            for tool in sound.task.environment.tools
            if tool.name not in used and tool.parameters == site.tool.parameters and tool.description
        ]
        if twins:
            words = rng.choice(twins).description
            text = rng.choice((words, f"{words.rstrip('.')} ", words.upper(), words.replace(" ", "  ", 2)))
            task, pointer = with_tool(sound.task, site.tool, description=text)
            return Fault(
                task=task,
                pointer=f"{pointer}/description",
                before=site.tool.description,
                after=text,
                claim=f"{site.tool.name} and another tool are documented alike",
            )
    return None


@operator(_MISLEADING, "judge", "that a text describes another tool needs reading", rule_known=False)
def exchanged_descriptions(sound: Sound, rng: Random) -> Fault | None:
    """Exchange the descriptions of a tool that is needed and another."""
    for site in sites(sound.task, rng):
        others = [t for t in sound.task.environment.tools if t.name != site.tool.name and t.description]
        if others and site.tool.description:
            other = rng.choice(others)
            task, pointer = with_tool(sound.task, site.tool, description=other.description)
            task, _ = with_tool(task, other, description=site.tool.description)
            return Fault(
                task=task,
                pointer=f"{pointer}/description",
                before=site.tool.description,
                after=other.description,
                claim=f"the descriptions of {site.tool.name} and {other.name} are exchanged",
            )
    return None


@operator(_MISLEADING, "rules", "documentation and code are both in the files", rule_known=True)
def parameter_the_code_lacks(sound: Sound, rng: Random) -> Fault | None:
    """Document an optional parameter that the code does not take."""
    for site in sites(sound.task, rng):
        code = site.tool.implementation
        name = rng.choice(wordings("parameter-the-code-lacks"))
        if code is not None and not code.extra_keywords and name not in (*code.parameters, *site.properties):
            schema = rng.choice(_OPTIONAL)
            task, pointer = with_parameter(sound.task, site.tool, name, schema)
            return Fault(task=task, pointer=pointer, after=schema, claim=f"the code of {site.tool.name} has no {name}")
    return None


@operator(_MISLEADING, "rules", "a read's name on what is documented as a write", rule_known=True)
def name_of_a_read(sound: Sound, rng: Random) -> Fault | None:
    """Call a tool that changes the state by the name of a look-up, in the documentation and the ground truth."""
    task = sound.task
    if replay_of_gold(task) is not None:
        return None  # the environment knows the tool by its own name
    for site in [site for site in sites(task, rng) if site.writes]:
        thing = site.tool.name.partition("_")[2] or site.tool.name
        verb, camel = rng.choice(_READS), "".join(map(str.capitalize, thing.split("_")))
        name = rng.choice((f"{verb}_{thing}", f"{verb}{camel}", f"{verb.upper()}_{thing}", f"{verb}-{thing}"))
        if task.tool(name) is None:
            changed, pointer = with_tool(task, site.tool, name=name)
            turns = tuple(
                tuple(c.model_copy(update={"name": name}) if c.name == site.tool.name else c for c in turn)
                for turn in task.ground_truth.turns
            )
            truth = task.ground_truth.model_copy(update={"turns": turns})
            return Fault(
                task=changed.model_copy(update={"ground_truth": truth}),
                pointer=f"{pointer}/name",
                before=site.tool.name,
                after=name,
                claim=f"{name} sounds like a look-up and changes the state",
            )
    return None


@operator(_MISLEADING, "rules", "the text denies the change that the tool is marked with", rule_known=False)
def change_that_is_denied(sound: Sound, rng: Random) -> Fault | None:
    """Say in the documentation of a tool that changes the state that it changes nothing."""
    for site in [site for site in sites(sound.task, rng) if site.writes and site.tool.description]:
        text = placed(site.tool.description, draw_wording("change-that-is-denied", rng), rng)
        task, pointer = with_tool(sound.task, site.tool, description=text)
        claim = f"{site.tool.name} changes the state and is documented as if it did not"
        return Fault(task=task, pointer=f"{pointer}/description", before=site.tool.description, after=text, claim=claim)
    return None


@operator(
    _INSUFFICIENT,
    "rules",
    "the gold call names a tool that is not offered",
    rule_known=True,
    also=("malformed-tool-call",),
)
def needed_tool_gone(sound: Sound, rng: Random) -> Fault | None:
    """Take away a tool that the ground truth calls."""
    for site in sites(sound.task, rng):
        tools = tuple(tool for tool in sound.task.environment.tools if tool.name != site.tool.name)
        if tools:
            return Fault(
                task=with_environment(sound.task, tools=tools),
                pointer="/environment/tools",
                before=site.tool.name,
                claim=f"the task needs {site.tool.name}, which is not offered",
            )
    return None


@operator(
    _INSUFFICIENT, "rules", "the gold call gives what no tool takes", rule_known=True, also=("malformed-tool-call",)
)
def needed_parameter_gone(sound: Sound, rng: Random) -> Fault | None:
    """Take away a parameter that the ground truth needs."""
    for site in sites(sound.task, rng):
        names = [name for name, _ in site.values()]
        if not names or len(site.properties) < 2 or site.tool.parameters.get("additionalProperties"):
            continue
        name = rng.choice(names)
        properties = {key: value for key, value in site.properties.items() if key != name}
        required = [key for key in site.tool.parameters.get("required", ()) if key != name]
        parameters = {**site.tool.parameters, "properties": properties, "required": required}
        task, pointer = with_tool(sound.task, site.tool, parameters=parameters)
        claim = f"{site.tool.name} takes no {name}, which the task needs"
        return Fault(task=task, pointer=f"{pointer}/parameters", before=name, claim=claim)
    return None


@operator(_INSUFFICIENT, "judge", "which tool gives which piece of information needs reading", rule_known=False)
def lookup_gone(sound: Sound, rng: Random) -> Fault | None:
    """Take away a look-up together with the gold call that made it, so that a later value comes from nowhere."""
    task = sound.task
    for site in [site for site in sites(task, rng) if site.tool.effect == "read"]:
        turns = tuple(tuple(c for c in turn if c.name != site.tool.name) for turn in task.ground_truth.turns)
        if not any(turns):
            continue
        tools = tuple(tool for tool in task.environment.tools if tool.name != site.tool.name)
        changed = task.model_copy(update={"ground_truth": task.ground_truth.model_copy(update={"turns": turns})})
        return Fault(
            task=with_environment(changed, tools=tools),
            pointer="/environment/tools",
            before=site.tool.name,
            claim=f"nothing tells the agent what {site.tool.name} told it",
        )
    return None
