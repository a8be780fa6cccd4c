"""Messages of a simulated user that no user writes: the assistant's sentences, machine output, narration."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agenthard.audit.detectors.support.simulator import spoken


@dataclass(frozen=True)
class Cue:
    """A sentence of the assistant's side."""

    name: str
    """What the sentence does, as a clause that follows "the user"."""
    sentence: str
    """The sentence, exactly as it appears in the text."""


def assistant_speech(text: str) -> list[Cue]:
    """Find the sentences that only an assistant says, in their order, each with the first cue that it shows.

    Thoughts in <think> tags and quotations are not addressed to anyone and are skipped; so is what follows a verb
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
        "mentions our policy": (
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


_CALL = frozenset({"arguments", "parameters", "args", "kwargs", "input", "tool_calls"})
"""Members of a written call other than the name of its tool."""
_MARKS = {
    name: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for name, pattern in {
        "writes a tool call": (
            r"</?\|?(?:tool|function)[ _-]?(?:calls?)?\b[^<>\n]{0,60}>"
            r"|^[\s*#>`-]{0,8}(?:tool|function|api) ?calls?[\s*`]{0,4}:"
            r"|(?<![\w./@])[A-Za-z_]\w*\(\s*[A-Za-z_]\w*\s*=\s*(?:['\"\[{\d-]|True\b|False\b|None\b|true\b|false\b|null\b)"
            r"|(?-i:(?<![\w./@])[a-z]\w{0,80}(?:_|[a-z][A-Z])\w{0,80}\((?:\)|\s*[\"'{]))"
        ),
        "answers as a tool": (
            r"</?\|?(?:tool|function|api)[ _-]?(?:response|result|output|observation)s?\b[^<>\n]{0,60}>|</?observation>"
            r"|^[\s*#>`-]{0,8}(?:tool|function|api) ?(?:response|result|output)s?\b[\s*`]{0,4}:"
            r"|^[\s*#>`\[(-]{0,8}(?:observation|(?:tool|function|api)?[ _]?(?:results?|outputs?|returned))\b"
            r"[\s*`\])]{0,4}:?\s*[{\[<]"
            r"|^HTTP/\d(?:\.\d)? \d{3}\b"
        ),
        "writes marks of a chat template": (
            r"<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|assistant|user|system)\|?>|\[/?INST\]"
        ),
    }.items()
}
_OBJECT = re.compile(r"\{\s*\"")
_PYTHON = re.compile(r"\{\s*'\w[^'\n]{0,40}'\s*:\s*(?:['\[{\d-]|True\b|False\b|None\b)[^{}]{0,600}\}")
_MOST_OBJECTS = 20
"""Objects of one turn that are looked at."""
_QUOTED = 300
"""Characters quoted at most."""


def machine_speech(text: str, heard: Iterable[str] = ()) -> Cue | None:
    """Find what only a program writes, in one turn of a user; None when the turn is speech.

    A call or response between tags or behind a label, a call with its arguments in parentheses, a mark of a chat
    template, and an object in JSON or Python are such, whatever tool they name. A JSON object that was said to the
    user, or that the user was told to say, may be repeated.

    Args:
        text: one message of the user.
        heard: texts that the user may quote: its instruction, and what the agent said.

    >>> machine_speech('<tool_call>{"name": "get_trip", "arguments": {}}</tool_call>').name
    'writes a tool call'
    >>> machine_speech("I get {error 7} when I log in.")
    """
    said = spoken(text)
    for name, pattern in _MARKS.items():
        found = pattern.search(said)
        if found is not None:
            return Cue(name, text[found.start() : found.start() + _QUOTED].strip())
    objects = list(_objects(said))
    objects += [(*found.span(), {}) for found in _PYTHON.finditer(said)][:_MOST_OBJECTS]
    sources = list(heard) if objects else []
    for start, end, value in objects:
        if not any(said[start:end] in source for source in sources):
            called = "name" in value and bool(_CALL & value.keys())
            return Cue("writes a tool call" if called else "writes JSON", text[start : min(end, start + _QUOTED)])
    return None


def _objects(said: str) -> Iterator[tuple[int, int, dict[str, object]]]:
    """Yield the outermost JSON objects of a text with their positions."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_OBJECTS):
        found = _OBJECT.search(said, at)
        if found is None:
            return
        try:
            value, at = decoder.raw_decode(said, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            continue
        yield found.start(), at, value


_LONGEST = 300
"""Characters of an aside, or quoted, at most."""
_ADVERB = r"(?:(?:\w+ly|then|now|just|also|still|again|simply) )?"
_PERSON = r"(?:(?:simulated|imaginary|virtual) )?(?:user|customer|caller)"
_NO_VERB = r"(?:services?|reviews|details|records|ratings|comments|preferences|settings|options|numbers|ids|this|as)"
_BODY = (
    r"(?:sigh|nod|shrug|smile|grin|laugh|chuckle|frown|pause|hesitate|whisper|gasp|groan|mutter|mumble|scoff|giggle)"
)
_BODY_ING = r"(?:sigh|nodd|shrugg|smil|grinn|laugh|chuckl|frown|paus|hesitat|whisper|mutter|mumbl)ing"
_WITH_THE_BODY = (
    r"(?:clears|shakes|nods|tilts|scratches|rolls|crosses|hangs|raises|wipes|rubs|leans|looks|glances|takes|checks|reads"
    r"|falls|stays|remains|waits)(?: (?:his|her|their|the|a|my|some))?(?: \w+)? (?:throat|head|eyes?|eyebrows?|arms?|up"
    r"|in|back|silent|quiet|phone|watch|notes|around|away|over|breath|hands?|forehead|screen|patiently)"
)
_SAYS = (
    r"(?:(?:ask|say|thank|nod|sigh|want|wish|repl|respond|answer|confirm|agree|provide|give|tell|request|wait|read|leave"
    r"|end|insist|repeat|explain|decline|accept|hesitate|seem|sound|appear|continue|decide|express|remind|pause|type"
    r"|laugh|smile|apologi[sz]e|complain|begin|start|hang)(?:s|es|ies|ed|ied|d)"
    r"|is(?! always right)|does(?: not|n['’]t)|has (?:now|already|not|no|been|\w+ed)|said|told|gave|left|will)"
)
_DIRECTION = re.compile(
    rf"(?:\((?P<round>[^()\n]{{2,{_LONGEST}}})\)|\[(?P<square>[^\[\]\n]{{2,{_LONGEST}}})\](?!\()"
    rf"|\{{(?P<curly>[^{{}}\n]{{2,{_LONGEST}}})\}}|<(?P<angle>[^<>\n]{{2,{_LONGEST}}})>|(?<![\w*])\*(?P<stars>[^*\n]{{2,{_LONGEST}}})\*(?![\w*])"
    rf"|(?<!\w)_(?P<under>[^_\n]{{2,{_LONGEST}}})_(?!\w)"
    rf"|^[ \t]*(?P<rule>[-–—~=#]{{2,40}})[ \t]*(?P<ruled>[^\n]{{2,{_LONGEST}}}?)[ \t]*(?P=rule)[ \t]*$)",
    re.MULTILINE,
)
_TOLD_ASIDE = re.compile(
    rf"\W*(?:the {_PERSON} {_ADVERB}(?!{_NO_VERB}\b)(?:\w+(?:s|ed)|is|has|was|will|went|left|hung)\b"
    rf"|the (?:client|shopper|guest|agent|assistant|representative) {_ADVERB}"
    rf"(?!(?:{_NO_VERB}|was|has|is)\b)\w+[a-rt-z]s\b"
    r"|the (?:conversation|call|chat|line) (?:ends|closes|drops|disconnects|goes (?:dead|silent|quiet))\b"
    rf"|{_PERSON} {_ADVERB}{_SAYS}\b"
    rf"|(?:(?:s?he|they) )?{_ADVERB}(?:{_BODY}s|{_BODY_ING}|{_WITH_THE_BODY}"
    rf"|(?:ends|closes|leaves|quits) (?:(?:the|this) )?(?:call|chat|conversation|window|laptop))\b|i {_ADVERB}{_BODY}\b"
    r"|(?:\w+ing|\w+s) (?:his|her|their|the|a|my) (?:\w+ )?(?:head|eyes?|eyebrows?|arms?|throat|shoulders?|breath|brow"
    r"|forehead|fists?|chin|hair|lips?|nose)\b"
    r"|(?:speak|talk|shout|yell|whisper|typ|smil|cry)ing(?:,? \w+ly)?\W*\Z"
    r"|after (?:a|some) (?:long |short |brief )?(?:moment|pause|beat|hesitation|silence)\b"
    r"|end of (?:the )?(?:conversation|call|chat|scene|role[- ]?play)\b)",
    re.IGNORECASE,
)
_ACTS = re.compile(
    rf"\W*(?:{_PERSON} (?!{_NO_VERB}\b)\w+[a-rt-z]s [a-z]"
    r"|(?:s?he |they )?(?!(?:is|was|has|does|this|its|as|plus|unless|always|includes|contains|costs|needs|means|shows"
    r"|requires|says|covers|comes|goes|applies|expires|starts|arrives|departs|lands|takes|lasts|leaves|ends)\b)"
    r"[a-z]{2,}[a-rt-z]s"
    r" (?:a|an|the|his|her|their|at|for|out|up|over|back|down|off|through|around|away)\b)",
    re.IGNORECASE,
)
"""Actions in other brackets than round ones, in which people add facts."""
_BETWEEN_STARS = re.compile(
    r"\W*(?:looks|checks|reads|opens|types|clicks|scrolls|picks|thinks|waits|sits|stands|walks|turns|hangs|logs|leaves"
    r"|listens|typing|thinking|waiting|reading|looking|checking|listening)\b"
)
_NOTHING_SAID = re.compile(
    r"\W*(?:(?:long |short |awkward |brief )?(?:pause|silence)|(?:no|waiting for (?:the|a|an)) (?:further |more )?"
    r"(?:agent['’]s )?(?:response|reply|answer))\W*",
    re.IGNORECASE,
)
_THEN = r"(?:at this point|now|then|next|finally|eventually|meanwhile|here|in response|after (?:that|this)|afterwards)"
_TOLD = re.compile(
    rf"(?:\A|(?<=[.!?\n])|\n)[\s*_>~=-]{{0,12}}(?P<sentence>(?:narrator|narration|stage directions?):[^\n]{{1,200}}"
    rf"|(?:{_THEN},? )?the {_PERSON}(?:, [^,.!?\n]{{1,40}},)? {_ADVERB}"
    rf"(?:{_SAYS}|would|should|might)\b[^.!?\n]{{0,200}})",
    re.IGNORECASE,
)
_QUOTATION = re.compile(r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”")


def narration(text: str) -> Cue | None:
    """Find what a narrator tells in one turn of a user; None when all of it is speech.

    Told is a stage direction, between brackets, single asterisks, underscores or rules ("--- ... ---"): what the user,
    the agent or the conversation does, in the third person, or a gesture without a subject. So is, without brackets, a
    sentence that begins with "The user", "The customer" or "The caller" and says what he does or is. Thoughts between
    tags and quotations do not count. Only English is understood.

    Args:
        text: one message of the user.

    >>> narration("(The customer nods and leaves.)").sentence
    '(The customer nods and leaves.)'
    >>> narration("Book the red one (the user ID is ada_1).")
    """
    said = _QUOTATION.sub(lambda found: " " * len(found[0]), spoken(text))
    place = next(_told(said), None)
    return None if place is None else Cue("narrates what happens", text[slice(*place)].strip()[:_LONGEST])


def _told(said: str) -> Iterator[tuple[int, int]]:
    whole = said.strip()
    for aside in _DIRECTION.finditer(said):
        inside = aside["ruled"] or next(filter(None, aside.groups()))
        told = _TOLD_ASIDE.match(inside) or (aside["stars"] and _BETWEEN_STARS.match(inside))
        told = told or (not aside["round"] and _ACTS.match(inside))
        if told or (aside[0] == whole and _NOTHING_SAID.fullmatch(inside)):
            yield aside.span()
    for found in _TOLD.finditer(said):
        yield found.span("sentence")
