"""Sentences that leave a decision to a site or a service which is named without an address."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_KIND = (
    r"web ?sites?|web ?pages?|home ?pages?|internet|web(?![ -]?\w*(?:cam|app|dev|hook|server|socket))"
    r"|online(?=\s*(?:[^\w\s]|$)"
    r"| (?:and|or|if|whether|for|what|how|when|first|before|at|right|in|to|that|which|today)\b)"
    r"|(?<=['’]s )site|newspapers?"
    r"|news (?:feed|page|site|channel)s?|(?<=the )(?:news|press|radio|tv|television|papers?)"
    r"|(?<=the )(?:weather )?forecast|(?<=weather )forecast|blogs?|social media"
)
_SERVICE = (
    r"google|bing|wikipedia|amazon(?! (?:rain ?)?forests?| river| basin)|trip ?advisor|yelp|reddit|twitter|facebook"
    r"|instagram|linkedin|youtube|e-?bay|expedia|airbnb|netflix|imdb|bloomberg|reuters|sky ?scanner|zillow|etsy"
)
_DOMAIN = r"(?<![@/.\w-])[a-z][\w-]*(?:\.[\w-]+)*\.(?:com|org|net|io|gov|info|co\.uk|eu|de|fr)\b(?![/@\w-])"
_NAMED = rf"(?:(?:{_SERVICE})\b|{_DOMAIN})"
_SITE = rf"(?:(?:{_KIND})\b|{_NAMED})"
_LOOK = (
    r"(?:check|look|(?:have|take|having|taking) a (?:quick )?look|see|visit|consult|go|find|(?:to|can) be found|read"
    r"|search|browse|refer|watch|listen|get|pick|take|use|compare)"
)
_TOLD = (
    r"(?:posts|posted|publish(?:es|ed)|lists|listed|announc(?:es|ed)|says|said|states|stated|shows|shown|reports"
    r"|reported|recommends|recommended|ranks|ranked|quotes|quoted|rates|rated|tells|told|predicts|predicted|names"
    r"|gives|given|advertis(?:es|ed)|mentions|mentioned)"
)
_IN_CLAUSE = r"[^.;!?\n]"
_ASKED = re.compile(
    rf"\b{_LOOK}\b{_IN_CLAUSE}{{0,80}}?\b(?P<looked>{_KIND})\b"
    rf"|\b{_LOOK}\b(?:{_IN_CLAUSE}{{0,80}}?\b(?:on|from|at|via|by|with|in|over|to|through|using))?\s+(?P<used>{_NAMED})"
    r"|\b(?P<verb>google) (?:it|them|whether|if|for|the|what|how|when|today)\b"
    rf"|\b(?:according to|as per|based on|depend(?:s|ing)? on|up to)\b{_IN_CLAUSE}{{0,40}}?\b(?P<base>{_SITE})",
    re.IGNORECASE,
)
_TELLS = re.compile(
    rf"\b{_TOLD}\b{_IN_CLAUSE}{{0,30}}?\b(?:on|in|by|at|over|to)\b{_IN_CLAUSE}{{0,30}}?\b(?P<told>{_SITE})"
    rf"|\b(?P<telling>{_SITE})(?:['’]s)?\b{_IN_CLAUSE}{{0,25}}?\b(?:{_TOLD}|say|show|list|report|recommend|tell|predict)\b",
    re.IGNORECASE,
)
_LIVE = (
    r"(?:prices?|rates?|quotes?|weather|temperature|wind|tides?|traffic|scores?|results?|news|headlines?|stocks?|shares?"
    r"|index|forecast|delays?|rankings?|ratings?|reviews?|odds|timetables?|departures?|arrivals?|exchange|level)"
)
_NO_SERVICE = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|Christmas|Easter|New Year|I\b"
    r"|[A-Z]\w* (?:Street|Avenue|Road|Lane|Square|Island|Beach|Day|Eve))"
)
_SERVICE_BY_FORM = re.compile(
    rf"\b(?i:{_LOOK})\b{_IN_CLAUSE}{{0,60}}?\b(?i:{_LIVE})\b(?: [a-z]\w*){{0,3}} (?:on|via|in|from|over at) "
    rf"(?:the )?(?!{_NO_SERVICE})(?P<service>[A-Z][\w&.-]*\w(?: [A-Z][\w&.-]*\w){{0,3}})"
)
"""What the world outside brings, looked up on something with a name: "the oil price on Harbour Finance"."""
_DECIDES = (
    r"(?:only|if|unless|whether|when(?:ever)?|whatever|whichever|whoever|wherever|depend(?:s|ing)?|decides?|decisive"
    r"|as long as|provided|in case|otherwise|or else|except|until|above|below|more than|less than|at least|at most"
    r"|skip|forget (?:it|about)|leave (?:it|this|everything|all)|don['’]t bother|not interested|call it off)"
)
DECISION = re.compile(rf"\b{_DECIDES}\b", re.IGNORECASE)
DECISION_NEXT = re.compile(rf"\s*(?:and |but |so |then )?{_DECIDES}\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:best|worst|most|first|top|(?:high|low|cheap|new|fast|long|short)est)\b", re.IGNORECASE)
_AT_THE_MOMENT = re.compile(
    r"\b(?:(?:right )?now|at (?:the|this) moment|at present|today['’]?s?|latest|newest|current(?:ly)?|live)\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:I|you|we)(?:['’]ve| have|['’]d| had)? (?:already |just |once )?(?:saw|seen|read|found|checked|looked|heard"
    r"|noticed)\b|\b(?:my|our|your)(?: own| company)? (?:web|home|blog|site|online|news|social)"
    r"|\b(?:my|your|our)self\b|\b(?:my|your|our)selves\b|\bI(?:['’]ll| will| am going to)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_STEM = 6
"""Letters of a site's name by which the documentation of a tool is searched: web sites, website."""


