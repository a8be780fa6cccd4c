"""Whole sentences that a reply has to contain word by word."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.text import words
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_FEWEST_WORDS = 5
_FEWEST_SMALL = 2
_SMALL = frozenset(
    "a an the is are was were be been am do does did has have had will would can could may must should shall not no "
    "i you he she it we they me him her us them my your his its our their this that these those there here "
    "to of for from with without by at on in into as about after before until and or but if so because which who what "
    "please sorry thank".split()
)


class SentenceDemanded(TaskDetector):
    """What a reply has to contain word by word is a fact, or words that the task dictates.

    Rule: a scored check looks for a text of five words or more as a substring; it is a sentence, since two of its words
    or more are articles, pronouns, auxiliaries, prepositions or the like; and it is in no text of the task, no
    policy, no documentation, no gold call and no state, in any case, spacing or punctuation.

    Flagged: "Your order has been sent to the new address". Not flagged: "943 Maple Drive"; a sentence that the policy
    prescribes or the user wants to be told ("say 'Yes, I am sure of it'"); a title that is in the state.

    Wrong where a tool returns the sentence at run time.
    """

    id = "sentence-demanded"
    title = "a reply has to contain a whole sentence word by word"
    version = "1"
    experimental = True
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A reply that says the same in other words fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        texts = any(check.scored and check.kind == "output_substring" for check in task.evaluation.checks)
        return None if texts else "no scored check looks for a text as a substring"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the sentences that nothing dictates."""
        for i, check in enumerate(task.evaluation.checks):
            text = check.expected
            if not check.scored or check.kind != "output_substring" or not isinstance(text, str):
                continue
            if _is_sentence(text) and not _dictated(task, text):
                yield Hit(
                    claim=f"A reply passes only with the very words {text[:160]!r}, which nothing dictates",
                    evidence=(quote(task, check.pointer or f"/evaluation/checks/{i}/expected", text=text),),
                    fix="Require the fact in the sentence, or dictate the wording in the task.",
                )


def _is_sentence(text: str) -> bool:
    found = words(text)
    return len(found) >= _FEWEST_WORDS and sum(word in _SMALL for word in found) >= _FEWEST_SMALL


def _dictated(task: AgentTask, text: str) -> bool:
    carried = " ".join(str(call.arguments) for _, call in task.gold_calls()).casefold()
    return knowledge_of(task).holds(text) or text.casefold() in carried
