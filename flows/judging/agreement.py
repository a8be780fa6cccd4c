"""How far the readers of the same prompts agree: repetitions of a judge, and judges of one tier."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from agenthard.audit.judge.aggregate.votes import vote
from agenthard.audit.statistics.agreement import krippendorff_alpha
from agenthard.audit.statistics.result import Estimate, Result
from agenthard.flows.judging.store import Answer
from agenthard.reports.kit.markdown import md, table
from agenthard.taxonomy.record import Record

FEWEST_READERS = 3
"""Readers of a prompt below which the table says that there are too few."""


class ReaderRow(Record):
    """The readers of one judge, or of one tier."""

    name: str
    """Judge, or "first tier" where it has several judges."""
    readers: int
    """Verdicts on each task that were asked for."""
    tasks: int
    """Tasks with at least two votes."""
    unanimous: int
    """Of these, those on which all votes are the same."""
    alpha: Result
    """Krippendorff's α on flawed or not; verdicts that cannot tell and errors are not votes."""
    versions: dict[str, int]
    """Verdicts by version of the prompt: more than one means that the words changed between readers."""
    changed: tuple[str, ...]
    """Tasks on which readers were shown different prompts."""


class Agreement(Record):
    """Agreement of readers."""

    rows: tuple[ReaderRow, ...]
    """By judge with several verdicts on a task, then by tier with several judges."""
    prompts: str
    """Hash of all prompts that were answered: the same hash means that the same words were read."""


def reader_agreement(answers: Sequence[Answer], tiers: Mapping[str, str], seed: int) -> Agreement:
    """Compare the readers of the same prompts.

    Args:
        answers: All answers of a judging.
        tiers: Tier of each judge, in the order of the panel.
        seed: Seed of the intervals.
    """
    by_judge: dict[str, list[Answer]] = {judge: [] for judge in tiers}
    for answer in answers:
        by_judge[answer.judged.judge].append(answer)
    groups = {judge: own for judge, own in by_judge.items() if any(each.judged.sample for each in own)}
    for tier in dict.fromkeys(tiers.values()):
        members = [judge for judge in tiers if tiers[judge] == tier]
        if len(members) > 1:
            groups[f"{tier} tier"] = [answer for judge in members for answer in by_judge[judge]]
    rows = tuple(_row(name, own, seed, several=name not in tiers) for name, own in groups.items())
    return Agreement(rows=rows, prompts=prompts_hash(answers))


def prompts_hash(answers: Iterable[Answer]) -> str:
    """Hash the prompts of all answers, whatever their order; empty without answers."""
    read = sorted({f"{answer.judged.task_id}\x1f{answer.prompt}" for answer in answers if answer.prompt})
    return hashlib.sha256("\x1e".join(read).encode()).hexdigest()[:16] if read else ""


def _row(name: str, answers: Sequence[Answer], seed: int, *, several: bool) -> ReaderRow:
    readers = sorted({(answer.judged.judge, answer.judged.sample) for answer in answers})
    votes: dict[str, dict[tuple[str, int], str]] = {}
    prompts: dict[str, set[str]] = {}
    versions: dict[str, int] = {}
    for answer in answers:
        judged = answer.judged
        # Judges that look things up are told so, so the prompts of different judges may differ.
        if answer.prompt and not several:
            prompts.setdefault(judged.task_id, set()).add(answer.prompt)
        if judged.prompt_version:
            versions[judged.prompt_version] = versions.get(judged.prompt_version, 0) + 1
        cast = vote(answer.checked)
        if cast is not None:
            votes.setdefault(judged.task_id, {})[judged.judge, judged.sample] = "flawed" if cast else "sound"
    both = [own for own in votes.values() if len(own) > 1]
    units = [[own.get(reader) for reader in readers] for _, own in sorted(votes.items())]
    return ReaderRow(
        name=name,
        readers=len(readers),
        tasks=len(both),
        unanimous=sum(len(set(own.values())) == 1 for own in both),
        alpha=krippendorff_alpha(units, seed=seed),
        versions=dict(sorted(versions.items())),
        changed=tuple(sorted(task_id for task_id, read in prompts.items() if len(read) > 1)),
    )


def agreement_table(found: Agreement) -> str:
    """Write the agreement as Markdown."""
    rows = [
        [md(row.name), str(row.readers), f"{row.unanimous} of {row.tasks}", _alpha(row.alpha), _prompts(row)]
        for row in found.rows
    ]
    if not rows:
        return "Every prompt was read once, so agreement cannot be told: set `samples: 3`, or add a judge.\n"
    few = [row.name for row in found.rows if row.readers < FEWEST_READERS]
    note = f"\nFewer than {FEWEST_READERS} readers: {', '.join(map(md, few))}.\n" if few else ""
    head = ["readers", "number", "unanimous", "Krippendorff's α, 95 % interval", "prompts"]
    return f"{table(head, rows)}\n{note}\nHash of all prompts that were read: `{found.prompts}`.\n"


def _alpha(alpha: Result) -> str:
    if not isinstance(alpha, Estimate):
        return f"undefined: {alpha.reason}"
    interval = "" if alpha.low is None or alpha.high is None else f" [{alpha.low:.2f}, {alpha.high:.2f}]"
    return f"{alpha.value:.2f}{interval} ({alpha.n} of {alpha.of} tasks)"


def _prompts(row: ReaderRow) -> str:
    if len(row.versions) > 1:
        return f"changed between readers: versions {', '.join(row.versions)}"
    if row.changed:
        return f"{len(row.changed)} changed between readers"
    return "the same for all readers"
