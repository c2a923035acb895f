"""Read keystores and truststores (JKS, PKCS12, or PEM) and return their contents as PEM.

Like Java (``keystore.type.compat``), detect JKS and PKCS12 by their contents, whatever type is configured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kgroups.errors import ConfigError

from ..properties import read_bounded
from ..safe_text import is_similar
from ..secret import Secret
from . import jks, pem

if TYPE_CHECKING:
    from .keys import PrivateKey

_UNSUPPORTED = {"JCEKS": b"\xce\xce\xce\xce"}
TYPES = ("JKS", "PKCS12", "PEM")
_KNOWN_TYPES = ("JCEKS", "BCFKS", "BKS", "UBER", "PKCS11", "DKS", "WINDOWS-ROOT", "KEYCHAINSTORE", *TYPES)


class ClientCertificate(NamedTuple):
    """A certificate with its chain, and its private key, which is encrypted if it was in the store."""

    certificate: str
    key: Secret
    key_password: Secret | None


def read_authorities(path: Path, store_type: str, password: Secret | None, place: str) -> str:
    """Return the certificates of a truststore as PEM.

    :param store_type: one of :data:`TYPES`, case-insensitive.
    :param place: the setting that names the file; errors start with it.
    :raises ConfigError: if the store cannot be opened, or contains no certificate.
    """
    data, store_type = _read_store(path, store_type, place)
    with _errors_at(f"{place}: {path}"):
        if store_type == "PEM":
            return authorities_of(_text(data))
        if store_type == "JKS":
            entries = jks.read_jks(data, password.reveal() if password else None)
            found = [pem.certificate_pem(entry.chain[0]) for entry in entries if entry.chain]
        else:
            from . import keys

            found = keys.open_pkcs12(data, password).chain
        if not found:
            raise ValueError(
                "holds no certificate" + ("" if password else ", at least none that opens without a password")
            )
        return "".join(dict.fromkeys(found))


def read_client_certificate(
    path: Path, store_type: str, password: Secret | None, key_password: Secret | None, place: str
) -> ClientCertificate:
    """Return the first key of a keystore with its certificates.

    :param store_type: one of :data:`TYPES`, case-insensitive.
    :param place: the setting that names the file; errors start with it.
    :raises ConfigError: if the store cannot be opened, or contains no key.
    """
    data, store_type = _read_store(path, store_type, place)
    with _errors_at(f"{place}: {path}"):
        if store_type == "PEM":
            text = _text(data)
            return client_certificate_of(text, text, key_password)
        if store_type == "JKS":
            return _jks_certificate(data, password, key_password)
        return _pkcs12_certificate(data, password or key_password)


def authorities_of(text: str) -> str:
    """Return the certificates in a PEM text.

    :raises ValueError: if there is none, or one is corrupt.
    """
    found = [block.text for block in pem.blocks(text) if block.is_certificate]
    if not found:
        raise ValueError("contains no certificate (-----BEGIN CERTIFICATE-----)")
    return "".join(found)


def client_certificate_of(certificates: str, key: str, password: Secret | None) -> ClientCertificate:
    """Return a certificate chain and its key from two PEM texts, which may be the same.

    :raises ValueError: if one is missing or corrupt, the password does not open the key, or they do not match.
    """
    chain = authorities_of(certificates)
    private = next((block for block in pem.blocks(key) if block.is_key), None)
    if private is None:
        raise ValueError("contains no private key (-----BEGIN PRIVATE KEY-----)")
    if private.encrypted and not password:
        raise ValueError("contains an encrypted key; set ssl.key.password")
    from . import keys

    text, key_password = private.text, password if private.encrypted else None
    keys.check_match(keys.load_pem(text, key_password), chain)
    return ClientCertificate(chain, Secret(text), key_password)


def _pkcs12_certificate(data: bytes, password: Secret | None) -> ClientCertificate:
    from . import keys

    opened = keys.open_pkcs12(data, password)
    if opened.key is None:
        raise ValueError("contains no private key")
    if not opened.key_certificate:
        raise ValueError("contains no certificate for its private key")
    return _checked(opened.key, "".join(opened.chain), password)


def _jks_certificate(data: bytes, password: Secret | None, key_password: Secret | None) -> ClientCertificate:
    entries = [entry for entry in jks.read_jks(data, password.reveal() if password else None) if entry.protected_key]
    if not entries:
        raise ValueError("contains no private key")
    key_password = key_password or password
    if key_password is None:
        raise ValueError("contains a key; set ssl.key.password or ssl.keystore.password")
    protected = entries[0].protected_key
    assert protected
    from . import keys

    key = keys.load_der(jks.open_key(protected, key_password.reveal()))
    chain = "".join(map(pem.certificate_pem, entries[0].chain))
    return _checked(key, chain, key_password)


def _checked(key: PrivateKey, chain: str, password: Secret | None) -> ClientCertificate:
    from . import keys

    keys.check_match(key, chain)
    return ClientCertificate(chain, keys.encode_key(key, password), password)


def _read_store(path: Path, store_type: str, place: str) -> tuple[bytes, str]:
    """Return the bytes of a store and its actual type, one of :data:`TYPES`."""
    configured = store_type.strip().upper()
    if configured not in TYPES:
        shown = f"type {store_type.strip()!r}" if is_similar(configured, _KNOWN_TYPES) else "this type"
        raise ConfigError(
            f"{place}: keystores of {shown} are not supported, only {', '.join(TYPES)}; "
            "convert it with keytool -importkeystore -deststoretype PKCS12"
        )
    data = read_bounded(path, place)
    if not data:
        raise ConfigError(f"{place}: {path} is empty")
    for other, magic in _UNSUPPORTED.items():
        if data.startswith(magic):
            raise ConfigError(
                f"{place}: {path} is a keystore of unsupported type {other}; "
                "convert it with keytool -importkeystore -deststoretype PKCS12"
            )
    if configured == "PEM":
        return data, configured
    if b"-----BEGIN " in data:
        key = "ssl.truststore.type" if place.endswith("ssl.truststore.location") else "ssl.keystore.type"
        raise ConfigError(f"{place}: {path} is PEM, not {configured}: set {key}=PEM")
    return data, "JKS" if data.startswith(jks.MAGIC) else "PKCS12"


@contextlib.contextmanager
def _errors_at(place: str) -> Iterator[None]:
    """Turn each ``ValueError`` into a ``ConfigError`` that starts with the place."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None


def _text(data: bytes) -> str:
    return data.decode("latin-1")  # any bytes are allowed in comments outside of the blocks
