"""What the text of a parameter says about its values: examples, and words that it tells the caller to give."""

import re

_QUOTED = r"(?:'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|‘[^’\n]{1,80}’|«[^»\n]{1,80}»|`[^`\n]{1,80}`)"
_EXAMPLES = re.compile(
    r"\b(?:such as|e\.g\.|eg\.|ex\.|for example|for instance|(?:examples?|sample)(?: values?)?(?: is| are| include)?"
    r"(?=:| ['\"“‘`«]))[:,]?\s*"
    rf"({_QUOTED}(?:(?:,|,? or|,? and| \||/|;)\s*{_QUOTED})*)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"\bexamples?(?: values?)?:[ \t]*\n(?P<items>(?:[ \t]*[-*+•][ \t]*{_QUOTED}[ \t.,;]*(?:\n|\Z))+)", re.IGNORECASE
)
_TOLD = re.compile(
    r"\b(?:use|select|choose|enter|give|pass|provide|specify|set (?:it )?to|or|and)\s+"
    r"(?:['\"`](?P<quoted>[\w -]{1,30})['\"`]|(?P<bare>dontcare))\s+"
    r"(?:to|if|for|when|denotes|indicates|means)\b",
    re.IGNORECASE,
)
_INNER = re.compile(_QUOTED)

_NULL = frozenset(("", "none", "null", "nil", "undefined"))
_NO_VALUE = frozenset("n/a na any all dontcare auto default unspecified optional unknown unlimited".split()) | _NULL
_NO_VALUE_PHRASE = re.compile(
    r"not (?:specified|provided|applicable|set)|no (?:preference|limit|filter)|(?:all|any) .*", re.DOTALL
)


def examples(text: str) -> list[tuple[str, str]]:
    """List quoted example values with the passage that calls them examples.

    Only values in quotation marks right after "such as", "e.g." or "for example", or listed line by line under
    "Examples:", count; nothing else is unmistakable.

    >>> examples("The interval, e.g. 'daily' or 'monthly'.")
    [('daily', "e.g. 'daily' or 'monthly'"), ('monthly', "e.g. 'daily' or 'monthly'")]
    """
    found = []
    for pattern in (_EXAMPLES, _LISTED):
        for match in pattern.finditer(text):
            found += [(quoted[1:-1], match[0]) for quoted in _INNER.findall(match[1])]
    return found


def told_values(text: str) -> list[tuple[str, str]]:
    """List words that the text tells the caller to give in some case, with the passage that does.

    >>> told_values("Minimum rating. Use 'dontcare' to include all.")
    [('dontcare', "Use 'dontcare' to")]
    """
    return [(match["quoted"] or match["bare"], match[0]) for match in _TOLD.finditer(text)]


def means_no_value(value: object) -> bool:
    """Tell whether a default or an example stands for "nothing given" rather than for a value.

    Benchmarks write null, an empty text, "None", "N/A", "dontcare", "all" or "any ..." for what happens when the
    argument is left out, and a list of such; none of these is meant to be passed as it stands.
    """
    if value is None or (isinstance(value, list) and all(means_no_value(item) for item in value)):
        return True
    word = str(value).strip().lower().replace("don't care", "dontcare").replace("_", " ")
    return word in _NO_VALUE or not word or _NO_VALUE_PHRASE.fullmatch(word) is not None


def is_null(value: object) -> bool:
    """Tell whether a value is null, or a text that is written where null is meant; a list of such is one as well.

    Unlike "all" or "auto", such a text cannot be taken for a value that has to be passed.
    """
    if isinstance(value, list):
        return all(is_null(item) for item in value)
    return value is None or str(value).strip().lower() in _NULL


def is_spelled(value: object, types: frozenset[str]) -> bool:
    """Tell whether a text spells a number or a truth value of the documented type: "3" for 3, "false" for false."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return (
        ("boolean" in types and text.lower() in ("true", "false"))
        or ("integer" in types and re.fullmatch(r"[+-]?\d+", text) is not None)
        or ("number" in types and re.fullmatch(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?", text, re.IGNORECASE) is not None)
    )
