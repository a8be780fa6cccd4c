"""Parts of a task's texts: what is asked, what is graded, comments of the authors, and blocks that hold an answer."""

import re
from collections.abc import Iterator

from agenthard.taxonomy.task import AgentTask

Passage = tuple[str, str]
"""JSON Pointer of a text, and the part of it that is meant."""

_HEADING = re.compile(
    r"^[ \t]*(?:#+[ \t]*|\*\*)?(?:Rubrics?|Acceptance criteria|Grading(?: criteria)?|Evaluation criteria)"
    r"[ \t]*(?:\([^()\n]*\))?:?(?:\*\*)?:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


def asked(task: AgentTask) -> Iterator[Passage]:
    """Yield what the user asks, without the criteria that may follow it in the same text."""
    for pointer, text in task.user_texts():
        heading = _HEADING.search(text)
        before = text[: heading.start()] if heading else text
        if before.strip():
            yield pointer, before


def graded(task: AgentTask) -> Iterator[Passage]:
    """Yield the criteria that say more than what is asked.

    These are the texts of rubrics and judges, except those that only repeat the user's words; where no check states
    any, the criteria in the user's text.
    """
    said = [text for _, text in asked(task)]
    stated = [
        (f"/evaluation/checks/{i}/expected", check.expected)
        for i, check in enumerate(task.evaluation.checks)
        if check.kind in ("rubric", "judge") and isinstance(check.expected, str) and check.expected.strip()
    ]
    own = [passage for passage in stated if not any(passage[1] in text for text in said)]
    yield from own if stated else shown_criteria(task)


def shown_criteria(task: AgentTask) -> Iterator[Passage]:
    """Yield the criteria in the user's text, where the agent reads them."""
    for pointer, text in task.user_texts():
        heading = _HEADING.search(text)
        if heading and text[heading.end() :].strip():
            yield pointer, text[heading.end() :]


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the line around a span for a quote, with at most 150 characters and whole words on either side."""
    newline = text.find("\n", end)
    first, last = text.rfind("\n", 0, start) + 1, len(text) if newline < 0 else newline
    if start - first > 150:
        first = text.find(" ", start - 150, start) + 1 or start
    if last - end > 150:
        last = max(end, text.rfind(" ", end, end + 150))
    return text[first:last].strip()


_FIGURE = (
    r"(?:how (?:much|many|long)|when\b|total\b|sum\b|amounts?\b|balances?\b|prices?\b|costs?\b"
    r"|tracking numbers?\b|(?:delivery|arrival|departure) (?:dates?|times?)\b)"
)
_ASKS = (
    r"(?:wants? to (?:also |first )?(?:know|find out|figure out)|like to know|wonder|figure out|find out|let you know"
    r"|tell you|inform you of|inquire about|know(?= how (?:much|many))|ask (?:for|about|what|how))"
)
_WANTS_TO_BE_TOLD = re.compile(rf"\b{_ASKS}\b[^.!?\n]{{0,60}}?\b{_FIGURE}", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\S))+[.!?]*")


def asked_figures(text: str) -> list[str]:
    """List the sentences in which the user wants to be told a figure: an amount, a number, a time.

    >>> asked_figures("You want to cancel. Also, you want to know how much you will get back. Be brief.")
    ['Also, you want to know how much you will get back.']
    >>> asked_figures("You wonder if you can change it. Ask for a 50% refund.")
    []
    """
    sentences = (sentence[0].strip() for sentence in _SENTENCE.finditer(text))
    return [sentence for sentence in sentences if _WANTS_TO_BE_TOLD.search(sentence)]


def sentence_at(text: str, position: int) -> str:
    """Return the sentence of ``text`` that ``position`` is in.

    >>> sentence_at("Be brief. It costs $1.50 at most. Thanks.", 12)
    'It costs $1.50 at most.'
    """
    return next((s[0].strip() for s in _SENTENCE.finditer(text) if s.start() <= position < s.end()), text[position:])


_LONGEST = 400
_MAKER = (
    r"(?:annotators?|annotation|labell?ers?|raters?|graders?|grading|checker|evaluators?|evaluation|eval|qa|benchmark"
    r"|task (?:authors?|writers?|creators?|designers?))"
)
_NOTE = r"(?:notes?|comments?|remarks?|memo|hint|info|only)"
_OF_A_MAKER = (
    rf"\W*(?:{_MAKER}(?:['’]s?)?(?: #?\d+)?(?: {_NOTE})?"
    rf"|(?:authors?|reviewers?|editors?|curators?|dev(?:eloper)?s?|tester|test|internal)(?:['’]s?)? {_NOTE}"
    rf"|(?:{_NOTE} )?(?:to|for) (?:self|(?:the )?{_MAKER})|(?:author|reviewer)s? #?\d+"
    r"|(?:gt|ground[ _-]?truth|gold(?:en)?|solution|answer|correct|oracle|expected)(?:[ _]\w+)?)\s*(?:[:=–—-]|→)"
    r"|\W*(?:todo|fixme|xxx|notes?|n\.?b\.?)\b(?=[^\n]*\b(?:expected|expects?|gold|ground[ _-]?truth|gt|annotat\w+"
    r"|graders?|checker|evaluators?|release|benchmark|correct (?:answer|call|value))\b)"
)
_TO_COLLEAGUES = (
    r"\b(?:remove|delete|strip|drop|take out)(?: (?:this|me|it))? before (?:the )?(?:releas|publi|ship|eval|upload)"
    r"|\b(?:do not|don['’]?t|never|not to be) (?:show|reveal|leak|pass|shown|revealed|leaked|passed)(?: this| it| on)?"
    r" to (?:the )?(?:model|solver|candidate)\b"
    r"|\bonly \S[^\n]{0,80}? (?:passes|scores)\b"
)
_MARKUP = r"<!--.{0,2000}?-->|\{#.{0,2000}?#\}|\{\{!--.{0,2000}?--\}\}|(?<![\w/*])/\*.{0,2000}?\*/"
_ASIDE = (
    rf"\([^()\n]{{3,{_LONGEST}}}\)|\{{\{{[^{{}}\n]{{3,{_LONGEST}}}\}}\}}|\b(?:TODO|FIXME|XXX)\b[^\n]{{3,{_LONGEST}}}|\[[^\[\]\n]{{3,{_LONGEST}}}\](?!\()"
    rf"|(?:^|(?<=\n))[ \t]*(?:\#+|//+|--+|;+|%+)[^\n]{{3,{_LONGEST}}}"
    rf"|(?<=[ \t])(?:\#+|//+|--+|;;+)[ \t][^\n]{{3,{_LONGEST}}}"
)
_COMMENT = re.compile(rf"(?P<markup>{_MARKUP})|{_ASIDE}", re.DOTALL)
_MEANT = re.compile(_OF_A_MAKER, re.IGNORECASE)
_SAYS = re.compile(_TO_COLLEAGUES, re.IGNORECASE)


def author_comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of the comments of a text.

    A comment is markup that a reader does not see (``<!-- -->``, ``{# #}``, ``/* */``); or an aside in brackets, or
    what follows a comment sign on its line, that begins with the label of a benchmark author
    ("annotator:", "QA note:", "GT:", "answer:", "TODO" with a word of grading), or that speaks to colleagues ("remove
    before release", "only B-18 passes"). Only English is understood.

    Args:
        text: a request, an instruction, a policy or a description.

    >>> [slice(*span) for span in author_comments("Lend it. (QA note: only B-18 passes)")]
    [slice(9, 36, None)]
    >>> list(author_comments("Lend it (author: Austen), note: by Monday. # Shelf 5"))
    []
    """
    for found in _COMMENT.finditer(text):
        if found["markup"] or _MEANT.match(found[0]) or _SAYS.search(found[0]):
            yield found.span()


_WANTED = r"(?:expected|correct|right|reference|accepted|intended|hidden|gold(?:en)?|model|target|true|required|sample)"
_ANSWER = (
    rf"(?:(?:(?:the|its) )?{_WANTED}[ _-]?(?:answers?|(?:tool|function)?[ _-]?calls?|arguments?|solutions?|actions?"
    r"|repl(?:y|ies)|responses?|outputs?|texts?|strings?|phrases?|values?|results?|key)"
    r"|ground[ _-]?truths?|gold(?:en)?|solutions?|answers?|answer[ _-]?key|oracle|rubrics?|assertions?"
    r"|grading(?:[ _-](?:criteria|notes?|rubric))?|(?:acceptance|evaluation|success|scoring)[ _-]criteria"
    r"|must[ _-]?(?:contain|include|mention|say|match)s?|gt)"
)
_OF_THIS = r"(?: (?:for|to|of) (?:this|the) (?:\w+ )?(?:task|request|question|problem|case|example|item))?"
_ELEMENT = re.compile(
    rf"<(?P<name>{_ANSWER}|reference|expected|label|target)(?:\s[^<>\n]{{0,80}})?>(?P<inside>.{{1,2000}}?)</(?P=name)>",
    re.IGNORECASE | re.DOTALL,
)
_ANSWER_HEADING = re.compile(
    rf"^[ \t]*(?P<marks>\#{{1,6}}[ \t]*)?(?:[^\w\n]|_){{0,4}}{_ANSWER}{_OF_THIS}(?: \([^()\n]{{0,40}}\))?"
    r"(?:[^\w\n]|_){0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_GAP = re.compile(r"\n[ \t]*(?=\n)")
_BELOW = re.compile(r"(?:\n[ \t]*(?!\#)\S[^\n]{0,2000}){1,200}")


def answer_blocks(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the positions of the parts that call themselves the answer, the expected output or the grading.

    Such a part is an element whose tag says so (``<expected_output>``), or a heading, a key or a title on a line of its
    own ("## Rubric", "expected_calls:", "**Answer key**") with the lines below it up to the first empty one; a heading
    in Markdown may have an empty line of its own. Only English is understood.

    Args:
        text: a request, an instruction, a policy or a description.

    >>> [slice(*span) for span in answer_blocks("Lend it.\n<gold_answer>B-18</gold_answer>")]
    [slice(9, 40, None)]
    >>> list(answer_blocks("Answers:\n\nBe brief.")), list(answer_blocks("The answer: be brief."))
    ([], [])
    """
    end = 0
    for found in _ELEMENT.finditer(text):
        yield found.span()
        end = found.end()
    for heading in _ANSWER_HEADING.finditer(text, end):
        lead = text[heading.start() : heading.end()].rstrip()
        titled = heading["marks"] or lead.endswith((":", "*", "_"))
        gap = _GAP.match(text, heading.end()) if heading["marks"] else None
        below = _BELOW.match(text, gap.end() if gap else heading.end())
        if titled and below and heading.start() >= end:
            end = below.end()
            yield heading.start(), end
