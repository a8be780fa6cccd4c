"""Gold calls that stand, written out, in what the agent reads."""

import json
from collections.abc import Iterable

from audit.detectors.base import Hit, TaskDetector
from audit.detectors.evaluation.criteria import sentence_around
from audit.detectors.ground_truth.wording import squash
from audit.evidence import quote
from taxonomy.accepted import concrete_values
from taxonomy.finding import Severity, Tier
from taxonomy.task import AgentTask, ToolCall


class GoldInText(TaskDetector):
    """A scored call stands complete, with its name and all its arguments, in a text that the agent gets.

    Rule: in one message of the scripted conversation, the name of the gold call is followed by all its arguments with
    their gold values in the same order; case, spaces and punctuation do not matter. Only calls with arguments count.
    Values that the call merely shares with the user's words do not: the name and the parameters have to be there too.
    A policy that all tasks share is not looked at, because its example calls are documentation; nor is what only the
    simulator of a user reads.

    Flagged: a turn "lend_book(book_id=7, member='Ada')" with this very call as the gold; a history in which the agent
    has already made this call, and whose user then wants something changed, with the unchanged call as the gold.
    Not flagged: "Lend book 7 to Ada"; an earlier call in the history that differs from the gold in one value.

    Wrong where reading the call off the text is the task, as in "run this line for me".
    """

    id = "gold-in-text"
    title = "the gold call is written out in the prompt"
    version = "1"
    category = "answer-leakage"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "Copying the text scores, so the task does not measure choosing and filling a call."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(call.arguments for _, call in task.gold_calls()) else "no gold call with arguments"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the gold calls that the agent can copy."""
        texts = [item for item in task.user_texts() if item[0].startswith("/user/turns")]
        seen: set[str] = set()
        for pointer, call in task.gold_calls():
            for at, text in texts:
                start = text.find(call.name)
                if start < 0 or call.name in seen or not call.arguments or not _stands_in(call, text[start:]):
                    continue
                seen.add(call.name)
                yield Hit(
                    claim=f"The gold call of {call.name} stands with all its arguments in what the agent reads",
                    evidence=(
                        quote(task, at, text=sentence_around(text, start, start + len(call.name)), note="read"),
                        quote(task, pointer, note="the gold call"),
                    ),
                    fix="Say what is wanted instead of the call.",
                )


def _stands_in(call: ToolCall, text: str) -> bool:
    """Tell whether the call is written out in a text."""
    values = concrete_values(call.arguments, limit=1)
    if not values:
        return False
    written = call.name + "".join(f"{key}{json.dumps(value, ensure_ascii=False)}" for key, value in values[0].items())
    return squash(written) in squash(text)
