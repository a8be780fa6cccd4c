"""Words of a text: loose comparison, quantities, and what remains without courtesy."""

import re
import unicodedata
from functools import lru_cache

_NOT_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=256)  # checks ask for the same texts of a task
def squash(text: str) -> str:
    """Reduce a text to its letters and digits: no case, accents, spaces or punctuation, in any script.

    >>> squash("San Francisco, CA"), squash("Café_no. 7"), squash("임진왜란 1592")
    ('sanfranciscoca', 'cafeno7', '임진왜란1592')
    """
    if not text.isascii():
        bare = "".join(ch for ch in unicodedata.normalize("NFKD", text) if not unicodedata.combining(ch))
        text = unicodedata.normalize("NFC", bare)
    return _NOT_WORD.sub("", text.casefold())


def words(text: str) -> list[str]:
    """Split a text into lower-case words without punctuation.

    >>> words("It's at 10:30, Bob!")
    ['it', 's', 'at', '10', '30', 'bob']
    """
    return [word for word in _NOT_WORD.split(text.casefold()) if word]


_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion "
    "first second third fourth fifth sixth seventh eighth ninth tenth once twice thrice single double triple pair "
    "couple dozen half quarter full maximum minimum max min all every least most lowest highest"
)
_SPANS = "minute hour day night week fortnight month year decade century weekend today tomorrow yesterday"
_QUANTITIES = frozenset(f"{_NUMERALS} {_SPANS} {' '.join(word + 's' for word in _SPANS.split())}".split())


def names_quantity(text: str) -> bool:
    """Tell whether a text holds a digit, a numeral or a word for a span or an extreme. Only English is understood.

    A text with letters of another script counts as naming one, because nothing can be said about it.

    >>> names_quantity("for a week"), names_quantity("at full volume"), names_quantity("play the song")
    (True, True, False)
    """
    return any(ch.isdigit() for ch in text) or not text.isascii() or not _QUANTITIES.isdisjoint(words(text))


EMPTY_WORDS = frozenset(
    (
        # greetings, farewells and thanks
        "hi hello hey greetings dear good morning afternoon evening day there welcome bye goodbye cheers regards "
        "sincerely best wishes thanks thank thx many lot much please pls kindly sorry excuse advance "
        # phrases of courtesy
        "hope hoping doing well fine great nice appreciate appreciated grateful help assist assistance support favor "
        "favour kind look looking forward hear hearing soon reply response answer wonder wondering possible something "
        # articles, pronouns, auxiliaries and what else only joins words
        "a an the i me my mine we us our you your he she it its this that these those am is are be been was were will "
        "would shall should can could may might must do does did have has had s m re ve ll d so very really just also "
        "too then if and"
    ).split()
)
"""Words that carry nothing: greetings, thanks and courtesy, articles, pronouns, auxiliaries."""
_COURTEOUS_ALONE = frozenset(
    "hi hello hey greetings welcome goodbye bye cheers regards sincerely thanks please kindly sorry apologies "
    "certainly absolutely congratulations".split()
)
_COURTEOUS = _COURTEOUS_ALONE.union(
    "wishes thank thankful grateful apology apologize apologise appreciate appreciated pleasure pleased happy glad "
    "delighted honoured lovely wonderful pleasant nice great patience understanding inconvenience worries "
    "problem hesitate assistance assist help helped helpful serve served enjoy frustration "
    "trouble loyal".split()
)
_OF_A_REPLY = frozenset(
    "with for of in to at from on by always most more any anything else further other question questions need needs "
    "know let feel free ask reach out contact contacting choosing calling waiting us here no not don today tonight "
    "week weekend rest stay safe take ahead have having it be being able get back again soon course certainly "
    "absolutely ever next see customer sir madam dear friend truly yours faithfully respectfully caused trip care "
    "reaching warm value business delay confusion time feedback cooperation support concern opportunity "
    "giving loyalty understand how flight journey travels".split()
)
_PHRASE = re.compile(
    r"\b(?:good (?:morning|afternoon|evening|day|night)|of course|we value|anything else|take care|how (?:may|can) i"
    r"|safe (?:flight|trip|journey|travels))\b"
)
_FORMULA = frozenset(
    (
        "that will be all now for with of in to at about from everything today this or sir sirs madam team folks "
        "everyone everybody bother bothering trouble time attention patience quick question request"
    ).split()
)
_SENTENCE_END = re.compile(r"(?<=[.!?;:,])\s+|\n+")
_NEGATED = re.compile(r"n['’]t\b")
_WORD = re.compile(r"\w+(?:[.,:/@-]\w+)*")


def content_words(text: str) -> str:
    """Return the words of a text that say what is wanted, in order; only English is understood.

    Case, punctuation and the way a sign is typed do not count. A clause, a beginning or an end that consists of
    courtesy and joining words alone is left out whole ("That will be all for now"); elsewhere prepositions, negations
    and quantities stay. A text that says nothing else is returned as it is, so that two greetings do not become one
    request.

    >>> content_words("Hello there, could you please book B-18 for Ada? Thanks!")
    'book b-18 for ada'
    >>> content_words("I don\u2019t want the 2nd one")
    'not want 2nd one'
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    for typed, sign in (("\u2019", "'"), ("\u2010", "-"), ("\u2011", "-")):
        plain = plain.replace(typed, sign)
    kept: list[str] = []
    for clause in _SENTENCE_END.split(_NEGATED.sub(" not", plain)):
        words = _WORD.findall(clause)
        if not all(map(_joins, words)):
            kept += words
    while kept and _joins(kept[-1]):
        kept.pop()
    start = next((i for i, word in enumerate(kept) if not _joins(word)), 0)
    return " ".join(word for word in kept[start:] if word not in EMPTY_WORDS) or " ".join(text.split())


def is_courtesy(text: str) -> bool:
    """Tell whether a text is a phrase of courtesy of the serving side and nothing else; only English is understood.

    >>> is_courtesy("My pleasure!"), is_courtesy("Is there anything else I can help you with?")
    (True, True)
    >>> is_courtesy("In the morning"), is_courtesy("Patient"), is_courtesy("Thank you, B-18 is yours")
    (False, False, False)
    """
    plain = _NEGATED.sub(" not", text.casefold().replace("\u2019", "'"))
    said = re.findall(r"[^\W_]+", plain)
    if len(said) == 1:
        return said[0] in _COURTEOUS_ALONE
    known = all(_joins(word) or word in _COURTEOUS or word in _OF_A_REPLY for word in said)
    return known and (not _COURTEOUS.isdisjoint(said) or _PHRASE.search(plain) is not None)


def _joins(word: str) -> bool:
    return word in EMPTY_WORDS or word in _FORMULA
