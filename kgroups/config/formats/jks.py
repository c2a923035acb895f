"""Read Sun's JKS keystores, the default of Java up to version 8.

Layout, big-endian: magic, version, number of entries; an entry is a tag (1 key, 2 trusted certificate), an alias, a
date, and its contents. The last field is the SHA-1 of the password (UTF-16), the text "Mighty Aphrodite", and all bytes
before it. A key is XORed with a stream of SHA-1 over password and salt, which is weak protection.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

from .pem import der_length

MAGIC = b"\xfe\xed\xfe\xed"
_PROTECTED = bytes.fromhex("060a2b060104012a02110101")
"""DER encoding of the object identifier of Sun's key protection."""
_DIGEST = 20


class JksEntry(NamedTuple):
    """A trusted certificate (chain of one, no key), or a key with its chain. All in DER."""

    alias: str
    chain: tuple[bytes, ...]
    protected_key: bytes | None = None


class _ByteReader:
    """Reads fields sequentially; an announced size beyond the data raises ``ValueError`` and allocates nothing."""

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
    """Return the entries; like Java, without a password they are not verified.

    :raises ValueError: if it cannot be read; the message continues a sentence that starts with the file name.
    """
    source = _ByteReader(data)
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
        expected = hashlib.sha1(_utf16(password) + b"Mighty Aphrodite" + body, usedforsecurity=False).digest()
        if not hmac.compare_digest(expected, digest):
            raise ValueError("does not open with this password (or is corrupt)")
    return entries


def _count(source: _ByteReader, size: int) -> int:
    count = source.number()
    if count > size // 8:  # more than fit into the data
        raise ValueError("is truncated or corrupt")
    return count


def _entry(source: _ByteReader, version: int) -> JksEntry:
    tag = source.number()
    alias = source.text()
    source.take(8)  # creation date
    if tag == 1:
        key = source.take(source.number())
        chain = tuple(_certificate(source, version) for _ in range(_count(source, 1 << 20)))
        return JksEntry(alias, chain, key)
    if tag == 2:
        return JksEntry(alias, (_certificate(source, version),))
    raise ValueError("is truncated or corrupt")


def _certificate(source: _ByteReader, version: int) -> bytes:
    certificate_type = source.text() if version == 2 else "X.509"
    data = source.take(source.number())
    if certificate_type != "X.509" or der_length(data) != len(data):
        raise ValueError("contains a certificate that is not X.509")
    return data


def open_key(protected: bytes, password: str) -> bytes:
    """Decrypt a key; return it as PKCS#8 DER.

    :raises ValueError: if it is corrupt, or the password does not open it.
    """
    at = protected.find(_PROTECTED)
    if at < 0 or der_length(protected) != len(protected):
        raise ValueError("contains a key with an unsupported protection")
    data = _octets(protected, at + len(_PROTECTED))
    if len(data) < 2 * _DIGEST:
        raise ValueError("contains a truncated key")
    salt, encrypted, check = data[:_DIGEST], data[_DIGEST:-_DIGEST], data[-_DIGEST:]
    secret = _utf16(password)
    stream, block = bytearray(), salt
    while len(stream) < len(encrypted):
        block = hashlib.sha1(secret + block, usedforsecurity=False).digest()
        stream += block
    key = bytes(a ^ b for a, b in zip(encrypted, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key, usedforsecurity=False).digest(), check):
        raise ValueError("has a key that does not open with this password")
    return key


def _octets(data: bytes, at: int) -> bytes:
    """Return the octet string after the algorithm, whose parameters may be NULL."""
    if data[at : at + 2] == b"\x05\x00":
        at += 2
    if data[at : at + 1] != b"\x04":
        raise ValueError("contains a corrupt key")
    # The length of an octet string is encoded like that of a sequence.
    length = der_length(b"\x30" + data[at + 1 : at + 8])
    if length is None or at + length != len(data):
        raise ValueError("contains a corrupt key")
    header = 2 if data[at + 1] < 0x80 else 2 + (data[at + 1] & 0x7F)
    return data[at + header : at + length]


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")
