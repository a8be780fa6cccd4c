"""Tools on texts and account numbers."""

from random import Random

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import words

_COUNTRIES = ("AT", "BE", "CH", "CZ", "DE", "DK", "ES", "FI", "FR", "IT", "NL", "NO", "PL", "PT", "SE")
_REGEX_SECONDS = 0.5


def _search(values: Values, files: Files) -> dict[str, str]:
    import regex

    if len(values["pattern"]) > 200:
        raise ToolUseError("the pattern is too long")
    try:
        found = regex.findall(values["pattern"], values["text"], timeout=_REGEX_SECONDS)
    except (regex.error, TimeoutError, RecursionError) as error:
        raise ToolUseError("the pattern is not valid, or takes too long") from error
    if len(found) != 1 or not isinstance(found[0], str) or not found[0]:
        raise ToolUseError("the pattern does not match exactly once")
    return {"match": found[0]}


def _search_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    import regex

    made = {} if "text" in known else {"text": words(rng, 5)}
    text = known.get("text") or made["text"]
    runs = regex.findall(r"[A-Za-z0-9]{6,}", text)
    if not runs:
        raise UnfillableError("the text has no word that is long enough")
    run = rng.choice(runs)
    if len(run) <= 10:
        head, body = run[:2], rf"[a-z0-9]{{{len(run) - 2}}}"
    else:
        start, size = rng.randrange(len(run) - 9), rng.randint(6, 9)
        head, body = run[start : start + 2], f"[A-Za-z0-9]{{{size}}}"
    return made | {"pattern": f"({head}{body})"}


def _iban(values: Values, files: Files) -> dict[str, str]:
    """Compute the check digits of ISO 13616: the number as digits, letters from 10 on, is 1 modulo 97."""
    country, account = values["country"], values["bban"]
    if not (len(country) == 2 and country.isascii() and country.isupper()) or not account.isalnum():
        raise ToolUseError("the country is two capital letters, the account letters and digits")
    if len(account) > 30 or not account.isascii():
        raise ToolUseError("the account has at most 30 letters and digits")
    digits = "".join(str(int(c, 36)) for c in f"{account}{country}00")
    return {"iban": f"{country}{98 - int(digits) % 97:02d}{account.upper()}"}


def _iban_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    return {"country": rng.choice(_COUNTRIES), "bban": str(rng.randrange(10**17, 10**18))}


TEXTS = (
    tool(
        "regex_search",
        "finds the one place of a text that a regular expression describes",
        ["text:T the text", "pattern:T! the regular expression, with one group"],
        ["match:T what the group matches"],
        _search,
        _search_fill,
    ),
    tool(
        "iban_complete",
        "computes the check digits of an international account number",
        ["country:T! the country, two letters", "bban:T! the national account number"],
        ["iban:T the international account number"],
        _iban,
        _iban_fill,
    ),
)
