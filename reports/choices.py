"""What the user's choices keep out of an audit's figures, as sentences for the first screen."""

from collections.abc import Sequence

from agenthard.reports.kit.text import plural

MOST = 3
"""Suppressions and checks that a sentence names."""


def choice_lines(suppressed: Sequence[str], expired: Sequence[str], not_asked: Sequence[str]) -> list[str]:
    """Return one sentence each for suppressed findings, expired suppressions, and checks that did not run.

    Args:
        suppressed: findings that do not count, in words.
        expired: suppressions whose last day has passed, in words.
        not_asked: ids of the checks that ``--select`` and ``--ignore`` leave out.

    Returns:
        The sentences; none for what there is none of.

    >>> choice_lines(["7f call-schema in a: accepted (until 2030-01-31)"], [], ["turn-count", "duplicate-task"])
    ... # doctest: +NORMALIZE_WHITESPACE
    ['1 suppressed finding does not count: 7f call-schema in a: accepted (until 2030-01-31)',
     '2 checks were not asked to run: turn-count, duplicate-task']
    """
    lines = []
    if suppressed:
        verb = "does" if len(suppressed) == 1 else "do"
        lines.append(f"{plural(len(suppressed), 'suppressed finding')} {verb} not count: {_named(suppressed, '; ')}")
    if expired:
        verb = "has expired and counts" if len(expired) == 1 else "have expired and count"
        lines.append(f"{plural(len(expired), 'suppression')} {verb} again: {_named(expired, '; ')}")
    if not_asked:
        verb = "was" if len(not_asked) == 1 else "were"
        lines.append(f"{plural(len(not_asked), 'check')} {verb} not asked to run: {_named(not_asked, ', ')}")
    return lines


def _named(words: Sequence[str], separator: str) -> str:
    more = f" and {len(words) - MOST:,} more" if len(words) > MOST else ""
    return separator.join(words[:MOST]) + more
