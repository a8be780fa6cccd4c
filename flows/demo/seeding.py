"""Putting the flaws into sound scenarios, and writing down where they went."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from agenthard.flows.demo.flaws import (
    ENVIRONMENT_FLAWS,
    RUN_FLAWS,
    TASK_FLAWS,
    EnvironmentFlaw,
    Flaw,
    RunFlaw,
    TaskFlaw,
)
from agenthard.flows.demo.scenario import Scenario, Setting
from agenthard.taxonomy.pointer import resolve, split
from agenthard.taxonomy.record import Record

_R = TypeVar("_R", bound=BaseModel)


class KeyEntry(Record):
    """One entry of the answer key."""

    check: str
    """Id of the check that is expected to find the flaw."""
    category: str
    """Taxonomy category."""
    cause: str
    """Where the flaw sits: a task by its id, or a tool, a policy or a user simulator in words."""
    task_ids: tuple[str, ...]
    """Tasks that it affects."""
    change: str
    """What was changed."""


def seed_flaws(scenarios: Sequence[Scenario]) -> tuple[list[Scenario], list[KeyEntry]]:
    """Return the scenarios with all flaws, copied tasks at the end, and the answer key."""
    flawed, key = {scenario.task.id: scenario for scenario in scenarios}, []
    for flaw in TASK_FLAWS:
        changed = _with_task_flaw(flawed[flaw.cause], flaw, flawed)
        flawed[changed.task.id] = changed
        key.append(_entry(flaw, sorted({flaw.cause, changed.task.id})))
    for run_flaw in RUN_FLAWS:
        flawed[run_flaw.task_id] = _with_run_flaw(flawed[run_flaw.task_id], run_flaw)
        key.append(_entry(run_flaw, [run_flaw.task_id]))
    for environment_flaw in ENVIRONMENT_FLAWS:
        affected = [name for name, scenario in flawed.items() if _affects(environment_flaw, scenario)]
        key.append(_entry(environment_flaw, affected))
    return _with_environment_flaws(list(flawed.values())), key


def _entry(flaw: Flaw, task_ids: Sequence[str]) -> KeyEntry:
    return KeyEntry(
        check=flaw.check, category=flaw.category, cause=flaw.cause, task_ids=tuple(task_ids), change=flaw.change
    )


def _with_task_flaw(scenario: Scenario, flaw: TaskFlaw, others: Mapping[str, Scenario]) -> Scenario:
    task = _edited(scenario.task, flaw.edits, shared="environment")
    if not flaw.copied:
        return replace(scenario, task=task)
    number = sum(other.setting.domain == scenario.setting.domain for other in others.values())
    names = {"id": f"{scenario.setting.domain}/{number}", "native_id": str(number)}
    return replace(scenario, task=task.model_copy(update=names), intended=scenario.intended.model_copy(update=names))


def _with_run_flaw(scenario: Scenario, flaw: RunFlaw) -> Scenario:
    if flaw.asked is None or flaw.answered is None:
        return replace(scenario, confused_user=True)
    return replace(scenario, mixed_up=(flaw.asked, flaw.answered))


def _affects(flaw: EnvironmentFlaw, scenario: Scenario) -> bool:
    called = {call.name for _, call in scenario.task.gold_calls()}
    return scenario.setting.name in flaw.settings and (not flaw.tools or bool(flaw.tools & called))


def _with_environment_flaws(scenarios: Sequence[Scenario]) -> list[Scenario]:
    settings = {scenario.setting.name: scenario.setting for scenario in scenarios}
    for flaw in ENVIRONMENT_FLAWS:
        for name in flaw.settings:
            environment = _edited(settings[name].environment, flaw.edits)
            settings[name] = replace(settings[name], environment=environment)
    return [_in_setting(scenario, settings[scenario.setting.name]) for scenario in scenarios]


def _in_setting(scenario: Scenario, setting: Setting) -> Scenario:
    task = scenario.task.model_copy(update={"environment": setting.environment})
    return replace(scenario, task=task, setting=setting)


def _edited(record: _R, edits: Mapping[str, Any], shared: str | None = None) -> _R:
    """Return ``record`` with new values by JSON Pointer; the field ``shared`` stays the same object."""
    data = record.model_dump(mode="json", exclude={shared} if shared else None)
    for pointer, value in edits.items():
        parent, last = resolve(data, pointer.rpartition("/")[0]), split(pointer)[-1]
        if last == "-":
            parent.append(value)
        else:
            parent[int(last) if isinstance(parent, list) else last] = value
    return type(record).model_validate(data | ({shared: getattr(record, shared)} if shared else {}))
