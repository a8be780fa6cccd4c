"""AgentHard audits benchmarks of LLM agents: it finds flawed tasks with evidence, and writes a cleaned split.

```python
import agenthard as ah

source = ah.open_source("tau-bench", "tau-bench")     # or ah.detect("tau-bench")
result = ah.audit(source, runs=["runs.json"])         # in memory; nothing is written
result.findings_frame()                               # a pandas DataFrame
result.write("runs/tau")                              # the run folder that `agenthard audit` writes
```

Importing the package costs a few milliseconds; what a name needs is imported when the name is first used.

* Audits: `open_source`, `detect`, `audit`, `AuditResult`, and after an audit `judge`, `repair`, `compare`,
  `publish` and `survey`.
* Checks: `check` runs some on one task; `TaskDetector` is the base of your own, `register` adds one.
* Scores: `leaderboard` ranks the models of a table; `statistics` has every interval and test that reports use.
* `ace` generates ACE-Bench instances; `errors` has every exception with its code.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

_CHECKOUT = Path(__file__).resolve().parents[1]
if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / "audit" / "__init__.py").is_file():
    # In a checkout the subpackages lie next to this folder; an installed wheel has them inside it.
    __path__.append(str(_CHECKOUT))

if TYPE_CHECKING:
    from agenthard import ace as ace
    from agenthard import errors as errors
    from agenthard.after_audit import compare, judge, leaderboard, publish, repair, survey
    from agenthard.api import audit as audit
    from agenthard.api import check, detect, open_source, register
    from agenthard.audit import statistics as statistics
    from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, TaskDetector, ToolDetector
    from agenthard.audit.evidence import quote, quote_run
    from agenthard.audit.sources.base import Source
    from agenthard.result import AuditResult, CheckResult
    from agenthard.taxonomy import AgentTask, Evidence, Finding, Level, Severity, Tier, ToolSpec, Trajectory

__all__ = [
    "AgentTask",
    "AuditResult",
    "CheckResult",
    "Conclusion",
    "Evidence",
    "Finding",
    "Hit",
    "Level",
    "Observation",
    "Severity",
    "Source",
    "SuiteDetector",
    "TaskDetector",
    "Tier",
    "ToolDetector",
    "ToolSpec",
    "Trajectory",
    "ace",
    "audit",
    "check",
    "compare",
    "detect",
    "errors",
    "judge",
    "leaderboard",
    "open_source",
    "paper",
    "publish",
    "quote",
    "quote_run",
    "register",
    "repair",
    "statistics",
    "survey",
]

_SUBPACKAGES = {"ace": "ace", "errors": "errors", "statistics": "audit.statistics"}
_NAMES = {
    "after_audit": (
        "compare",
        "judge",
        "leaderboard",
        "paper",
        "publish",
        "repair",
        "survey",
    ),
    "api": (
        "check",
        "detect",
        "open_source",
        "register",
    ),
    "audit.detectors.base": (
        "Conclusion",
        "Hit",
        "Observation",
        "SuiteDetector",
        "TaskDetector",
        "ToolDetector",
    ),
    "audit.evidence": (
        "quote",
        "quote_run",
    ),
    "audit.sources.base": ("Source",),
    "result": (
        "AuditResult",
        "CheckResult",
    ),
    "taxonomy": (
        "AgentTask",
        "Evidence",
        "Finding",
        "Level",
        "Severity",
        "Tier",
        "ToolSpec",
        "Trajectory",
    ),
}
"""Public names by the module that defines them."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    value: Any
    if name in _SUBPACKAGES:
        value = import_module(f"agenthard.{_SUBPACKAGES[name]}")
    else:
        module = next((module for module, names in _NAMES.items() if name in names), None)
        if module is None:
            raise AttributeError(f"module 'agenthard' has no attribute {name!r}")
        value = getattr(import_module(f"agenthard.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _CallablePackage(ModuleType):
    """The subpackage ``agenthard.audit``: a package to import from, and the function ``ah.audit`` to call.

    Importing a module below it makes it an attribute of ``agenthard``, so one name has to be both.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        return _audit_function()(*args, **options)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return _audit_function().__doc__

    @property
    def __signature__(self) -> Any:
        return import_module("inspect").signature(_audit_function())

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


def _audit_function() -> Any:
    return import_module("agenthard.api").audit


import_module("agenthard.audit")
sys.modules["agenthard.audit"].__class__ = _CallablePackage
