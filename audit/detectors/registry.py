"""All detectors: our own in the order of the taxonomy's components, then those that other packages offer.

A new detector is added to its package's ``__all__``. One from outside is registered under the entry-point group
``agenthard.detectors``, which is how a benchmark brings checks of its own.
"""

from functools import cache
from importlib.metadata import entry_points

from agenthard.audit.detectors import environment, evaluation, ground_truth, responses, runs, user
from agenthard.audit.detectors.base import Detector

GROUP = "agenthard.detectors"

_PACKAGES = (user, environment, evaluation, ground_truth, runs, responses)
_of_this_process: list[Detector] = []


@cache
def detectors() -> tuple[Detector, ...]:
    """Return one instance of every detector: ours, those of entry points in order of their name, those registered here.

    Raises:
        ValueError: when two detectors share an id.
    """
    found = [getattr(package, name)() for package in _PACKAGES for name in package.__all__]
    found += [entry.load()() for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)]
    found += _of_this_process
    ids = [detector.id for detector in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"two detectors share the id {', '.join(twice)}")
    return tuple(found)


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
    detectors.cache_clear()
    if any(each.id == found.id for each in detectors()):
        raise ValueError(f"{name}: another check has the id {found.id!r}")
    _of_this_process.append(found)
    detectors.cache_clear()


def _class_name(found: Detector) -> str:
    return f"{type(found).__module__}.{type(found).__qualname__}"


def unregister(check_id: str) -> None:
    """Remove a detector that :func:`register` added."""
    _of_this_process[:] = [each for each in _of_this_process if each.id != check_id]
    detectors.cache_clear()


def detector(check_id: str) -> Detector:
    """Return a detector by id.

    Raises:
        KeyError: when there is none; the message lists the ids.
    """
    for candidate in detectors():
        if candidate.id == check_id:
            return candidate
    raise KeyError(f"no check {check_id!r}; there are {', '.join(d.id for d in detectors())}")
