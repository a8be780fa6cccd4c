"""Check: a text says what the expected answer is."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Expected, choices, expected_values, stands_alone
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.task_texts import answer_blocks, author_comments
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_WANTED = "(?:expected|correct|right|reference|accepted|intended|hidden|gold(?:en)?|model)"
_THING = "(?:answers?|(?:tool |function )?calls?|arguments?|solutions?|actions?|repl(?:y|ies)|key)"
_OF_GRADING = (
    r"\b(?:graders?|grading|graded|checkers?|evaluators?|annotators?|ground[ _-]?truths?|answer[ _-]keys?)\b"
    rf"|(?<![^\W_]){_WANTED}[ _-]{_THING}\b"
    r"|^\W*(?:(?:solution|answer|expected|gold|oracle|correct|reference)(?:[ _]\w+)?|label|gt)\s*(?:[:=\])>→]|->)"
    r"|(?<!\w)@(?:solution|answer|expected|gold|oracle|correct|gt)\w*"
)
_OF_THIS_TASK = (
    r"|\b(?:for|in|of|to) this (?:task|request|question|problem|query|instance|test|sample|case)\b"
    r"|[(\[]\s*(?:expected|correct|right|wanted)\b"
)
_OF_THE_REPLY = re.compile(
    r"\bassert\b[^\n]{0,120}?\b(?:in|contains?|includes?)\b"
    r"|\b(?:(?:final|last|closing) (?:message|reply|response|answer|output|turn)"
    r"|(?:agent|assistant|model)['’]s \w+|reply|response|answer)\b[^.!?\n]{0,40}?"
    r"\b(?:(?:contain|include|mention|quote|name|say|state|match)s?|has to|must)\b"
    r"|\bmust[ _-](?:contain|include|mention|match)\b",
    re.IGNORECASE,
)
"""How a checker refers to a reply. Users refer to letters like this too, so it counts for required texts only."""
_GRADING = re.compile(_OF_GRADING, re.IGNORECASE)
_GRADING_OR_TASK = re.compile(_OF_GRADING + _OF_THIS_TASK, re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g|such as|examples?)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[\w#-]{3,40}")
_TEXTS = ("/ground_truth/outputs", "/ground_truth/answers")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[“\"])|\n+|(?<=[.!?])\s+(?=\()")

Sentence = tuple[str, str, bool]
"""JSON Pointer of a text, one sentence of it, and whether that mentions grading or the answer."""


class StatedAnswer(TaskDetector):
    """A sentence about grading, or about the answer to this very task, holds an expected value that no other text says.

    Read are what the user says or is told, the policy, and the documentation of the tools that the ground truth calls.
    A simulated user is told what it wants; where it is told how the agent is graded, it can pass that on. Expected
    values are the arguments of the gold calls, the required texts and the accepted answers.

    Rule: one sentence holds the value as a word of its own and speaks of grading (graders, a checker, ground truth, an
    answer key), or of "the expected call", "the correct answer" and the like; in policy and documentation, which serve
    any task, also of "this task" or "this request"; of a required text also where it says what the reply contains
    ("make sure that your reply mentions ..."). Or it is below a heading or in an element that is named so ("##
    Rubric", ``expected_calls:``, ``<answer>``). Or it is a comment that an author left there: markup that
    is not shown (``<!-- -->``, ``/* */``), an aside or a commented line with an author's label ("annotator:", "QA
    note:", "GT:"), or one for colleagues ("remove before release", "only B-18 passes"). The value is in no other
    sentence of the user, whose own words a call has to carry. A sentence that gives an example ("for example", "e.g.",
    "such as") says how things are written, and choices and defaults of a parameter are documentation; neither counts,
    unless the only default or example in a parameter's schema is the identifier, with letters and digits, of a record
    of this task's own state, and the user does not say it.

    Flagged: "(Expected call: {"name": "lend_book", "arguments": {"member": "Ada"}})" below a request that does not
    name Ada; a policy with "The correct book for this request is B-1877."; "Lend me the latest one. <!-- B-1877 -->".
    Not flagged: "Lend book B-1877 to Ada"; "Ids look like B-1877, for example"; "the expected answer is a list"; "Find
    it (author: Austen)", since books have authors as well.

    Wrong where the user really talks about a test or an answer that another person has to give.
    """

    id = "stated-answer"
    title = "a text says what the expected answer is"
    version = "3"
    experimental = True
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
        values = list(expected_values(task))
        telling = [(at, sentence) for at, sentence, tells in said if tells]
        required = [item[1] for item in values if item[0].startswith(_TEXTS)]
        telling += [
            (at, sentence)
            for at, sentence, tells in said
            if not tells and any(stands_alone(text, sentence) for text in required) and _OF_THE_REPLY.search(sentence)
        ]
        called = {call.name for _, call in task.gold_calls()}
        shown = [
            (pointer, sentence)
            for name, pointer, sentence in _documented(task.environment)
            if name is None or name in called
        ]
        yield from _in_schemas(task)
        if not telling and not shown:
            return
        own = "\n".join(sentence for at, sentence, _ in said if (at, sentence) not in telling)
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
        claim=f"A sentence about grading or this task, or a comment, gives the expected value {value[1]!r} away",
        evidence=(quote(task, pointer, text=sentence, note="read"), quote(task, value[0], note="expected")),
        fix="Take the sentence out of what the agent sees.",
    )


def _sentences(pointer: str, text: str, cue: re.Pattern[str]) -> Iterator[Sentence]:
    """Yield the author's comments in a text, then the sentences of the rest, and whether each tells of an answer."""
    rest, end = [], 0
    for start, stop in _apart(text):
        yield pointer, text[start:stop].strip(), _EXAMPLE.search(text[start:stop]) is None
        rest.append(text[end:start])
        end = stop
    for part in (*rest, text[end:]):
        for sentence in filter(None, map(str.strip, filter(None, _SENTENCE_END.split(part)))):
            yield pointer, sentence, cue.search(sentence) is not None and _EXAMPLE.search(sentence) is None


def _apart(text: str) -> list[tuple[int, int]]:
    """List the comments and the answer blocks of a text, in order and without overlap."""
    spans: list[tuple[int, int]] = []
    for start, stop in sorted((*author_comments(text), *answer_blocks(text))):
        if not spans or start >= spans[-1][1]:
            spans.append((start, stop))
    return spans


def telling_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that mention grading or the expected answer, and its author's comments."""
    yield from (sentence for _, sentence, tells in _sentences("", text, _GRADING) if tells)


def _said(task: AgentTask) -> Iterator[Sentence]:
    for pointer, text in task.user_texts():
        yield from _sentences(pointer, text, _GRADING)


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
        for _, sentence, tells in _sentences(at, text, _GRADING_OR_TASK)
        if tells
    )


