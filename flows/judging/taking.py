"""Taking a folder for a judging run: which tasks, whose folder, and nobody else at work in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from agenthard.audit.judge.aggregate.findings import JUDGE_VERSION
from agenthard.audit.judge.templates import prompt_version
from agenthard.flows.errors import CommandError
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.settings import JudgingFolder, JudgingSettings
from agenthard.flows.run_folder import RunFolder, write_json
from agenthard.taxonomy.categories import load_taxonomy


def chosen_tasks(settings: JudgingSettings, inputs: AuditInputs) -> tuple[str, ...]:
    """Choose the tasks to judge, in the benchmark's order.

    Raises:
        CommandError: The audit has no such task.
    """
    for task_id in settings.tasks:
        inputs.task(task_id)
    wanted = set(settings.tasks)
    ids = [task_id for task_id in inputs.plan.task_ids if not wanted or task_id in wanted]
    if settings.sample is not None and settings.sample < len(ids):
        drawn = set(Random(settings.judges.seed).sample(ids, settings.sample))
        ids = [task_id for task_id in ids if task_id in drawn]
    return tuple(ids)


@contextmanager
def taken(settings: JudgingSettings, inputs: AuditInputs) -> Iterator[JudgingFolder]:
    """Take the folder, or go on in it; nobody else may judge there meanwhile.

    Raises:
        CommandError: It holds another judging.
        RunFolderError: It holds something else, or another process works there or writes into the audit.
    """
    folder = settings.folder
    with inputs.folder.read(), RunFolder(folder.root).hold(folder.identity, "judging of this audit"):
        folder.judge.mkdir(parents=True, exist_ok=True)
        identify(settings, inputs)
        yield folder


def identify(settings: JudgingSettings, inputs: AuditInputs) -> None:
    """Write down what the folder is about, or refuse it if it is about something else.

    Raises:
        CommandError: It is.
    """
    folder = settings.folder
    versions = {"prompts": prompt_version(load_taxonomy()), "evidence gate": JUDGE_VERSION}
    wanted = {**settings.identities(inputs.key()), **versions}
    if folder.identity.is_file():
        known = json.loads(folder.identity.read_text(encoding="utf-8"))
        changed = sorted(name for name in {*known, *wanted} if known.get(name) != wanted.get(name))
        if changed:
            raise CommandError(
                f"{folder.root}: holds a judging with another {', '.join(changed)} (the audit, the judge file, or the "
                "version of AgentHard); give another folder with --out, or delete this one. --cache FILE shares replies"
            )
        return
    write_json(folder.identity, wanted)
