"""Which checks an audit asks to run: all, or those that words choose."""

from collections.abc import Sequence

from agenthard.audit.detectors.base import Detector
from agenthard.audit.detectors.registry import detectors
from agenthard.taxonomy.categories import COMPONENT_TITLES, load_taxonomy
from agenthard.taxonomy.errors import AgentHardError


class SelectionError(AgentHardError, ValueError):
    """A word chooses no check; the message suggests the nearest one."""

    code = "AH205"
    remedy = "Give the id of a check or of a category, or a component; `agenthard checks` lists them."


def chosen(select: Sequence[str], ignore: Sequence[str], *, experimental: bool) -> tuple[Detector, ...]:
    """Return the checks that an audit asks to run, in their order.

    Args:
        select: ids of checks or categories, or components; empty means all. The id of an experimental check chooses it.
        ignore: the same; these do not run.
        experimental: whether categories, components and an empty ``select`` choose experimental checks too.

    Raises:
        SelectionError: a word is none of these, or no check is left.
    """
    component = {category.id: category.component for category in load_taxonomy().categories}
    known = {each.id for each in detectors()} | component.keys() | set(COMPONENT_TITLES)
    for word in (*select, *ignore):
        if word not in known:
            raise SelectionError(f"no check, category or component {word!r}{_near(word, sorted(known))}")

    def named(check: Detector, words: Sequence[str]) -> bool:
        return bool({check.id, check.category, component.get(check.category)} & set(words))

    found = tuple(
        check
        for check in detectors()
        if (check.id in select or experimental or not check.experimental)
        and (not select or named(check, select))
        and not named(check, ignore)
    )
    if not found:
        raise SelectionError(f"no check is left of --select {', '.join(select) or 'all'} --ignore {', '.join(ignore)}")
    return found


def _near(word: str, known: Sequence[str]) -> str:
    from rapidfuzz import process

    match = process.extractOne(word, known, score_cutoff=70)
    return f" (did you mean {match[0]}?)" if match else ""
