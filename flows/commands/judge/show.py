"""What the commands of ``agenthard judge`` print."""

from pathlib import Path
from typing import TYPE_CHECKING

from agenthard.flows.commands.output import console, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.flows.judging.publish import JudgingOutcome
    from agenthard.flows.judging.settings import JudgingSettings


def show_forecast(settings: "JudgingSettings", as_json: bool) -> None:
    """Tell what a judging would take; nothing is sent."""
    from agenthard.flows.judging.forecast import forecast
    from agenthard.models.estimate import Spread

    with error_console().status("writing prompts"):
        found = forecast(settings)
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return

    def spread(value: Spread, digits: int = 0) -> str:
        return " – ".join(f"{each:,.{digits}f}" for each in (value.low, value.typical, value.high))

    rows = []
    for each in found:
        cells = ["", "", "", ""]
        if each.takes is not None:
            cost = "no price" if each.takes.cost is None else spread(each.takes.cost, 2)
            tokens = (spread(each.takes.prompt_tokens), spread(each.takes.completion_tokens))
            cells = [spread(each.takes.requests), *tokens, cost]
        rows.append((each.judge, f"{each.questions:,} ({each.cached:,} cached)", *cells))
    columns = ("judge", "questions", "requests", "prompt tokens", "completion tokens")
    print_table("", (*columns, f"cost, {settings.price_table().currency}"), rows)
    console().print("\nlow – typical – high; nothing was sent", markup=False)


def show(outcome: "JudgingOutcome") -> None:
    """Print what a reader needs in thirty seconds."""
    out = console()
    words = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in outcome.panels.items())
    out.print(f"{outcome.tasks:,} tasks: {words}")
    errors = ", ".join(f"{kind} {count:,}" for kind, count in outcome.errors.items())
    out.print(
        f"verdicts: {outcome.answered:,} of {outcome.questions:,} questions; errors: {errors or 'none'}; "
        f"not asked: {outcome.not_asked:,}"
    )
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in outcome.findings.items())
    decisions = outcome.audit.decisions
    out.print(f"findings of the judges: {tiers}")
    out.print(
        f"decisions with them: keep {decisions['keep']:,}, unchecked {decisions['unchecked']:,}, "
        f"review {decisions['review']:,}, drop {decisions['drop']:,} "
        f"of {outcome.audit.tasks:,}; cleaned split {outcome.audit.split_id} with {outcome.audit.kept:,} tasks"
    )
    for total in outcome.costs:
        cost = "no price" if total.cost is None else f"{total.cost:.4f}"
        if total.not_stated:
            cost += f" at most ({total.not_stated:,} replies came without token counts)"
        out.print(
            f"{total.model}: {total.answered:,} replies, {total.prompt_tokens:,} + {total.completion_tokens:,} tokens, "
            f"cost {cost}; {total.cached:,} from the cache, {total.failed:,} failed, "
            f"{total.maybe_billed + total.unknown:,} unknown",
            markup=False,
        )
    folder = Path(outcome.audit.folder)
    out.print(f"\nreport   {outcome.audit.report}\nverdicts {folder / 'judge'}", markup=False)
