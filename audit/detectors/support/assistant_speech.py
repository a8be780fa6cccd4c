"""Sentences that only the assistant's side of a service conversation says.

Each cue is a phrase whose speaker must be the one who serves: it offers service, reports an act on "your" order, asks
for "your" user id, or speaks of "our policy". Phrases that customers use as well are left out on purpose ("could you
please help", "thank you for your patience", "I can look that up", "have a great day", "your flight was cancelled"),
so what is found is a lower bound on how often the roles are confused.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Cue:
    """A sentence of the assistant's side."""

    name: str
    """What the sentence does, as a clause that follows "the user"."""
    sentence: str
    """The sentence, exactly as it stands in the text."""


def assistant_speech(text: str) -> list[Cue]:
    """Find the sentences that only an assistant says, in their order, each with the first cue that it shows.

    Thoughts in <think> tags and quotations are not addressed to anyone and are passed over; so is what follows a verb
    of saying ("the website says your order has been cancelled").

    Args:
        text: one message of the user.

    >>> [cue.name for cue in assistant_speech("Sure! Could you provide your user ID?")]
    ["asks for the customer's data"]
    >>> assistant_speech("Sure, I can provide my user ID. Could you please help me?")
    []
    """
    spoken = _ASIDE.sub(lambda aside: " " * len(aside[0]), text)
    found = []
    for sentence in _SENTENCE.finditer(spoken):
        name = _cue(sentence[0])
        if name is not None:
            found.append(Cue(name, text[slice(*sentence.span())].strip()))
    return found


def _cue(sentence: str) -> str | None:
    for name, pattern in _CUES.items():
        match = pattern.search(sentence)
        if match and not _REPORTED.search(sentence[: match.start()]):
            return name
    return None


_ASIDE = re.compile(r"<think>.*?(?:</think>|\Z)|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|\Z)")
_REPORTED = re.compile(r"\b(?:says?|said|saying|tells?|told|states?|stated|claim(?:s|ed)?|mentioned)\b", re.IGNORECASE)

_I = (
    r"\b(?:let (?:me|us)|(?:i|we)(?:['’](?:ve|ll|m|re)| have| will| can| am| are)?)"
    r"(?: (?:now|just|also|already|successfully|(?:go|gone) ahead and))*"
)
_QUALIFIED = r"(?:(?!(?:i|for|of|about|from|that|which|and|or)\b)[\w'’#-]+ ){0,3}?"
_ORDER = (
    rf"{_QUALIFIED}(?:orders?|reservations?|bookings?|accounts?|profile|refunds?|returns?|exchanges?|requests?|changes"
    r"|cancell?ation|address(?:es)?|details|shipment|upgrade)\b(?! (?:polic|process|option|page|form|desk|number for))"
)
_FLIGHT = rf"{_QUALIFIED}flights?\b"
_GAP = r"(?: (?!(?:i|you|we|that|which)\b)[\w#()*-]+){0,4}?"
_BEEN = r" (?:has|have|is|are|will|was|were)(?: (?:now|already|also|successfully|being|be|been))*"
_DONE = (
    r"(?:cancell?ed|updated|processed|changed|modified|booked|confirmed|placed|initiated|submitted|upgraded|issued"
    r"|approved|exchanged|credited|refunded|charged)\b"
)
_SERVE = (
    r"(?:process|cancel|updat|modif|book|initiat|submit|issu|reinstat|finali[sz]|refund)(?:e|y|l?ed|ied|l?ing|ying)?"
)
_LOOK_UP = (
    r"(?:locat(?:e|ed|ing)|retriev(?:e|ed|ing)|fetch(?:ed|ing)?|pull(?:ed|ing)? up|found|find"
    r"|look(?:ed|ing)? (?:up|into)|check(?:ed|ing)?|verif(?:y|ied|ying))"
)
_DATA = (
    r"(?:(?:full|first|last) name|names? and|user ?id|e-?mail|zip|phone|date of birth|payment method|account"
    r"|(?:customer|client|member(?:ship)?|subscriber|patient|passenger|frequent[- ]flyer|loyalty|passport"
    r"|(?:\w+ )?card) (?:ids?|numbers?|codes?)"
    r"|(?:[\w-]+ )?(?:order|reservation|booking|confirmation|flight|item|product)(?: or [\w ]{3,20})?"
    r" (?:ids?|numbers?|codes?|reference|date))\b"
)
_CHOICES = (
    r"(?:proceed with|go ahead|see (?:the|more|some)|change|cancel|use (?:a|the|your)|exchange|return|upgrade|add"
    r"|update|modify|keep|book|purchase|make (?:any|to)|reorder|replace|remove|know your|place|receive|explore)\b"
)
_SERVICES = (
    r"(?:search|cancel|book|process|exchange|transfer|connect|assist|help|guide|walk|offer|retrieve|place|list"
    r"|look up|refund|check (?:the|for|flights|availab))"
)
_NEEDING_MORE = (
    r"\bif you (?:have any (?:\w+ )?questions|need (?:any )?(?:further|more|additional) (?:help|assistance|support))"
)

