"""All commands by name: the module, imported when the command is called, and the line that the top-level help shows."""

from functools import cache
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from agenthard.flows.commands.messages import add_message_options
from agenthard.flows.commands.output import guard
from agenthard.flows.logs import configure_from_environment

MARKUP: Final = None
"""Help is plain text: rich, which draws boxes, takes longer to import than all of a short command."""

COMMANDS = {
    "audit": (
        "audit:audit",
        "Audit a benchmark: find flawed tasks with evidence, decide, and write a cleaned split and a report.",
    ),
    "init": ("init:init", "Write a commented agenthard.toml for a benchmark, with the source that recognises it."),
    "evaluate": (
        "evaluate:evaluate",
        "Evaluate agents and models: resumable episode by episode, with costs, tables, trajectories and a report.",
    ),
    "run": (
        "run:run",
        "Generate or read tasks, evaluate agents and models, audit tasks and runs, and report before and after "
        "cleaning.",
    ),
    "findings": (
        "findings:findings",
        "List the findings of a run, the gravest first: `file:line: [id] check severity tier: claim (N tasks)`.",
    ),
    "show": ("show:show", "Show a finding of a run with both quotes and its proof, or a task with all that was found."),
    "open": ("open_report:open_report", "Open the report of a run in a browser; where there is none, print its path."),
    "checks": ("catalogue:checks", "List all checks with their category, and how sure each is."),
    "explain": (
        "explain:explain",
        "Explain a check or a category (rule, examples, limits), or an error.",
    ),
    "taxonomy": ("catalogue:taxonomy", "Print the taxonomy: what can be wrong with an agent task."),
    "score": (
        "score:score",
        "Print precision and recall per check against labels, by task and by cause, with Wilson intervals and "
        "baselines.",
    ),
    "decide": (
        "decide:decide",
        "Decide an audit again with the verdicts of people; no task is checked again.",
    ),
    "report": (
        "report:report",
        "Report what cleaning does to a leaderboard, compared with deleting as many random tasks.",
    ),
    "compare": (
        "compare:compare",
        "Compare two audits: findings new, fixed and flipped, decisions, leaderboards with paired intervals.",
    ),
    "leaderboard": (
        "leaderboard:leaderboard",
        "Rank models with intervals, rank ranges and tied sets, from the runs that audits read or from a table of "
        "scores.",
    ),
    "survey": (
        "survey:survey",
        "Put audits side by side: flaws by category, evaluators put to the test, points on flawed tasks, versions.",
    ),
    "paper": (
        "paper:paper",
        "Make every table and figure of the audit paper, and say which of its published figures are met.",
    ),
    "review": (
        "review:review",
        "Review flagged instances in a browser: queue, blind verdicts, adjudication; what people decide is kept.",
    ),
    "replay": (
        "replay:replay",
        "Replay a task's ground truth in its own environment: calls, responses, changes of the state, verdict.",
    ),
    "repair": (
        "repair:repair",
        "Repair findings that have exactly one minimal fix: each change is made in a copy of the benchmark and "
        "re-checked.",
    ),
    "publish": (
        "publish:publish",
        "Publish a split: the benchmark's own format, a Hugging Face data set, its removals, a version, a signature.",
    ),
    "fetch": (
        "env:fetch",
        "Fetch a public benchmark from the package index into a managed folder, in an environment of its own.",
    ),
    "demo": (
        "demo:demo",
        "Audit a small benchmark and rooms with planted flaws, report on a leaderboard, then execute part of BFCL v3.",
    ),
    "ace": ("ace:app", "ACE-Bench: grid planning with a proved unique answer."),
    "escape": ("escape:app", "AgentEscapeBench: escape rooms whose tools are real functions."),
    "agency": ("agency:app", "AgencyBench: chains of long tasks on one workspace, with feedback."),
    "align": ("align:app", "Compare an audit or a judge with people: samples, agreement, drift."),
    "env": ("env:app", "Create, list, remove and verify what a benchmark's own code runs in."),
    "faults": ("faults:app", "Seeded faults: recall and false alarms by category."),
    "policy": ("policy:app", "Rules of the agent's policy: proposed by a model, replayed, accepted by a person."),
    "judge": ("judge:app", "Model judges: verdicts on tasks, with quotes that code verifies."),
    "schedule": (
        "schedule:app",
        "Audit a benchmark on a schedule: only what changed is checked, and the difference is told.",
    ),
    "queue": ("queue:app", "Named queues for reviewers, filled by a rule, and findings over time."),
    "verdicts": ("verdicts:app", "Verdicts of a review as files: export and import."),
    "check": (
        "check:check",
        "Check a benchmark's files fast: nothing is executed, no run folder is written, runs of models are not read.",
    ),
    "status": (
        "status:status",
        "Show what a run folder holds and what is happening in it: stage, shards, throughput, time left, last error.",
    ),
    "verify": (
        "verify:verify",
        "Check a run folder: name every damaged, missing and added file, and look for every quote in its file again.",
    ),
    "rerun": (
        "rerun:rerun",
        "Repeat the audit of a run folder with the settings that it records, and compare all that a reader gets.",
    ),
    "gc": (
        "gc:gc",
        "List what no finished run needs, with sizes: unfinished files, dead audits, temporary folders.",
    ),
    "sources": (
        "sources:app",
        "List the benchmarks that can be read (`agenthard sources`), or begin a source of your own.",
    ),
}
"""Module of ``agenthard.flows.commands`` with the function or family, and first line of the help, by command."""


