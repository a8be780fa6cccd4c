"""Check: required texts that the records and calls of the ground truth do not yield."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.derived_amounts import cents_of, derived_cents, moved_by_calls
from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.own_records import Found
from agenthard.audit.detectors.support.ownership import changed_records, named_records
from agenthard.audit.detectors.support.reachable_records import objects_in, reachable, texts_of
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})*\.\d{2}|\d+\.\d{1,2}")
_ROUND = re.compile(r"\d{3,6}")
_DOLLARS = re.compile(r"\$ ?(\d[\d,]*(?:\.\d\d)?)")
_DENIED = re.compile(r"\bnot\b|n['’]t\b|\brefus|\bden(?:y|ie)", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|in all|altogether|all (?:together|of (?:it|them))|overall)\b", re.IGNORECASE)
_CODE = re.compile(r"#?(?=\w*\d{3})\w{6,}")
_JOINED = re.compile(r"[A-Za-z]+[- ][A-Za-z]+")
_PLAIN_TOOL_WORDS = frozenset("send get update modify apply submit cancel book user order reservation".split())


_of_state: IdentityCache[EnvironmentSpec, frozenset[int]] = IdentityCache(
    lambda environment: frozenset(cents_of(environment.state))
)


class UnsupportedOutput(TaskDetector):
    """What a reply has to contain, and what the criteria name, comes out of the records that the ground truth is about.

    The records are those of the user and those that the gold calls name. Rules:

    1. a required amount in cents is a number of these records, a sum of some numbers of one list, a sum or difference
       of two such sums, what the calls move, or what a variant costs more or less; an amount without cents is not the
       rounded value of one of these, where it is none itself;
    2. where the user wants a total, it is not the sum of what all gold calls but one move;
    3. a required code is of a record with a thing that the user names next to the name of the code ("the tracking
       number of the tablet order");
    4. an amount of money in the criteria is that of the gold call whose tool they name ("a certificate of $50");
    5. a record that the criteria name, and do not deny ("cancels reservation HSR97W"), is changed by the gold, where
       the gold changes one that they do not name;
    6. a required pair of words is joined as in the records (with a hyphen or without), because it is searched verbatim.

    Flagged: "1498", where the records yield 1497.65. A total of two cancelled orders, where a third item is returned.
    Not flagged: amounts of states without cents, where sums reach any number.

    Wrong where an amount follows from records that neither the user nor the ground truth names.
    """

    id = "unsupported-output"
    title = "required texts that the records of the ground truth do not yield"
    version = "1"
    category = "wrong-expected-output"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A run that says what the records yield fails."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why there is nothing to compare, or None."""
        if not task.ground_truth.outputs and not any(_criteria(task)):
            return "neither outputs nor criteria are given"
        return None if reachable(task) else "no record of the user is part of the files"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per text."""
        numbers = task.ground_truth.outputs and [n for _, record in reachable(task) for n in cents_of(record)]
        in_cents = sum(number % 100 != 0 for number in numbers) * 2 > len(numbers)
        for i, output in enumerate(task.ground_truth.outputs):
            reason = (_amount(task, output) if in_cents else None) or _code(task, output) or _joint(task, output)
            if reason is not None:
                yield Hit(
                    claim=f"A reply has to contain {output!r}, but {reason}.",
                    evidence=(quote(task, f"/ground_truth/outputs/{i}", note="the required output"),),
                    fix="Require what the records yield.",
                )
        yield from _other_amount(task)
        yield from _other_record(task)


def _amount(task: AgentTask, output: str) -> str | None:
    """Return why a required amount is wrong, or None."""
    text = output.strip().lstrip("$").replace(",", "")
    if _AMOUNT.fullmatch(text):
        return _partial_total(task, round(float(text) * 100)) or _not_derived(task, text)
    return _rounded(task, text) if _ROUND.fullmatch(text) else None


def _partial_total(task: AgentTask, amount: int) -> str | None:
    moved = moved_by_calls(task)
    whole = sum(moved)
    required = {output.replace(",", "") for output in task.ground_truth.outputs}
    asked = any(_TOTAL.search(text) for _, text in task.user_texts())
    left_out = [each for each in moved if whole - each == amount and amount not in moved]
    if len(moved) > 2 and asked and left_out and f"{whole / 100:.2f}" not in required:
        return f"that leaves out {left_out[0] / 100:.2f} of the {whole / 100:.2f} that the gold calls are about"
    return None


def _not_derived(task: AgentTask, text: str) -> str | None:
    amount = round(float(text) * 100)
    if amount in _of_state(task.environment) or amount in derived_cents(task):
        return None
    said = " ".join(passage for _, passage in task.user_texts())
    return None if text in said else "no numbers of the records of the ground truth yield it"


def _rounded(task: AgentTask, text: str) -> str | None:
    amount, derived = int(text) * 100, derived_cents(task)
    if amount in derived:
        return None
    near = [each for each in derived if each != amount and abs(each - amount) <= 50]
    required = {output.replace(",", "") for output in task.ground_truth.outputs}
    unsaid = [each for each in near if f"{each / 100:.2f}" not in required]
    return f"the records yield {min(unsaid) / 100:.2f}, and an exact reply fails" if unsaid else None


def _code(task: AgentTask, output: str) -> str | None:
    """Return that a code is of a record with other things than those that the user names next to the code's name."""
    if not _CODE.fullmatch(output.strip()):
        return None
    records = [found for found in reachable(task) if _things(found)]
    own = [found for found in records if output.strip() in set(texts_of(found[1]))]
    field = next((name for found in own for name in _fields_with(found, output.strip())), "")
    labels = [word for word in name_words(field) if len(word) > 2]
    if len(own) != 1 or not labels:
        return None
    for _, text in task.user_texts():
        for match in re.finditer(re.escape(labels[0]), text, re.IGNORECASE):
            said = set(words(sentence_at(text, match.start())))
            named = {thing for found in records for thing in _things(found) if thing in said}
            if named and not named & _things(own[0]):
                return f"it is of a record without {', '.join(sorted(named))}, of which the user asks for it"
    return None


def _things(found: Found) -> set[str]:
    """Collect the last words of the names of what a record lists."""
    names = [record.get("name") for at, record in objects_in(found) if at != found[0]]
    return {words(name)[-1] for name in names if isinstance(name, str) and words(name)}


def _fields_with(found: Found, text: str) -> Iterator[str]:
    for _, record in objects_in(found):
        yield from (str(name) for name, value in record.items() if value == text or value == [text])


def _joint(task: AgentTask, output: str) -> str | None:
    """Return that two words are joined otherwise than in the records."""
    pair = output.strip().casefold()
    if not _JOINED.fullmatch(pair):
        return None
    other = pair.replace("-", " ") if "-" in pair else pair.replace(" ", "-")
    known = [text.casefold() for _, record in reachable(task) for text in texts_of(record)]
    known += [text.casefold() for _, text in task.user_texts()]
    if any(pair in text for text in known) or not any(other in text for text in known):
        return None
    return f"the records and texts have {other!r} only, and the text is searched verbatim"


def _criteria(task: AgentTask) -> Iterator[tuple[str, str]]:
    for i, check in enumerate(task.evaluation.checks):
        if check.kind in ("judge", "rubric") and isinstance(check.expected, str):
            yield f"/evaluation/checks/{i}/expected", check.expected


def _other_amount(task: AgentTask) -> Iterator[Hit]:
    for at, text in _criteria(task):
        stated = {float(number.replace(",", "")) for number in _DOLLARS.findall(text)}
        for place, call in task.gold_calls():
            named = [word for word in name_words(call.name) if len(word) > 4 and word not in _PLAIN_TOOL_WORDS]
            amount = call.arguments.get("amount")
            if (
                not named
                or not isinstance(amount, int | float)
                or not any(squash(word) in squash(text) for word in named)
            ):
                continue
            given = [other.arguments.get("amount") for _, other in task.gold_calls() if other.name == call.name]
            if len(stated) == 1 and not stated & {float(each) for each in given if isinstance(each, int | float)}:
                yield Hit(
                    claim=f"The criteria name ${min(stated):g}, and the gold call {call.name} gives {amount:g}.",
                    evidence=(
                        quote(task, at, note="the criteria"),
                        quote(task, place, note="the gold call"),
                    ),
                    fix="Let the criteria and the ground truth name one amount.",
                )
                break


def _other_record(task: AgentTask) -> Iterator[Hit]:
    named = named_records(task, ((at, text) for at, text in _criteria(task) if not _DENIED.search(text)))
    mentioned = named_records(task, _criteria(task))
    changed = changed_records(task) if named else []
    keys = {key for _, key in changed}
    lost = [key for key in named if key not in keys]
    other = [(place, key) for place, key in changed if key not in mentioned]
    if lost and other:
        at, word = named[lost[0]]
        yield Hit(
            claim=f"The criteria name {word}, which no gold call changes; the gold changes {other[0][1]}, "
            "which they do not name.",
            evidence=(
                quote(task, at, text=word, note="the criteria"),
                quote(task, other[0][0], note="what the gold changes"),
            ),
            fix="Let the criteria and the ground truth name one record.",
        )
