"""``agenthard show``: a finding of a run with its quotes and its proof, or a task with all that was found in it."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.completion import complete_of_run
from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from agenthard.audit.decisions.policy import Decision
    from agenthard.flows.run_findings import ListedFinding, Quote, RunFindings
    from agenthard.flows.runs_at_hand import Seen
    from agenthard.taxonomy.finding import Finding, Proof
    from agenthard.taxonomy.task import AgentTask, ToolCall

SHOWN = 600
"""Characters of a quote or a message that are shown."""
TERSE, CONTEXT = 80, 100
"""A quote with fewer characters is shown with so many characters of its file before and after it."""
MOST_TASKS = 12
"""Task ids that are listed."""
MOST_TOOLS = 30
"""Tools of a task that are named."""
LEVELS = {
    "task": "this task",
    "environment": "what tasks share (tools, policy, database, simulator)",
    "evaluator": "how runs are scored, for every task",
    "suite": "the benchmark as a whole, or its logs",
}


def show(
    run: RunArgument,
    identity: Annotated[
        str,
        typer.Argument(
            metavar="TASK|FINDING",
            autocompletion=complete_of_run,
            help="Id of a task, or of a finding.",
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show a finding of a run with both quotes and its proof, or a task with all that was found.

    Of a finding: claim, why it matters, each quote with file and line, the proof as a command with what it says, the
    suggested change, tasks, decisions, and which audits of the benchmark have it. Of a task: the decision with its
    reasons, the dialogue (shortened), tools, ground truth, and its findings.

    Example: `agenthard show demo-run/demo parcels/11`
    """
    from agenthard.flows.run_findings import RunFindings

    known = RunFindings(run)
    finding = known.find(identity)
    if finding is not None:
        show_finding(known, known.listed(finding), as_json)
        return
    decision = next((each for each in known.decisions if each.task_id == identity), None)
    if decision is None:
        raise _unknown(known, identity)
    _show_task(known, decision, as_json)


def _unknown(known: "RunFindings", identity: str) -> Exception:
    from agenthard.flows.errors import CommandError
    from agenthard.flows.run_findings import did_you_mean

    return CommandError(
        f"{known.run} has no finding and no task {identity!r}{did_you_mean(identity, known.ids)}; "
        f"`agenthard findings {known.run}` lists the findings with their ids; rules of checks are shown by "
        "`agenthard explain ID`"
    )


def show_finding(known: "RunFindings", item: "ListedFinding", as_json: bool) -> None:
    """Print a finding with everything that belongs to it."""
    from agenthard.flows.runs_at_hand import history

    seen = history(item.finding, known.run)
    if as_json:
        from agenthard.flows.finding_formats import as_data

        print_json({"run": str(known.run), **as_data(item), "history": list(seen)})
        return
    _print_finding(known, item)
    _print_history(item, seen)


def _print_finding(known: "RunFindings", item: "ListedFinding") -> None:
    from rich.text import Text

    found, out = item.finding, console()
    out.print(
        Text.assemble(
            (found.id, "bold"), f" {found.check}: {found.tier.value}, {found.severity.value}, {found.category}"
        )
    )
    out.print(Text(found.claim, "bold"))
    led_to = "; ".join(f"{action} {_tasks(tasks)}" for action, tasks in item.decisions.items())
    rows = [
        ("why", found.why),
        ("fix", found.fix),
        ("cause in", LEVELS[found.level.value]),
        ("tasks", _tasks(found.task_ids)),
        ("also in", _tasks(found.also_in) if found.also_in else ""),
        ("decides", _tasks(found.decides) if found.decides else ""),
        ("led to", led_to or "no decision"),
        ("suppressed", "\n".join(each.words for each in known.suppressed if each.finding.id == found.id)),
        ("figures", ", ".join(f"{name} {value:g}" for name, value in sorted(found.measures.items()))),
    ]
    _print_rows(rows)
    for quote in item.quotes:
        _print_quote(known, quote)
    _print_proof(known, found)


def _print_quote(known: "RunFindings", quote: "Quote") -> None:
    """Print a quote below its place; a short one with what is before and after it in its file."""
    from rich.padding import Padding
    from rich.text import Text

    where = f"run {quote.trajectory_id}" if quote.trajectory_id else quote.task_id
    note = f": {quote.note}" if quote.note else ""
    console().print(Text.assemble("\n", (quote.place or "no file", "cyan"), f"  {where} {quote.pointer}{note}"))
    before, after = known.around(quote) if len(quote.text) < TERSE else ("", "")
    before = f"… {before[-CONTEXT:]}" if len(before) > CONTEXT else before
    after = f"{after[:CONTEXT]} …" if len(after) > CONTEXT else after
    text = Text.assemble((before, "dim"), (_short(quote.text), "bold yellow"), (after, "dim"))
    console().print(Padding(text, (0, 0, 0, 4), expand=False))


def _print_proof(known: "RunFindings", found: "Finding") -> None:
    out, proof = console(), found.proof
    out.print("")
    if proof is not None:
        out.print(f"$ agenthard replay --finding {found.id} --run {shlex.quote(str(known.run))}", markup=False)
        _print_block("\n".join(_proof_lines(proof)))
    if found.command:
        out.print(f"$ {found.command}", markup=False, soft_wrap=True)
    elif proof is None:
        out.print("The quoted lines show it; no command does.")