PANELS = {
    "Audit": ("init", "audit", "check", "run", "schedule", "fetch", "demo"),
    "Look": ("findings", "show", "open", "replay", "explain", "checks", "taxonomy"),
    "Judge": ("judge", "policy", "align", "score", "faults"),
    "Review": ("review", "queue", "verdicts", "decide"),
    "Reports and repairs": ("report", "compare", "survey", "leaderboard", "paper", "repair", "publish"),
    "Operations": ("status", "verify", "rerun", "gc"),
    "Models and benchmarks": ("evaluate", "sources", "ace", "escape", "agency", "env"),
}
"""Groups of the list of commands."""
WORDS = {"run": "RUN", "source": "SOURCE", "task": "TASK", "finding": "FINDING", "check": "CHECK", "budget": "MONEY"}
"""What help texts call a value, by the name of its parameter."""
_TYPES = (("path", "PATH"), ("int", "N"), ("float", "NUMBER"), ("str", "TEXT"), ("text", "TEXT"))


def name_values(command: Any) -> None:
    """Give the values of a command, or of every command of a group, words that people know instead of types.

    Its example stays on one line.
    """
    for each in getattr(command, "commands", {}).values():
        name_values(each)
    if command.help:
        # Without this mark, which click removes, a long command would be broken within its words.
        command.help = command.help.replace("\n\nExample: ", "\n\n\b\nExample: ")
    for parameter in command.params:
        described = getattr(parameter, "type_descriptor", parameter.type if hasattr(parameter, "type") else None)
        choices = getattr(described, "choices", None)
        kind = str(getattr(described, "annotation", described)).lower()
        if parameter.metavar or getattr(parameter, "is_flag", False):
            continue
        if parameter.param_type_name == "argument":
            parameter.metavar = WORDS.get(parameter.name, parameter.name.upper())
        elif choices:
            parameter.metavar = "|".join(str(getattr(choice, "value", choice)) for choice in choices)
        else:
            word = next((word for part, word in _TYPES if part in kind), None)
            parameter.metavar = WORDS.get(parameter.name, word) if word in ("TEXT", "NUMBER") else word


@cache
def load_command(name: str) -> Any:
    """Import a command or a family of commands, as typer makes it from the function; its output is guarded.

    Raises:
        KeyError: for an unknown name.
    """
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"agenthard.flows.commands.{module}"), attribute)
    parent = typer.Typer(rich_markup_mode=MARKUP, add_completion=False)
    if isinstance(found, typer.Typer):
        parent.add_typer(found)
    else:
        parent.command(name)(found)
    command: Any = typer.main.get_group(parent).commands[name]
    name_values(command)
    add_message_options(command)
    guard(command)
    return command


USAGE_ERROR = typer.BadParameter.__mro__[1]
"""What is wrong with the words of a call, in the click that typer uses."""
USAGE = 64
"""Exit code of such a call (`agenthard.flows.errors.ExitCode`); click's own, 2, says that something is incomplete."""


class LazyGroup(TyperGroup):
    """The group of all commands: its help names them without importing any, and a call imports the one it names."""

    def __init__(self, **attributes: Any) -> None:
        listed = {
            name: TyperCommand(name, help=COMMANDS[name][1], rich_help_panel=panel)
            for panel, names in PANELS.items()
            for name in names
        }
        super().__init__(**{**attributes, "commands": listed})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before the name of the command."""
        configure_from_environment()
        for option in self.get_params(ctx):
            if getattr(option, "is_flag", False) and option.default is None:
                option.default = False  # to convert None, typer would import pydantic for every help text
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands group by group."""
        for panel, names in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that the words name."""
        try:
            return super().main(*arguments, **options)
        except SystemExit as leaving:
            if isinstance(leaving.__context__, USAGE_ERROR):
                raise SystemExit(USAGE) from leaving
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the words name, and import it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in COMMANDS else command, rest
