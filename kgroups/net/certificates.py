"""What the certificates say by which a broker proves who it is, or fails to. Untrusted text, all of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509

LONGEST = 200
"""Characters of a name that are read; a broker may send more."""

DEEPEST = 10
"""Certificates of a chain that are read: more than any real one has."""


class Certificate(NamedTuple):
    """One of a chain, and when it was looked at; times in UTC."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    """Host names and addresses; the common name where there are none."""
    since: datetime
    until: datetime
    seen: datetime

    @property
    def days(self) -> int:
        """Left until it expires, negative when it has."""
        return (self.until - self.seen).days

    @property
    def expired(self) -> bool:
        return self.until < self.seen


def chain_of(session: Any) -> list[Certificate]:
    """The broker's certificate, and those that lead from it to one that we trust; where it was not verified, what the
    broker sent.

    :param session: Python's ``ssl.SSLObject`` after the handshake.
    """
    return _read_all(session, ("get_verified_chain", "get_unverified_chain"))


def shown_by(session: Any) -> list[Certificate]:
    """What the broker sent, believed or not: its own certificate first."""
    return _read_all(session, ("get_unverified_chain",))


def _read_all(session: Any, questions: tuple[str, ...]) -> list[Certificate]:
    return [found for data in _encoded(session, questions)[:DEEPEST] if (found := _read(data))]


def _encoded(session: Any, questions: tuple[str, ...]) -> list[bytes | str]:
    """DER or PEM. Python tells of the chain from 3.13 on; before, what it is made of does."""
    for teller in (session, getattr(session, "_sslobj", None)):
        for question in questions:
            chain = getattr(teller, question, lambda: None)()
            if chain:
                return [each if isinstance(each, bytes) else each.public_bytes() for each in chain]
    own = session.getpeercert(binary_form=True)
    return [own] if own else []


def _read(data: bytes | str) -> Certificate | None:
    """``None`` where it cannot be read."""
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
    except Exception:  # cryptography has an error of its own for each thing that can be wrong with one
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
