"""Blindness: what a judge reads names no model, no path of a machine, no user and no time of the run.

What the task itself says stays, since the agent was told the same. Everything else is masked line by line, so that the
lines keep their numbers, and every request is checked once more before it is sent.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from agenthard.agency.scenario import ScenarioTask
from agenthard.containment.command import PLACE
from agenthard.models.request import Request
from agenthard.taxonomy.errors import AgentHardError

Kind = Literal["model", "path", "user", "time"]

FAMILIES = (
    r"claude(?:[-_ ]?(?:code|opus|sonnet|haiku|instant|v?\d[\w.]*))*",
    r"chat[-_ ]?gpt(?:[-_ ]?\d[\w.]*)?",
    r"gpt[-_ ]?(?:\d[\w.]*|oss)(?:[-_](?:mini|nano|turbo|pro|codex|\d+b))*",
    r"gemini(?:[-_ ]?(?:pro|flash|ultra|nano|lite|v?\d[\w.]*))*",
    r"qwen[\w.]*(?:[-_](?:vl|coder|max|plus|turbo|\d[\w.]*))*",
    r"deepseek(?:[-_ ]?(?:chat|coder|reasoner|[vr]\d[\w.]*))*",
    r"kimi(?:[-_ ]?(?:k\d[\w.]*|chat))*",
    r"glm[-_ ]?\d[\w.]*(?:[-_](?:air|flash|plus))*",
    r"grok(?:[-_ ]?\d[\w.]*)+",
    r"llama[-_ ]?\d[\w.]*",
    r"mi[sx]tral[\w.]*(?:[-_](?:large|small|medium|\d[\w.]*))*",
    r"anthropic",
    r"openai",
)
"""Names of models and of their makers, as agents sign their work with them."""
_ROOTS = r"(?:home|root|Users|tmp|private|var/folders|var/tmp|mnt|workspace|work|srv|builds?)"
_PATHS = (
    rf"(?:file://)?(?<![\w./])/{_ROOTS}(?:/[\w.@+-]+)+/?",
    r"\b[A-Za-z]:\\{1,2}(?:Users|Documents and Settings|Temp|[\w.-]+)\\{1,2}[\w.\\-]+",
)
_DAYS, _MONTHS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun", "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?"
_TIMES = (
    rf"\b\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T ]{_CLOCK}(?:[ ]?(?:Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}}))?",
    rf"\b(?:{_DAYS}),? (?:(?:{_MONTHS}) +\d{{1,2}}|\d{{1,2}} (?:{_MONTHS}) \d{{4}}) {_CLOCK}"
    r"(?: ?[AP]M)?(?: (?:UTC|GMT|[A-Z]{3,4}))?(?: \d{4})?",
)
_COMMON_USERS = frozenset("root nobody user admin agent runner ubuntu debian node test guest app".split())
"""Names that say nothing about a machine, and that programs are full of."""
LEAST_NAME = 3
LEAST_PLAIN_NAME = 5
"""A name of a model without a digit has at least so many letters: ``good`` is an agent's name and a word."""


class BlindnessError(AgentHardError):
    """A request to a judge names a model, a path, a user or a time."""

    code = "AH656"
    remedy = "Do not send it: mask what the message names with a `Blinder` that knows the agent and the machine."


class Leak(NamedTuple):
    """What a judge must not read."""

    kind: Kind
    """What it gives away."""
    text: str
    """The words."""


class Blinder:
    """Masks what gives away who did the work, where and when."""

    def __init__(
        self,
        *,
        models: Iterable[str] = (),
        paths: Iterable[str] = (),
        users: Iterable[str] = (),
        stated: Iterable[str] = (),
    ) -> None:
        """Prepare the patterns.

        Args:
            models: names of the agent, its model and its scaffold, in full: ``openai/gpt-9``.
            paths: folders of this machine, such as the eval-space; names below them stay.
            users: names of users of this machine.
            stated: the task's own texts, whose words are never masked.
        """
        self._stated = "\n".join(stated).casefold()
        folders = sorted({PLACE, *(path.rstrip("/") for path in paths if len(path) > 1)}, key=len, reverse=True)
        self._folders = re.compile("|".join(rf"(?:file://)?{re.escape(path)}(?![\w-])" for path in folders))
        named = [variant for name in models for variant in _variants(name)]
        people = [
            rf"\b{re.escape(name)}\b"
            for name in users
            if len(name) >= LEAST_NAME and name.casefold() not in _COMMON_USERS
        ]
        self._patterns: list[tuple[Kind, re.Pattern[str]]] = [
            ("path", re.compile("|".join(_PATHS))),
            ("time", re.compile("|".join(_TIMES), re.IGNORECASE)),
            ("model", _words([*named, *FAMILIES])),
        ]
        if people:
            self._patterns.append(("user", re.compile("|".join(people), re.IGNORECASE)))

    @classmethod
    def of_task(cls, task: ScenarioTask, **known: Iterable[str]) -> "Blinder":
        """Make a blinder that leaves what the task itself says.

        Args:
            task: the task.
            known: ``models``, ``paths`` and ``users``, as the constructor has them.
        """
        rubric = [text for each in task.criteria for text in (each.id, each.text)]
        return cls(stated=[task.query, *(each.text for each in task.deliverables), *rubric], **known)

    def mask(self, text: str) -> str:
        """Return a text with everything masked; its lines keep their numbers.

        >>> Blinder(models=["openai/gpt-9"]).mask("# by GPT 9, /home/ada/x.py, 2026-01-02T03:04:05Z")
        '# by [model], [path], [time]'
        """
        text = self._folders.sub(lambda found: found[0] if self._is_stated(found[0]) else ".", text)
        for kind, pattern in self._patterns:
            text = pattern.sub(lambda found, kind=kind: self._masked(found[0], kind), text)  # type: ignore[misc]
        return text

    def leaks(self, text: str) -> tuple[Leak, ...]:
        """List what a text gives away, in order of the kinds; empty when a judge may read it."""
        found = []
        for kind, pattern in [("path", self._folders), *self._patterns]:
            found += [Leak(kind, match[0]) for match in pattern.finditer(text) if not self._is_stated(match[0])]
        return tuple(found)

    def check(self, request: Request) -> Request:
        """Return a request that gives nothing away.

        Raises:
            BlindnessError: it does; the message names the first words.
        """
        for message in request.messages:
            found = self.leaks(message.text)
            if found:
                kind, words = found[0]
                raise BlindnessError(f"a request to a judge names a {kind}: {words[:80]!r}")
        return request

    def _masked(self, words: str, kind: Kind) -> str:
        return words if self._is_stated(words) else f"[{kind}]"

    def _is_stated(self, words: str) -> bool:
        return words.casefold() in self._stated


def _words(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(patterns)})(?![A-Za-z0-9])", re.IGNORECASE)


def _variants(name: str) -> list[str]:
    """Return patterns of a name in full, without the provider, and without the address of a server."""
    short = name.split("@")[0]
    found = {name, short, short.rsplit("/", 1)[-1]}
    parts = [
        [part for part in re.split(r"[-_. /:@]+", each) if part]
        for each in sorted(found, key=len, reverse=True)
        if len(each) >= (LEAST_NAME if re.search(r"\d", each) else LEAST_PLAIN_NAME)
    ]
    return [r"[-_. /:@]{0,3}".join(map(re.escape, each)) for each in parts if each]
