"""Second task of the game: notation, drawing, undoing, points."""

import random

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.game import rules
from agenthard.agency.suite.game.engine import ENGINE, harness, look, states, walks
from agenthard.agency.suite.kit import Clause, TaskPlan, agree

WALK = "let state = all.start(level); for (const letter of letters) state = all.move(state, letter);"


def notations(seed: int) -> list[str]:
    """Draw notations, some with counts and spaces."""
    draw = random.Random(seed)
    found = []
    for _ in range(40):
        parts = [
            draw.choice(["", "", "2", "3", "10", "12", "99"]) + draw.choice("DLRU") + draw.choice(["", "", " ", "\n "])
            for _ in range(draw.randint(0, 8))
        ]
        found.append(draw.choice(["", " "]) + "".join(parts))
    return found


BAD_NOTATIONS = [
    "3",
    "R3",
    "0R",
    "00R",
    "01R",
    "100R",
    "r",
    "R,U",
    "3 R",
    "2\nL",
    "-1R",
    "1.5R",
    "R3 ",
    "N",
    "R\tU",
    "٣R",
]


def plays(probe: Probe) -> Outcome:
    """Whole games from their notation."""
    cases = [[level, each] for (level, _), each in zip(walks(40, 21), notations(22), strict=True)]
    wanted = [look(states(level, rules.read_notation(notation))[-1]) for level, notation in cases]
    found = harness(probe, "([level, notation]) => look(call('play', level, notation))", [*cases])
    names = [f"play {notation!r} on {level!r}" for level, notation in cases]
    return agree(found, wanted, names)


def refuses(probe: Probe) -> Outcome:
    """Notations that are refused."""
    found = harness(probe, "(notation) => call('play', '@.E', notation)", [*BAD_NOTATIONS])
    return agree(found, [{"error": "notation"}] * len(BAD_NOTATIONS), [f"notation {each!r}" for each in BAD_NOTATIONS])


def writes(probe: Probe) -> Outcome:
    """Notations of letters."""
    draw = random.Random(23)
    cases = ["", "R", "RR", "RRRU", "U" * 99, "U" * 100, "D" * 98 + "L" * 199, "L" * 297]
    cases += ["".join(draw.choice("DLRU") * draw.choice([1, 1, 2, 5, 11]) for _ in range(9)) for _ in range(20)]
    bad = ["3R", "R U", "x", "RRu"]
    found = harness(probe, "(letters) => call('write', letters)", [*cases, *bad])
    wanted: list[object] = [rules.write_notation(each) for each in cases]
    return agree(found, [*wanted, *[{"error": "notation"}] * len(bad)], [f"write {each!r}" for each in (*cases, *bad)])


def draws(probe: Probe) -> Outcome:
    """Pictures of states."""
    cases = walks(60, 24)
    wanted = [rules.render(states(level, letters)[-1]) for level, letters in cases]
    found = harness(probe, f"([level, letters]) => {{ {WALK} return call('render', state); }}", cases)
    return agree(found, wanted, [f"state after {each[1]} on {each[0]!r}" for each in cases])


UNDO = f"""([level, letters]) => {{ {WALK} const kept = JSON.stringify(look(state)); const seen = [];
  let back = state; for (let count = 0; count < letters.length; count += 1) {{
    back = call("undo", back); seen.push(look(back)); }}
  const again = all.move(all.undo(state), letters[0]);
  return [seen, look(again), look(call("undo", again)), kept === JSON.stringify(look(state))]; }}"""


def undoes(probe: Probe) -> Outcome:
    """States before, back to the first."""
    cases = walks(40, 25)
    wanted: list[object] = []
    for level, letters in cases:
        state = states(level, letters)[-1]
        back, seen = state, []
        for _ in letters:
            back = back.before or back
            seen.append(look(back))
        again = rules.slide(state.before or state, letters[0])
        wanted.append([seen, look(again), look(again.before or again), True])
    return agree(harness(probe, UNDO, cases), wanted, [f"undo after {each[1]} on {each[0]!r}" for each in cases])


WON = [("@.E", "R"), ("@*E", "R"), ("@o" + "o" * 33 + "E", "R" * 36), ("@o" + "o" * 30 + "E", "R" * 36)]
WON += [("@*" + "*" * 3 + "o" * 20 + "E", "R" * 36), ("@" + "o" * 32 + "E", "R" * 36)]


def scores(probe: Probe) -> Outcome:
    """Points of states."""
    cases = [*walks(60, 26), *WON]
    wanted = [rules.score(states(level, letters)[-1]) for level, letters in cases]
    found = harness(probe, f"([level, letters]) => {{ {WALK} return call('score', state); }}", cases)
    return agree(found, wanted, [f"points after {each[1]} on {each[0]!r}" for each in cases])


def keeps(probe: Probe) -> Outcome:
    """The first task's functions, next to the new ones."""
    body = "(name) => typeof all[name]"
    names = ["start", "move", "play", "write", "render", "undo", "score"]
    if harness(probe, body, names) != ["function"] * len(names):
        return Outcome(0.0, f"the module does not export all of {', '.join(names)}")
    found = [clause.check(probe) for clause in ENGINE.clauses]
    return min(found, key=lambda each: each.share)


INTRO = """
Extend `courier.js` so that whole games can be written down, shown and taken back. The notation of moves is their
letters; a count from 1 to 99 before a letter repeats it: `3RU` is `RRRU`.
"""
PLAY = TaskPlan(
    "Ice courier: the record of play",
    INTRO,
    {"courier.js": "module that also exports `play`, `write`, `render`, `undo` and `score`"},
    (
        Clause(
            "play",
            "`play(text, notation)` begins a game on the text of a level, makes the moves of a notation, and"
            " returns the"
            " last state; spaces and line breaks between moves do not count.",
            plays,
            2,
        ),
        Clause(
            "refuse",
            "`play` throws an error with code `notation` for any other character, for a count that is 0, begins"
            " with 0 or"
            " has three digits, and for a count that no letter follows directly.",
            refuses,
            1.5,
        ),
        Clause(
            "write",
            "`write(letters)` gives the shortest notation of a text of letters, without spaces, a run of more than 99"
            " beginning with as many moves of 99 as it holds; it throws an error with code `notation` for any other"
            " character.",
            writes,
            1.5,
        ),
        Clause(
            "render",
            "`render(state)` draws the level as it is now, rows joined by line breaks without one at the end: the"
            " courier"
            " as `@`, or `X` in a lost and `W` in a won game, lit lanterns and the cell where the courier began as"
            " ice, and"
            " the exit as `e` while a lantern is left.",
            draws,
            2,
        ),
        Clause(
            "undo",
            "`undo(state)` returns the state before the last counted move, also after the end of a game, and an"
            " equal state"
            " where no move was counted; moves can be made again from there, and `undo` changes no state.",
            undoes,
            2,
        ),
        Clause(
            "score",
            "`score(state)` is 0 for a lost game, 5 for each lit lantern while playing, and for a won game 100, and"
            " 10 for"
            " each lantern, less 3 for each counted move, but at least 1.",
            scores,
            1,
        ),
        Clause(
            "keep",
            "`start` and `move` do what the first task asked, and the module exports them next to the five new"
            " functions.",
            keeps,
            1,
        ),
    ),
)
