"""Read the certificates that a broker presents. All of their text is untrusted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509

LONGEST = 200
"""Characters of a name that are kept; a broker may send more."""

DEEPEST = 10
"""Certificates of a chain that are read; real chains are shorter."""


class Certificate(NamedTuple):
    """One certificate of a chain, and when it was read; times in UTC."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    """Host names and addresses; the common name if there are none."""
    since: datetime
    until: datetime
    seen: datetime

    @property
    def days(self) -> int:
        """Days until it expires; negative if it has expired."""
        return (self.until - self.seen).days

    @property
    def expired(self) -> bool:
        return self.until < self.seen


def chain_of(session: Any) -> list[Certificate]:
    """Return the broker's certificate and those up to a trusted one; without verification, the chain it sent.

    :param session: Python's ``ssl.SSLObject`` after the handshake.
    """
    return _read_all(session, ("get_verified_chain", "get_unverified_chain"))


def shown_by(session: Any) -> list[Certificate]:
    """Return the chain that the broker sent, trusted or not, its own certificate first."""
    return _read_all(session, ("get_unverified_chain",))


def _read_all(session: Any, methods: tuple[str, ...]) -> list[Certificate]:
    return [found for data in _encoded(session, methods)[:DEEPEST] if (found := _read(data))]


def _encoded(session: Any, methods: tuple[str, ...]) -> list[bytes | str]:
    """Return DER or PEM. Python has the chain since 3.13; before, only the object inside has it."""
    for source in (session, getattr(session, "_sslobj", None)):
        for method in methods:
            chain = getattr(source, method, lambda: None)()
            if chain:
                return [each if isinstance(each, bytes) else each.public_bytes() for each in chain]
    own = session.getpeercert(binary_form=True)
    return [own] if own else []


def _read(data: bytes | str) -> Certificate | None:
    """Return a certificate, or ``None`` if it cannot be read."""
    from cryptography import x509

    try:
        if isinstance(data, str):
            found = x509.load_pem_x509_certificate(data.encode())
        else:
            found = x509.load_der_x509_certificate(data)
        return Certificate(
            found.subject.rfc4514_string()[:LONGEST],
            found.issuer.rfc4514_string()[:LONGEST],
            tuple(_names(found)),
            found.not_valid_before_utc,
            found.not_valid_after_utc,
            datetime.now(UTC),
        )
    except Exception:  # cryptography raises many kinds of errors
        return None


def _names(certificate: x509.Certificate) -> Iterator[str]:
    from cryptography import x509

    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        for attribute in certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME):
            yield str(attribute.value)[:LONGEST]
        return
    for name in (*extension.value.get_values_for_type(x509.DNSName),
                 *extension.value.get_values_for_type(x509.IPAddress)):  # fmt: skip
        yield str(name)[:LONGEST]
