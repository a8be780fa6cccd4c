"""Options and output that the commands that ask models share: budgets, prices, caches, estimates and costs."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import console, print_table

if TYPE_CHECKING:
    from agenthard.models.estimate import Estimate, Spread
    from agenthard.models.ledger import Total

BudgetOption = Annotated[float | None, typer.Option(min=0, help="Upper limit of what models may cost.")]
TokenBudgetOption = Annotated[int | None, typer.Option(min=1, help="Upper limit of the tokens that models may use.")]
PricesOption = Annotated[
    Path | None, typer.Option(help="Price table (YAML) that takes precedence over the built-in one.")
]
CacheOption = Annotated[Path | None, typer.Option(help="File of cached replies; default: in the run folder.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only estimate requests, tokens and costs.")]


def optional_path(path: Path | None) -> str | None:
    """Return a path as settings store it."""
    return str(path) if path else None


def print_estimates(subject: str, unit: str, rows: "Iterable[tuple[str, str, Estimate | None]]", currency: str) -> None:
    """Print a table of estimates.

    Args:
        subject: Title of the first column.
        unit: Title of the second column.
        rows: Cells of the first two columns, and the estimate; None where there is nothing to ask.
        currency: Currency of the costs.
    """
    table = []
    for name, count, takes in rows:
        cells = ["", "", "", ""]
        if takes is not None:
            cost = "no price" if takes.cost is None else _spread(takes.cost, 2)
            cells = [_spread(takes.requests), _spread(takes.prompt_tokens), _spread(takes.completion_tokens), cost]
        table.append((name, count, *cells))
    print_table("", (subject, unit, "requests", "prompt tokens", "completion tokens", f"cost, {currency}"), table)
    console().print("\nlow – typical – high; nothing was sent", markup=False)


def _spread(value: "Spread", digits: int = 0) -> str:
    return " – ".join(f"{each:,.{digits}f}" for each in (value.low, value.typical, value.high))


def describe_total(total: "Total", name: str) -> str:
    """Describe the usage of a model in one line."""
    cost = "no price" if total.cost is None else f"{total.cost:.4f}"
    if total.not_stated:
        cost += f" at most ({total.not_stated:,} replies came without token counts)"
    return (
        f"{name}: {total.answered:,} replies, {total.prompt_tokens:,} + {total.completion_tokens:,} tokens, "
        f"cost {cost}; {total.cached:,} from the cache, {total.failed:,} failed, "
        f"{total.maybe_billed + total.unknown:,} unknown"
    )
