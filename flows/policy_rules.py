"""Rules of a policy by proposal: ask a model, replay what it proposes, and keep what a person accepts."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from pydantic import ValidationError

from agenthard.audit.detectors.support.recorded_runs import answered
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.policy.checker import check_calls
from agenthard.audit.execution.policy.proposals import (
    AcceptedRules,
    PolicyProposal,
    ProposedRule,
    compiled,
    why_not,
)
from agenthard.audit.execution.policy.rule import PolicyRule, RuleViolation
from agenthard.audit.judge.policy_reader import policy_request, read_proposal
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError
from agenthard.audit.readings.records import shown_call
from agenthard.audit.readings.trial import with_gold
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.audit.sources.registry import open_source
from agenthard.flows.errors import CommandError
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import load_model
from agenthard.models.prices import load_prices
from agenthard.models.request import Request
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

SEED = 42
"""Seed of the waits between attempts."""


class Proposals(Record):
    """The rules that a reader proposed for the policy of one domain."""

    domain: str
    """Domain of the tasks."""
    proposed_by: str
    """Who read the policy."""
    proposal: PolicyProposal
    """What it wrote."""


class Conflict(Record):
    """A call that breaks a proposed rule."""

    task_id: str
    """Task."""
    run: str
    """Id of the run; empty for the ground truth."""
    call: str
    """The call, as text."""
    claim: str
    """What the rule says."""


class RuleTrial(Record):
    """What a replay says of one proposed rule."""

    rule: str
    """Id of the rule."""
    refused: str
    """Why it cannot be used: a sentence that the policy does not have, an unknown tool, an expression; else empty."""
    kept: int
    """Calls that keep to it, or to which it does not apply."""
    broken: tuple[Conflict, ...]
    """Calls that break it, ground truths first."""
    undecided: int
    """Calls on which it cannot tell."""
    because: str
    """Why, for the first of them."""


class PolicyTrial(Record):
    """What the replay over all ground truths and runs says of a proposal."""

    domain: str
    """Domain of the tasks."""
    tasks: int
    """Tasks whose ground truth was carried out."""
    runs: int
    """Runs that were carried out."""
    not_executed: dict[str, int]
    """Tasks that were not, by reason."""
    rules: tuple[RuleTrial, ...]
    """The rules."""
    left_out: int
    """Sentences that the reader left to people."""


def task_with_policy(source: str, path: Path, domain: str) -> tuple[Source, list[AgentTask]]:
    """Read the tasks of one domain.

    Raises:
        CommandError: There is none, or they do not share one policy.
    """
    opened = open_source(source, path, (domain,))
    tasks = list(opened.tasks(Quarantine()))
    if not tasks:
        raise CommandError(f"{path}: no task of the domain {domain}")
    if len({task.environment.policy for task in tasks}) > 1:
        raise CommandError(f"the tasks of {domain} have several policies; rules are proposed for one policy at a time")
    return opened, tasks


def propose(source: str, path: Path, domain: str, model: str) -> Proposals:
    """Ask a model for the rules of a policy.

    Raises:
        CommandError: The tasks cannot be read, or the answer is not a proposal.
        ModelError: The model gave no answer.
    """
    _, tasks = task_with_policy(source, path, domain)
    file = load_model(model)
    return _proposals(domain, file.name, asyncio.run(_answer(model, policy_request(file.name, tasks[0]))))


async def _answer(model: str, request: Request) -> str:
    file, cache, ledger = load_model(model), ReplyCache(":memory:"), Ledger(":memory:")
    prices = load_prices(None).after([file.price] if file.price else [])
    client = ModelClient([file], cache=cache, ledger=ledger, prices=prices, rng=Random(SEED))
    try:
        request = file.addressed(request.model_copy(update={"sampling": file.sampling}))
        return (await client.complete(request, purpose="policy", owner="rules of a policy")).reply.message.text
    finally:
        await client.close()
        ledger.close()
        cache.close()


def read_answer(domain: str, file: Path, reader: str) -> Proposals:
    """Read the answer of a reader that was asked elsewhere.

    Raises:
        CommandError: It cannot be read, or is not a proposal.
    """
    try:
        return _proposals(domain, reader, file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {error}") from error


def _proposals(domain: str, reader: str, text: str) -> Proposals:
    try:
        return Proposals(domain=domain, proposed_by=reader, proposal=read_proposal(text))
    except UnreadableVerdictError as error:
        raise CommandError(f"no rules can be read: {error}") from error


def read_proposals(file: Path) -> Proposals:
    """Read a file of proposals.

    Raises:
        CommandError: It cannot be read.
    """
    try:
        return Proposals.model_validate_json(file.read_bytes())
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from error
    except ValidationError as error:
        raise CommandError(f"{file} is not a file of `agenthard policy propose`: {error.errors()[0]['msg']}") from error


def write_record(file: Path, record: Record) -> None:
    """Write a record as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, f"{record.model_dump_json(indent=1)}\n".encode())


