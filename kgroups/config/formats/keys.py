"""Open private keys and PKCS#12 stores with the package cryptography. Imported only if there are any."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
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


class Pkcs12(NamedTuple):
    """A PKCS#12 store: its key, if any, and its certificates as PEM, the key's own certificate first."""

    key: PrivateKey | None
    key_certificate: bool
    """Whether ``chain`` starts with the key's own certificate."""
    chain: list[str]


def open_pkcs12(data: bytes, password: Secret | None) -> Pkcs12:
    """Open a PKCS#12 store.

    :raises ValueError: if the password does not open it, or it is not PKCS#12.
    """
    if pem.der_length(data) != len(data):
        raise ValueError("is not JKS or PKCS12, or is truncated")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cryptography warns of the encoding that Java writes
            opened = pkcs12.load_pkcs12(data, password.reveal().encode() if password else None)
    except Exception:  # parsers raise many types for a corrupt store
        how = "with this password (or is damaged)" if password else "without a password"
        raise ValueError(f"does not open {how}") from None
    certificates = [*([opened.cert] if opened.cert else []), *opened.additional_certs]
    chain = [pem.certificate_pem(each.certificate.public_bytes(Encoding.DER)) for each in certificates]
    return Pkcs12(opened.key, opened.cert is not None, chain)


def load_pem(text: str, password: Secret | None) -> PrivateKey:
    """Load a private key from PEM.

    :raises ValueError: if it is corrupt, or the password does not open it.
    """
    try:
        return load_pem_private_key(text.encode(), password.reveal().encode() if password else None)
    except Exception:  # as in open_pkcs12
        how = "does not open with ssl.key.password (or is damaged)" if password else "is damaged, or of an unknown kind"
        raise ValueError(f"has a private key that {how}") from None


def load_der(data: bytes) -> PrivateKey:
    """Load an unencrypted PKCS#8 key from DER.

    :raises ValueError: if it is corrupt, or of an unknown type.
    """
    try:
        return load_der_private_key(data, None)
    except Exception:  # as in open_pkcs12
        raise ValueError("has a private key that is corrupt or of an unknown type") from None


def encode_key(key: PrivateKey, password: Secret | None) -> Secret:
    """Return the key as PKCS#8 PEM, encrypted with its password: OpenSSL can read keys only from files."""
    encryption: KeySerializationEncryption = NoEncryption()
    if password:
        encryption = BestAvailableEncryption(password.reveal().encode())
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode())


def signer_of(text: str, password: Secret | None, algorithm: str) -> Callable[[bytes], bytes]:
    """Return a function that signs with a private key in PEM, in the form of JSON Web Signatures (RFC 7518).

    :param algorithm: RS256 or ES256.
    :raises ValueError: if the key is corrupt, the password does not open it, or it is not for this algorithm.
    """
    try:
        key = load_pem_private_key(text.encode(), password.reveal().encode() if password else None)
    except Exception:  # as in open_pkcs12
        raise ValueError("is not a private key that opens with this passphrase") from None
    if algorithm == "RS256" and isinstance(key, rsa.RSAPrivateKey):
        return lambda data: key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    if algorithm == "ES256" and isinstance(key, ec.EllipticCurvePrivateKey) and key.key_size == 256:
        return lambda data: _fixed(key.sign(data, ec.ECDSA(hashes.SHA256())))
    raise ValueError(f"is not a key for {algorithm}")


def _fixed(signature: bytes) -> bytes:
    """Return a signature of P-256 as two numbers of 32 bytes."""
    return b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))


def check_match(key: PrivateKey, chain: str) -> None:
    """Check that the chain starts with the key's certificate.

    :raises ValueError: if it does not.
    """
    try:
        public = x509.load_pem_x509_certificate(chain.encode()).public_key()
    except Exception:  # as in open_pkcs12
        raise ValueError("contains a corrupt certificate") from None
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if public.public_bytes(*form) != key.public_key().public_bytes(*form):
        raise ValueError("contains a certificate that does not match its key; put the key's certificate first")
