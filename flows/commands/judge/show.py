"""The output of the commands of ``agenthard judge``."""

from pathlib import Path
from typing import TYPE_CHECKING

from agenthard.flows.commands.model_options import describe_total, print_estimates
from agenthard.flows.commands.output import console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.flows.judging.publish import JudgingOutcome
    from agenthard.flows.judging.settings import JudgingSettings


def show_forecast(settings: "JudgingSettings", as_json: bool) -> None:
    """Print the estimated cost of a judging; nothing is sent."""
    from agenthard.flows.judging.forecast import forecast

    with error_console().status("writing prompts"):
        found = forecast(settings)
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    rows = [(each.judge, f"{each.questions:,} ({each.cached:,} cached)", each.takes) for each in found]
    print_estimates("judge", "questions", rows, settings.price_table().currency)


def show(outcome: "JudgingOutcome") -> None:
    """Print the result in a few lines."""
    out = console()
    verdicts = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in outcome.panels.items())
    out.print(f"{outcome.tasks:,} tasks: {verdicts}")
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
    decided = ", ".join(f"{row.stage} {row.tasks:,}" for row in outcome.stages if row.tasks)
    out.print(f"decided by: {decided or 'nothing yet'}")
    if outcome.below_threshold:
        out.print(f"not reported, less probable than {outcome.threshold:.2f}: {outcome.below_threshold:,} flaws")
    for total in outcome.costs:
        out.print(describe_total(total, f"{total.purpose}, {total.model}"), markup=False)
    folder = Path(outcome.audit.folder)
    out.print(f"\nreport   {outcome.audit.report}\nverdicts {folder / 'judge'}", markup=False)
