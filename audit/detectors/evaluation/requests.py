"""Sentences in which the user asks to be told something, as opposed to asking for an act."""

import re

_FIGURE = (
    r"(?:how (?:much|many|long)|when\b|total|sum\b|amounts?\b|balance|prices?\b|costs?\b|savings?\b|difference"
    r"|(?:tracking |phone |order )?numbers?\b|dates?\b)"
)
_TOLD = re.compile(
    r"\b(?:want(?:s)? to (?:\w+ ){0,3}?know|like to know|wonder|figure out|find out|tell you|let you know|inform you|"
    r"and know|ask (?:for|about|what|how|when)|inquire about|check (?:how|what|when))\b"
    rf"(?P<asked>[^.!?\n]{{0,60}}?\b{_FIGURE})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|$)", re.MULTILINE)
