"""The rules of the game in Python: what is right, for the grader only."""

from dataclasses import dataclass, replace
from functools import cached_property

STEPS = {"D": (1, 0), "L": (0, -1), "R": (0, 1), "U": (-1, 0)}
CHARACTERS = "#.o~*@E"


class RuleError(ValueError):
    """A level, a direction or a notation that the rules refuse; its text is the code of the error."""


@dataclass(frozen=True)
class Level:
    """A level that obeys the rules."""

    rows: tuple[str, ...]

    @cached_property
    def lanterns(self) -> tuple[tuple[int, int], ...]:
        """Places of all lanterns, in reading order."""
        return self.all("*")

    def all(self, character: str) -> tuple[tuple[int, int], ...]:
        """Return all places of a character, in reading order."""
        return tuple((r, c) for r, row in enumerate(self.rows) for c, each in enumerate(row) if each == character)


@dataclass(frozen=True)
class State:
    """A moment of a game."""

    level: Level
    row: int
    column: int
    lanterns: tuple[tuple[int, int], ...]
    status: str = "playing"
    moves: int = 0
    before: "State | None" = None


def read_level(text: str) -> Level:
    """Read a level, or raise the first error that the rules name."""
    rows = text.split("\n")
    if rows[-1] == "":
        rows.pop()
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise RuleError("shape")
    if any(each not in CHARACTERS for row in rows for each in row):
        raise RuleError("character")
    level = Level(tuple(rows))
    if len(level.all("@")) != 1:
        raise RuleError("courier")
    if len(level.all("E")) != 1:
        raise RuleError("exit")
    return level


def start(text: str) -> State:
    """Begin a game."""
    level = read_level(text)
    ((row, column),) = level.all("@")
    return State(level, row, column, level.lanterns)


def slide(state: State, direction: str) -> State:
    """Make one move."""
    if direction not in STEPS:
        raise RuleError("direction")
    if state.status != "playing":
        return state
    down, right = STEPS[direction]
    row, column, lanterns, status = state.row, state.column, state.lanterns, "playing"
    rows = state.level.rows
    while 0 <= row + down < len(rows) and 0 <= column + right < len(rows[0]):
        if rows[row + down][column + right] == "#":
            break
        row, column = row + down, column + right
        lanterns = tuple(place for place in lanterns if place != (row, column))
        here = rows[row][column]
        if here == "~":
            status = "lost"
        elif here == "E" and not lanterns:
            status = "won"
        if here == "o" or status != "playing":
            break
    if (row, column) == (state.row, state.column):
        return state
    return replace(state, row=row, column=column, lanterns=lanterns, status=status, moves=state.moves + 1, before=state)


def read_notation(notation: str) -> str:
    """Turn ``3R U`` into ``RRRU``."""
    letters, count = "", ""
    for each in notation:
        if each in " \n":
            if count:
                raise RuleError("notation")
        elif each in "0123456789" and not (each == "0" and not count) and len(count) < 2:
            count += each
        elif each in STEPS:
            letters, count = letters + each * int(count or 1), ""
        else:
            raise RuleError("notation")
    if count:
        raise RuleError("notation")
    return letters


def write_notation(letters: str) -> str:
    """Turn ``RRRU`` into ``3RU``; a run of more than 99 is split."""
    if any(each not in STEPS for each in letters):
        raise RuleError("notation")
    found, at = "", 0
    while at < len(letters):
        run = 1
        while run < 99 and letters[at : at + run + 1] == letters[at] * (run + 1):
            run += 1
        found += (str(run) if run > 1 else "") + letters[at]
        at += run
    return found


def render(state: State) -> str:
    """Draw a state."""
    rows = [list(row) for row in state.level.rows]
    for row, line in enumerate(rows):
        for column, each in enumerate(line):
            if each == "@" or (each == "*" and (row, column) not in state.lanterns):
                line[column] = "."
            elif each == "E" and state.lanterns:
                line[column] = "e"
    rows[state.row][state.column] = {"playing": "@", "lost": "X", "won": "W"}[state.status]
    return "\n".join("".join(row) for row in rows)


def score(state: State) -> int:
    """Return the points of a state."""
    lit = len(state.level.lanterns) - len(state.lanterns)
    if state.status == "lost":
        return 0
    return 5 * lit if state.status == "playing" else max(100 + 10 * lit - 3 * state.moves, 1)


def shortest(state: State) -> list[str]:
    """Return all shortest ways to win, in alphabetical order; none where there is none."""
    layer: dict[tuple[object, ...], tuple[list[str], State]] = {
        (state.row, state.column, state.lanterns): ([""], state)
    }
    if state.status != "playing":
        return []
    seen = set(layer)
    while layer:
        found: list[str] = []
        below: dict[tuple[object, ...], tuple[list[str], State]] = {}
        for ways, here in layer.values():
            for direction in STEPS:
                after = slide(here, direction)
                if after is here or after.status == "lost":
                    continue
                more = [way + direction for way in ways]
                if after.status == "won":
                    found += more
                    continue
                key = (after.row, after.column, after.lanterns)
                if key not in seen:
                    below.setdefault(key, ([], after))[0].extend(more)
        if found:
            return sorted(found)
        seen |= below.keys()
        layer = below
    return []