_CUES = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "offers help": (
            r"\bhow (?:can|may) (?:i|we) (?:\w+ )?(?:help|assist|serve) you\b"
            r"|\bwhat (?:else )?(?:can|may) (?:i|we) (?:\w+ )?(?:do for|help|assist) you\b"
        ),
        "asks what else to do for the customer": (
            r"\banything else (?:that )?(?:(?:i|we) can (?:\w+ )?(?:(?:help|assist)(?: you| with)|do for you)\b"
            r"|you(?:['’]d| would)? (?:need|like|want|require) (?:me to|(?:any )?(?:help|assistance) with))"
        ),
        "invites further questions": (
            rf"{_NEEDING_MORE}[^.!?]{{0,60}}\b(?:feel free|let (?:me|us) know|don['’]?t hesitate|reach out|contact us)"
            r"|\bfeel free to contact us\b"
            rf"|\b(?:feel free|don['’]?t hesitate) to [^.!?]{{0,40}}{_NEEDING_MORE}"
        ),
        "thanks for choosing the company": (
            r"\bthank(?:s| you) for (?:choosing|contacting|calling|shopping with|flying with)\b"
        ),
        "offers assistance": (
            r"\b(?:i|we)(?: can|['’]ll| will|(?:['’]d| would) be (?:happy|glad) to|['’]m (?:here|happy|glad) to"
            r"| are happy to) (?:further |certainly |gladly |also )?(?:assist|help) you\b"
        ),
        "asks for the customer's data": (
            rf"\b(?:provide|share|confirm|give|tell|specify|verify)(?: me| us)?(?: with)? your {_DATA}"
        ),
        "needs the customer's data": (
            r"\b(?:i|we)(?:['’]ll| will)? (?:also |just )?(?:need|require) (?:to (?:verify|confirm|know|have) )?"
            rf"your (?:identity\b|membership\b|{_DATA})"
            r"|\b(?:i|we) (?:must|have to|need to|am required to|are required to) (?:first |also |always )?"
            rf"(?:verify|confirm|authenticate|validate) (?:who you are|that you are|your (?:identity|{_DATA}))"
            r"|\bbefore (?:i|we) can (?:access|open|view|change|update|cancel|process|modify|proceed with) your\b"
        ),
        "offers the customer a choice": (
            rf"\b(?:would|do) you (?:still )?(?:like|want|prefer) (?:to {_CHOICES}|me to {_SERVICES}\b)"
        ),
        "reports an act on the customer's order": (
            rf"\byour (?:{_ORDER}{_GAP}{_BEEN} {_DONE}|{_FLIGHT}{_GAP} (?:has|have) been successfully {_DONE})"
        ),
        "acts on the customer's order": (
            rf"{_I} (?:{_SERVE}|{_LOOK_UP}) (?:the [\w ]{{3,30}} (?:for|of|to|on) )?your (?:{_ORDER}|{_FLIGHT}|user id)"
        ),
        "acts for the customer": rf"{_I} {_SERVE} [^.?!]{{1,80}}\bfor you\b",
        "transfers the customer": (
            r"\b(?:transfer(?:ring|red)?|connect(?:ing)?) you (?:now |over )?(?:to|with) (?:a|an|our|the) "
        ),
        "speaks of our policy": (
            r"\b(?:per|to|under|with|by|of|on|that) our (?:\w+ ){0,2}(?:polic(?:y|ies)|records)\b"
            r"|\bour (?:policy|policies|system) (?:is|are|do(?:es)?(?:n['’]t)?|requires?|states?|allows?|shows?)\b"
        ),
        "tells the customer that all is done": (
            r"\byou(?:['’]re| are) (?:now )?all set(?!\s*(?:to\b|\?|for me\b|with my\b))"
        ),
        "promises a confirmation": (
            r"\byou(?:['’]ll| will| should) (?:soon |shortly |also )?(?:receive|see) (?:a|an|the|your)(?: [\w-]+){0,3}"
            r" (?:e-?mail|refund|confirmation)\b"
        ),
        "says it is the assistant": (
            r"\bas an ai\b|\bi(?:['’]m| am) (?:an ai\b|an? (?:virtual|automated) (?:assistant|agent)"
            r"|a customer (?:service|support) (?:agent|representative|assistant))\b"
        ),
    }.items()
}
