"""``agenthard escape tables``: the tables and figures of the paper from evaluations."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.output import JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from agenthard.escape.diagnostics import Diagnosis, Drop
    from agenthard.reports.evaluation import Published
    from agenthard.reports.evaluation.paper_tables import EvaluationTable
    from agenthard.reports.kit.figure import Figure

    Tables = list[EvaluationTable]


def tables(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of `agenthard evaluate escape`.")],
    people: Annotated[
        list[Path] | None, typer.Option(help="Runs that `agenthard escape play --out` recorded; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as CSV, and a page with figures.")] = None,
    failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Episodes of this rate of failing calls.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Show success, behaviours, errors, calls, trials, success against turns and paired tests, by agent and size.

    Each agent is listed once per condition that differs within a run or between runs, such as the feedback.
    Exit codes: 0 shown, 64 a folder holds no evaluation of rooms.

    Example: `agenthard escape tables escape-evaluation --out escape-tables`
    """
    from agenthard.escape.declared import ESCAPE
    from agenthard.escape.diagnostics import diagnose, drops
    from agenthard.flows.commands.evaluation_tables import as_rows, show_paper
    from agenthard.reports.evaluation import read_published

    frame, left_out = _episodes(runs, failure_rate)
    rows, unknown = _people(people or [], frame)
    rows += as_rows(frame)
    found = diagnose(rows)
    lost = drops(found)
    published = [read_published(path, ESCAPE) for path in ESCAPE.published]
    laid_out = [*_scores(found, lost, published), *_repeated(rows, frame)]
    more = {"by_size": [asdict(each) for each in found], "drops": [asdict(each) for each in lost]}
    most = max((each.episodes for each in found), default=0)
    notes = [f"At most {most} episodes per row; '-' is undefined: nothing of the kind occurred.", *left_out]
    notes += [f"{len(unknown)} runs of people are of rooms that were not evaluated."] if unknown else []
    notes += [f"Published: {problem}." for file in published for problem in file.problems]

    def draw() -> "Sequence[Figure]":
        return _figures(frame, rows)

    show_paper("Escape rooms: tables of the paper", " ".join(notes), laid_out, draw, out, as_json, more)


def _episodes(runs: Sequence[Path], failure_rate: float) -> "tuple[pd.DataFrame, list[str]]":
    """Read the final attempts of evaluations; conditions that differ become part of the agents' names."""
    import pandas as pd

    from agenthard.escape.declared import ESCAPE
    from agenthard.flows.commands.evaluation_tables import finals_of
    from agenthard.flows.evaluation.finished import read_finished

    found = [read_finished(run, "escape") for run in runs]
    differ = sorted(
        {name for each in found for name in each.conditions if len({str(f.conditions.get(name)) for f in found}) > 1}
    )
    frames, left_out = [], []
    for each in found:
        table = finals_of(each.episodes(ESCAPE), ESCAPE)
        chosen = table[table["failure_rate"] == failure_rate].copy()
        if len(chosen) < len(table):
            left_out.append(
                f"{len(table) - len(chosen)} episodes at other failure rates than {failure_rate:g} are left out."
            )
        axes = {axis.condition: axis.name for axis in ESCAPE.axes if axis.condition}
        varied = {name for name, column in axes.items() if chosen[column].nunique() > 1}
        if named := sorted({*differ, *varied}):
            words = [chosen[axes[name]] if name in axes else str(each.conditions.get(name)) for name in named]
            texts = [f"{name} " + word for name, word in zip(named, words, strict=True)]
            chosen["agent"] = chosen["agent"] + " (" + reduce(lambda one, other: one + ", " + other, texts) + ")"
        frames.append(chosen)
    joined = pd.concat(frames, ignore_index=True)
    twice = joined.duplicated(["agent", "task_id", "trial"])
    if twice.any():
        left_out.append(f"{int(twice.sum())} episodes are in two runs under equal conditions: the first one counts.")
    return joined[~twice].reset_index(drop=True), left_out


def _people(files: Sequence[Path], frame: "pd.DataFrame") -> tuple[list[dict[str, Any]], list[str]]:
    from agenthard.escape.declared import ESCAPE
    from agenthard.escape.paper import people
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.trajectory import Trajectory

    facts = frame.drop_duplicates("task_id").set_index("task_id")[list(ESCAPE.facts)].to_dict("index")
    runs = []
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            runs += [Trajectory.model_validate_json(line) for line in lines if line.strip()]
        except (OSError, ValueError) as error:
            raise CommandError(f"{path}: no runs of people can be read from it ({error})") from error
    return people(runs, {str(id): {str(k): v for k, v in values.items()} for id, values in facts.items()})


