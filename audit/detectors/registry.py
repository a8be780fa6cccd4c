"""All checks: the built-in ones in the order of the taxonomy's components, then those of other packages.

A built-in check is registered by its name in the ``__all__`` of its package (``audit/detectors/user`` and so on).
Another package registers its checks under the entry-point group ``agenthard.detectors``.
"""

from functools import cache

from agenthard.audit.detectors.base import Detector
from agenthard.audit.plugins import PluginError, plugins

GROUP = "agenthard.detectors"
BUILT_IN = {
    "ace-proof": "agenthard.ace.checks:AceProof",
    "escape-proof": "agenthard.escape.checks:EscapeProof",
    "solution-score": "agenthard.agency.checks:SolutionScore",
    "unmatched-clause": "agenthard.agency.checks:UnmatchedClause",
}
"""Checks of ours outside this package: they belong to one benchmark."""

_of_this_process: list[Detector] = []


def detectors(*, experimental: bool = True) -> tuple[Detector, ...]:
    """Return one instance of every check: ours, those of other packages by name, those registered in this process.

    Args:
        experimental: whether experimental checks are included. An audit leaves them out unless asked for them.

    Raises:
        PluginError: when two checks share an id, or one cannot be loaded.
    """
    return tuple(detector for detector in _all() if experimental or not detector.experimental)


@cache
def _all() -> tuple[Detector, ...]:
    # Imported here: a command about one task needs none of them.
    from agenthard.audit.detectors import environment, evaluation, ground_truth, responses, runs, user

    packages = (user, environment, evaluation, ground_truth, runs, responses)
    offered = [(getattr(package, name)(), "agenthard") for package in packages for name in package.__all__]
    offered += [(plugin.load()(), plugin.package) for plugin in plugins(GROUP, BUILT_IN).values()]
    offered += [(check, type(check).__module__) for check in _of_this_process]
    found: dict[str, Detector] = {}
    for check, package in offered:
        if check.id in found:
            raise PluginError(f"the package {package} registers a check {check.id!r}, an id that is already in use")
        found[check.id] = check
    return tuple(found.values())


def registered() -> tuple[Detector, ...]:
    """Return the detectors that :func:`register` added in this process."""
    return tuple(_of_this_process)


def register(found: Detector) -> None:
    """Add a detector for the rest of this process; one with the same class name and module replaces the earlier one.

    Raises:
        ValueError: when another detector has its id.
    """
    name = _class_name(found)
    _of_this_process[:] = [each for each in _of_this_process if _class_name(each) != name]
    _all.cache_clear()
    if any(each.id == found.id for each in detectors()):
        raise ValueError(f"{name}: another check has the id {found.id!r}")
    _of_this_process.append(found)
    _all.cache_clear()


def _class_name(found: Detector) -> str:
    return f"{type(found).__module__}.{type(found).__qualname__}"


def unregister(check_id: str) -> None:
    """Remove a detector that :func:`register` added."""
    _of_this_process[:] = [each for each in _of_this_process if each.id != check_id]
    _all.cache_clear()


def detector(check_id: str) -> Detector:
    """Return the check with this id.

    Raises:
        KeyError: for an unknown id; the message lists the ids.
    """
    for candidate in detectors():
        if candidate.id == check_id:
            return candidate
    raise KeyError(f"no check {check_id!r}; there are {', '.join(d.id for d in detectors())}")
