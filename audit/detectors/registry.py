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


@cache
def detectors() -> tuple[Detector, ...]:
    """Return one instance of every detector, those of entry points last and in order of their name.

    Raises:
        ValueError: when two detectors share an id.
    """
    found = [getattr(package, name)() for package in _PACKAGES for name in package.__all__]
    found += [entry.load()() for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)]
    ids = [detector.id for detector in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"two detectors share the id {', '.join(twice)}")
    return tuple(found)


def detector(check_id: str) -> Detector:
    """Return a detector by id.

    Raises:
        KeyError: when there is none; the message lists the ids.
    """
    for candidate in detectors():
        if candidate.id == check_id:
            return candidate
    raise KeyError(f"no check {check_id!r}; there are {', '.join(d.id for d in detectors())}")
