"""Sentences in which the instruction of a simulated user wants to be told a figure, as opposed to wanting an act."""

import re

_FIGURE = (
    r"(?:how (?:much|many|long)|when\b|total\b|sum\b|amounts?\b|balances?\b|prices?\b|costs?\b|savings\b"
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
    """Return the sentence of ``text`` that ``position`` stands in.

    >>> sentence_at("Be brief. It costs $1.50 at most. Thanks.", 12)
    'It costs $1.50 at most.'
    """
    return next((s[0].strip() for s in _SENTENCE.finditer(text) if s.start() <= position < s.end()), text[position:])