def try_rules(source: str, path: Path, proposals: Proposals, runs: Sequence[Path], execution: Execution) -> PolicyTrial:
    """Replay proposed rules over all ground truths, and over the calls of recorded runs that have a verdict.

    Args:
        source: name of the source.
        path: folder of the benchmark.
        proposals: the rules.
        runs: files of runs.
        execution: whose code executes the tasks.

    Raises:
        CommandError: The tasks cannot be read.
    """
    opened, tasks = task_with_policy(source, path, proposals.domain)
    refused = {rule.id: _refused(rule, tasks[0]) for rule in proposals.proposal.rules}
    usable = [compiled(rule, proposals.domain) for rule in proposals.proposal.rules if not refused[rule.id]]
    tally, carried = _Tally(), 0
    reasons: dict[str, int] = {}
    known = {task.id: task for task in tasks}
    with execution.active():
        for task in tasks:
            try:
                tally.add(task, "", usable, execution.environment_of(task))
                carried += 1
            except (UnavailableError, ExecutionError) as error:
                reasons[str(error)] = reasons.get(str(error), 0) + 1
        number = sum(_runs(opened, runs, known, usable, execution, tally))
    return PolicyTrial(
        domain=proposals.domain,
        tasks=carried,
        runs=number,
        not_executed=reasons,
        rules=tuple(tally.of(rule.id, refused[rule.id] or "") for rule in proposals.proposal.rules),
        left_out=len(proposals.proposal.left_out),
    )


def _refused(rule: ProposedRule, task: AgentTask) -> str | None:
    tools = [tool.name for tool in (*task.environment.tools, *task.environment.user_tools)]
    return why_not(rule, task.environment.policy, tools)


def _runs(
    source: Source,
    files: Sequence[Path],
    tasks: dict[str, AgentTask],
    rules: Sequence[PolicyRule],
    execution: Execution,
    tally: "_Tally",
) -> Iterator[int]:
    for file in files:
        for run in source.runs(file, Quarantine()):
            task = tasks.get(run.task_id)
            calls = tuple(made.call for made in answered(run.messages))
            if task is None or run.passed is None or not calls:
                continue
            try:
                tally.add(with_gold(task, (calls,)), run.id, rules, execution.environment_of(task))
                yield 1
            except (UnavailableError, ExecutionError):
                continue


class _Tally:
    """Outcomes of rules, added up call by call."""

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}
        self._broken: dict[str, list[Conflict]] = {}
        self._undecided: dict[str, list[str]] = {}

    def add(self, task: AgentTask, run: str, rules: Sequence[PolicyRule], environment: Environment) -> None:
        """Apply the rules to every call of a ground truth, or of a run in its place."""
        for step in check_calls(task, environment, rules):
            for judgement in step.judgements:
                name, outcome = judgement.rule, judgement.outcome
                if outcome is None:
                    self._kept[name] = self._kept.get(name, 0) + 1
                elif isinstance(outcome, RuleViolation):
                    found = Conflict(task_id=task.id, run=run, call=shown_call(step.call), claim=outcome.claim)
                    self._broken.setdefault(name, []).append(found)
                else:
                    self._undecided.setdefault(name, []).append(outcome.reason)

    def of(self, rule: str, refused: str) -> RuleTrial:
        """Return the figures of one rule."""
        undecided = self._undecided.get(rule, [])
        return RuleTrial(
            rule=rule,
            refused=refused,
            kept=self._kept.get(rule, 0),
            broken=tuple(self._broken.get(rule, ())),
            undecided=len(undecided),
            because=undecided[0] if undecided else "",
        )


def accept(proposals: Proposals, rules: Sequence[str], accepted_by: str) -> AcceptedRules:
    """Take rules over that a person accepts.

    Raises:
        CommandError: A rule is not among the proposals, or no rule is named.
    """
    known = {rule.id: rule for rule in proposals.proposal.rules}
    lost = sorted(set(rules) - known.keys())
    if lost:
        raise CommandError(f"no rule is called {lost[0]}; proposed are {', '.join(known)}")
    if not rules:
        raise CommandError("name the rules that are accepted")
    chosen = tuple(rule for name, rule in known.items() if name in rules)
    return AcceptedRules(
        domain=proposals.domain, proposed_by=proposals.proposed_by, accepted_by=accepted_by, rules=chosen
    )