def _proof_lines(proof: "Proof") -> list[str]:
    passes, should = (("passes" if value else "fails") for value in (proof.passes, proof.should_pass))
    lines = [
        f"a {proof.kind} run of {proof.task_id} {passes}, and {should} if it is scored rightly ({proof.evaluator})"
    ]
    if proof.trajectory_id:
        lines.append(f"run {proof.trajectory_id}")
    for number, turn in enumerate(proof.turns):
        lines += [f"turn {number}: {_call(call)}" for call in turn]
    lines += [f"says: {_short(reply)}" for reply in proof.replies]
    return [*lines, f"evaluator: {_short(proof.reason)}"] if proof.reason else lines


def _print_history(item: "ListedFinding", seen: "tuple[Seen, ...]") -> None:
    if len(seen) < 2:
        return
    console().print("\nAudits of this benchmark at hand, oldest first:")
    for each in seen:
        has = "has it, suppressed" if each.suppressed else "has it" if each.has_it else "does not have it"
        version = f"check version {each.check_version}" if each.check_version else "without this check"
        text = f"{each.run}: {has} (AgentHard {each.agenthard}, {version}, benchmark {each.benchmark})"
        _print_block(text)


def _show_task(known: "RunFindings", decision: "Decision", as_json: bool) -> None:
    from agenthard.audit.decisions.gravest import gravest_first

    task, reason = _read_task(known, decision.task_id)
    items = known.choose(tasks=[decision.task_id])
    by_id = {item.finding.id: item for item in items}
    items = [by_id[finding.id] for finding in gravest_first(item.finding for item in items)]
    suppressed = [each for each in known.suppressed if decision.task_id in each.finding.task_ids]
    if as_json:
        from agenthard.flows.finding_formats import as_data

        body = None if task is None else task.model_dump(mode="json", exclude={"environment": {"state"}})
        print_json(
            {
                **{"run": str(known.run), "task": body, "not_shown": reason, "decision": decision},
                "findings": list(map(as_data, items)),
                "suppressed": suppressed,
            }
        )
        return
    _print_task(known, decision, task, reason)
    _print_findings(known, items)
    for each in suppressed:
        console().print(f"suppressed: {each.words}", markup=False, soft_wrap=True)


def _read_task(known: "RunFindings", task_id: str) -> "tuple[AgentTask | None, str]":
    """Read a task from the benchmark; where that cannot be done, return the reason."""
    from agenthard.flows.audited_run import read_audited
    from agenthard.taxonomy.errors import AgentHardError

    try:
        return read_audited(known.run, None).open_unchanged().task(task_id), ""
    except (AgentHardError, OSError) as error:
        return None, str(error)


def _print_task(known: "RunFindings", decision: "Decision", task: "AgentTask | None", reason: str) -> None:
    from rich.text import Text

    out = console()
    origin = task.origins.get("") if task else None
    place = f"  {known.opened(origin.file)}{f':{origin.line}' if origin.line else ''}" if origin else ""
    out.print(Text.assemble((decision.task_id, "bold"), (place, "cyan")))
    _print_rows([(decision.action, "; ".join(decision.reasons))])
    if task is None:
        out.print(f"The task itself is not shown: {reason}", markup=False)
        return
    rows = [("policy", task.environment.policy), ("instruction", task.user.instruction), *task.user.context.items()]
    for number, turn in enumerate(task.user.turns, 1):
        rows += [(f"{message.role} {number}", message.content) for message in turn]
    _print_rows([(name, _short(text)) for name, text in rows])
    tools = [tool.name for tool in task.environment.tools]
    more = f" and {len(tools) - MOST_TOOLS} more" if len(tools) > MOST_TOOLS else ""
    calls = [f"{n}: {_call(call)}" for n, turn in enumerate(task.ground_truth.turns, 1) for call in turn]
    truth = [*calls, *(f"says {text!r}" for text in (*task.ground_truth.outputs, *task.ground_truth.answers))]
    scored = [_check(check.kind, check.expected, check.pointer, check.scored) for check in task.evaluation.checks]
    _print_rows(
        [
            (f"{len(tools)} tools", ", ".join(tools[:MOST_TOOLS]) + more),
            ("ground truth", "\n".join(map(_short, truth)) or "none"),
            ("evaluation", "\n".join(scored) or "none"),
        ]
    )


def _check(kind: str, expected: object, pointer: str, scored: bool) -> str:
    compared = pointer if expected is None else _short(str(expected))
    return f"{kind}{f' {compared}' if compared else ''}{'' if scored else ' (stated, not scored)'}"


def _print_findings(known: "RunFindings", items: "list[ListedFinding]") -> None:
    from agenthard.flows.finding_formats import line

    out = console()
    out.print(f"\n{len(items)} findings{':' if items else ''}" if len(items) != 1 else "\n1 finding:")
    for item in items:
        out.print(line(item), markup=False, soft_wrap=True)
    if items:
        out.print(f"agenthard show {known.run} {items[0].finding.id}", markup=False)


def _print_rows(rows: list[tuple[str, str]]) -> None:
    """Print named texts; the names are one column."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, min_width=12)
    table.add_column(overflow="fold")
    for name, text in rows:
        if text:
            table.add_row(Text(name), Text(text))
    console().print(table)


def _print_block(text: str) -> None:
    """Print a text behind a margin."""
    from rich.padding import Padding
    from rich.text import Text

    console().print(Padding(Text(text), (0, 0, 0, 4), expand=False))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} … ({len(text):,} characters)"


def _call(call: "ToolCall") -> str:
    from agenthard.audit.evidence import canonical_json

    return f"{call.name} {_short(canonical_json(call.arguments))}"


def _tasks(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - MOST_TASKS} more" if len(ids) > MOST_TASKS else ""
    return f"{len(ids)} ({', '.join(ids[:MOST_TASKS])}{more})" if ids else "none"
