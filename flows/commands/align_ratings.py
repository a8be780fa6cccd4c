"""``agenthard align rate`` and ``rated``: people score judged attempts or feedback, and are compared with judges."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.alignment.ratings import Ratings

DRAW_SEED = 42


class RatedKind(StrEnum):
    """What people score."""

    VERDICTS = "verdicts"
    FEEDBACK = "feedback"


def rate(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folder of an evaluation, file of runs, or AgencyBench's folder with its released run."),
    ],
    of: Annotated[
        RatedKind, typer.Option(help="Attempts that models judged (0 to 10), or feedback on them (0 to 5).")
    ] = RatedKind.VERDICTS,
    out: Annotated[Path, typer.Option(help="Sheet to write, JSON Lines; its key is written next to it.")] = Path(
        "ratings.jsonl"
    ),
    count: Annotated[int, typer.Option(min=2, help="Items to draw, at most one of each task.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = DRAW_SEED,
    as_json: JsonOption = False,
) -> None:
    """Draw judged attempts, or feedbacks, for people to score, on a sheet without models, judges and scores.

    The key next to the sheet has the scores of the judges: do not show it to the raters. Each rater fills a copy.

    Example: `agenthard align rate AgencyBench-v2 --of feedback --out feedback.jsonl`
    """
    from agenthard.flows.agency_runs import read_runs
    from agenthard.flows.errors import CommandError
    from agenthard.flows.rating_sheets import make_sheet, tasks_of
    from agenthard.reports.kit.files import json_text
    from agenthard.taxonomy.files import write_atomically, write_text

    key_file = out.with_name(f"{out.stem}.key.json")
    for file in (out, key_file):
        if file.exists():
            raise CommandError(f"{file}: exists, and may hold scores; give another name with --out")
    found, left_out = read_runs(runs)
    lines, key = make_sheet(found, tasks_of(runs), of.value, count, seed)
    write_atomically(out, "".join(json_text(line) + "\n" for line in lines).encode("utf-8"))
    write_text(key_file, key.model_dump_json(indent=2) + "\n")
    if as_json:
        print_json({"sheet": str(out), "key": str(key_file), "items": len(lines), "available": key.available})
        return
    typer.echo(f"{len(lines)} of {key.available} tasks with {of.value}, seed {seed}")
    for sentence in left_out:
        typer.echo(sentence)
    typer.echo(f"sheet: {out}; key, not for raters: {key_file}")
    typer.echo(f"then: agenthard align rated {out} --key {key_file}")


def rated(
    sheets: Annotated[list[Path], typer.Argument(help="Filled sheets, one or more per rater.")],
    key: Annotated[Path, typer.Option(help="Key of the sheet.")],
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples behind every interval.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Print κ of people and judges on passing, agreement of the scores, and means, each with its interval.

    Lines without a score are counted as open and left out.

    Example: `agenthard align rated ratings.jsonl --key ratings.key.json`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.reports.alignment.ratings import RatingKey, measure_ratings, read_ratings

    try:
        known = RatingKey.model_validate_json(key.read_bytes())
    except (OSError, ValueError) as error:
        raise CommandError(f"{key}: not a key ({error}); `agenthard align rate` writes one") from error
    ratings, still_open = read_ratings(sheets, known)
    found = measure_ratings(known, ratings, still_open, resamples=resamples, seed=seed)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: "Ratings") -> None:
    from agenthard.reports.alignment.summary import cell
    from agenthard.reports.kit.text import plural

    if found.judges:
        rows = [
            (each.rater, each.judge, str(each.same.n))
            + (cell(each.kappa), cell(each.same), cell(each.alpha), cell(each.difference))
            for each in found.judges
        ]
        columns = ("rater", "judge", "items", "κ pass", "same", "α score", "judge - rater")
        print_table("People and judges", columns, rows, right=("items",))
    print_table("Mean scores", ("rater", "mean"), [(name, cell(value)) for name, value in found.means.items()])
    if found.useful is not None:
        typer.echo(f"useful (4 or 5): {cell(found.useful)}")
    if found.pairs:
        pairs = [(each.first, each.second, cell(each.kappa)) for each in found.pairs]
        print_table("People with each other", ("first", "second", "κ"), pairs)
        typer.echo(f"α of all raters: {cell(found.alpha)}")
    typer.echo(f"{found.scored} of {found.items} items are scored; {plural(found.open, 'line')} not filled in.")
