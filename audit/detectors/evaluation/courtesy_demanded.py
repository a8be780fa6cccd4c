"""Words of courtesy that a reply has to contain."""

import re
from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.text import is_courtesy
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_ASKING = (
    r"(?:[\"“‘«]|\b(?:say|saying|says|reply|answer|respond|end|begin|start|close|finish|greet|add|include|write|tell|phrase"
    r"|words?|contain|thank|apologi[sz]e)\b)"
)


class CourtesyDemanded(TaskDetector):
    """What a reply has to contain is a fact, not a phrase of courtesy that nothing dictates.

    Rule: a scored check looks for a text as a substring, and that text, or each of its alternatives, consists of words
    of courtesy and joining words alone: a greeting, thanks, an apology, an offer of help, a wish, a farewell. It is
    in no policy, documentation or state, and no text of the task asks for it: there it is neither behind a
    quotation mark nor behind a word such as "say" or "end with". That the user is polite himself asks for nothing.

    Flagged: "You're welcome", "Happy to help!", "Sorry for the inconvenience" as the text that a reply has to contain.
    Not flagged: "Thank you" where the policy says: end with "Thank you"; "Happy Harbour Inn", which names something;
    "no", "done".

    Wrong where a tool returns the phrase at run time and the user wants to be told it.
    """

    id = "courtesy-demanded"
    title = "a reply has to contain a phrase of courtesy"
    version = "1"
    experimental = True
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A right reply that is polite in other words, or brief, fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        texts = any(check.scored and check.kind == "output_substring" for check in task.evaluation.checks)
        return None if texts else "no scored check looks for a text as a substring"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the phrases of courtesy that nothing dictates."""
        for i, check in enumerate(task.evaluation.checks):
            if not check.scored or check.kind != "output_substring":
                continue
            wanted = check.expected if isinstance(check.expected, list) else [check.expected]
            phrases = [text for text in wanted if isinstance(text, str) and is_courtesy(text)]
            if phrases and phrases == wanted and not any(_dictated(task, text) for text in phrases):
                said = " or ".join(map(repr, phrases))[:160]
                yield Hit(
                    claim=f"A reply passes only with the phrase {said}, which nothing asks for",
                    evidence=(quote(task, check.pointer or f"/evaluation/checks/{i}/expected"),),
                    fix="Drop the check, or prescribe the phrase in the policy.",
                )


def _dictated(task: AgentTask, text: str) -> bool:
    known = knowledge_of(task)
    if known.documented(text) or known.in_state(text):
        return True
    asked = re.compile(rf"{_ASKING}[^.!?\n]{{0,60}}?{re.escape(text.strip(' .!'))}", re.IGNORECASE)
    return any(asked.search(said) for _, said in task.user_texts())
