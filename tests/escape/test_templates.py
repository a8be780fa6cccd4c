"""Every tool works with what its own fill makes, and refuses what it cannot work with."""

import base64
import binascii
import hashlib
import math
import zlib
from random import Random

import pytest

from agenthard.escape.ports import Port, WrongTypeError, canonical
from agenthard.escape.templates import LIBRARY, VARIANTS
from agenthard.escape.templates.containers import CONTAINERS
from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.items import ITEMS
from agenthard.escape.templates.library import TOOLS
from agenthard.escape.templates.program import ProgramError, run_program
from agenthard.escape.templates.template import Files, Template, ToolUseError, UnfillableError
from agenthard.escape.templates.terminals import TERMINALS
from agenthard.escape.templates.values import is_prime
from agenthard.escape.values import execute

BY_ID = {each.id: each for each in TOOLS}


def run(id: str, **values: str) -> dict[str, str]:
    return execute(BY_ID[id], values, Files(), "")


def test_the_library_is_as_large_as_the_paper_says() -> None:
    assert (len(TOOLS), len(TERMINALS), len(ITEMS), len(CONTAINERS), len(VARIANTS)) == (32, 2, 16, 4, 68)
    assert len(LIBRARY) == 54
    assert sum(each.kind == "item" for each in ITEMS) == 14


@pytest.mark.parametrize("template", TOOLS, ids=lambda each: each.id)
def test_what_a_fill_makes_can_be_executed_twice_with_one_result(template: Template) -> None:
    made = 0
    for seed in range(25):
        files = Files()
        try:
            values = template.fill({}, Random(seed), files)
        except UnfillableError:
            continue
        assert set(values) == {port.name for port in template.params}
        inputs = {port.name: canonical(port.type, values[port.name]) for port in template.params}
        first = execute(template, inputs, files, "")
        assert first == execute(template, inputs, Files.restored(files.stored()), "")
        assert set(first) == {port.name for port in template.outputs}
        made += 1
    assert made >= 20


@pytest.mark.parametrize("template", TOOLS, ids=lambda each: each.id)
def test_nothing_that_is_sent_raises_anything_but_a_refusal(template: Template) -> None:
    nasty = {
        "Big_Int": ["0", "-1", "9" * 4000, "1"],
        "Text_Generic": ["../../etc/passwd", "(a+)+$", "\x00", "é" * 4000, "a"],
        "Hex_String": ["00", "ff" * 2000],
        "File_Id": ["file_00000000", "/etc/passwd"],
        "Code_Python": ["import os", "def run(n):\n    return run(n)", "while True: pass", "def run(n): return n ** n"],
        "Hex_String_Key_AES": ["00" * 16],
        "Hex_String_IV_AES": ["00" * 16],
    }
    for at in range(5):
        values = {port.name: nasty[port.type][at % len(nasty[port.type])] for port in template.params}
        try:
            execute(template, values, Files(), "")
        except (ToolUseError, WrongTypeError):
            continue


def test_tools_agree_with_libraries_and_published_values() -> None:
    assert run("sha256", text="abc")["digest"] == hashlib.sha256(b"abc").hexdigest()
    assert run("crc32", text="123456789") == {"crc": "cbf43926"}
    assert run("luhn_complete", digits="7992739871") == {"number": "79927398713"}
    assert run("iban_complete", country="GB", bban="WEST12345698765432") == {"iban": "GB82WEST12345698765432"}
    assert run("base_convert", value="ff", from_base="16", to_base="2") == {"value": "11111111"}
    assert run("rot_n", text="Hello", shift="13") == {"text": "Uryyb"}
    assert run("mod_inverse", a="3", modulus="11") == {"inverse": "4"}
    assert run("gcd", a="12", b="18")["gcd"] == str(math.gcd(12, 18))
    assert run("zlib_decompress", hex=zlib.compress(b"abc").hex()) == {"text": "abc"}
    assert zlib.decompress(bytes.fromhex(run("zlib_compress", text="abc")["hex"])) == b"abc"
    assert run("xor_hex", left="ff00ff", right="0f") == {"hex": "f00ff0"}
    assert run("hex_encode", text="é")["hex"] == binascii.hexlify("é".encode()).decode()
    # RFC 6238, appendix B, SHA-1: eight digits.
    secret = base64.b32encode(b"12345678901234567890").decode()
    for time, code in (("59", "94287082"), ("1111111109", "07081804"), ("20000000000", "65353130")):
        assert run("totp", secret=secret, unix_time=time) == {"code": code}


def test_primes_are_those_of_trial_division() -> None:
    assert [n for n in range(2000) if is_prime(n)] == [
        n for n in range(2, 2000) if all(n % d for d in range(2, math.isqrt(n) + 1))
    ]
    assert not is_prime(3215031751)  # a strong pseudoprime to the bases 2, 3, 5 and 7


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os", "a program is one function"),
        ("def run(n):\n    return open(n)", "Call does not exist"),
        ("def run(n):\n    return n.__class__", "Attribute does not exist"),
        ("def run(n):\n    for k in range(99999999):\n        n = n + k\n    return n", "too many steps"),
        ("def run(n):\n    for k in range(999):\n        n = n * n\n    return n", "too large"),
        ("def run(n):\n    return n // 0", "fails"),
        ("def run(n):\n    n = n", "returns nothing"),
        ("def run(n):" + "(" * 1000, "not valid"),
    ],
)
def test_programs_can_do_nothing_else(code: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        run_program(code, 12345678901234567)


def test_a_pattern_that_explodes_is_stopped() -> None:
    with pytest.raises(ToolUseError, match="takes too long|exactly once"):
        run("regex_search", text="a" * 4000 + "!", pattern="((?:a|aa)+)+$")


def test_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(ToolUseError, match="longer than"):
        run("zlib_decompress", hex=zlib.compress(b"0" * 1_000_000).hex())


@pytest.mark.parametrize("member", ["/etc/passwd", "../up.txt", "a/../../b", "c:\\x"])
def test_an_archive_cannot_be_left(member: str) -> None:
    files = Files()
    values = BY_ID["zip_extract"].fill({}, Random(1), files)
    with pytest.raises(ToolUseError, match="leaves the archive"):
        execute(BY_ID["zip_extract"], values | {"member": member}, files, "")


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("Big_Int", True),
        ("Big_Int", 1.0),
        ("Big_Int", "0x10"),
        ("Big_Int", "9" * 5000),
        ("Hex_String", "abc"),
        ("Hex_String", 12),
        ("Hex_String_Key_AES", "00" * 5),
        ("Text_Generic", None),
        ("Text_Generic", ""),
    ],
)
def test_values_of_another_type_are_refused(type: str, value: object) -> None:
    with pytest.raises(WrongTypeError):
        canonical(type, value)  # type: ignore[arg-type]


def test_one_more_tool_is_one_declaration() -> None:
    made = tool("reverse", "reverses a text", ["text:T the text"], ["text:T the reversed text"], _reverse)
    assert made.inputs == (Port("text", "Text_Generic", "the text"),)
    values = made.fill({}, Random(0), Files())
    assert execute(made, values, Files(), "")["text"] == values["text"][::-1]


def _reverse(values: object, files: Files) -> dict[str, str]:
    assert isinstance(values, dict)
    return {"text": values["text"][::-1]}
