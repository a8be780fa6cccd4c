"""Comments that whoever made a task left in a text: they are addressed to colleagues, not to the reader of the text."""

import re
from collections.abc import Iterator

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
    """Yield where the comments of a text stand.

    A comment is markup that a reader does not see (``<!-- -->``, ``{# #}``, ``/* */``); or an aside in brackets, or
    what stands behind a comment sign on its line, that begins with the label of somebody who makes benchmarks
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
