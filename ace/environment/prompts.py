"""What a model is told at the start of an episode: a system message in four blocks, and the grid."""

import json
from collections.abc import Iterable

from agenthard.ace.domain import Domain, Number
from agenthard.ace.environment.environment import Environment
from agenthard.ace.environment.mode import Mode
from agenthard.ace.environment.tools import MAX_FIELDS, MAX_IDS, Kind
from agenthard.ace.instance import Puzzle
from agenthard.ace.wording import global_phrase, slot_phrases

CUT_OFF = "Your reply was cut off at the length limit, and its tool calls were not carried out. Reply more briefly."
"""Notice after a reply that was cut off."""
GO_ON = f"Please go on with a tool call. When the grid stands, call `{Kind.DONE}`."
"""Notice after a reply without a tool call."""


def messages(environment: Environment) -> list[dict[str, str]]:
    """Writes the first two messages of an episode.

    Args:
        environment: The episode.

    Returns:
        The system message and the user message, as ``{"role", "content"}``.
    """
    return [
        {"role": "system", "content": system_message(environment)},
        {"role": "user", "content": user_message(environment)},
    ]


def system_message(environment: Environment) -> str:
    """Writes the system message.

    Args:
        environment: The episode.

    Returns:
        Four tagged blocks: what this is about, how to use the tools, the rules, and the goal. In reference mode the
        rules are the task text of the instance, whose last line asks for the grid as text although only the tools
        count; in paper mode the same rules are told without it.
    """
    puzzle, domain = environment.puzzle, environment.domain
    policy = puzzle.instruction if environment.mode is Mode.REFERENCE else _policy(puzzle, domain)
    blocks = {
        "instructions": _instructions(environment),
        "tool_usage": "\n".join(f"- {line}" for line in _usage(environment)),
        "task_policy": policy,
        "task_goal": (
            "Fill every empty slot with one of its candidates so that all rules above hold together. "
            f"When the grid stands, call `{Kind.DONE}`."
        ),
    }
    return "\n\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in blocks.items())


def user_message(environment: Environment) -> str:
    """Writes the user message.

    Args:
        environment: The episode.

    Returns:
        The grid to begin with, and the two tools that the work is done with.
    """
    domain = environment.domain
    return "\n".join(
        [
            "The grid to begin with, row by row; null marks an empty slot:",
            json.dumps(environment.puzzle.grid),
            f"Find out about the candidates of a slot with `{Kind.QUERY.of(domain.name)}`.",
            f"Fill a slot with `{Kind.SET_SLOT}`.",
        ]
    )


def value_ranges(puzzle: Puzzle, domain: Domain) -> dict[str, range | tuple[str, ...]]:
    """Tells what values the attributes of an instance's items have.

    Where queries give ids only, an agent cannot see the values of candidates, and can ask only for values it knows of.

    Args:
        puzzle: The instance.
        domain: Its domain.

    Returns:
        By attribute: from the least to the greatest number, or all words, sorted; over all items, wherever they are.
    """
    ranges: dict[str, range | tuple[str, ...]] = {}
    for attribute in domain.attributes:
        values = {item[attribute.name] for item in puzzle.items.values()}
        if isinstance(attribute, Number):
            numbers = [int(value) for value in values]
            ranges[attribute.name] = range(min(numbers), max(numbers) + 1)
        else:
            ranges[attribute.name] = tuple(sorted(map(str, values)))
    return ranges


def _attributes(environment: Environment) -> Iterable[str]:
    """The attributes of an item: their names, and in paper mode the values that occur."""
    domain = environment.domain
    item = domain.wording.item
    if environment.mode is Mode.REFERENCE:
        names = ", ".join(["name", *(attribute.name for attribute in domain.attributes)])
        yield f"Every {item} has an id and these attributes: {names}."
        return
    yield f"Every {item} has an id, a name, and these attributes:"
    for name, values in value_ranges(environment.puzzle, domain).items():
        told = f"{values[0]} to {values[-1]}" if isinstance(values, range) else ", ".join(values)
        yield f"- {name}: {told}"


def _instructions(environment: Environment) -> str:
    puzzle, words = environment.puzzle, environment.domain.wording
    return "\n".join(
        [
            f"You work on a {words.task} problem with the help of tools.",
            words.grid.format(rows=puzzle.rows, cols=puzzle.cols),
            *_attributes(environment),
            f"One lookup takes at most {MAX_IDS} ids and {MAX_FIELDS} attributes.",
            "Choices depend on each other: one that fits its slot may still make the whole grid impossible. "
            "Plan your questions, keep track of what you learn, and revise earlier choices where needed.",
        ]
    )


def _usage(environment: Environment) -> Iterable[str]:
    domain, budgets = environment.domain, environment.budgets
    items = domain.wording.items
    yield "Only tool calls count. What you write as text changes nothing."
    yield f"`{Kind.SET_SLOT}` fills, refills or empties a slot; `{Kind.SLOT_ID}` and `{Kind.GRID}` show what is where."
    reference = environment.mode is Mode.REFERENCE
    answer = "their ids and values" if reference else "their ids"
    yield f"`{Kind.QUERY.of(domain.name)}` names the candidates of one slot that meet one condition: {answer}."
    yield (
        f"`{Kind.ITEM_INFO.of(domain.name)}` and `{Kind.ITEM_ATTRIBUTES.of(domain.name)}` describe the {items} "
        "that stand in the grid from the start, and no others."
    )
    yield f"`{Kind.CHECK_SLOT.of(domain.name)}` says whether a filled slot meets its own rules."
    checked = "every rule there is" if reference else "the rules of the whole grid"
    yield f"`{Kind.CHECK_GLOBAL.of(domain.name)}` says whether the full grid meets {checked}, and nothing more."
    yield "A call may fail for no fault of yours; it then had no effect and may be repeated."
    yield f"`{Kind.DONE}` hands in the grid as it stands, finished or not."
    if budgets.limits_queries:
        yield f"Queries about a slot are limited; `{Kind.SLOT_BUDGET}` says how many are left."
    checks = budgets.global_checks(environment.puzzle)
    if checks is None:
        yield "Checks of the whole grid are not limited."
    elif checks == 0:
        yield "Checks of the whole grid are not available in this task."
    else:
        yield f"The whole grid may be checked {checks} times; `{Kind.GLOBAL_BUDGET}` says how often still."


def _policy(puzzle: Puzzle, domain: Domain) -> str:
    lines = [
        "Non-empty cells are fixed. The rules of the whole grid:",
        *(f"- {global_phrase(domain, rule, puzzle.limits[rule.name])}" for rule in domain.global_rules),
        "The rules of the slots:",
        *(f"- {phrase}" for slot in puzzle.slots for phrase in slot_phrases(domain, slot)),
    ]
    return "\n".join(lines)
