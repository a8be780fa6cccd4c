"""Malformed tool calls: a gold call that does not fit the schema of the tool it names, or names none."""

from random import Random
from typing import Any

from agenthard.audit.faults.editing import sites, with_gold, with_value
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import fits
from agenthard.audit.faults.wordings import misspell

_CATEGORY = "malformed-tool-call"
_BECAUSE = "call and schema are both in the files"
_INVENTED = ("reason", "priority", "confirm", "note", "mode", "verbose", "userId", "extra_args", "Comment", "__id")
_GIVEN: tuple[Any, ...] = (True, "as requested", 1, ["urgent"], {"by": "user"}, 0.5)
_WORDS = ("special", "regular", "advanced", "overnight", "Other", "ANY", "n/a")
_VERBS = ("fetch", "handle", "perform", "do", "process", "execute")


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def missing_required_argument(sound: Sound, rng: Random) -> Fault | None:
    """Leave a required argument out of a gold call."""
    for site in sites(sound.task, rng):
        required = [name for name, _ in site.values() if name in site.tool.parameters.get("required", ())]
        if required:
            name = rng.choice(required)
            rest = {key: value for key, value in site.call.arguments.items() if key != name}
            call = site.call.model_copy(update={"arguments": rest})
            return Fault(
                task=with_gold(sound.task, site.turn, site.index, [call]),
                pointer=site.pointer,
                before=site.call.arguments,
                after=rest,
                claim=f"{site.call.name} needs {name}, which the gold call does not give",
            )
    return None


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def undocumented_argument(sound: Sound, rng: Random) -> Fault | None:
    """Give a gold call an argument that its tool does not take."""
    for site in sites(sound.task, rng):
        free = [name for name in _INVENTED if name not in site.properties]
        if free and not site.tool.parameters.get("additionalProperties"):
            name = rng.choice(free)
            value = rng.choice(_GIVEN)
            return Fault(
                task=with_value(sound.task, site, name, value),
                pointer=f"{site.pointer}/arguments/{name}",
                after=value,
                claim=f"{site.call.name} has no parameter {name}",
            )
    return None


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def wrong_type(sound: Sound, rng: Random) -> Fault | None:
    """Give an argument a value of another type than documented."""
    for site in sites(sound.task, rng):
        if site.tool.language not in ("json", "python"):
            continue
        for name, value in rng.sample(found := list(site.values()), len(found)):
            schema, wrong = site.properties[name], _of_other_type(value, rng, texts=site.tool.language == "json")
            if "type" in schema and fits(schema, value) and fits(schema, wrong) is False:
                return Fault(
                    task=with_value(sound.task, site, name, wrong),
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    claim=f"{name} of {site.call.name} is documented as {schema['type']}",
                )
    return None


def _of_other_type(value: Any, rng: Random, *, texts: bool) -> Any:
    """Choose a value of another type; text represents any type where values can be written as source text."""
    if isinstance(value, bool):
        return rng.choice((["yes"], 2, *((str(value), "yes") if texts else ())))
    if isinstance(value, int | float):
        written = (f"about {value}", str(value), f"{value}.0", f"{value} units") if texts else ()
        return rng.choice(([value], {"amount": value}, *written))
    if isinstance(value, str):
        return rng.choice(([value], {"value": value}, 17))
    return rng.choice((3.5, False))


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True)
def value_outside_the_choices(sound: Sound, rng: Random) -> Fault | None:
    """Give an argument a word that is none of the documented choices."""
    for site in sites(sound.task, rng):
        for name, value in site.values():
            wrong = rng.choice((rng.choice(_WORDS), misspell(str(value), rng), f"{value}_new", f"very {value}"))
            if (
                isinstance(value, str)
                and "enum" in site.properties[name]
                and fits(site.properties[name], wrong) is False
            ):
                return Fault(
                    task=with_value(sound.task, site, name, wrong),
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    claim=f"{wrong!r} is none of the documented values of {name}",
                )
    return None


@operator(_CATEGORY, "rules", _BECAUSE, rule_known=True, also=("insufficient-toolset",))
def tool_not_offered(sound: Sound, rng: Random) -> Fault | None:
    """Let a gold call name a tool that is not offered."""
    for site in sites(sound.task, rng):
        own = site.call.name.rpartition(".")[2]
        name = rng.choice((f"{rng.choice(_VERBS)}_{own}", f"{own}_v2", f"{own}s", misspell(own, rng)))
        if name != own and sound.task.tool(name) is None:
            call = site.call.model_copy(update={"name": name})
            return Fault(
                task=with_gold(sound.task, site.turn, site.index, [call]),
                pointer=f"{site.pointer}/name",
                before=site.call.name,
                after=name,
                claim=f"the tool {name} does not exist",
            )
    return None
