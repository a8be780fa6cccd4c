"""First task of the game: levels and moves."""

import json
import random
from collections.abc import Iterator, Sequence

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.game import rules
from agenthard.agency.suite.kit import MARK, Clause, TaskPlan, agree, results

HARNESS = """
const job = JSON.parse(process.argv[1]);
const all = {};
for (const file of job.files) Object.assign(all, require(process.cwd() + "/" + file));
const look = (state) => state === null || typeof state !== "object" ? state : {
  row: state.row, column: state.column, lanterns: state.lanterns, status: state.status, moves: state.moves };
const call = (name, ...args) => {
  try { return all[name](...args); } catch (error) {
    return {error: error instanceof Error ? String(error.code) : "no Error was thrown"}; }
};
const found = job.cases.map((one) => (%s)(one));
process.stdout.write(%s + JSON.stringify(found, (key, value) => value === undefined ? null : value));
"""


def harness(probe: Probe, body: str, cases: Sequence[object], *files: str) -> object:
    """Call the module on all cases in one process; ``body`` is a function of a case that returns what is compared."""
    script = HARNESS % (body, json.dumps(MARK))
    return results(probe, "node", "-e", script, json.dumps({"cases": cases, "files": files or ["courier.js"]}))


def look(state: rules.State) -> dict[str, object]:
    """Return of a state what the task names."""
    return {
        "row": state.row,
        "column": state.column,
        "lanterns": [list(place) for place in state.lanterns],
        "status": state.status,
        "moves": state.moves,
    }


def levels(count: int, seed: int, most: int = 8) -> Iterator[str]:
    """Draw levels of any shape; many have no way to win."""
    draw = random.Random(seed)
    for _ in range(count):
        height, width = draw.randint(2, most), draw.randint(2, most)
        cells = draw.choices("#.o~*", weights=[5, 16, 3, 1, 3], k=height * width)
        courier, leave = draw.sample(range(height * width), 2)
        cells[courier], cells[leave] = "@", "E"
        rows = ["".join(cells[at : at + width]) for at in range(0, height * width, width)]
        yield "\n".join(rows) + draw.choice(["\n", ""])


def walks(count: int, seed: int) -> list[tuple[str, str]]:
    """Draw levels with moves to make on them."""
    draw = random.Random(seed)
    return [(level, "".join(draw.choices("DLRU", k=draw.randint(1, 14)))) for level in levels(count, seed)]


def states(level: str, letters: str) -> list[rules.State]:
    """Return the states after each move, the first one included."""
    found = [rules.start(level)]
    for letter in letters:
        found.append(rules.slide(found[-1], letter))
    return found


def begins(probe: Probe) -> Outcome:
    """The first state of levels."""
    cases = list(levels(40, 11))
    found = harness(probe, "(level) => look(call('start', level))", [*cases])
    return agree(found, [look(rules.start(each)) for each in cases], [f"start of {each!r}" for each in cases])


BAD_LEVELS = {
    "": "shape",
    "\n": "shape",
    "@E\n\n": "shape",
    "@E\n.": "shape",
    "@.E\n..\n": "shape",
    "@E?\n..": "shape",
    "@E?\n...": "character",
    "@E\n. ": "character",
    "@@?": "character",
    "e@.E": "character",
    "...": "courier",
    "@E@": "courier",
    "EE": "courier",
    "@..": "exit",
    "@EE": "exit",
    "E.E\n.@.\n": "exit",
}


def refuses(probe: Probe) -> Outcome:
    """Levels and directions that are refused."""
    found = harness(probe, "(level) => call('start', level)", list(BAD_LEVELS))
    shape = agree(found, [{"error": each} for each in BAD_LEVELS.values()], [f"level {each!r}" for each in BAD_LEVELS])
    if shape.share < 1:
        return shape
    wrong = ["", "u", "RR", "N", "0", "toString"]
    body = "(word) => call('move', all.start('@.E'), word)"
    return agree(
        harness(probe, body, [*wrong]), [{"error": "direction"}] * len(wrong), [f"direction {x!r}" for x in wrong]
    )