def _scores(found: "list[Diagnosis]", lost: "list[Drop]", published: "list[Published]") -> "Tables":
    from agenthard.audit.statistics import wilson
    from agenthard.escape.environment.tally import ERRORS, SUB_CODES
    from agenthard.escape.paper import FEWEST_CALLS
    from agenthard.reports.evaluation.paper_tables import EvaluationTable

    where = ("agent", "parts")
    success: list[tuple[Any, ...]] = [
        (d.agent, d.nodes, d.episodes, _percent(d.success), _percent(d.low), _percent(d.high), _percent(d.subgoals))
        + (_percent(d.discovery), d.discovery_rooms)
        for d in found
    ]
    for model in (model for file in published for model in file.models):
        shares = {(m.levels["nodes"], m.measure): 100 * m.value for m in model.measures}
        counts = {cell.levels["nodes"]: cell for cell in model.cells}
        told = {size for size, measure in shares if measure in ("subgoals", "discovery")}
        for size in sorted(told | counts.keys()):
            cell = counts.get(size)
            rate = (cell.n, 100 * cell.passed / cell.n, *map(_percent, wilson(cell.passed, cell.n))) if cell else ()
            success.append(
                (f"{model.model} *", size, *(rate or (None,) * 4))
                + (shares.get((size, "subgoals")), shares.get((size, "discovery")), None)
            )
    behaviour = [
        (d.agent, d.nodes, d.convergence, d.censored, d.censored_convergence, _percent(d.premature))
        + (_percent(d.adherence), _percent(d.param_adherence), d.dependent_uses)
        for d in found
    ]
    errors = [(d.agent, d.nodes, *(d.errors[name] for name in ERRORS)) for d in found]
    codes = [(d.agent, d.nodes, *(d.sub_codes[name] for name in SUB_CODES)) for d in found]
    calls = [
        (d.agent, d.nodes, d.calls, d.min_calls, FEWEST_CALLS.get(d.nodes), d.turns, d.min_turns, d.effort)
        for d in found
    ]
    calls += [
        (f"{model.model} *", m.levels["nodes"], m.value, None, FEWEST_CALLS.get(m.levels["nodes"]), None, None, None)
        for model in (model for file in published for model in file.models)
        for m in model.measures
        if m.measure == "calls"
    ]
    steps = [(each.agent, each.easiest, each.hardest, 100 * each.difference) for each in lost]
    return [
        EvaluationTable(
            "Success",
            (*where, "n", "SR %", "low", "high", "Sub %", "Disc %", "n Disc"),
            success,
            "SR with Wilson’s 95 % interval; Disc over rooms that hide parts. * published by others, on other rooms.",
        ),
        EvaluationTable(
            "Drop",
            ("agent", "least parts", "most parts", "ΔSR, points"),
            steps,
            "Over the sizes that the agent played.",
        ),
        EvaluationTable(
            "Behaviour",
            (*where, "convergence", "censored", "with censored", "premature %", "adherence %", "by param %", "uses"),
            behaviour,
            "Convergence: uses of a part that depends on nothing up to its success. Censored: such parts never "
            "resolved; “with censored” counts their uses, too.",
        ),
        EvaluationTable("Failed uses per episode", (*where, *ERRORS), errors),
        EvaluationTable("Other failed uses", (*where, *SUB_CODES), codes, "Of the last class."),
        EvaluationTable(
            "Calls",
            (*where, "calls", "fewest", "fewest, paper", "turns", "fewest turns", "calls / fewest, solved"),
            calls,
            "The fewest turns hold any number of calls each.",
        ),
    ]


def _repeated(rows: Sequence[dict[str, Any]], frame: "pd.DataFrame") -> "Tables":
    from agenthard.escape.paper import SHARES, against_turns, trials
    from agenthard.reports.evaluation.paper_tables import EvaluationTable

    where = ("agent", "parts")
    shares = tuple(f"{100 * share:.0f} %" for share in SHARES)
    return [
        EvaluationTable("Trials", (*where, "k", "pass^k %", "low", "high", "rooms", "of"), trials(rows)),
        EvaluationTable(
            "Success against turns",
            (*where, "n", "turns", *shares),
            against_turns(rows),
            "SR in percent within shares of the paper’s turns, from the turns that solved episodes took. An agent that "
            "was told of fewer turns might have played differently.",
        ),
        EvaluationTable(
            "Pairs",
            ("first", "second", "parts", "rooms", "difference, points", "p", "p, Holm"),
            _pairs(frame),
            "On common rooms, neighbours by score and variants of one agent: exact McNemar for single trials, a paired "
            "bootstrap over rooms where trials repeat. Holm’s correction is over the pairs of one size.",
        ),
    ]


def _pairs(frame: "pd.DataFrame") -> list[tuple[Any, ...]]:
    from agenthard.audit.statistics import Estimate
    from agenthard.escape.declared import ESCAPE
    from agenthard.flows.evaluation.finished import analyse_again

    found: list[tuple[Any, ...]] = []
    sizes: dict[Any, pd.DataFrame] = dict(iter(frame.groupby("nodes", sort=True)))
    for size, part in sizes.items():
        declared = ESCAPE.model_copy(update={"measures": (), "factors": (), "axes": ()})
        for pair in analyse_again("pairs", part, declared).pairs:
            gap = 100 * pair.difference.value if isinstance(pair.difference, Estimate) else None
            found.append((pair.first, pair.second, int(size), pair.n, gap, pair.p, pair.adjusted_p))
    return found


def _figures(frame: "pd.DataFrame", rows: Sequence[dict[str, Any]]) -> "list[Figure]":
    from agenthard.escape.declared import ESCAPE
    from agenthard.escape.paper import turn_steps
    from agenthard.flows.evaluation.finished import analyse_again
    from agenthard.reports.figures.evaluation import figures
    from agenthard.reports.figures.evaluation.steps import step_lines

    drawn = figures(analyse_again("Escape rooms", frame, ESCAPE.model_copy(update={"axes": ()})))
    chosen = [drawn[name] for name in ("cells", "measures", "horizon") if drawn[name].svg is not None]
    return [*chosen, step_lines(list(turn_steps(rows)), "turns", "parts")]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
