"""What agents without a model ask: the questions by which notes are filled."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.ace.agents.notes import Notes
from agenthard.ace.agents.player import Call, Data, Player
from agenthard.ace.domain import Bound, Domain, Number
from agenthard.ace.environment.tools import MAX_FIELDS, MAX_IDS, Kind
from agenthard.ace.instance import Slot, Value

_OPERATOR = {Bound.MAX: "<=", Bound.MIN: ">="}
_LEAST = -(10**9)


def all_candidates(player: Player) -> list[list[str]]:
    """Asks for the candidates of every slot, with a condition that is always true.

    Args:
        player: Who asks.

    Returns:
        Ids by slot; none where no answer was had.
    """
    return [_ids(player.ask([_query(slot, "name", "not_in", [])])[0]) for slot in player.brief.puzzle.slots]


def read_survivors(player: Player, notes: Notes) -> None:
    """Asks which candidates meet their slot's rules: a turn per slot, a query per rule.

    A slot whose answers fit no candidate, because some were forgotten, keeps all that were named.

    Args:
        player: Who asks.
        notes: Where it is noted.
    """
    domain = player.brief.domain
    for number, slot in enumerate(player.brief.puzzle.slots):
        rules = [(domain.slot_rule(name), threshold) for name, threshold in slot.limits.items()]
        asked = [_query(slot, rule.attribute, _OPERATOR[rule.bound], threshold) for rule, threshold in rules]
        answered = [answer for answer in player.ask(asked) if answer is not None]
        remembered = [[id for id in _ids(answer) if not player.happens(player.noise.forgetting)] for answer in answered]
        named = dict.fromkeys(id for answer in answered for id in _ids(answer))
        left = [id for id in named if all(id in ids for ids in remembered)]
        notes.survivors[number] = left or list(named)
        for answer in answered:
            _note_values(player, notes, answer, set(notes.survivors[number]))


def read_values(player: Player, notes: Notes) -> None:
    """Asks for whatever the global rules need to know of the fixed items and the survivors.

    Where queries give values, one that is always true reads a whole attribute of a slot. Where they give ids only, each
    question halves what is still possible. A slot whose budget is spent keeps what has been narrowed down.

    Args:
        player: Who asks.
        notes: Where it is noted, with the survivors.
    """
    _read_fixed(player, notes)
    for slot, left in zip(player.brief.puzzle.slots, notes.survivors, strict=True):
        if not player.brief.answers_hold_values:
            _halve(player, notes, slot, left)
            continue
        missing = [f for f in player.brief.global_fields if not all(notes.knows(id, f) for id in left)]
        for answer in player.ask([_query(slot, field, *_always(player.brief.domain, field)) for field in missing]):
            _note_values(player, notes, answer, set(left))


def _read_fixed(player: Player, notes: Notes) -> None:
    """Looks up the items in the grid, in one turn."""
    calls = [
        Call(Kind.ITEM_ATTRIBUTES, {"ids": ids, "field": fields})
        for ids in _batches(player.brief.fixed, MAX_IDS)
        for fields in _batches(player.brief.global_fields, MAX_FIELDS)
    ]
    for call, answer in zip(calls, player.ask(calls), strict=True):
        fields = call.arguments["field"]
        for id, values in (answer or {"items": {}})["items"].items():
            for field in fields:
                notes.note(id, field, (values if len(fields) == 1 else values[field],))


def _halve(player: Player, notes: Notes, slot: Slot, left: Sequence[str]) -> None:
    """Narrows down all values of a slot's survivors side by side: one turn halves every range that is still open."""
    domain = player.brief.domain
    open_ranges: list[tuple[str, list[str], Sequence[Value]]] = [
        (field, list(left), player.brief.ranges[field]) for field in player.brief.global_fields if left
    ]
    while open_ranges:
        asking = [part for part in open_ranges if len(part[2]) > 1]
        for field, ids, values in open_ranges:
            for id in ids:
                notes.note(id, field, values)
        open_ranges = []
        for (field, ids, values), answer in zip(asking, player.ask(list(_lower(domain, slot, asking))), strict=True):
            if answer is None:
                continue
            matched, middle = set(_ids(answer)), len(values) // 2
            lower, upper = [id for id in ids if id in matched], [id for id in ids if id not in matched]
            halves = (lower, values[:middle]), (upper, values[middle:])
            open_ranges += [(field, some, part) for some, part in halves if some]


def _lower(domain: Domain, slot: Slot, asking: Iterable[tuple[str, list[str], Sequence[Value]]]) -> Iterator[Call]:
    for field, _, values in asking:
        low = values[: len(values) // 2]
        number = isinstance(domain.attribute(field), Number)
        yield _query(slot, field, "<=" if number else "in", low[-1] if number else list(low))


def _note_values(player: Player, notes: Notes, answer: Data | None, ids: set[str]) -> None:
    """Notes the values in the answer of a query, where it holds any that the global rules need."""
    if answer is None or not player.brief.answers_hold_values or answer["field"] not in player.brief.global_fields:
        return
    field = answer["field"]
    for match in answer["matches"]:
        if match["id"] in ids and not notes.knows(match["id"], field):
            notes.note(match["id"], field, (match[field],))


def _always(domain: Domain, field: str) -> tuple[str, Any]:
    return (">=", _LEAST) if isinstance(domain.attribute(field), Number) else ("not_in", [])


def _query(slot: Slot, field: str, operator: str, value: Any) -> Call:
    where = {"row": slot.row, "col": slot.col}
    return Call(Kind.QUERY, {**where, "field": field, "operator": operator, "value": value})


def _ids(answer: Data | None) -> list[str]:
    """The ids in the answer of a query, whether or not it gives values."""
    return [] if answer is None else [m if isinstance(m, str) else m["id"] for m in answer["matches"]]


def _batches(things: Sequence[str], size: int) -> list[list[str]]:
    return [list(things[start : start + size]) for start in range(0, len(things), size)]
