"""Comparing an audit or a judge with labels of people: what ``agenthard align score`` and its flow do."""

from pathlib import Path

from pydantic import Field

from agenthard.flows.alignment import read_answers, read_key, read_mapping
from agenthard.flows.errors import CommandError
from agenthard.reports.alignment.judge_errors import disagreements
from agenthard.reports.alignment.measures import Settings
from agenthard.reports.alignment.score import Alignment, AlignmentError, align
from agenthard.reports.alignment.truth import Names, read_label_set
from agenthard.reports.kit.files import json_text
from agenthard.reports.labels import LabelError
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.record import Record


class AlignSettings(Record):
    """An audit or a judge, and the labels that it is compared with."""

    run: str
    """Run folder of an audit or of a judge."""
    labels: tuple[str, ...] = Field(min_length=1)
    """Label files or filled sheets, JSON Lines."""
    out: str | None = None
    """File for the comparison, as JSON; None writes none."""
    key: str | None = None
    """Key of the sample: weights figures up to the benchmark."""
    truth: str = "flawed"
    """Boolean field of the labels that says what is flawed."""
    categories: str | None = None
    """File that says which category each word of the labels means."""
    also: tuple[str, ...] = ()
    """Run folders of other judges, prompts or repetitions."""
    one_prompt: str | None = None
    """Run folder of a one-prompt judge, as a baseline."""
    previous: str | None = None
    """Earlier run folder, as a baseline."""
    prevalence: float = Field(default=0.1, gt=0, lt=1)
    """Share of flawed tasks that precision is adjusted to."""
    second_look: str | None = None
    """File for the tasks on which flags and labels differ."""
    resamples: int = Field(default=2000, ge=100)
    """Bootstrap resamples behind every interval."""
    seed: int = 0
    """Seed of every draw."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Files that the comparison depends on."""
        runs = (self.run, *self.also, self.one_prompt, self.previous)
        names = ("findings.json", "judge/panels.jsonl", "judge/verdicts.jsonl")
        of_runs = [f"{run}/{name}" for run in runs if run for name in names]
        return (*of_runs, *self.labels, *filter(None, (self.key, self.categories)))


def score_alignment(settings: AlignSettings) -> Alignment:
    """Compare a run with labels, and write what the settings name.

    Raises:
        CommandError: Run and labels do not fit together, or a file exists that may be filled in.
    """
    second_look = Path(settings.second_look) if settings.second_look else None
    if second_look is not None and second_look.exists():
        raise CommandError(f"{second_look}: exists and may be filled in; give another name with --second-look")
    found = read_answers(Path(settings.run))
    judges = found.judges or found.candidates[:1]
    for number, folder in enumerate(map(Path, settings.also), start=1):
        judges.append(read_answers(folder).candidates[0].named(f"{folder.name} (also {number})"))
    baselines = list(found.baselines)
    for name, other in (("one-prompt judge", settings.one_prompt), ("previous run", settings.previous)):
        if other is not None:
            primary = read_answers(Path(other)).candidates[0]
            baselines.append(primary.model_copy(update={"name": name, "kind": "baseline"}))
    parameters = Settings(prevalence=settings.prevalence, resamples=settings.resamples, seed=settings.seed)
    try:
        names = Names(load_taxonomy(), read_mapping(Path(settings.categories)) if settings.categories else {})
        known = read_label_set(list(map(Path, settings.labels)), settings.truth)
        drawn = read_key(Path(settings.key)) if settings.key else None
        result, labelled = align(
            found.candidates, judges, baselines, found.task_ids, known, names, parameters, drawn, found.claims
        )
    except (LabelError, AlignmentError, ValueError) as error:
        raise CommandError(str(error)) from error
    if second_look is not None:
        lines = disagreements(found.candidates[0], labelled)
        write_atomically(second_look, "".join(json_text(line) + "\n" for line in lines).encode("utf-8"))
    if settings.out:
        write_atomically(Path(settings.out), (result.model_dump_json(indent=2) + "\n").encode("utf-8"))
    return result
