"""All checks: the built-in ones in the order of the taxonomy's components, then those of other packages.

A built-in check is registered by its name in the ``__all__`` of its package (``audit/detectors/user`` and so on). A
check of another package is registered under the entry-point group ``agenthard.detectors``.
"""

from functools import cache
from importlib.metadata import entry_points

from agenthard.audit.detectors import environment, evaluation, ground_truth, responses, runs, user
from agenthard.audit.detectors.base import Detector

GROUP = "agenthard.detectors"

_PACKAGES = (user, environment, evaluation, ground_truth, runs, responses)


def detectors(*, experimental: bool = True) -> tuple[Detector, ...]:
    """Return one instance of every check, those of entry points last and in order of their name.

    Args:
        experimental: whether experimental checks are included. An audit leaves them out unless asked for them.

    Raises:
        ValueError: when two checks share an id.
    """
    return tuple(detector for detector in _all() if experimental or not detector.experimental)


@cache
def _all() -> tuple[Detector, ...]:
    found = [getattr(package, name)() for package in _PACKAGES for name in package.__all__]
    found += [entry.load()() for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)]
    ids = [detector.id for detector in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"two checks share the id {', '.join(twice)}")
    return tuple(found)


def detector(check_id: str) -> Detector:
    """Return the check with this id.

    Raises:
        KeyError: for an unknown id; the message lists the ids.
    """
    for candidate in detectors():
        if candidate.id == check_id:
            return candidate
    raise KeyError(f"no check {check_id!r}; there are {', '.join(d.id for d in detectors())}")
