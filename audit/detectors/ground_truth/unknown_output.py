"""Check: required outputs that name something which does not exist."""

import datetime
import re
from collections.abc import Iterator

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.dates import parse_date, years_in
from agenthard.audit.detectors.support.knowledge import knowledge_of, scalars_in
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.unknown_texts import (
    charged_for_all,
    days_in,
    form,
    impossible,
    is_family,
    meant,
    misshapen_day,
    out_of_reach,
    shows_times_of_day,
    siblings,
)
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_IDENTIFIER = re.compile(
    r"#?(?:\d{7,}|(?=\w*[A-Za-z])(?=\w*\d\w*\d)\w{6,}|[A-Za-z]{1,6}(?:-(?=[A-Z0-9]*\d)[A-Z0-9]{2,})+"
    r"|(?=[\w/-]*[A-Z])(?=(?:[A-Z/-]*\d){4})[A-Z0-9]{2,}(?:[-/][A-Z0-9]{1,8}){1,4}|[\w.+-]+@[\w-]+\.[\w.-]*\w)"
)
_REFERENCE = re.compile(r"(?:no\.|nr\.?|ref\.?|reference|ticket|case|order|invoice) ?#?\d[\d.-]{4,}", re.IGNORECASE)


_FEWEST_SIBLINGS = 2
_LONGEST = 40
_NEAR_YEARS = 2


def _codes_of(environment: EnvironmentSpec) -> dict[str, set[str]]:
    """Collect the codes of a state by their form."""
    forms: dict[str, set[str]] = {}
    for text in scalars_in(environment.state):
        if len(text) <= _LONGEST and (shape := form(text)):
            forms.setdefault(shape, set()).add(text)
    return forms


def _written_days_of(environment: EnvironmentSpec) -> tuple[str, ...]:
    return tuple(sorted({text for text in scalars_in(environment.state) if len(text) <= _LONGEST and "-" in text}))


def _years_of(environment: EnvironmentSpec) -> frozenset[int]:
    return frozenset(year for text in {text for text in scalars_in(environment.state)} for year in years_in(text))


def _has_times_of_day(environment: EnvironmentSpec) -> bool:
    return shows_times_of_day(text for text in scalars_in(environment.state))


def _days_of(environment: EnvironmentSpec) -> frozenset[datetime.date]:
    return days_in(text for text in scalars_in(environment.state))


def _documents_of(environment: EnvironmentSpec) -> tuple[str, ...]:
    tools = (*environment.tools, *environment.user_tools)
    texts = (text for tool in tools for text in scalars_in(tool.parameters))
    return (*(tool.description for tool in tools), *texts)


_days, _documents = IdentityCache(_days_of), IdentityCache(_documents_of)
_written_days = IdentityCache(_written_days_of)
_codes, _years, _times_of_day = IdentityCache(_codes_of), IdentityCache(_years_of), IdentityCache(_has_times_of_day)