_documented = IdentityCache(_telling_documentation)


def _shown_in_schemas(environment: EnvironmentSpec) -> tuple[tuple[str, str, str, str], ...]:
    """List tool, parameter, pointer and text of the single identifiers that schemas give as default or example."""
    found = []
    for i, tool in enumerate(environment.tools):
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            for key in ("default", "example", "examples") if isinstance(schema, dict) else ():
                shown = schema.get(key)
                value = shown[0] if isinstance(shown, list) and len(shown) == 1 else shown
                if isinstance(value, str) and _IDENTIFIER.fullmatch(value):
                    at = join(f"/environment/tools/{i}/parameters/properties", name, key)
                    found.append((tool.name, name, at, value))
    return tuple(found)


_schemas = IdentityCache(_shown_in_schemas)


def _in_schemas(task: AgentTask) -> Iterator[Hit]:
    if not task.initial_state or not (shown := _schemas(task.environment)):
        return
    said = "\n".join(text for _, text in task.user_texts())
    stored: frozenset[str] | None = None
    for pointer, call in task.gold_calls():
        for tool, parameter, at, value in shown:
            if tool != call.name or call.arguments.get(parameter) != value or stands_alone(value, said):
                continue
            stored = frozenset(text for text in scalars_in(task.initial_state)) if stored is None else stored
            if value in stored:
                where = f"{pointer}/arguments/{parameter}"
                yield Hit(
                    claim=f"The schema of {call.name} gives the expected value {value!r} of {parameter} away",
                    evidence=(quote(task, at, note="read"), quote(task, where, note="expected")),
                    fix="Show a value that no task expects.",
                )
