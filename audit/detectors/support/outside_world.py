"""What the outcome of a task depends on outside its environment: pages, sites and the clock."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.pointer import split
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
_SITE_DECIDES = (
    r"(?:only|if|unless|whether|when(?:ever)?|whatever|whichever|whoever|wherever|depend(?:s|ing)?|decides?|decisive"
    r"|as long as|provided|in case|otherwise|or else|except|until|above|below|more than|less than|at least|at most"
    r"|skip|forget (?:it|about)|leave (?:it|this|everything|all)|don['’]t bother|not interested|call it off)"
)
DECISION = re.compile(rf"\b{_SITE_DECIDES}\b", re.IGNORECASE)
DECISION_NEXT = re.compile(rf"\s*(?:and |but |so |then )?{_SITE_DECIDES}\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:best|worst|most|first|top|(?:high|low|cheap|new|fast|long|short)est)\b", re.IGNORECASE)
_SITE_NOW = re.compile(
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
    """Yield sentences that leave a decision to a site that no tool opens, each with the site.

    The sentence sends the agent to the site or says what the site tells, and makes a condition or a choice of it (the
    next sentence may begin with that), or asks for what the site has at the moment. Sites are known by their kind, by
    an address, by the names of the best known, and by form: a figure of the day (a price, a score, the weather) looked
    up on something with a capitalised name. What the user has looked at, or will, is the user's own affair, and so is
    the user's own site. A site that the documentation of a tool names is at hand, and one in a text that a gold call
    carries is a value.
    """
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    for sentence, after in zip(sentences, [*sentences[1:], ""], strict=False):
        open_now = DECISION.search(sentence) or DECISION_NEXT.match(after) or _SITE_NOW.search(sentence)
        if not (open_now or _CHOICE.search(sentence)):  # asked first: the patterns of sites take long
            continue
        for pattern in (_ASKED, _TELLS, _SERVICE_BY_FORM) if open_now else (_TELLS,):
            match = pattern.search(sentence)
            if match is None or _OWN.search(sentence):
                continue
            site = next(found for found in match.groups() if found)
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


_URL = re.compile(
    r"(?:https?://[\w-]+(?:\.[\w-]+)+|(?<![@\w./-])www\.[\w-]+(?:\.[\w-]+)+"
    r"|(?<![@\w./-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|gov|edu|info|app|dev|news|example|int"
    r"|(?!(?:py|js|ts|md|rs|sh|cs|hs|vb|kt|so|cc|db|gz|go|pl)/)[a-z]{2})(?=/\w))[^\s`'\")>\],;]*(?<=[\w/])",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:only|if|unless|whether|whatever|whichever|depending|depends?|according to|as per|based on|decides?|decisive"
    r"|as long as|provided|otherwise|except|until|source of truth|authoritative|binding"
    r"|final say|prevails?|skip|drop)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:check|see|look (?:at|up|on)|visit|open|go to|read|consult|find out|take|use|pick)\b", re.IGNORECASE
)
_AT_THE_MOMENT = re.compile(
    r"\b(?:(?:right )?now|at (?:the|this) moment|at present|today(?:['’]s)?|latest|newest|current(?:ly)?|live"
    r"|shows?|says?|lists?|reports?|as of (?:now|today))\b",
    re.IGNORECASE,
)
_OPENS_PAGES = re.compile(r"url|uri|link|web|http|site|page|browse|internet|online|endpoint", re.IGNORECASE)


class Passage(NamedTuple):
    """A part of a text that leads outside."""

    pointer: str
    """JSON Pointer of the text."""
    text: str
    """The part."""
    what: str
    """What it takes from outside, with the task as subject."""


def _can_open_pages(environment: EnvironmentSpec) -> bool:
    """Tell whether a tool, by its name or a parameter, takes an address or goes to the web."""
    return any(
        _OPENS_PAGES.search(f"{tool.name} {' '.join(tool.parameters.get('properties', {}))}")
        for tool in environment.tools
    )


_opens_pages = IdentityCache(_can_open_pages)


def live_pages(task: AgentTask) -> Iterator[Passage]:
    """Yield sentences of the user that make the outcome hang on a page or a site that no tool of the task opens.

    The sentence names an address, says that it decides or is to be looked at, and in the latter case is about what it
    says at the moment; the address is not what a gold call carries, and neither state has it. Or the sentence leaves a
    decision to a site without an address.
    """
    if _opens_pages(task.environment) or not (any(task.gold_calls()) or task.ground_truth.outputs):
        return
    for pointer, text in task.user_texts():
        if not _of_user(task, pointer):
            continue
        sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
        for sentence, after in zip(sentences, [*sentences[1:], ""], strict=False):
            url = _URL.search(sentence)
            if url and _hangs_on_page(sentence, after) and not _at_hand(task, url[0]):
                yield Passage(pointer, sentence, f"hangs on what {url[0][:80]} says, which no tool opens")
        for sentence, site in site_that_decides(task, text):
            if not _URL.search(sentence):
                yield Passage(pointer, sentence, f"hangs on what is found elsewhere ({site!r}), which no tool opens")


def _hangs_on_page(sentence: str, after: str) -> bool:
    """Tell whether a sentence with an address makes the outcome hang on it, given the sentence after it."""
    if _DECIDES.search(sentence):
        return True
    open_now = _AT_THE_MOMENT.search(sentence) or DECISION.search(sentence) or DECISION_NEXT.match(after)
    return bool(open_now and _LOOKS.search(sentence))


def _of_user(task: AgentTask, pointer: str) -> bool:
    parts = split(pointer)
    return parts[1] != "turns" or task.user.turns[int(parts[2])][int(parts[3])].role == "user"


def _at_hand(task: AgentTask, url: str) -> bool:
    carried = canonical_json([[call.arguments for _, call in task.gold_calls()], task.initial_state])
    return url in carried or url in shared_state(task.environment)


def _state_as_text(environment: EnvironmentSpec) -> str:
    return "" if environment.state is None else canonical_json(environment.state)


shared_state = IdentityCache(_state_as_text)
"""The state that tasks share, as JSON; empty when there is none."""


_FILLED = (
    r"\{\{-?[^{}\n]{1,120}\}\}|\{%-?[^{}\n]{1,120}%\}|\$\{[^{}\n]{1,120}\}|#\{[^{}\n]{1,120}\}|\{(?![\s\"'{%])[^{}\n]{1,80}\}"
    r"|<%=?[^<>\n]{1,120}%>|\$\([^()\n]{1,60}(?:\([^()\n]{0,30}\))?[^()\n]{0,60}\)|`[^`\n]{1,60}`|%\(\w{1,30}\)s"
    r"|<(?!/)[A-Za-z_][\w '’-]{0,40}>|\[\[?[A-Za-z_][\w '’-]{0,40}\]\]?|\$[A-Za-z_]\w{0,30}|%[A-Z_]{3,30}%"
    r"|__[A-Z][A-Z_]{2,30}__|@@?[A-Z_]{3,30}@@?"
)
"""What a template fills in, in the languages in which prompts are written."""
_BLANK = re.compile(_FILLED)
_CLOCK_CODE = (
    r"\b(?:datetime|date|time|LocalDate(?:Time)?|ZonedDateTime|Instant|DateTime|Time|moment|Date|pd\.Timestamp|dayjs)"
    r"(?:\.\w+)*(?:\.|::)(?:now|today|utcnow|current|UtcNow|Now|Today)\b|\bnew Date\b"
    r"|\btime\.(?:time|localtime|gmtime)\(|\b(?:now|today|utcnow|getdate|sysdate|curdate|strftime|strftime_now|current_date|current_timestamp)\s*\("
)
_CODE = re.compile(_CLOCK_CODE)
_NOW = re.compile(
    r"(?:\b|_)(?:now|today|todays|today['’]s|utcnow|sysdate|current[ _.-]?(?:date|day|time|datetime|timestamp))(?:\b|_)"
    r"|\b(?:current|today)(?=[A-Z])|^\W*date\s+[\"']?[-+]",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"^\W*(?:(?:the|insert|fill in|enter|your|actual|put)[ _])*"
    r"(?:date|time|day|datetime|timestamp|dt|date_?str|date_?time)\W*$",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:today(?:['’]s date)?|now|(?:current|present|actual) (?:date|day|time|date and time)|date|day|time|it)"
    r"\s*(?:is|are|=|:)+\s*(?:it is\s*)?[*_\"'(]*$",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\b(?:system|host|machine|server|computer|device|wall|built-in|internal|real-time)(?:['’]s)? (?:clock|date)\b"
    r"|\b(?:today|now|(?:current|present|local) (?:time|date|day))\b[^.\n]{0,40}\b(?:of|from|by|on) (?:the|your|its) "
    r"(?:computer|machine|host|system|server|device|operating system|clock)\b"
    r"|\b(?:today|now|(?:current|present) (?:date|day|time))\b (?:is|means)[^.\n]{0,30}\b(?:on which|when) "
    r"(?:this|you|the \w+) (?:\w+ )?(?:runs?|are run|is run|is executed|execute|is read|read|is evaluated)\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?!\d)")
_LINE_BEFORE = 60


def clocks(task: AgentTask) -> Iterator[Passage]:
    """Yield what makes a prompt take the day from the clock, in a task whose ground truth has a fixed day.

    That is a blank or an expression of a template for today's date, in any template language; code that asks a clock;
    or words that refer to the clock of the computer. A prompt that states a day as well has its present.
    """
    if not _fixed_day(task):
        return
    for pointer, text in _prompts(task):
        if _DAY.search(text):
            continue
        if blank := unfilled_date(text):
            yield Passage(pointer, blank, "leaves today's date blank")
        elif match := _CODE.search(text) or _IN_WORDS.search(text):
            yield Passage(pointer, match[0], "takes the day from a clock")


def unfilled_date(text: str) -> str:
    """Return the first blank or expression that a template fills with the present day; empty when there is none.

    It names the present itself (now, today, the current date, a function of a clock), or it is called date or time and
    is where the text says what day it is.

    >>> unfilled_date("Date: {date}. Write days as {day}.")
    '{date}'
    """
    for match in _BLANK.finditer(text):
        before = text[max(0, match.start() - _LINE_BEFORE) : match.start()].rpartition("\n")[2]
        inner = match[0].strip("`")
        if match[0].startswith("`") and not (_CODE.search(inner) or re.match(r"date(?:\s+[-+]|$)", inner)):
            continue
        if match[0].startswith("`") and not _CODE.search(inner) and not _PRESENT.search(before):
            continue
        if _CODE.search(inner) or _NOW.search(inner) or (_DATE.match(inner) and _PRESENT.search(before)):
            return match[0]
    return ""


def _prompts(task: AgentTask) -> Iterator[tuple[str, str]]:
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    for i, turn in enumerate(task.user.turns):
        for j, message in enumerate(turn):
            if message.role == "system":
                yield f"/user/turns/{i}/{j}/content", message.content


def _fixed_day(task: AgentTask) -> bool:
    if any(_DAY.search(text) for text in task.ground_truth.outputs):
        return True
    values = (value for _, call in task.gold_calls() for value in gold_values(call.arguments) if not value.omissible)
    return any(_DAY.search(text) for value in values for _, text in value.strings())
