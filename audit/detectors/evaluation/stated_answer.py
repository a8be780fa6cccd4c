"""Check: a text says what the expected answer is."""

import re
from collections.abc import Iterable, Iterator

from audit.detectors.base import Hit, TaskDetector
from audit.detectors.evaluation.expected_values import Expected, choices, expected_values, stands_alone
from audit.detectors.ground_truth.identity_cache import IdentityCache
from audit.evidence import quote
from taxonomy.finding import Severity, Tier
from taxonomy.pointer import join
from taxonomy.task import AgentTask, EnvironmentSpec

_WANTED = "(?:expected|correct|right|reference|accepted|intended|hidden|gold(?:en)?|model)"
_THING = "(?:answers?|(?:tool |function )?calls?|arguments?|solutions?|actions?|repl(?:y|ies)|key)"
_OF_GRADING = (
    r"\b(?:graders?|grading|graded|checkers?|evaluators?|annotators?|ground[ _-]?truths?|answer[ _-]keys?)\b"
    rf"|\b{_WANTED} {_THING}\b|^\W*(?:solution|answer|expected|label|gold)\s*(?:[:=]|[\])])"
)
_OF_THIS_TASK = (
    r"|\b(?:for|in|of|to) this (?:task|request|question|problem|query|instance|test|sample|case)\b"
    r"|[(\[]\s*(?:expected|correct|right|wanted)\b"
)
_GRADING = re.compile(_OF_GRADING, re.IGNORECASE)
_GRADING_OR_TASK = re.compile(_OF_GRADING + _OF_THIS_TASK, re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g|such as|examples?)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[“\"])|\n+|(?<=[.!?])\s+(?=\()")

Sentence = tuple[str, str]
"""JSON Pointer of a text, and one sentence of it."""


class StatedAnswer(TaskDetector):
    """A sentence about grading, or about the answer to this very task, holds an expected value that nobody else says.

    Read are what the user says or is told, the policy, and the documentation of the tools that the ground truth calls.
    A simulated user is told what it wants; where it is told how the agent is graded, it can pass that on. Expected
    values are the arguments of the gold calls, the required texts and the accepted answers.

    Rule: one sentence holds the value as a word of its own and speaks of grading (graders, a checker, ground truth, an
    answer key), or of "the expected call", "the correct answer" and the like; in policy and documentation, which serve
    any task, also of "this task" or "this request". The value stands in no other sentence of the user, whose own words
    a call has to carry. A sentence that gives an example ("for example", "e.g.", "such as") says how things are
    written, and choices and defaults of a parameter are documentation; neither counts.

    Flagged: "(Expected call: {"name": "lend_book", "arguments": {"member": "Ada"}})" below a request that does not
    name Ada; a policy with "The correct book for this request is B-1877."
    Not flagged: "Lend book B-1877 to Ada"; "Ids look like B-1877, for example"; "the expected answer is a list".

    Wrong where the user really talks about a test or an answer that somebody else has to give.
    """

    id = "stated-answer"
    title = "a text says what the expected answer is"
    version = "1"
    category = "answer-leakage"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The agent can copy the value instead of working it out, so a pass does not show that it can do the task."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if next(expected_values(task), None) is None:
            return "no expected value that could be recognised in a text"
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per text that gives values away."""
        said = list(_said(task))
        telling = [item for item in said if _tells(item[1], _GRADING)]
        called = {call.name for _, call in task.gold_calls()}
        shown = [
            (pointer, sentence)
            for name, pointer, sentence in _documented(task.environment)
            if name is None or name in called
        ]
        if not telling and not shown:
            return
        values = list(expected_values(task))
        own = "\n".join(text for _, text in said if not _tells(text, _GRADING))
        documented = frozenset[str]().union(*(choices(task.tool(name)) for name in called))
        seen: set[str] = set()
        for pointer, sentence in [*telling, *shown]:
            if pointer in seen:
                continue
            given = (item for item in values if stands_alone(item[1], sentence) and not stands_alone(item[1], own))
            unsaid = next((item for item in given if item[1].casefold() not in documented), None)
            if unsaid is not None:
                seen.add(pointer)
                yield _hit(task, pointer, sentence, unsaid)


def _hit(task: AgentTask, pointer: str, sentence: str, value: Expected) -> Hit:
    return Hit(
        claim=f"A sentence about grading or this task gives the expected value {value[1]!r} away",
        evidence=(quote(task, pointer, text=sentence, note="read"), quote(task, value[0], note="expected")),
        fix="Take the sentence out of what the agent sees.",
    )


def _tells(sentence: str, cue: re.Pattern[str]) -> bool:
    return cue.search(sentence) is not None and _EXAMPLE.search(sentence) is None


def _sentences(pointer: str, text: str) -> Iterator[Sentence]:
    for sentence in _SENTENCE_END.split(text):
        if sentence and sentence.strip():
            yield pointer, sentence.strip()


def _said(task: AgentTask) -> Iterator[Sentence]:
    for pointer, text in task.user_texts():
        yield from _sentences(pointer, text)


def _telling_documentation(environment: EnvironmentSpec) -> tuple[tuple[str | None, str, str], ...]:
    """List tool (None for the policy), pointer and text of the telling sentences of an environment."""
    texts: list[tuple[str | None, str, str]] = [(None, "/environment/policy", environment.policy)]
    for i, tool in enumerate(environment.tools):
        texts.append((tool.name, f"/environment/tools/{i}/description", tool.description))
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if isinstance(schema, dict) and isinstance(schema.get("description"), str):
                at = join(f"/environment/tools/{i}/parameters/properties", name)
                texts.append((tool.name, f"{at}/description", schema["description"]))
    return tuple(
        (tool_name, at, sentence)
        for tool_name, at, text in texts
        if _GRADING_OR_TASK.search(text)
        for _, sentence in _sentences(at, text)
        if _tells(sentence, _GRADING_OR_TASK)
    )


_documented = IdentityCache(_telling_documentation)
