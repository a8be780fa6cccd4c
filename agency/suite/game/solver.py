"""Third task of the game: the shortest ways to win."""

import random

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.game import rules
from agenthard.agency.suite.game.engine import harness, levels, states
from agenthard.agency.suite.kit import Clause, TaskPlan, agree

FILES = ("courier.js", "solver.js")
LARGE = """\
.....o....#.....
.#....*.....o.#.
...o......#.....
.o...#..o...*...
....*.....o...#.
#.....@o......o.
..o.#......*....
.....o..#.....#o
.*....o....o....
...#.....*...o.E
"""
"""A level of 3,000 states or so: trying all sequences of moves would not end."""


def sample(seed: int, *, won: bool) -> list[str]:
    """Return levels of one kind."""
    return [each for each in levels(160, seed) if bool(rules.shortest(rules.start(each))) is won][:40]


def solves(probe: Probe) -> Outcome:
    """First of the shortest ways."""
    cases = [*sample(31, won=True), LARGE]
    wanted = [rules.shortest(rules.start(each))[0] for each in cases]
    found = harness(probe, "(level) => call('solve', level)", [*cases], *FILES)
    return agree(found, wanted, [f"level {each!r}" for each in cases])


def is_impossible(probe: Probe) -> Outcome:
    """Levels that cannot be won."""
    cases = sample(32, won=False)
    asked = (
        "(level) => [call('solve', level), call('par', level), call('count', level), call('hint', all.start(level))]"
    )
    found = harness(probe, asked, [*cases], *FILES)
    mixed = harness(probe, "(level) => call('par', level)", ["@.E"], *FILES)
    if mixed != [1]:
        return Outcome(0.0, "a level that can be won is not told from one that cannot")
    return agree(found, [[None, None, 0, None]] * len(cases), [f"level {each!r}" for each in cases])


def counts(probe: Probe) -> Outcome:
    """How long and how many the shortest ways are."""
    cases = [*sample(33, won=True), LARGE, "@...\n.##.\n....\n...E"]
    ways = [rules.shortest(rules.start(each)) for each in cases]
    found = harness(probe, "(level) => [call('par', level), call('count', level)]", [*cases], *FILES)
    return agree(found, [[len(each[0]), len(each)] for each in ways], [f"level {each!r}" for each in cases])


def hints(probe: Probe) -> Outcome:
    """What to do next."""
    draw = random.Random(34)
    cases: list[tuple[str, str]] = []
    for level in [*sample(35, won=True), *sample(36, won=True)]:
        letters = "".join(draw.choices("DLRU", k=draw.randint(0, 3)))
        cases.append((level, letters))
    cases += [(level, rules.shortest(rules.start(level))[0]) for level in sample(37, won=True)[:8]]
    wanted = [next(iter(rules.shortest(states(*each)[-1])), "") for each in cases]
    body = """([level, letters]) => { let state = all.start(level);
      for (const letter of letters) state = all.move(state, letter);
      return call("hint", state); }"""
    found = harness(probe, body, [*cases], *FILES)
    right = [each[0] if each else None for each in wanted]
    return agree(found, right, [f"state after {each[1]!r} on {each[0]!r}" for each in cases])


INTRO = """
Write a solver that uses the engine. A way to win is the letters of counted moves that lead to a won game; a shortest
one has the fewest moves. Ways of one length are in alphabetical order of their letters. Levels have up to 160 cells and
8 lanterns.
"""
SOLVER = TaskPlan(
    "Ice courier: the solver",
    INTRO,
    {"solver.js": "module that exports `solve`, `par`, `count` and `hint`"},
    (
        Clause(
            "solve",
            "`solve(text)` gives the alphabetically first of the shortest ways to win a level, as a text of letters.",
            solves,
            4,
        ),
        Clause(
            "impossible",
            "For a level that cannot be won, and not for others, `solve` and `par` give null, `count` gives 0, and"
            " `hint` of"
            " its first state gives null.",
            is_impossible,
            1.5,
        ),
        Clause(
            "count",
            "`par(text)` is the number of moves of a shortest way to win, and `count(text)` the number of different"
            " shortest ways.",
            counts,
            2.5,
        ),
        Clause(
            "hint",
            "`hint(state)` is the first letter of the alphabetically first of the shortest ways to win from a"
            " state, and"
            " null where there is none or the game has ended.",
            hints,
            2,
        ),
    ),
)
