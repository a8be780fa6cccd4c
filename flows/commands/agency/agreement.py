"""``agenthard agency agreement``: how far the judges of a panel agree over the attempts of an evaluation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import SeedOption
from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.audit.statistics.judges import JudgeAgreement


def agreement(
    run: Annotated[Path, typer.Argument(help="Run folder of `agenthard evaluate agency` with a panel of judges.")],
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the bootstrap over attempts.")] = 2000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show how far the judges of a panel agree: α of scores and κ of passing, with intervals and n, for each pair.

    Exit codes: 0 shown, 64 without judgements of two judges, or of one asked twice.

    Example: `agenthard agency agreement agency-evaluation`
    """
    from agenthard.audit.statistics.judges import JudgedAttempts
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.finished import read_finished

    judged = JudgedAttempts()
    for played in read_finished(run, "agency").runs():
        judged.add(played)
    found = judged.agreement(resamples=resamples, seed=seed)
    if not found:
        why = "no two judgements of one attempt by models"
        raise CommandError(f"{run}: {why}; play with `--set judge=panel:FILE` and two judges, or repeats")
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    for each in found:
        columns = ("judges", "α of scores [95 %]", "κ of passing [95 %]", "attempts")
        print_table(f"judges that {'see' if each.kind == 'vision' else 'read'}", columns, _rows(each), ("attempts",))
    typer.echo("Intervals are from a bootstrap over attempts; equal judgements in the same words count once.")


def _rows(found: "JudgeAgreement") -> list[tuple[str, ...]]:
    from agenthard.reports.kit.text import result_text

    rows: list[tuple[str, ...]] = [("all together", result_text(found.judges, "ratio"), "-", str(found.judges.n))]
    for pair in found.pairs:
        texts = (result_text(pair.alpha, "ratio"), result_text(pair.kappa, "ratio"))
        rows.append((f"{pair.first} and {pair.second}", *texts, str(pair.alpha.n)))
    rows += [
        (f"{name} with itself", result_text(alpha, "ratio"), "-", str(alpha.n)) for name, alpha in found.repeats.items()
    ]
    return rows
