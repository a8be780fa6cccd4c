"""Tools of cryptography: digests, ciphers, one-time codes."""

import base64
import hashlib
import hmac
import struct
import zlib
from random import Random

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import hex_digits, next_prime, number, words
from agenthard.taxonomy.errors import MissingExtraError


def _sha256(values: Values, files: Files) -> dict[str, str]:
    return {"digest": hashlib.sha256(values["text"].encode()).hexdigest()}


def _md5(values: Values, files: Files) -> dict[str, str]:
    return {"digest": hashlib.md5(values["text"].encode(), usedforsecurity=False).hexdigest()}


def _crc32(values: Values, files: Files) -> dict[str, str]:
    return {"crc": f"{zlib.crc32(values['text'].encode()):08x}"}


def _mac(values: Values, files: Files) -> dict[str, str]:
    return {"mac": hmac.new(values["key"].encode(), values["message"].encode(), hashlib.sha256).hexdigest()}


def _aes(key: str, iv: str, text: bytes, *, encrypt: bool) -> bytes:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.padding import PKCS7
    except ModuleNotFoundError as error:
        raise MissingExtraError("the tool aes_cbc_decrypt", "escape") from error
    cipher = Cipher(algorithms.AES(bytes.fromhex(key)), modes.CBC(bytes.fromhex(iv)))
    padding = PKCS7(128)
    if encrypt:
        pad, work = padding.padder(), cipher.encryptor()
        return work.update(pad.update(text) + pad.finalize()) + work.finalize()
    unpad, undo = padding.unpadder(), cipher.decryptor()
    return unpad.update(undo.update(text) + undo.finalize()) + unpad.finalize()


def _aes_decrypt(values: Values, files: Files) -> dict[str, str]:
    try:
        plain = _aes(values["key"], values["iv"], bytes.fromhex(values["ciphertext"]), encrypt=False).decode()
    except ValueError as error:
        raise ToolUseError("the ciphertext does not belong to this key and vector") from error
    return {"plaintext": plain}


def _aes_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {} if "key" in known else {"key": hex_digits(rng, rng.choice((32, 48, 64)))}
    made |= {} if "iv" in known else {"iv": hex_digits(rng)}
    both = dict(known) | made
    return made | {"ciphertext": _aes(both["key"], both["iv"], words(rng).encode(), encrypt=True).hex()}


def _rsa(values: Values, files: Files) -> dict[str, str]:
    ciphertext, d, n = (int(values[name]) for name in ("ciphertext", "d", "n"))
    if not 0 <= ciphertext < n or d < 1 or n.bit_length() > 2048 or d.bit_length() > 2048:
        raise ToolUseError("the ciphertext has to be below n, and d above 0")
    return {"message": str(pow(ciphertext, d, n))}


def _rsa_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    bits = max(int(known["ciphertext"]).bit_length() if "ciphertext" in known else 0, 80) // 2 + 8
    if bits > 400:
        raise UnfillableError("the ciphertext is too large")
    e = 65537
    while True:
        p, q = (next_prime(number(rng, bits, bits)) for _ in range(2))
        phi = (p - 1) * (q - 1)
        if p != q and phi % e:
            break
    made = {"d": str(pow(e, -1, phi)), "n": str(p * q)}
    return made if "ciphertext" in known else made | {"ciphertext": str(pow(number(rng, 56, 64), e, p * q))}


def _totp(values: Values, files: Files) -> dict[str, str]:
    """Compute a code of RFC 6238: SHA-1, six digits, steps of 30 seconds."""
    try:
        key = base64.b32decode(values["secret"])
    except ValueError as error:
        raise ToolUseError("the secret has to be in base 32") from error
    counter = struct.pack(">Q", int(values["unix_time"]) // 30 % 2**64)
    digest = hmac.new(key, counter, hashlib.sha1).digest()
    at = digest[-1] & 15
    code = struct.unpack(">I", digest[at : at + 4])[0] & 0x7FFFFFFF
    return {"code": f"{code % 10**8:08d}"}


def _totp_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {} if "unix_time" in known else {"unix_time": str(rng.randrange(10**9, 17 * 10**8))}
    return made | {"secret": base64.b32encode(rng.randbytes(20)).decode()}


CRYPTO = (
    tool(
        "sha256",
        "computes the SHA-256 digest of a text",
        ["text:T the text"],
        ["digest:H the digest"],
        _sha256,
    ),
    tool("md5", "computes the MD5 digest of a text", ["text:T the text"], ["digest:H the digest"], _md5),
    tool(
        "crc32",
        "computes the CRC-32 checksum of a text",
        ["text:T the text"],
        ["crc:H the checksum, eight digits"],
        _crc32,
    ),
    tool(
        "hmac_sha256",
        "computes the HMAC-SHA-256 of a message",
        ["key:T the key", "message:T the message"],
        ["mac:H the authentication code"],
        _mac,
    ),
    tool(
        "aes_cbc_decrypt",
        "decrypts a text by AES in CBC mode",
        ["ciphertext:H! the encrypted text", "key:K the key", "iv:V the initial vector"],
        ["plaintext:T the text"],
        _aes_decrypt,
        _aes_fill,
    ),
    tool(
        "rsa_decrypt",
        "decrypts a number by textbook RSA",
        ["ciphertext:B the encrypted number", "d:B! the private exponent", "n:B! the modulus"],
        ["message:B the number"],
        _rsa,
        _rsa_fill,
    ),
    tool(
        "totp",
        "computes the one-time code of eight digits that belongs to a secret at a time",
        ["secret:T! the secret, in base 32", "unix_time:B the time in seconds since 1970"],
        ["code:T the code"],
        _totp,
        _totp_fill,
    ),
)
