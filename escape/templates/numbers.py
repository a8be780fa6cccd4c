"""Tools on numbers."""

import math
from random import Random

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import next_prime, number

MAX_BITS = 2048
_MERSENNE = ((1 << 127) - 1, (1 << 521) - 1)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _int(values: Values, name: str) -> int:
    value = values[name]
    if len(value) > 1300 or (found := int(value)).bit_length() > 2 * MAX_BITS:
        raise ToolUseError(f"{name} is too large")
    return found


def _multiply(values: Values, files: Files) -> dict[str, str]:
    product = _int(values, "a") * _int(values, "b")
    if product.bit_length() > MAX_BITS:
        raise ToolUseError("the product is too large")
    return {"product": str(product)}


def _mod_exp(values: Values, files: Files) -> dict[str, str]:
    base, exponent, modulus = (_int(values, name) for name in ("base", "exponent", "modulus"))
    if modulus < 2 or exponent < 0:
        raise ToolUseError("the modulus has to be above 1 and the exponent not negative")
    return {"result": str(pow(base, exponent, modulus))}


def _mod_exp_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {name: str(number(rng)) for name in ("base", "exponent") if name not in known}
    base = int((dict(known) | made)["base"])
    return made | {"modulus": str(next_prime(abs(base) + number(rng, 50, 60)))}


def _gcd(values: Values, files: Files) -> dict[str, str]:
    return {"gcd": str(math.gcd(_int(values, "a"), _int(values, "b")))}


def _gcd_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    common = next_prime(number(rng, 40, 44))
    return {
        "a": str(common * next_prime(number(rng, 16, 20))),
        "b": str(common * next_prime(number(rng, 21, 24))),
    }


def _inverse(values: Values, files: Files) -> dict[str, str]:
    try:
        return {"inverse": str(pow(_int(values, "a"), -1, _int(values, "modulus")))}
    except (ValueError, ZeroDivisionError) as error:
        raise ToolUseError("a has no inverse for this modulus") from error


def _inverse_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {} if "a" in known else {"a": str(number(rng))}
    a = int(known.get("a") or made["a"])
    # A prime of its own per room, near a prime that everyone knows.
    modulus = next_prime(rng.choice(_MERSENNE[:1]) + number(rng, 60, 64))
    if a % modulus == 0:
        raise UnfillableError("a is a multiple of the modulus")
    return made | {"modulus": str(modulus)}


def _luhn_digit(digits: str) -> str:
    """Return the check digit by Luhn's algorithm (ISO/IEC 7812-1).

    >>> _luhn_digit("7992739871")
    '3'
    """
    doubled = (int(c) * (2 - at % 2) for at, c in enumerate(reversed(digits)))
    return str(-sum(d // 10 + d % 10 for d in doubled) % 10)


def _luhn(values: Values, files: Files) -> dict[str, str]:
    digits = values["digits"]
    if digits.startswith("-"):
        raise ToolUseError("digits has to be a number that is not negative")
    return {"number": digits + _luhn_digit(digits)}


def _base_convert(values: Values, files: Files) -> dict[str, str]:
    source, target = _int(values, "from_base"), _int(values, "to_base")
    if not (2 <= source <= 36 and 2 <= target <= 36) or len(values["value"]) > 1000:
        raise ToolUseError("bases lie between 2 and 36")
    try:
        left = int(values["value"], source)
    except ValueError as error:
        raise ToolUseError("value has digits that this base does not have") from error
    return {"value": in_base(left, target)}


def in_base(value: int, base: int) -> str:
    """Write a number in a base up to 36.

    >>> in_base(255, 16), in_base(0, 2), in_base(-35, 36)
    ('ff', '0', '-z')
    """
    sign, left, digits = ("-" if value < 0 else ""), abs(value), ""
    while left:
        left, digit = divmod(left, base)
        digits = _DIGITS[digit] + digits
    return sign + (digits or "0")


def _base_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    source, target = rng.sample([*range(5, 10), *range(11, 37)], 2)
    return {"value": in_base(number(rng, 58, 64), source), "from_base": str(source), "to_base": str(target)}


NUMBERS = (
    tool(
        "bigint_multiply",
        "multiplies two whole numbers",
        ["a:B the first factor", "b:B the second factor"],
        ["product:B the product"],
        _multiply,
    ),
    tool(
        "mod_exp",
        "raises a number to a power and keeps the remainder by a modulus",
        ["base:B the number", "exponent:B the power", "modulus:B! the modulus, a prime number above the base"],
        ["result:B the remainder"],
        _mod_exp,
        _mod_exp_fill,
    ),
    tool(
        "gcd",
        "finds the greatest common divisor of two whole numbers",
        ["a:B! one number", "b:B! another number, which shares a large factor with the first"],
        ["gcd:B the greatest common divisor"],
        _gcd,
        _gcd_fill,
    ),
    tool(
        "mod_inverse",
        "finds the inverse of a number for a modulus",
        ["a:B the number", "modulus:B! the modulus, a large prime number"],
        ["inverse:B the inverse"],
        _inverse,
        _inverse_fill,
    ),
    tool(
        "luhn_complete",
        "appends the check digit by Luhn's algorithm to a number",
        ["digits:B the number without its check digit"],
        ["number:B the number with its check digit"],
        _luhn,
    ),
    tool(
        "base_convert",
        "writes a number in another base",
        ["value:T! the digits", "from_base:B! the base they are in", "to_base:B! the base to write them in"],
        ["value:T the digits in the other base, in lower case"],
        _base_convert,
        _base_fill,
    ),
)
