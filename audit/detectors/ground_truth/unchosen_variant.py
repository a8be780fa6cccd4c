"""Check: the gold takes another variant, card or account than the one that the user describes."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.documented_values import documented, other_values
from agenthard.audit.detectors.support.sibling_choices import Chosen, choices_of, leaves
from agenthard.audit.detectors.support.sibling_records import Group, Sibling, is_denied, mentions
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_KEPT = re.compile(
    r"\b(?:same|similar|identical|otherwise|everything else|all else|rest|keep(?:ing)?|other than|except|only chang\w+"
    r"|just chang\w+|exact\w*)\b",
    re.IGNORECASE,
)
_EXTREMES = (
    (re.compile(r"\b(?:cheapest|least expensive|lowest[- ]priced?)\b", re.IGNORECASE), "price", min),
    (re.compile(r"\b(?:most expensive|priciest|dearest|highest[- ]priced?)\b", re.IGNORECASE), "price", max),
    (
        re.compile(r"\b(?:largest|biggest|highest|greatest|most) (?:\w+ )?(?:balance|amount|value)\b", re.IGNORECASE),
        "balance",
        max,
    ),
    (
        re.compile(r"\b(?:smallest|lowest|least) (?:\w+ )?(?:balance|amount|value)\b", re.IGNORECASE),
        "balance",
        min,
    ),
)
_PERHAPS = re.compile(
    r"\bif (?:that is |it is |this is |at all )?(?:possible|impossible|available|not)\b|\bwhether\b|\binitially\b"
    r"|\bat first\b",
    re.IGNORECASE,
)
_FEWEST_CHARACTERS = 5
"""Characters of a key that a text does not have for another reason."""
_AMOUNTS = ("price", "balance", "amount")
_COMPARED = re.compile(
    r"\b(?:cheap\w*|(?:less|more|most|least) \w+|any|best|better|maxim\w+|minim\w+|like|type that|versions?"
    r"|(?:small|larg|bigg|short|long|light|heavi|bright|fast|slow|strong|high|low|easi|hard|fanci|old|new|wid|thick|thinn)"
    r"(?:er|est))\b",
    re.IGNORECASE,
)
"""Words that open a choice which no rule can make."""


class _Named(NamedTuple):
    """A value that the user names."""

    at: str
    sentence: str


class UnchosenVariant(TaskDetector):
    """The record that a gold call chooses is the one of its group that the user describes.

    Groups are records with the same fields in one object of the shared state: the variants of a product, the payment
    methods of a customer. Looked at are the calls that are not reads, where an argument is the key of such a record.
    What the same call gives up for it (items and new items) is known as the record that is replaced. Rules:

    1. the user names the key of another record of the group, which no call uses, and not that of the chosen one;
    2. the user names values that a feature has in the group ("Google Home", "red", "PayPal"), and neither the chosen
       record has one of them, nor the one that is replaced, nor another that the gold uses. Sentences that name
       another product are left out, as are words that deny a value or speak of a condition;
    3. the user wants something kept ("the same", "everything else"), and the chosen record departs from the replaced
       one in features that no text names, where a record that can be had keeps all that the chosen one keeps, and more;
    4. the user wants the cheapest, the most expensive, or what has the largest or smallest balance, and the chosen
       record is at the other end of those that it could mean;
    5. of the values that a tool documents for an argument (a reason to cancel), the user names one and the gold gives
       another, which no text names.

    Flagged: "one compatible with Google Home", where the new item has compatibility "Amazon Alexa". "Use PayPal", where
    the gold pays by credit card.
    Not flagged: values in a sentence with a condition; a text that names both values.

    Wrong where the value that the user names is of something that the group does not have at that moment, or where the
    user changes its mind without naming it.
    """

    id = "unchosen-variant"
    title = "the gold chooses another variant than the one that the user names"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A run that takes what the user describes ends in another state than the ground truth."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no choice can be compared, or None."""
        if any(choices_of(task)) or any(documented(task)):
            return None
        return (
            "no gold call chooses a record of a group in the shared state, or one of the values that a tool documents"
        )

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per choice that contradicts the texts."""
        choices = list(choices_of(task))
        texts = [(at, text) for at, text in task.user_texts() if not at.endswith("/persona")]
        for chosen in choices:
            hit = (
                _other_key(task, chosen, choices, texts)
                or _other_value(task, chosen, choices, texts)
                or _not_kept(task, chosen, texts)
                or _other_end(task, chosen, choices, texts)
            )
            if hit is not None:
                yield hit
        for other in other_values(task, texts):
            yield Hit(
                claim=f"The user names {other.named!r}; the gold gives {other.given!r}, which no text names.",
                evidence=(
                    quote(task, other.at, text=other.sentence, note="what the user says"),
                    quote(task, other.given_at, note="what the gold gives"),
                ),
                fix=f"Give {other.named!r}, or change the request.",
            )


def _other_key(task: AgentTask, chosen: Chosen, choices: list[Chosen], texts: list[tuple[str, str]]) -> Hit | None:
    used = {each.own.id for each in choices} | {each.replaced.id for each in choices if each.replaced}
    named = [
        (key, at, match.start(), text)
        for at, text in texts
        for key in chosen.group.members
        if len(key) >= _FEWEST_CHARACTERS and re.search(r"\d", key)
        for match in re.finditer(rf"(?<![\w-]){re.escape(key)}(?![\w-])", text)
    ]
    given = {value for _, call in task.gold_calls() for _, value in leaves(call.arguments, "")}
    if not named or any(key in used or key in given for key, *_ in named):
        return None
    key, at, start, text = named[0]
    return Hit(
        claim=f"The user names {key}; the gold takes {chosen.own.id}, which no text names.",
        evidence=_evidence(task, chosen, _Named(at, sentence_at(text, start))),
        fix=f"Take {key}, or change the request.",
    )


def _other_value(task: AgentTask, chosen: Chosen, choices: list[Chosen], texts: list[tuple[str, str]]) -> Hit | None:
    used = [each.own for each in choices if each.group is chosen.group] + [chosen.own]
    for feature, value in chosen.own.features.items():
        values = chosen.group.values(feature)
        mine = {each.features.get(feature) for each in used}
        if len(values) < 2 or not chosen.group.tells(feature):
            continue
        if any(mentions(text, own, feature, values) for own in mine if own for _, text in texts):
            continue
        if chosen.replaced is not None and _kept_by_name(chosen.replaced, feature, values, texts):
            continue
        named = _named(chosen, choices, texts, feature, values - mine)
        if named:
            other, first = next(iter(named.items()))
            return Hit(
                claim=f"The user wants {feature} {other!r}; the gold takes {chosen.own.id}, which has {value!r}.",
                evidence=_evidence(task, chosen, first),
                fix=f"Take a record with {feature} {other!r}, or change the request.",
            )
    return None


def _kept_by_name(old: Sibling, feature: str, values: set[str], texts: list[tuple[str, str]]) -> bool:
    """Tell whether the texts name what the replaced record has, to describe it."""
    value = old.features.get(feature)
    return value is not None and any(
        not is_denied(text, start) for _, text in texts for start, _ in mentions(text, value, feature, values)
    )


def _evidence(task: AgentTask, chosen: Chosen, said: _Named) -> tuple[Evidence, ...]:
    return (
        quote(task, said.at, text=said.sentence, note="what the user says"),
        quote(task, chosen.at, note="what the gold takes"),
        quote(task, chosen.own.at, note="its record"),
    )


def _named(
    chosen: Chosen, choices: list[Chosen], texts: list[tuple[str, str]], feature: str, values: set[str]
) -> dict[str, _Named]:
    """Return the values that sentences about this group name, with the sentence."""
    groups = {id(each.group): each.group for each in choices}
    rivals = [group for group in groups.values() if group is not chosen.group and group.kind == chosen.group.kind]
    everything = chosen.group.values(feature)
    found: dict[str, _Named] = {}
    for at, text in texts:
        for value in sorted(values):
            for start, _ in mentions(text, value, feature, everything):
                sentence = sentence_at(text, start)
                if _PERHAPS.search(sentence) or is_denied(text, start):
                    continue
                if _is_about(chosen.group, rivals, sentence, value):
                    found.setdefault(value, _Named(at, sentence))
    return found


def _is_about(group: Group, rivals: list[Group], sentence: str, value: str) -> bool:
    """Tell whether a sentence is about the records of a group, of several that the gold chooses from."""
    said = sentence.casefold()
    if any(_names(rival, said) and _has(rival, value) for rival in rivals):
        return False
    return not rivals or _names(group, said)


def _names(group: Group, said: str) -> bool:
    return any(word in said for word in re.findall(r"[a-z]{4,}", group.name.casefold()))


def _has(group: Group, value: str) -> bool:
    return any(value in each.features.values() for each in group.members.values())


def _not_kept(task: AgentTask, chosen: Chosen, texts: list[tuple[str, str]]) -> Hit | None:
    old, new = chosen.replaced, chosen.own
    if old is None or old is new:
        return None
    said = [(at, sentence) for at, text in texts if (sentence := _kept_sentence(text))]
    whole = " ".join(text for _, text in texts)
    if not said or _COMPARED.search(whole):
        return None
    better = next((each for each in chosen.group.members.values() if _keeps_more(each, chosen, old, whole)), None)
    if better is None:
        return None
    kept = (name for name, value in old.features.items() if better.features.get(name) == value)
    lost = next(name for name in kept if new.features.get(name) != old.features[name])
    return Hit(
        claim=f"The user wants the rest kept; the gold takes {new.id}, which changes {lost} from "
        f"{old.features[lost]!r} to {new.features[lost]!r}, where {better.id} keeps it.",
        evidence=_evidence(task, chosen, _Named(*said[0])),
        fix=f"Take {better.id}, or say that {lost} may change.",
    )


def _keeps_more(other: Sibling, chosen: Chosen, old: Sibling, whole: str) -> bool:
    """Tell whether a record has all that the chosen one has of the replaced record and of the texts, and more."""
    new = chosen.own
    if not other.available or other in (old, new) or other.features.keys() != new.features.keys():
        return False
    more = False
    for name, value in new.features.items():
        if other.features[name] == value:
            continue
        if name in whole.casefold() or mentions(whole, value, name, chosen.group.values(name)):
            return False
        if old.features.get(name) != other.features[name]:
            return False
        more = True
    return more


def _kept_sentence(text: str) -> str | None:
    match = _KEPT.search(text)
    return sentence_at(text, match.start()) if match else None


def _other_end(task: AgentTask, chosen: Chosen, choices: list[Chosen], texts: list[tuple[str, str]]) -> Hit | None:
    found = [
        (at, match, field, extreme)
        for at, text in texts
        for words, field, extreme in _EXTREMES
        for match in words.finditer(text)
    ]
    if len({extreme for _, _, _, extreme in found}) != 1:
        return None
    at, match, field, extreme = found[0]
    text = dict(texts)[at]
    sentence = sentence_at(text, match.start())
    fields = ("price",) if field == "price" else _AMOUNTS[1:]
    own = next((name for name in fields if name in chosen.own.numbers), None)
    if own is None:
        return None
    alike = [
        each
        for each in chosen.group.members.values()
        if own in each.numbers and each.available and each.features.get("source") == chosen.own.features.get("source")
    ]
    amounts = sorted({each.numbers[own] for each in alike})
    held = chosen.own.numbers[own]
    wrong = amounts[-1] if extreme is min else amounts[0]
    if len(amounts) < 2 or (held == amounts[-1] if field == "balance" and extreme is max else held != wrong):
        return None  # the smallest balance may not suffice, and the cheapest may lack what else is wanted
    groups = {id(each.group) for each in choices if each.group.kind == chosen.group.kind}
    if len(groups) > 1 and not _names(chosen.group, sentence.casefold()):
        return None
    best = next(each for each in alike if each.numbers[own] == extreme(amounts))
    return Hit(
        claim=f"The user wants {match[0]!r}; the gold takes {chosen.own.id}, whose {own} is {held:g} "
        f"(that of {best.id} is {best.numbers[own]:g}).",
        evidence=_evidence(task, chosen, _Named(at, sentence)),
        fix=f"Take {best.id}, or change the request.",
    )
