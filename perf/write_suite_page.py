"""Write docs/agency-suite.md: tasks, clauses, solutions and mutants of our own suite, from its records and data.

Usage: python perf/write_suite_page.py
"""

import json
from pathlib import Path

from agenthard.agency.suite.catalogue import Play, expected, load_all
from agenthard.agency.suite.mutation import equivalents
from agenthard.reports.kit.markdown import md, table

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "agency-suite.md"
INTRO = """\
# AgencyBench: our own suite

Six scenarios of our own, one for each capability, three tasks each; every task begins on the best attempt at the one
before. `agenthard.agency.suite.catalogue` loads, prepares and grades them:

    from pathlib import Path
    from agenthard.agency.suite.catalogue import grade_solution, load

    play = load("research")
    print(grade_solution(play, play.scenario.tasks[0], "reference", Path("scratch")).score)

Each clause is a sentence of the task, and a program decides it: all or nothing, but for dates and topics of the second
research task, which earn a share each. Graded programs run in [jobs](jobs.md); inputs are drawn by the grader, and what
is right is computed by the grader from a model of its own, in another process. The scenarios need Python 3 (back end,
code, MCP), Node.js (game), Chromium (front end) and the extra `mcp` (MCP). The page of the front end is looked at in
Chromium within a job; the programs of the MCP scenario talk to a real MCP server outside of their job, so that only
calls change the store. Neither an agent nor a graded program can look into the package of the suite, or into
the suite on disk. In the MCP scenario the `python3` of an agent is the one that runs AgentHard, which has the package
`mcp`; in the others it is that of the machine.

What a task builds on: in `game`, `frontend`, `backend` and `code` each task extends or calls what the one before left;
the second tasks of `research` and `mcp` need none of the first's files, and their third tasks the files of both.

`agency/suite/NAME/solutions/SOLUTION/TASK` has solutions as files that are laid over the workspace, and
`commands.json`, commands that are run afterwards. Their scores are stated in `agency/suite/expected.csv`, on what the
reference left of the tasks before; tests compare. *Cheats* repeat the rubric, leave empty files of the right names,
edit what the grader might read, or report a score of their own.

    agenthard agency scenarios --out agency-suite
    agenthard audit agency agency-suite --out audit

    agency agenthard-agency-suite 1 0dddab5eed3afa2f: 18 tasks
      checked 18 + not checked 0 + quarantined 0 + not read 0 = 18; 0 checks ended in an error
      isolation of executed benchmark code: commands of scenarios: user nobody, namespaces (network, files, processes),
      Landlock 7, seccomp; processes counted by control group
      findings: 0 confirmed, 0 suspected, 0 signal
      decisions: keep 18, unchecked 0, review 0, drop 0 of 18
      deciding checks ran on: schema 18 of 18, execution 18 of 18; no judge was asked
      33 experimental checks off (--experimental)

This page is written by `perf/write_suite_page.py`.
"""
WHO = {
    "root": "root",
    "user": "an ordinary user",
    "bare": "an ordinary user without user namespaces, weak isolation",
}
HOSTILE = """\
## Hostile players

`perf/measure_hostile_players.py` lets 17 players play the six scenarios in random order, as root, as an ordinary user,
and as one on a machine without user namespaces: two honest ones, one that does nothing, four cheats, and players that
fork without end, leave processes, fill the disk, seek the network, the graders and the gold, copy a solution, seek
another
scenario, spoil files and kill, crash, and hang. The table counts plays, tasks with a wrong score (another than the
reference's stated one, or more than 2 for players that do not solve the task), processes, ports and changes outside
that were left, and the pairs of scenario and player that read a grader or gold, or reached the network.
"""
MUTANTS = """\
## Mutants

A mutant is the reference solution with one change in a line that the task added: a number, a text or an operator, or
the line deleted. The table has the share of the mutants of each task that score as high as the original, and for each
clause the share that meet it as well: a clause that does not look at the changed line is met.
`perf/measure_suite_mutants.py` measures.
"""


def scenario_part(play: Play, scores: dict[tuple[str, str], float]) -> str:
    """Return the part of a scenario."""
    parts = [f"## {play.scenario.capability}: `{play.name}`"]
    for task in play.scenario.tasks:
        title = task.query.partition("\n")[0].removeprefix("# ")
        total = sum(each.weight for each in task.criteria)
        rows = [(f"`{each.id}`", f"{10 * each.weight / total:.1f}", md(each.text)) for each in task.criteria]
        given = [f"`{name}` {score:.2f}" for (owner, name), score in scores.items() if owner == task.id]
        parts += [f"### {md(title)}", table(("clause", "points", "text"), rows), f"Scores: {', '.join(given)}."]
    return "\n\n".join(parts)


def mutants_part() -> str:
    """Return the part about mutants."""
    found = json.loads((HERE / "suite_mutants.json").read_text(encoding="utf-8"))
    rows = []
    for name, each in found.items():
        clauses = ", ".join(f"`{clause}` {share:.0%}" for clause, share in each["clauses"].items())
        rows.append((name, str(each["mutants"]), str(len(each["survivors"])), clauses))
    total, survivors = (
        sum(each["mutants"] for each in found.values()),
        [f"`{md(each)}` of {name}" for name, task in found.items() for each in task["survivors"]],
    )
    said = f"Of {total} mutants, {len(survivors)} score as high as the original ({len(survivors) / total:.1%})"
    listed = f"{said}: {', '.join(survivors)}." if survivors else f"{said}."
    same = [f"* {task}, `{name}`: {md(why)}" for task, known in equivalents().items() for name, why in known.items()]
    head = "Mutants that do the same as the original in all that is asked, and are left out:"
    shares = table(("task", "mutants", "as high", "clauses met"), rows)
    return "\n\n".join([MUTANTS.strip(), shares, listed, head, "\n".join(same)])


def repeats_part() -> str:
    """Return the part about repeated grades."""
    found = json.loads((HERE / "suite_repeats.json").read_text(encoding="utf-8"))
    wrong, total = found["different"], found["runs"] * found["tasks"] * len(found["solutions"])
    said = f"{len(wrong)} have another score: {md('; '.join(wrong))}" if wrong else "all have their stated score"
    names = " and ".join(f"`{each}`" for each in found["solutions"])
    return (
        f"## Repeats\n\nThe solutions {names} of all {found['tasks']} tasks were graded in {found['runs']} runs,\n"
        f"each in another random order: of {total} grades {said}.\n`perf/measure_suite_repeats.py` measures."
    )


def hostile_part() -> str:
    """Return the part about hostile players."""
    found = json.loads((HERE / "hostile_players.json").read_text(encoding="utf-8"))
    rows = [
        (
            WHO[who],
            str(each["plays"]),
            str(len(each["wrong"])),
            str(len(each["different"])),
            str(len(each["left"])),
            str(len(each["read"])),
            str(len(each["reached"])),
        )
        for who, each in found.items()
    ]
    columns = (
        "who runs it",
        "plays",
        "wrong scores",
        "other scores in a later run",
        "left or changed",
        "read",
        "network",
    )
    notes = [f"* {WHO[who]}: {md(each['note'])}" for who, each in found.items() if "note" in each]
    return "\n\n".join([HOSTILE.strip(), table(columns, rows), *(["\n".join(notes)] if notes else [])])


def page() -> str:
    """Return the page."""
    scores = expected()
    return (
        "\n\n".join(
            [
                INTRO.strip(),
                *[scenario_part(play, scores) for play in load_all()],
                mutants_part(),
                repeats_part(),
                hostile_part(),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
