"""``agenthard policy``: rules of the agent's policy, proposed by a model, replayed, and accepted by a person."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.options import CheckoutOption, WeakIsolationOption
from agenthard.flows.commands.output import JsonOption, console, print_json

app = typer.Typer(
    name="policy",
    help="Rules of the agent's policy: proposed by a model, replayed, accepted by a person.",
    no_args_is_help=True,
)
SourceArgument = Annotated[str, typer.Argument(help="Name of the source (`agenthard sources` lists them).")]
PathArgument = Annotated[Path, typer.Argument(help="Folder of the benchmark.")]
DomainOption = Annotated[str, typer.Option(help="Domain whose policy is read.")]
SHOWN = 5
"""Conflicts of a rule that are printed."""


@app.command("prompt")
def prompt(source: SourceArgument, path: PathArgument, domain: DomainOption, as_json: JsonOption = False) -> None:
    """Print the question that asks a model for the rules of a policy; `--json` prints the request to send.

    Example: `agenthard policy prompt tau2 tau2-bench --domain telecom`
    """
    from agenthard.audit.judge.policy_reader import policy_request
    from agenthard.flows.policy_rules import task_with_policy

    request = policy_request("model", task_with_policy(source, path, domain)[1][0])
    if as_json:
        print_json(request)
        return
    for message in request.messages:
        typer.echo(f"[{message.role}]\n{message.text}\n")


@app.command("propose")
def propose(
    source: SourceArgument,
    path: PathArgument,
    domain: DomainOption,
    out: Annotated[Path, typer.Option(help="File to write the proposals to.")],
    model: Annotated[str | None, typer.Option(help="Model, or model file, that reads the policy.")] = None,
    answer: Annotated[
        Path | None, typer.Option(help="File with the answer of a reader that was asked elsewhere, instead of a model.")
    ] = None,
    reader: Annotated[str, typer.Option(help="Who wrote that answer.")] = "a reader",
    as_json: JsonOption = False,
) -> None:
    """Ask a model for the rules of a policy, or read the answer of one that was asked elsewhere.

    Example: `agenthard policy propose tau2 tau2-bench --domain telecom --model openai/gpt-5 --out proposed.json`
    """
    from agenthard.flows import policy_rules
    from agenthard.flows.errors import CommandError

    if (model is None) == (answer is None):
        raise CommandError("give either --model, which is asked, or --answer, which is read")
    if answer is not None:
        found = policy_rules.read_answer(domain, answer, reader)
    else:
        found = policy_rules.propose(source, path, domain, str(model))
    policy_rules.write_record(out, found)
    if as_json:
        print_json(found)
        return
    console().print(
        f"{len(found.proposal.rules)} rules proposed by {found.proposed_by}, {len(found.proposal.left_out)} sentences "
        f"left to people: {out}",
        markup=False,
    )


@app.command("check")
def check(
    source: SourceArgument,
    path: PathArgument,
    proposals: Annotated[Path, typer.Option(help="File of `agenthard policy propose`.")],
    runs: Annotated[list[Path] | None, typer.Option(help="File of model runs; repeatable.")] = None,
    checkout: CheckoutOption = None,
    allow_weak_isolation: WeakIsolationOption = False,
    as_json: JsonOption = False,
) -> None:
    """Verify proposed rules: find their sentences, compile them, replay them over all ground truths and runs.

    Example: `agenthard policy check tau2 tau2-bench --proposals proposed.json --checkout tau2-bench`
    """
    from agenthard.audit.execution.context import Execution
    from agenthard.flows.policy_rules import PolicyTrial, RuleTrial, read_proposals, try_rules

    def figures(rule: RuleTrial) -> str:
        if rule.refused:
            return f"{rule.rule}: refused: {rule.refused}"
        golds = sum(not each.run for each in rule.broken)
        undecided = f", {rule.undecided} cannot be told ({rule.because})" if rule.undecided else ""
        return (
            f"{rule.rule}: {rule.kept} calls keep to it, {golds} gold calls and {len(rule.broken) - golds} calls of "
            f"runs break it{undecided}"
        )

    def show(found: PolicyTrial) -> None:
        out = console()
        out.print(
            f"{found.domain}: {found.tasks} ground truths and {found.runs} runs carried out; {found.left_out} "
            "sentences left to people",
            markup=False,
        )
        for reason, number in found.not_executed.items():
            out.print(f"not executed: {number} tasks: {reason}", markup=False)
        for rule in found.rules:
            out.print(figures(rule), markup=False)
            for each in rule.broken[:SHOWN]:
                out.print(f"  {each.task_id} {each.run or 'ground truth'}: {each.call}: {each.claim}", markup=False)

    with Execution(checkout, allow_weak_isolation) as execution:
        found = try_rules(source, path, read_proposals(proposals), runs or (), execution)
    if as_json:
        print_json(found)
        return
    show(found)


@app.command("accept")
def accept(
    proposals: Annotated[Path, typer.Argument(help="File of `agenthard policy propose`.")],
    rule: Annotated[list[str], typer.Option(help="Id of a rule that is accepted; repeatable.")],
    by: Annotated[str, typer.Option(help="Who accepts them.")],
    out: Annotated[Path, typer.Option(help="File to write the accepted rules to.")],
    as_json: JsonOption = False,
) -> None:
    """Accept proposed rules; `agenthard audit --rules FILE` applies them.

    Example: `agenthard policy accept proposed.json --rule refuel-at-most-two --by "Ada" --out rules.json`
    """
    from agenthard.flows import policy_rules

    found = policy_rules.accept(policy_rules.read_proposals(proposals), rule, by)
    policy_rules.write_record(out, found)
    if as_json:
        print_json(found)
        return
    console().print(f"{len(found.rules)} rules for {found.domain}, accepted by {by}: {out}", markup=False)
