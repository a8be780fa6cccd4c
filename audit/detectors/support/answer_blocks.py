"""Parts of a text that hold an answer by their form: an element between tags, and what follows a heading."""

import re
from collections.abc import Iterator

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
_HEADING = re.compile(
    rf"^[ \t]*(?P<marks>\#{{1,6}}[ \t]*)?(?:[^\w\n]|_){{0,4}}{_ANSWER}{_OF_THIS}(?: \([^()\n]{{0,40}}\))?"
    r"(?:[^\w\n]|_){0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_GAP = re.compile(r"\n[ \t]*(?=\n)")
_BELOW = re.compile(r"(?:\n[ \t]*(?!\#)\S[^\n]{0,2000}){1,200}")


def answer_blocks(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield where the parts stand that call themselves the answer, the expected output or the grading.

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
    for heading in _HEADING.finditer(text, end):
        lead = text[heading.start() : heading.end()].rstrip()
        titled = heading["marks"] or lead.endswith((":", "*", "_"))
        gap = _GAP.match(text, heading.end()) if heading["marks"] else None
        below = _BELOW.match(text, gap.end() if gap else heading.end())
        if titled and below and heading.start() >= end:
            end = below.end()
            yield heading.start(), end
