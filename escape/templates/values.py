"""Values that nothing constrains, by type: what sources, payloads and decoys are made of."""

from random import Random

from agenthard.escape.ports import PortType

WORDS = (
    *("amber", "anchor", "arrow", "autumn", "barley", "basil", "beacon", "birch", "bishop", "bramble", "bronze"),
    *("candle", "canyon", "cedar", "cellar", "chapel", "cinder", "clover", "cobalt", "copper", "coral", "cradle"),
    *("dagger", "damson", "delta", "ember", "falcon", "fathom", "feather", "fennel", "ferry", "flint", "garnet"),
    *("ginger", "glacier", "granite", "harbor", "hazel", "heather", "hollow", "indigo", "island", "ivory", "jasper"),
    *("juniper", "kettle", "lantern", "laurel", "linen", "lotus", "magnet", "maple", "marble", "meadow", "mercury"),
    *("mirror", "nectar", "nettle", "north", "oasis", "ocean", "olive", "onyx", "orchard", "otter", "oyster"),
    *("paper", "pepper", "pewter", "pigeon", "plover", "poppy", "quarry", "quartz", "raven", "ribbon", "river"),
    *("saffron", "salmon", "sandal", "sepia", "shadow", "silver", "sparrow", "spruce", "summit", "sulfur", "tallow"),
    *("thistle", "thunder", "timber", "topaz", "tulip", "tundra", "valley", "velvet", "violet", "walnut", "willow"),
)


class ValueRandom(Random):
    """Chance of values, with phrases of another hand to draw from in place of our words."""

    phrases: tuple[str, ...] = ()
    """Phrases; none means our words."""


def words(rng: Random, count: int = 3) -> str:
    """Draw words and a number of four digits: at least 32 bits of chance.

    Phrases of another hand, where there are some, are at least 24 for a room and get two such numbers.
    """
    if isinstance(rng, ValueRandom) and rng.phrases:
        return " ".join([rng.choice(rng.phrases), *(str(rng.randrange(1000, 10_000)) for _ in range(2))])
    return " ".join([*rng.sample(WORDS, count), str(rng.randrange(1000, 10_000))])


def number(rng: Random, low: int = 40, high: int = 64) -> int:
    """Draw an odd number of a number of bits between two bounds."""
    bits = rng.randint(low, high)
    return rng.getrandbits(bits) | 1 << (bits - 1) | 1


def hex_digits(rng: Random, count: int = 32) -> str:
    """Draw hexadecimal digits."""
    return f"{rng.getrandbits(4 * count):0{count}x}"


def is_prime(candidate: int) -> bool:
    """Test for a prime number by Miller and Rabin's test to fixed bases, which is exact below 3.3 * 10^24.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if candidate < 2 or any(candidate % base == 0 for base in bases):
        return candidate in bases
    odd, shift = candidate - 1, 0
    while odd % 2 == 0:
        odd, shift = odd // 2, shift + 1
    for base in bases:
        power = pow(base, odd, candidate)
        if power in (1, candidate - 1):
            continue
        if not any((power := power * power % candidate) == candidate - 1 for _ in range(shift - 1)):
            return False
    return True


def next_prime(above: int) -> int:
    """Return the least prime number above a number."""
    candidate = above + 1 | 1
    while not is_prime(candidate):
        candidate += 2
    return candidate


_LOOP = "    for step in range({b}):\n        "
PROGRAMS = (
    "def run(n):\n    total = {a}\n" + _LOOP + "total = (total * {c} + n) % {m}\n    return total",
    "def run(n):\n    left = n\n    right = {a}\n"
    + _LOOP
    + "left, right = right, (left + {c} * right) % {m}\n    return right",
    "def run(n):\n    if n % 2 == 0:\n        value = n // 2 + {a}\n    else:\n        value = 3 * n + {c}\n"
    + _LOOP
    + "value = value * value % {m}\n    return value",
)


def program(rng: Random) -> str:
    """Draw a short program, of a function of one number."""
    return rng.choice(PROGRAMS).format(
        a=rng.randrange(100, 10_000),
        b=rng.randrange(3, 30),
        c=rng.randrange(3, 1000),
        m=next_prime(rng.randrange(10**11, 10**12)),
    )


def plain_value(type: PortType, rng: Random) -> str:
    """Draw a value of a type that nothing constrains; a file is drawn by the tool that reads it."""
    if type == "Big_Int":
        return str(number(rng))
    if type == "Code_Python":
        return program(rng)
    if type == "Hex_String_Key_AES":
        return hex_digits(rng, rng.choice((32, 48, 64)))
    if type.startswith("Hex"):
        return hex_digits(rng)
    return words(rng)
