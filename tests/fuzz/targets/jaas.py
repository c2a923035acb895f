"""Lines of ``sasl.jaas.config``, PEM texts, and tokens: parsed, or refused with a ValueError of our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kgroups.config.formats import jwt, pem
from kgroups.config.formats.jaas import parse_jaas
from kgroups.config.properties import _unescaped

LINE = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password=\'p\\"\' /* c */ n=1;'
PRIVATE = b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----"
TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1IiwiZXhwIjoxfQ."


def seeds() -> Iterator[bytes]:
    yield LINE.encode()
    yield b"a required // c\n b='c\\101';"
    yield b"-----BEGIN CERTIFICATE-----\nMAAwAA==\n-----END CERTIFICATE-----\n" + PRIVATE
    yield TOKEN.encode()


def one(data: bytes) -> None:
    text = data.decode("latin-1")
    with suppress(ValueError):
        parse_jaas(text)
    with suppress(ValueError):
        pem.blocks(text)
    with suppress(ValueError):
        _unescaped(text)
    jwt.expiry_of(text)
    jwt.expired_at(text, 1.0)
