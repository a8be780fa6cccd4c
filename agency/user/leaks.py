"""What an agent must not read in a feedback: gold, literals of rubrics that it does not see, and hidden names.

Words are compared as they are, apart from case and white space. A paraphrase or a rounded number is not recognised.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.agency.scenario import ScenarioTask
from agenthard.agency.user.feedback import Feedback, Leak

WITHHELD = "[withheld]"
MOST_BYTES = 1 << 20
"""How much of a gold file is compared."""
SHORTEST_LINE = 8
"""Characters of a line of gold that is compared as a whole."""
_WORD = re.compile(r"[\w.+:/@#%-]*\w")
_QUOTED = re.compile(r"`([^`\n]{2,})`|\"([^\"\n]{2,})\"|«([^»\n]{2,})»")
_SPACE = re.compile(r"\s+")


class LeakFilter:
    """Takes out of texts what one task keeps from its agent."""

    def __init__(self, task: ScenarioTask, gold: Path | None, known: Iterable[str]) -> None:
        """Collect what must not be said.

        Args:
            task: the task.
            gold: folder of its gold files.
            known: what the agent has read or written itself; words of it are not a leak.
        """
        shown = [task.query, *(each.text for each in task.deliverables)]
        shown += [each.text for each in task.criteria if each.visible]
        common = _normal(" ".join([*shown, *known]))
        common_words = set(_WORD.findall(common))
        self._words: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        for source, text in _secrets(task, gold):
            plain = _normal(text)
            if not plain:
                continue
            if _WORD.fullmatch(plain):
                if plain not in common_words:
                    self._words.setdefault(plain, source)
            elif plain not in common:
                self._lines.setdefault(plain, source)

    def clean(self, text: str) -> tuple[str, tuple[Leak, ...]]:
        """Return a text without what must not be said, and what was taken out."""
        found: list[tuple[int, int, str, str]] = []
        for match in _WORD.finditer(text):
            word = match[0].casefold()
            if source := self._words.get(word):
                found.append((*match.span(), source, word))
        spaced, places = _with_places(text)
        for line, source in self._lines.items():
            start = spaced.find(line)
            while start >= 0:
                found.append((places[start], places[start + len(line) - 1] + 1, source, line))
                start = spaced.find(line, start + 1)
        return _without(text, found), tuple(_leak(source, words) for source, words in sorted({f[2:] for f in found}))

    def filtered(self, feedback: Feedback) -> Feedback:
        """Return a feedback without what must not be said."""
        changes: dict[str, Any] = {}
        leaks: list[Leak] = []
        for name in ("status", "diagnosis", "root_cause", "directives"):
            changes[name], found = self.clean(getattr(feedback, name))
            leaks += found
        return feedback.model_copy(update={**changes, "leaks": tuple(dict.fromkeys(leaks))})


def _secrets(task: ScenarioTask, gold: Path | None) -> Iterator[tuple[str, str]]:
    """Yield what a task keeps from its agent, with its source."""
    for criterion in task.criteria:
        if not criterion.visible:
            yield "rubric", criterion.text
            for match in _QUOTED.finditer(criterion.text):
                yield "rubric", next(filter(None, match.groups()))
            yield from (("rubric", word) for word in _WORD.findall(criterion.text) if _telling(word))
        if criterion.check is not None and _telling_name(criterion.check):
            yield "name", criterion.check
    for path in sorted(gold.rglob("*")) if gold is not None and gold.is_dir() else ():
        if path.is_file() and not path.is_symlink():
            yield "name", path.name
            with path.open("rb") as file:
                yield from (("gold", text) for text in _literals(file.read(MOST_BYTES).decode("utf-8", "replace")))


def _literals(content: str) -> Iterator[str]:
    """Yield what tells something in a gold file: its lines, its values, and its words that hold a number."""
    for line in content.splitlines():
        if len(line.strip()) >= SHORTEST_LINE:
            yield line
        yield from filter(_telling, _WORD.findall(line))
    try:
        yield from _values(json.loads(content))
    except (ValueError, RecursionError):
        return


def _values(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _values(each)
    elif isinstance(node, str) and len(node) >= 3:
        yield node
    elif isinstance(node, int | float) and not isinstance(node, bool) and _telling(str(node)):
        yield str(node)


def _telling(word: str) -> bool:
    """Tell whether a word is a value rather than a word of the language: three digits, or a mixture."""
    digits = sum(each.isdigit() for each in word)
    return digits >= 3 or (digits >= 1 and len(word) >= 5) or (len(word) >= 6 and any(c in "_@#/" for c in word))


def _telling_name(name: str) -> bool:
    return len(name) >= 6 and not name.isalpha()


def _normal(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()


def _with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return a text as it is compared, and the place of each of its characters."""
    letters: list[str] = []
    places: list[int] = []
    for at, letter in enumerate(text):
        if letter.isspace():
            if not letters or letters[-1] == " ":
                continue
            letter = " "
        for part in letter.casefold():
            letters.append(part)
            places.append(at)
    return "".join(letters), places


def _without(text: str, found: list[tuple[int, int, str, str]]) -> str:
    merged: list[list[int]] = []
    for start, end, *_ in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    for start, end in reversed(merged):
        text = text[:start] + WITHHELD + text[end:]
    return text


def _leak(source: str, words: str) -> Leak:
    return Leak(source=source, digest=hashlib.sha256(words.encode()).hexdigest()[:12])
