"""Java's own keystore format, read. Sun's JKS only, the default up to Java 8.

Layout, all big-endian: magic, version, count of entries; an entry is a tag (1 key, 2 trusted certificate), an alias, a
date, and its contents; behind them SHA-1 over the password (UTF-16), the words "Mighty Aphrodite", and all before. A
key is XORed with a stream of SHA-1 over password and salt: this protects little, but it is what there is.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

from .pem import der_length

MAGIC = b"\xfe\xed\xfe\xed"
_PROTECTED = bytes.fromhex("060a2b060104012a02110101")
"""The object identifier of Sun's key protection, as DER."""
_DIGEST = 20


class JksEntry(NamedTuple):
    """One entry: a trusted certificate (one in the chain, no key), or a key with its chain. All DER."""

    alias: str
    chain: tuple[bytes, ...]
    protected_key: bytes | None = None


class _Bytes:
    """Reads forward; never further than there is, and makes room for no more than there is."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count < 0 or count > len(self._data) - self.at:
            raise ValueError("is truncated or corrupt")
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self, size: int = 4) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> str:
        return self.take(self.number(2)).decode("utf-8", "replace")


def read_jks(data: bytes, password: str | None) -> list[JksEntry]:
    """Its entries; without a password, unchecked, as Java does.

    :raises ValueError: in words that fit behind the file's name.
    """
    source = _Bytes(data)
    if source.take(4) != MAGIC:
        raise ValueError("is not a JKS keystore")
    version = source.number()
    if version not in (1, 2):
        raise ValueError(f"is a JKS keystore of unsupported version {version}")
    entries = [_entry(source, version) for _ in range(_count(source, len(data)))]
    body, digest = data[: source.at], source.take(_DIGEST)
    if source.at != len(data):
        raise ValueError("has data after its end: it is corrupt")
    if password is not None:
        seal = hashlib.sha1(_utf16(password) + b"Mighty Aphrodite" + body, usedforsecurity=False).digest()
        if not hmac.compare_digest(seal, digest):
            raise ValueError("does not open with this password (or is corrupt)")
    return entries


def _count(source: _Bytes, size: int) -> int:
    count = source.number()
    if count > size // 8:  # more than could be there
        raise ValueError("is truncated or corrupt")
    return count


def _entry(source: _Bytes, version: int) -> JksEntry:
    tag = source.number()
    alias = source.text()
    source.take(8)  # when it was made
    if tag == 1:
        key = source.take(source.number())
        chain = tuple(_certificate(source, version) for _ in range(_count(source, 1 << 20)))
        return JksEntry(alias, chain, key)
    if tag == 2:
        return JksEntry(alias, (_certificate(source, version),))
    raise ValueError("is truncated or corrupt")


def _certificate(source: _Bytes, version: int) -> bytes:
    kind = source.text() if version == 2 else "X.509"
    data = source.take(source.number())
    if kind != "X.509" or der_length(data) != len(data):
        raise ValueError("contains a certificate that is not X.509")
    return data


def open_key(protected: bytes, password: str) -> bytes:
    """The key, PKCS#8 DER.

    :raises ValueError: when the password does not open it.
    """
    at = protected.find(_PROTECTED)
    if at < 0 or der_length(protected) != len(protected):
        raise ValueError("contains a key with an unsupported protection")
    data = _octets(protected, at + len(_PROTECTED))
    if len(data) < 2 * _DIGEST:
        raise ValueError("contains a truncated key")
    salt, sealed, check = data[:_DIGEST], data[_DIGEST:-_DIGEST], data[-_DIGEST:]
    secret = _utf16(password)
    stream, block = bytearray(), salt
    while len(stream) < len(sealed):
        block = hashlib.sha1(secret + block, usedforsecurity=False).digest()
        stream += block
    key = bytes(a ^ b for a, b in zip(sealed, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key, usedforsecurity=False).digest(), check):
        raise ValueError("has a key that does not open with this password")
    return key


def _octets(data: bytes, at: int) -> bytes:
    """The octet string behind the algorithm, which may have a NULL for its parameters."""
    if data[at : at + 2] == b"\x05\x00":
        at += 2
    if data[at : at + 1] != b"\x04":
        raise ValueError("contains a corrupt key")
    # A sequence and an octet string say their length alike.
    length = der_length(b"\x30" + data[at + 1 : at + 8])
    if length is None or at + length != len(data):
        raise ValueError("contains a corrupt key")
    head = 2 if data[at + 1] < 0x80 else 2 + (data[at + 1] & 0x7F)
    return data[at + head : at + length]


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")
