"""Keystores of Java: opened, or refused with a ValueError of our words (PKCS12 by cryptography)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress

from kgroups.config.formats import jks, keys
from kgroups.config.secret import Secret

PASSWORD = "changeit"
CERTIFICATE = b"\x30\x03\x02\x01\x01"
ALGORITHM = bytes.fromhex("300e060a2b060104012a021101010500")


def sealed(body: bytes) -> bytes:
    seal = hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body, usedforsecurity=False).digest()
    return body + seal


def seeds() -> Iterator[bytes]:
    head = jks.MAGIC + (2).to_bytes(4, "big")
    certificate = b"\0\x05X.509" + len(CERTIFICATE).to_bytes(4, "big") + CERTIFICATE
    trusted = (2).to_bytes(4, "big") + b"\0\x01a" + bytes(8) + certificate
    octets = b"\x04\x32" + bytes(50)
    protected = b"\x30" + bytes([len(ALGORITHM) + len(octets)]) + ALGORITHM + octets
    key = (1).to_bytes(4, "big") + b"\0\x01k" + bytes(8) + len(protected).to_bytes(4, "big") + protected
    key += (1).to_bytes(4, "big") + certificate
    yield head + (2).to_bytes(4, "big") + trusted + key
    yield head + (1).to_bytes(4, "big") + trusted
    yield b"\x30\x0b\x02\x01\x03\x30\x06\x06\x01\x01\xa0\x01\x00"


def one(data: bytes) -> None:
    for store, password in ((data, None), (sealed(data), PASSWORD)):
        with suppress(ValueError):
            for entry in jks.read_jks(store, password):
                if entry.protected_key:
                    with suppress(ValueError):
                        jks.open_key(entry.protected_key, PASSWORD)
    with suppress(ValueError):
        keys.open_pkcs12(data, Secret(PASSWORD))
    with suppress(ValueError):
        keys.load_der(data)
