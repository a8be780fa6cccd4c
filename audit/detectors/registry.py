"""All detectors, in the order of the taxonomy's components. A new detector is added to its package's ``__all__``."""

from functools import cache

from audit.detectors import environment, evaluation, ground_truth, responses, user
from audit.detectors.base import Detector

_PACKAGES = (user, environment, evaluation, ground_truth, responses)


@cache
def detectors() -> tuple[Detector, ...]:
    """Return one instance of every detector.

    Raises:
        ValueError: when two detectors share an id.
    """
    found = [getattr(package, name)() for package in _PACKAGES for name in package.__all__]
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
