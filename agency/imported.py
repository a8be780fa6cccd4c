"""The scenarios of the public release as records, and why some of them cannot be played from it here.

Regime, carry and needs are facts about the release that its descriptions do not state; they were read in its evaluation
scripts, and are listed here by scenario.
"""

import importlib.util
import re
import shutil
from collections.abc import Iterable, Mapping
from itertools import groupby

from agenthard.agency.sandbox.browser import BrowserError, find_browser
from agenthard.agency.scenario import Carry, Criterion, Deliverable, Judge, Needs, Regime, Scenario, ScenarioTask
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import AgentTask

LICENSE = "MIT"

_REGIMES: dict[str, Regime] = {
    **dict.fromkeys(("Code/scenario4", "Code/scenario5", *(f"Research/scenario{n}" for n in range(1, 6))), "shared"),
    **dict.fromkeys(("Code/scenario2", "Code/scenario3"), "git_reset"),
    **dict.fromkeys(("MCP/scenario1", "MCP/scenario2"), "external_state"),
}
"""All others have a workspace per attempt; Code/scenario6 and 7, of one task each, are taken for such."""
_LAST = ("Game", "Frontend")
"""Capabilities that hand on the last attempt, even a worse one; others keep the first unless one reaches the top."""
_BOTH_JUDGES = ("Game", "Frontend")

_SERVICE = ("fastapi", "httpx", "pymongo")
_NUMBERS = ("numpy", "scipy", "pandas", "pyarrow")
_NEEDS: dict[str, Needs] = {
    "Backend/scenario1": Needs(programs=("g++", "make")),
    "Backend/scenario2": Needs(programs=("javac", "java")),
    "Code/scenario1": Needs(packages=_NUMBERS),
    "Code/scenario2": Needs(network=True, model_judge=True, programs=("git",)),
    "Code/scenario3": Needs(network=True, model_judge=True, programs=("git",)),
    "Code/scenario4": Needs(network=True, model_in_task=True),
    "Code/scenario5": Needs(network=True, model_judge=True, model_in_task=True),
    "Code/scenario6": Needs(packages=_NUMBERS),
    "Code/scenario7": Needs(packages=_NUMBERS),
    "Code/scenario8": Needs(packages=_SERVICE),
    "Code/scenario9": Needs(packages=(*_SERVICE, "smolagents")),
    "MCP/scenario1": Needs(network=True, account="a GitHub token and a repository"),
    "Research/scenario1": Needs(network=True),
    "Research/scenario2": Needs(network=True),
    "Research/scenario3": Needs(network=True),
    "Research/scenario4": Needs(network=True, model_judge=True),
    "Research/scenario5": Needs(network=True, model_judge=True),
}
_BROWSER = Needs(browser=True, model_judge=True)
_TEXT_JUDGED = ("Code/scenario2", "Code/scenario3", "Code/scenario5", "Research/scenario4", "Research/scenario5")
_PATH = re.compile(r"`([\w.*/-]+\.[A-Za-z]\w*|[\w.-]+(?:/[\w.*-]+)+/?)`")


class UnknownScenarioError(AgentHardError, ValueError):
    """A task does not belong to a scenario of the release."""

    code = "AH642"
    remedy = "Import tasks that the source `agencybench` has read."


def scenarios_of(tasks: Iterable[AgentTask]) -> tuple[Scenario, ...]:
    """Turn the tasks that the reader gives into scenarios, in the order of the tasks.

    Raises:
        UnknownScenarioError: a task names no scenario.
    """
    found = []
    for name, members in groupby(tasks, key=_scenario_of):
        capability = name.split("/")[0]
        found.append(
            Scenario(
                id=name,
                capability=capability,
                regime=_REGIMES.get(name, "per_attempt"),
                carry=_carry(capability),
                tasks=tuple(_task(task, _judges(name)) for task in members),
                needs=_BROWSER if capability in _BOTH_JUDGES else _NEEDS.get(name, Needs()),
                license=LICENSE,
            )
        )
    return tuple(found)


def obstacles(scenario: Scenario) -> tuple[str, ...]:
    """Say why a scenario cannot be played and judged on this machine; empty when nothing is in the way.

    A job has no network, so what needs hosts is an obstacle everywhere. Whether the release's data files are there is
    not part of this: the descriptions do not list them.
    """
    needs, found = scenario.needs, []
    if needs.browser and (missing := _browser_missing()):
        found.append(f"needs a browser: {missing}. {BrowserError.remedy}")
    found += [f"needs the program {name}, which is not installed" for name in needs.programs if not shutil.which(name)]
    found += [f"needs the package {name}, which is not installed" for name in needs.packages if not _installed(name)]
    if needs.network:
        found.append("needs hosts on the internet, and jobs have no network")
    if needs.model_in_task:
        found.append("the solution itself calls a hosted model")
    if needs.account is not None:
        found.append(f"needs {needs.account}")
    if needs.model_judge:
        found.append("parts of the score are judged by a model")
    return tuple(found)


def _browser_missing() -> str | None:
    try:
        find_browser()
    except BrowserError as error:
        return str(error)
    return None


def _scenario_of(task: AgentTask) -> str:
    name = task.metadata.get("scenario")
    if not isinstance(name, str) or name.count("/") != 1:
        raise UnknownScenarioError(f"task {task.id} names no scenario of AgencyBench")
    return name


def _carry(capability: str) -> Carry:
    return "last" if capability in _LAST else "first"


def _judges(name: str) -> tuple[Judge, ...]:
    if name.split("/")[0] in _BOTH_JUDGES:
        return "text", "vision"
    return ("text",) if name in _TEXT_JUDGED else ("script",)


def _task(task: AgentTask, judges: tuple[Judge, ...]) -> ScenarioTask:
    data: Mapping[str, object] = task.metadata
    texts, listed = data.get("criteria"), data.get("deliverables")
    criteria = [str(text) for text in texts] if isinstance(texts, list | tuple) else []
    visible = "rubric_in_prompt" in task.traits
    whole = [] if criteria else [Criterion(id="whole", text=str(data["query"]), judge=judges[0])]
    return ScenarioTask(
        id=task.id,
        number=int(str(data["number"])),
        query=str(data["query"]),
        deliverables=tuple(map(_deliverable, listed)) if isinstance(listed, list | tuple) else (),
        criteria=(
            *whole,
            *(
                Criterion(id=f"{i}-{judge}", text=text, judge=judge, visible=visible)
                for i, text in enumerate(criteria, 1)
                for judge in judges
            ),
        ),
    )


def _deliverable(text: object) -> Deliverable:
    named = _PATH.search(str(text))
    return Deliverable(text=str(text), path=named[1] if named else None)


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
