"""Private keys and PKCS#12, opened by the package cryptography. Imported only where there is one."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_pem_private_key,
    pkcs12,
)

from ..secret import Secret
from . import pem

PrivateKey = PrivateKeyTypes


class Opened(NamedTuple):
    """A PKCS#12 store: its key, if any, and its certificates, the key's own first. PEM."""

    key: PrivateKey | None
    key_certificate: bool
    chain: list[str]


def open_pkcs12(data: bytes, password: Secret | None) -> Opened:
    """
    :raises ValueError: when it does not open, or is none.
    """
    if pem.der_length(data) != len(data):
        raise ValueError("is not JKS or PKCS12, or is truncated")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Java's are written in a way that cryptography frowns at
            opened = pkcs12.load_pkcs12(data, password.reveal().encode() if password else None)
    except Exception:  # whatever the parsers make of a damaged store; some are no ValueError
        how = "with this password (or is damaged)" if password else "without a password"
        raise ValueError(f"does not open {how}") from None
    certificates = [*([opened.cert] if opened.cert else []), *opened.additional_certs]
    chain = [pem.of_certificate(each.certificate.public_bytes(Encoding.DER)) for each in certificates]
    return Opened(opened.key, opened.cert is not None, chain)


def load_pem(text: str, password: Secret | None) -> PrivateKey:
    """
    :raises ValueError: when the password does not open the key.
    """
    try:
        return load_pem_private_key(text.encode(), password.reveal().encode() if password else None)
    except Exception:  # as above
        how = "does not open with ssl.key.password (or is damaged)" if password else "is damaged, or of an unknown kind"
        raise ValueError(f"has a private key that {how}") from None


def load_der(data: bytes) -> PrivateKey:
    """A PKCS#8 key that is not encrypted.

    :raises ValueError: when it is none.
    """
    try:
        return load_der_private_key(data, None)
    except Exception:  # as above
        raise ValueError("has a private key that is corrupt or of an unknown type") from None


def sealed(key: PrivateKey, password: Secret | None) -> Secret:
    """The key as PKCS#8, PEM, encrypted by the password that it had: on its way to OpenSSL it may touch a disk."""
    sealing: KeySerializationEncryption = NoEncryption()
    if password:
        sealing = BestAvailableEncryption(password.reveal().encode())
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealing).decode())


def check_match(key: PrivateKey, chain: str) -> None:
    """
    :raises ValueError: when the chain does not begin with the key's certificate.
    """
    try:
        public = x509.load_pem_x509_certificate(chain.encode()).public_key()
    except Exception:  # as above
        raise ValueError("contains a corrupt certificate") from None
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if public.public_bytes(*form) != key.public_key().public_bytes(*form):
        raise ValueError("contains a certificate that does not match its key; put the key's certificate first")
