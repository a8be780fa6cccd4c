"""Tools that encode and decode."""

import base64
import unicodedata
import zlib
from random import Random

from agenthard.escape.ports import MAX_LENGTH
from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, Values
from agenthard.escape.templates.values import hex_digits, words

_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])
_ACCENTS = "áàâäãåçéèêëíìîïñóòôöõúùûüý"
FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolUseError("the data is not text in UTF-8") from error


def _base64_encode(values: Values, files: Files) -> dict[str, str]:
    return {"encoded": base64.b64encode(values["text"].encode()).decode()}


def _base64_decode(values: Values, files: Files) -> dict[str, str]:
    try:
        return {"text": _text(base64.b64decode(values["data"], validate=True))}
    except ValueError as error:
        raise ToolUseError("the data is not base 64") from error


def _base64_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    return {"data": base64.b64encode(words(rng).encode()).decode()}


def _hex_encode(values: Values, files: Files) -> dict[str, str]:
    return {"hex": values["text"].encode().hex()}


def _hex_decode(values: Values, files: Files) -> dict[str, str]:
    return {"text": _text(bytes.fromhex(values["hex"]))}


def _hex_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    return {"hex": words(rng).encode().hex()}


def _compress(values: Values, files: Files) -> dict[str, str]:
    # Level 0 stores the text: other levels give other bytes with other builds of zlib.
    return {"hex": zlib.compress(values["text"].encode(), 0).hex()}


def _decompress(values: Values, files: Files) -> dict[str, str]:
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(bytes.fromhex(values["hex"]), MAX_LENGTH)
    except zlib.error as error:
        raise ToolUseError("the data was not compressed by zlib") from error
    if not reader.eof:
        raise ToolUseError(f"the data is cut off, or longer than {MAX_LENGTH:,} bytes")
    return {"text": _text(data)}


def _decompress_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    return {"hex": zlib.compress(words(rng, 5).encode(), 9).hex()}


def _xor(values: Values, files: Files) -> dict[str, str]:
    left, right = sorted((bytes.fromhex(values["left"]), bytes.fromhex(values["right"])), key=len, reverse=True)
    return {"hex": bytes(byte ^ right[at % len(right)] for at, byte in enumerate(left)).hex()}


def _rotate(values: Values, files: Files) -> dict[str, str]:
    shift = int(values["shift"])
    if shift < 1 or shift % 26 == 0:
        raise ToolUseError("the shift has to be positive and not a multiple of 26")
    return {"text": "".join(_shifted(character, shift) for character in values["text"])}


def _shifted(character: str, by: int) -> str:
    for first in "aA":
        if first <= character <= chr(ord(first) + 25):
            return chr((ord(character) - ord(first) + by) % 26 + ord(first))
    return character


def _rotate_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {} if "text" in known else {"text": words(rng, 4)}
    return made | {"shift": str(rng.randrange(27, 10**6) * 26 + rng.randrange(1, 26))}


def _xor_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    return {name: hex_digits(rng) for name in ("left", "right") if name not in known}


def _normalize(values: Values, files: Files) -> dict[str, str]:
    if values["form"] not in FORMS:
        raise ToolUseError(f"the form has to be one of {', '.join(FORMS)}")
    return {"text": unicodedata.normalize(values["form"], values["text"])}  # type: ignore[arg-type]


def _normalize_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    form = rng.choice(FORMS)
    plain = f"{words(rng, 2)} {''.join(rng.sample(_ACCENTS, 3))}"
    return {"text": unicodedata.normalize("NFD" if form.endswith("C") else "NFC", plain), "form": form}


def _bidi(values: Values, files: Files) -> dict[str, str]:
    text = values["text"].translate(_BIDI)
    if not text:
        raise ToolUseError("nothing is left of the text")
    return {"text": text}


def _bidi_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    text = words(rng)
    for _ in range(3):
        at = rng.randrange(1, len(text))
        text = text[:at] + chr(rng.choice(sorted(_BIDI))) + text[at:]
    return {"text": text}


CODECS = (
    tool(
        "base64_encode",
        "encodes a text in base 64",
        ["text:T the text"],
        ["encoded:T the text in base 64"],
        _base64_encode,
    ),
    tool(
        "base64_decode",
        "decodes a text from base 64",
        ["data:T! the text in base 64"],
        ["text:T the text"],
        _base64_decode,
        _base64_fill,
    ),
    tool(
        "hex_encode",
        "writes the bytes of a text in hexadecimal",
        ["text:T the text"],
        ["hex:H its bytes"],
        _hex_encode,
    ),
    tool(
        "hex_decode",
        "reads a text from its bytes in hexadecimal",
        ["hex:H! the bytes"],
        ["text:T the text"],
        _hex_decode,
        _hex_fill,
    ),
    tool(
        "zlib_compress",
        "packs a text by zlib without compressing it",
        ["text:T the text"],
        ["hex:H the packed bytes"],
        _compress,
    ),
    tool(
        "zlib_decompress",
        "unpacks a text that zlib has compressed",
        ["hex:H! the packed bytes"],
        ["text:T the text"],
        _decompress,
        _decompress_fill,
    ),
    tool(
        "rot_n",
        "shifts the letters of a text along the alphabet",
        ["text:T the text", "shift:B! by how many letters"],
        ["text:T the shifted text"],
        _rotate,
        _rotate_fill,
    ),
    tool(
        "xor_hex",
        "combines two strings of bytes by exclusive or, repeating the shorter one",
        ["left:H one string", "right:H another string"],
        ["hex:H the combination"],
        _xor,
        _xor_fill,
    ),
    tool(
        "unicode_normalize",
        "brings a text into a normal form of Unicode",
        ["text:T! the text", "form:T! the form: NFC, NFD, NFKC or NFKD"],
        ["text:T the text in this form"],
        _normalize,
        _normalize_fill,
    ),
    tool(
        "bidi_sanitize",
        "removes the marks of writing direction from a text",
        ["text:T! the text with hidden marks"],
        ["text:T the text without them"],
        _bidi,
        _bidi_fill,
    ),
)
