"""ACEBench's own checker and classes, from a checkout, behind the interface of environments."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from agenthard.audit.execution.acebench import protocol
from agenthard.audit.execution.checkout import code_version, definitions, interpreter
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.worker_environment import WorkerBackedEnvironment
from agenthard.audit.execution.workers import WorkerPool
from agenthard.taxonomy.task import AgentTask, ToolCall

SCRIPT = Path(__file__).with_name("script.py")
CHECKER = "normal_checker"
CHECKER_FILES = ("model_eval/checker.py", "eval/checker.py", "checker.py")
"""Where the checker is looked for first, relative to the checkout."""
TWINS = {"en": "zh", "zh": "en"}
"""The language of the other files that define the same classes: it ends a part of their paths; they come last."""


@cache
def _found(checkout: Path, language: str) -> dict[str, Path]:
    """Return the file of each function and class of a checkout, by name; of twins, the one of a language."""
    found: dict[str, Path] = {}

    def rank(item: tuple[str, Path]) -> tuple[bool, bool, str]:
        name, path = item[0], item[1].relative_to(checkout)
        twin = any(part.endswith(TWINS[language]) for part in path.with_suffix("").parts)
        return (name == CHECKER and path.as_posix() not in CHECKER_FILES, twin, path.as_posix())

    for name, path in sorted(definitions(checkout), key=rank):
        found.setdefault(name, path)
    return found


class AceBenchEnvironment(WorkerBackedEnvironment):
    """Normal tasks before the checkout's ``normal_checker``; agent tasks on its classes, compared by their states.

    The classes are those that a task names in ``involved_classes``. A method that several of them have by inheritance,
    such as switching the network on, is called on each; the first response counts.
    """

    name = "ACEBench checkout"

    def __init__(self, checkout: Path | None = None) -> None:
        """Prepare; nothing is started yet.

        Args:
            checkout: folder of ACEBench's code; without one nothing can be executed.
        """
        super().__init__()
        self._checkout = checkout

    def version(self) -> str:
        """Return the version of the code that runs: a hash of the checkout's Python files."""
        return code_version(self._checkout) if self._checkout else "none"

    def supports(self, task: AgentTask) -> str | None:
        """Return why a task cannot be executed; None when it can."""
        if self._checkout is None:
            return "ACEBench's code is not part of AgentHard: give --checkout PATH, a folder with ACEBench's repository"
        if "expects_no_call" in task.traits:
            return "the special categories are judged by what the agent says; the checker takes calls"
        missing = [
            name
            for name in protocol.needed(task, CHECKER)
            if name not in _found(self._checkout, protocol.language(task))
        ]
        if missing:
            return f"{self._checkout} defines no {', '.join(missing)}; give a folder with ACEBench's repository"
        return self._why_not_contained()

    def _pool_for(self, task: AgentTask) -> WorkerPool:
        reason = self.supports(task)
        if reason or self._checkout is None:
            raise UnavailableError(reason)
        language = protocol.language(task)
        found = _found(self._checkout, language)
        names = {CHECKER, *protocol.CLASSES} & found.keys()
        listed = json.dumps({name: str(found[name]) for name in sorted(names)})
        python = interpreter(self._checkout)
        return self._execution.worker_pool(python, SCRIPT, arguments=(str(self._checkout), listed, language))

    def _why_stateless(self, task: AgentTask) -> str | None:
        if task.ground_truth.call_matching == "state":
            return None
        return "a normal task has no environment: its functions exist as documentation only"

    def _reset_request(self, task: AgentTask) -> dict[str, Any]:
        return {"do": "reset", "session": protocol.session(task)}

    def _call_request(self, call: ToolCall) -> dict[str, Any]:
        return {"do": "call", "call": protocol.call(call)}

    def _judge_request(self, task: AgentTask) -> dict[str, Any]:
        return {"do": "judge", "task": protocol.question(task)}

    def _encode(self, task: AgentTask, attempt: Attempt) -> list[Any]:
        return [protocol.call(call) for turn in attempt.turns for call in turn]
