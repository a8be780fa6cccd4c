"""Turns of a user that are told, not said: stage directions, and sentences about the user in the third person."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.support.assistant_speech import Cue
from agenthard.audit.detectors.support.leaks import spoken

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
_ASIDE = re.compile(
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
"""What somebody does, between other brackets than round ones, in which people add facts."""
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
    for aside in _ASIDE.finditer(said):
        inside = aside["ruled"] or next(filter(None, aside.groups()))
        told = _TOLD_ASIDE.match(inside) or (aside["stars"] and _BETWEEN_STARS.match(inside))
        told = told or (not aside["round"] and _ACTS.match(inside))
        if told or (aside[0] == whole and _NOTHING_SAID.fullmatch(inside)):
            yield aside.span()
    for found in _TOLD.finditer(said):
        yield found.span("sentence")
