"""Tasks whose right answer depends on the live world."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.outside_world import clocks, live_pages
from agenthard.audit.detectors.support.task_texts import asked, graded, sentence_around
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_WEB = (
    r"(?:web|google|internet|online) (?:search(?:es)?|queries|sources)\b|\bsearch the (?:web|internet)\b"
    r"|\b(?:identify|discover|find|locate|search for|select)\b[^.\n]{0,60}\bhugging ?face (?:dataset|model)"
)
_RULES = {
    "works on a public host": re.compile(
        r"https?://(?!(?:localhost|127\.|0\.0\.0\.0|example\.|www\.example|www\.w3\.org|schema|json-schema|\.\.\.))"
        r"[\w-]+(?:\.[\w-]+)+[^\s`'\")>,]*[\w/]"
    ),
    "needs results of the live web": re.compile(rf"\b(?:{_WEB})", re.IGNORECASE),
    "asks for what is recent when it is run": re.compile(
        r"\b(?:in|within|over|during) the (?:last|past) (?:\d+|two|three|five|ten|few|couple of) "
        r"(?:days|weeks|months|years)\b"
        r"|\bas of (?:today|now|this moment)\b|\btoday['’]s (?:date|news|price|weather)\b",
        re.IGNORECASE,
    ),
    "needs a hosted model": re.compile(
        r"\b(?:uses?|calls?|invokes?|via|query|querying)\b[^.\n]{0,40}?`?\b(?:gpt-[\w.-]+|claude-[\w.-]+|gemini-[\w.-]+)`?",
        re.IGNORECASE,
    ),
}
_FACTS_OF_A_DATE = ("needs results of the live web", "asks for what is recent when it is run")
_SERVICES = ("needs results of the live web", "needs a hosted model")
_NOW = re.compile(
    r"\b(?:through|until|as of|up to|before) (?:the end of )?(?:(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\s+)?(?:20\d\d)\b|\bcurrent (?:date|time) is\b",
    re.IGNORECASE,
)
_MOCK = re.compile(r"\b(?:mock|stub|monkeypatch|fake client)", re.IGNORECASE)


class LiveDependence(TaskDetector):
    """A task is solved, and graded, with something outside the benchmark that changes or disappears.

    Rules for a task whose tools the benchmark does not bring along: it names a public host to work on, needs searches
    of the live web, asks for what is recent without saying what the present is, or needs a hosted model for its work or
    a part of it. A text that fixes its time ("through September 2025") is not flagged for recency or for the web: its
    facts stay. Nor is a search or a hosted model that the task replaces by a mock.

    Rules for a task with tools and a fixed ground truth, so that its world is closed:

    * the user makes the outcome hang on what a page on the web says, and no tool opens pages. Left out are addresses
      that a gold call carries or that are in the state: they are values, not pages to open. An address is
      one without "https://" too.
    * the user leaves a decision or a choice to a site or a service without its address (a home page, the internet, the
      forecast, Wikipedia, "the oil price on Harbour Finance"), or asks for what it has at the moment. Left out are
      sites that the documentation of a tool names, sites that a gold call carries, the user's own site, and what the
      user has looked at.
    * the prompt takes the day from a clock (a blank or an expression of a template for today's date that was not filled
      in, code that asks for it, or words that refer to the clock of the computer) and states none, where the ground
      truth has a fixed day.

    A day that the user counts from today ("tomorrow") where nothing says what day it is: see ``ungrounded-argument``.

    Flagged: "Create the issue in https://github.com/acme/board"; "sources released within the last three years"; "Only
    if the page https://tides.example/now shows low water"; "Have a look at the
    ferry's home page and leave it be in case they are on strike"; "Today is ${TODAY}."
    Not flagged: "Use the `search` tool" where the benchmark defines that tool; "All facts as of March 2024"; "Post the
    link https://acme.example/news"; "I read on your website that it is free"; "Today is ${TODAY}" where no day is
    scored.

    Wrong where the benchmark's runner replays the pages, holds its own copy of the host, or fills in a fixed day.
    """

    id = "live-dependence"
    title = "the answer depends on the live world"
    version = "5"
    category = "environment-drift"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "The same work gets another score at another time or place, and results of different dates do not compare."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if task.environment.tools and not (any(task.gold_calls()) or task.ground_truth.outputs):
            return "the tools are the benchmark's own, and no ground truth is fixed"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield what the task takes from the live world, each kind once."""
        if task.environment.tools:
            for passage in (*live_pages(task), *clocks(task)):
                yield Hit(
                    claim=f"The task {passage.what}: “{passage.text[:160]}”",
                    evidence=(quote(task, passage.pointer, text=passage.text, note="what leads outside"),),
                    fix="State in the task what the page says, or what day it is.",
                    cause=f"{passage.what} {passage.text}" if passage.pointer.startswith("/environment/") else None,
                )
            return
        said, criteria = list(asked(task)), list(graded(task))
        words = [text for _, text in (*said, *criteria)]
        fixed = any(_NOW.search(text) for text in words)
        mocked = any(_MOCK.search(text) for text in words)
        for what, pattern in _RULES.items():
            if (fixed and what in _FACTS_OF_A_DATE) or (mocked and what in _SERVICES):
                continue
            for pointer, text, match in _first(pattern, [*said, *criteria]):
                yield Hit(
                    claim=f"The task {what} (“{match[0][:80]}”)",
                    evidence=(quote(task, pointer, text=sentence_around(text, *match.span()), note="what it needs"),),
                    fix="Bring a copy along, or state the time that the answer holds for.",
                )


def _first(pattern: re.Pattern[str], passages: list[tuple[str, str]]) -> Iterator[tuple[str, str, re.Match[str]]]:
    for pointer, text in passages:
        if match := pattern.search(text):
            yield pointer, text, match
            return