class UnknownOutput(TaskDetector):
    """An identifier, code, day or time that the agent's reply has to contain exists.

    Looked at are required outputs in tasks whose database is part of the files, where neither the database, the user's
    texts, a policy, the documentation of a tool nor a gold call has them:

    1. an identifier ("LN88231", "VN-27712"), a number of seven digits or more or that says of itself that it is one
       ("no. 20155"), an e-mail address;
    2. a day that does not exist, or three numbers with hyphens that are not a day where all days of the database are
       written, or one that is more than two years from all that the task names, or that is further from every day it
       names than twice the longest span of time in its texts (a month at least); a time that no clock shows, where the
       database holds times of day;
    3. a code of digits and capitals ("591.78 HAL") whose form three or more texts of the database have. Those with
       spaces or points are codes only where their letters mostly differ: with few units they are amounts. A text of
       another form counts when it is one slip of a digit, or a moved point, away from exactly one such code;
    4. the number of a list ("rule L9") of which the policy has two others or more;
    5. a text that is one slip away from exactly one text of the database, the policy or the tools: "evenign" next to
       "evening". Two letters of a word are exchanged, or one inside it is lost, put in or replaced; the ends of words
       are left alone, because words are inflected there, and so are their starts except for a neighbouring key;
    6. an amount that sets the price of one thing against the payments for several: where a gold call lists n things
       and several payments, one n-th of their sum less all payments but one. No customer is charged that.

    Other amounts are left out, since sums and differences of many prices reach almost any; so are other days and times.

    Flagged: the output "286422338955" where no order has that tracking number; "72:10" next to "19:30".
    Flagged: "20" where the ground truth books seats for 3 members at 300, pays 80 with a voucher and 220 by card.
    Not flagged: "220" there, or "100", the price of one; "1093.34"; "polyester"; "20 hours".

    Wrong where a tool makes the identifier up at run time, counts days by a span that no text names, or where a
    required word of the agent's own happens to be nearly a word of the database.
    """

    id = "unknown-output"
    title = "Required outputs that do not exist"
    version = "5"
    category = "wrong-expected-output"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "No run can say what no text, no tool and no record tells it, so every run fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only required outputs of a task with a database can be checked."""
        if not task.ground_truth.outputs:
            return "no output is required"
        return "no database is part of the files" if task.environment.state is None else None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit for each output that appears nowhere."""
        knowledge = knowledge_of(task)
        given = " ".join(str(call.arguments) for _, call in task.gold_calls())
        for i, output in enumerate(task.ground_truth.outputs):
            text = output.strip()
            if (one := charged_for_all(task, text)) is not None:
                yield Hit(
                    claim=f"A reply has to contain {text!r}, which is what is left to pay of the price of one of the "
                    f"{one.number} {one.listed}; the ground truth pays {one.charged} for all of them.",
                    evidence=(
                        quote(task, f"/ground_truth/outputs/{i}", note="the required output"),
                        quote(task, one.pointer, note="what the ground truth pays"),
                    ),
                    fix=f"Require {one.charged}.",
                )
                continue
            if not text or text in given or (knowledge.holds(text) and not _point_moved(task.environment, text)):
                continue
            reason = _why_unknown(task, text)
            if reason is not None:
                yield Hit(
                    claim=f"A reply has to contain {text!r}, but {reason}.",
                    evidence=(quote(task, f"/ground_truth/outputs/{i}", note="the required output"),),
                    fix="Require what the database holds.",
                )


def _why_unknown(task: AgentTask, text: str) -> str | None:
    never = impossible(text)
    if never and ("calendar" in never or _times_of_day(task.environment)):
        return never
    if misshapen_day(text, _written_days(task.environment)):
        return "no day of the database is written like that"
    passages = [task.environment.policy, *(said for _, said in task.user_texts())]
    if (day := parse_date(text)) is not None:
        named = _years(task.environment).union(*map(years_in, passages))
        if named and all(abs(day.year - year) > _NEAR_YEARS for year in named):
            return f"no year near {day.year} is named anywhere"
        documents = [*passages, *_documents(task.environment)]
        days = _days(task.environment) | days_in([*documents, *(said for said in scalars_in(task.initial_state))])
        return out_of_reach(text, days, documents)
    if _IDENTIFIER.fullmatch(text):
        return "it appears nowhere in the task"
    if _REFERENCE.fullmatch(text):
        return "no such number appears anywhere in the task"
    shape = form(text)
    alike = _codes(task.environment).get(shape, set()) if shape else set()
    if is_family(alike):
        return f"it is not one of the {len(alike)} such codes of the database"
    if shape and len(near := _near_codes(task.environment, text)) == 1:
        return f"only the code {near[0]!r} exists, a slip away"
    if len(listed := siblings(text, passages)) >= _FEWEST_SIBLINGS:
        return f"there are only {', '.join(sorted(listed)[:8])}"
    other = meant(task, text)
    return f"it appears nowhere in the task, only {other!r} does" if other else None


def _near_codes(environment: EnvironmentSpec, text: str) -> list[str]:
    """List the codes of families that one digit more, less or exchanged, or a moved point, makes of ``text``."""
    shelves: dict[str, set[str]] = {}
    for shape, codes in _codes(environment).items():
        shelves.setdefault(re.sub(r"[0.]+", "0", shape), set()).update(codes)
    families = [codes for codes in shelves.values() if is_family(codes)]
    letters = re.sub(r"\d", "", text)
    return sorted(
        code
        for codes in families
        for code in codes
        if (re.sub(r"\d", "", code) == letters and OSA.distance(code, text, score_cutoff=1) == 1)
        or _has_point_moved(text, code)
    )


def _point_moved(environment: EnvironmentSpec, text: str) -> bool:
    """Tell whether only the point of one code appears elsewhere; comparison without punctuation does not see that."""
    shape = form(text)
    if not shape or text.count(".") != 1 or text in _codes(environment).get(shape, ()):
        return False
    return any(_has_point_moved(text, code) for code in _near_codes(environment, text))


def _has_point_moved(text: str, code: str) -> bool:
    return code != text and code.count(".") == 1 and code.replace(".", "") == text.replace(".", "")
