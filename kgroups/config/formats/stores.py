"""Keystores and truststores, JKS, PKCS12 or PEM: what is in them, as PEM.

Java tells JKS and PKCS12 apart by their contents, whatever the type says (``keystore.type.compat``): so do we.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kgroups.errors import ConfigError

from ..properties import read_bounded
from ..safe_text import nearly
from ..secret import Secret
from . import jks, pem

if TYPE_CHECKING:
    from .keys import PrivateKey

_NOT_OURS = {"JCEKS": b"\xce\xce\xce\xce"}
TYPES = ("JKS", "PKCS12", "PEM")
_OTHERS = ("JCEKS", "BCFKS", "BKS", "UBER", "PKCS11", "DKS", "WINDOWS-ROOT", "KEYCHAINSTORE", *TYPES)


class Identity(NamedTuple):
    """A certificate with its chain, and the key to it; the key is encrypted where it was."""

    certificate: str
    key: Secret
    key_password: Secret | None


def read_authorities(path: Path, kind: str, password: Secret | None, place: str) -> str:
    """The certificates that a truststore holds, PEM.

    :param kind: of :data:`TYPES`, in any case.
    :param place: who asks for the file; errors begin with it.
    :raises ConfigError: for a store that cannot be opened, or that holds no certificate.
    """
    data, kind = _opened(path, kind, place)
    with _naming(f"{place}: {path}"):
        if kind == "PEM":
            return authorities_of(_text(data))
        if kind == "JKS":
            entries = jks.read_jks(data, password.reveal() if password else None)
            found = [pem.of_certificate(entry.chain[0]) for entry in entries if entry.chain]
        else:
            from . import keys

            found = keys.open_pkcs12(data, password).chain
        if not found:
            raise ValueError(
                "holds no certificate" + ("" if password else ", at least none that opens without a password")
            )
        return "".join(dict.fromkeys(found))


def read_identity(path: Path, kind: str, password: Secret | None, key_password: Secret | None, place: str) -> Identity:
    """The first key that a keystore holds, with its certificates.

    :raises ConfigError: for a store that cannot be opened, or that holds no key.
    """
    data, kind = _opened(path, kind, place)
    with _naming(f"{place}: {path}"):
        if kind == "PEM":
            text = _text(data)
            return identity_of(text, text, key_password)
        if kind == "JKS":
            return _jks_identity(data, password, key_password)
        return _pkcs12_identity(data, password or key_password)


def authorities_of(text: str) -> str:
    """The certificates in a PEM text.

    :raises ValueError: when there is none, or one is damaged.
    """
    found = [block.text for block in pem.blocks(text) if block.is_certificate]
    if not found:
        raise ValueError("contains no certificate (-----BEGIN CERTIFICATE-----)")
    return "".join(found)


def identity_of(certificates: str, key: str, password: Secret | None) -> Identity:
    """A certificate chain and a key, both in PEM texts (or in one).

    :raises ValueError: when one is missing or damaged, the password does not open the key, or the two do not match.
    """
    chain = authorities_of(certificates)
    private = next((block for block in pem.blocks(key) if block.is_key), None)
    if private is None:
        raise ValueError("contains no private key (-----BEGIN PRIVATE KEY-----)")
    if private.encrypted and not password:
        raise ValueError("contains an encrypted key; set ssl.key.password")
    from . import keys

    text, opening = private.text, password if private.encrypted else None
    keys.check_match(keys.load_pem(text, opening), chain)
    return Identity(chain, Secret(text), opening)


def _pkcs12_identity(data: bytes, password: Secret | None) -> Identity:
    from . import keys

    opened = keys.open_pkcs12(data, password)
    if opened.key is None:
        raise ValueError("contains no private key")
    if not opened.key_certificate:
        raise ValueError("contains no certificate for its private key")
    return _sealed(opened.key, "".join(opened.chain), password)


def _jks_identity(data: bytes, password: Secret | None, key_password: Secret | None) -> Identity:
    entries = [entry for entry in jks.read_jks(data, password.reveal() if password else None) if entry.protected_key]
    if not entries:
        raise ValueError("contains no private key")
    opening = key_password or password
    if opening is None:
        raise ValueError("contains a key; set ssl.key.password or ssl.keystore.password")
    protected = entries[0].protected_key
    assert protected
    from . import keys

    key = keys.load_der(jks.open_key(protected, opening.reveal()))
    chain = "".join(map(pem.of_certificate, entries[0].chain))
    return _sealed(key, chain, opening)


def _sealed(key: PrivateKey, chain: str, password: Secret | None) -> Identity:
    from . import keys

    keys.check_match(key, chain)
    return Identity(chain, keys.sealed(key, password), password)


def _opened(path: Path, kind: str, place: str) -> tuple[bytes, str]:
    """A store's bytes, and what it is."""
    named = kind.strip().upper()
    if named not in TYPES:
        shown = f"type {kind.strip()!r}" if nearly(named, _OTHERS) else "this type"
        raise ConfigError(
            f"{place}: keystores of {shown} cannot be read, those of {', '.join(TYPES)} can: "
            "keytool -importkeystore -deststoretype PKCS12 makes one"
        )
    data = read_bounded(path, place)
    if not data:
        raise ConfigError(f"{place}: {path} is empty")
    for other, magic in _NOT_OURS.items():
        if data.startswith(magic):
            raise ConfigError(
                f"{place}: {path} is a keystore of type {other}, which cannot be read: "
                "keytool -importkeystore -deststoretype PKCS12 makes one that can"
            )
    if named == "PEM":
        return data, named
    if b"-----BEGIN " in data:
        key = "ssl.truststore.type" if place.endswith("ssl.truststore.location") else "ssl.keystore.type"
        raise ConfigError(f"{place}: {path} is PEM, not {named}: set {key}=PEM")
    return data, "JKS" if data.startswith(jks.MAGIC) else "PKCS12"


@contextlib.contextmanager
def _naming(before: str) -> Iterator[None]:
    """What is wrong with a store, said with its name before it."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{before}: {error}") from None


def _text(data: bytes) -> str:
    return data.decode("latin-1")  # what is no base64 in it is remarks