STEP = """([level, letters]) => { let state = all.start(level); const seen = [];
  for (const letter of letters) { state = call("move", state, letter); seen.push(look(state)); } return seen; }"""


def _moves(probe: Probe) -> tuple[object, object]:
    return harness(probe, STEP, walks(45, 12)), harness(probe, STEP, walks(45, 13))


def _compare(probe: Probe, names: tuple[str, ...]) -> Outcome:
    """Compare some members of the states after each move."""
    wanted: list[object] = []
    cases: list[str] = []
    for seed in (12, 13):
        for level, letters in walks(45, seed):
            wanted.append([{name: look(state)[name] for name in names} for state in states(level, letters)[1:]])
            cases.append(f"moves {letters} on {level!r}")
    found: list[object] = []
    for part in probe.once(_moves):
        for walk in part if isinstance(part, list) else []:
            found.append(
                [{name: each.get(name) if isinstance(each, dict) else each for name in names} for each in walk]
            )
    return agree(found, wanted, cases)


def slides(probe: Probe) -> Outcome:
    """Where the courier stops."""
    return _compare(probe, ("row", "column"))


def lights(probe: Probe) -> Outcome:
    """Which lanterns are left, and how a game ends."""
    return _compare(probe, ("lanterns", "status"))


def counts(probe: Probe) -> Outcome:
    """How moves are counted."""
    return _compare(probe, ("moves",))


PURE = """([level, letters]) => { const first = all.start(level); let state = first; const kept =
[JSON.stringify(first)];
  const made = [first];
  for (const letter of letters) { state = all.move(state, letter); made.push(state); kept.push(JSON.stringify(state)); }
  const again = look(all.start(level));
  return [made.every((each, at) => JSON.stringify(each) === kept[at]), look(all.move(first, letters[0])), again]; }"""


def is_pure(probe: Probe) -> Outcome:
    """States that later moves do not change."""
    cases = walks(30, 14)
    wanted: list[object] = []
    for level, letters in cases:
        made = states(level, letters)
        wanted.append([True, look(made[1]), look(made[0])])
    return agree(harness(probe, PURE, cases), wanted, [f"moves on {each[0]!r}" for each in cases])


INTRO = """
Write the engine of a puzzle game. README.md explains the characters of a level. `start(text)` begins a game on the text
of a level and returns a state; `move(state, direction)` makes one move. A state is an object with `row` and `column` of
the courier (both count from 0), `lanterns` (those not lit, as `[row, column]`, in reading order), `status`
(`"playing"`, `"won"` or `"lost"`) and `moves` (a number). It may have other members. An error is an `Error` with a
member `code`.
"""
ENGINE = TaskPlan(
    "Ice courier: the engine",
    INTRO,
    {"courier.js": "module that exports `start` and `move`"},
    (
        Clause(
            "start",
            "`start` gives the state before any move: the courier on `@`, no lantern lit, `moves` 0, `status`"
            " playing; one"
            " line break at the end of the text does not count.",
            begins,
        ),
        Clause(
            "errors",
            "`start` throws an error with the first code that applies: `shape` (no row, an empty row, or rows of"
            " different"
            " length), `character` (one that README.md does not name), `courier` (not exactly one `@`), `exit` (not"
            " exactly"
            " one `E`); `move` throws one with code `direction` for anything but `D`, `L`, `R`, `U`.",
            refuses,
            1.5,
        ),
        Clause(
            "slide",
            "A move slides the courier down, left, right or up, cell by cell, until the next cell is a wall or"
            " outside the"
            " level; the courier also stops on snow, in water, and on the exit when no lantern is left, and slides"
            " over the"
            " exit as over ice while one is.",
            slides,
            3,
        ),
        Clause(
            "end",
            "Each lantern that the courier passes or stops on is lit at once; a game is lost in water, and won on"
            " the exit"
            " when no lantern is left.",
            lights,
            2.5,
        ),
        Clause(
            "count",
            "Only a move that changes the courier's cell is counted; after the end of a game a move changes nothing.",
            counts,
        ),
        Clause("pure", "`move` returns another state, and no state changes after it was returned.", is_pure),
    ),
)