def site_that_decides(task: AgentTask, text: str) -> Iterator[tuple[str, str]]:
    """Yield sentences that leave something to a site that no tool stands for, each with the site.

    The sentence sends the agent to the site or says what the site tells, and makes a condition or a choice of it (the
    next sentence may begin with that), or asks for what the site has at the moment. Sites are known by their kind, by
    an address, by the names of the best known, and by form: a figure of the day (a price, a score, the weather) looked
    up on something with a capitalised name. What the user has looked at, or will, is the user's own affair, and so is
    the user's own site. A site that the documentation of a tool names is at hand, and one in a text that a gold call
    carries is a value.
    """
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    for sentence, after in zip(sentences, [*sentences[1:], ""], strict=False):
        for pattern in (_ASKED, _TELLS, _SERVICE_BY_FORM):
            match = pattern.search(sentence)
            if match is None or _OWN.search(sentence):
                continue
            site = next(found for found in match.groups() if found)
            open_now = DECISION.search(sentence) or DECISION_NEXT.match(after) or _AT_THE_MOMENT.search(sentence)
            if not (open_now or (pattern is _TELLS and _CHOICE.search(sentence))):
                continue
            if not _stands_for(task, site) and not _carried(task, site):
                yield sentence, site
                break


def _stands_for(task: AgentTask, site: str) -> bool:
    documented = _documentation(task.environment)
    name = re.sub(r"\.\w+(?:\.\w+)?$", "", site.casefold())
    stems = ("forecast", "weather") if "forecast" in name else (_letters(name)[:_STEM],)
    return any(stem in documented for stem in stems)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _documentation_of(environment: EnvironmentSpec) -> str:
    tools = environment.tools
    return _letters(" ".join(f"{tool.name} {tool.description} {canonical_json(tool.parameters)}" for tool in tools))


_documentation = IdentityCache(_documentation_of)


def _carried(task: AgentTask, site: str) -> bool:
    values = (value for _, call in task.gold_calls() for value in gold_values(call.arguments))
    return any(site.casefold() in text.casefold() for value in values for _, text in value.strings())
