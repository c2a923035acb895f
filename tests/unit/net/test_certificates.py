from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

import pytest

from kgroups.net.certificates import DEEPEST, Certificate, chain_of, shown_by
from kgroups.net.tls_errors import EXPIRED, NOT_YET, untrusted
from tests.fakes.certificates import Certificates


class Session:
    """The certificates that Python's ssl reports after a handshake, from 3.13 on."""

    def __init__(self, sent: list[bytes], verified: list[bytes]) -> None:
        self._sent, self._verified = sent, verified

    def get_verified_chain(self) -> list[bytes]:
        return self._verified

    def get_unverified_chain(self) -> list[bytes]:
        return self._sent

    def getpeercert(self, binary_form: bool) -> bytes | None:
        return self._sent[0] if self._sent else None


@pytest.fixture
def chain(certificates: Certificates) -> list[bytes]:
    """The server's and its authority's, DER."""
    pem = certificates.made.server.certificate.read_text()
    return [
        ssl.PEM_cert_to_DER_cert(f"{part}-----END CERTIFICATE-----\n")
        for part in pem.split("-----END CERTIFICATE-----\n")[:-1]
    ]


def test_verified_and_presented_chains_are_separate(chain: list[bytes]) -> None:
    session = Session(chain[:1], chain)
    assert [each.subject for each in chain_of(session)] == ["CN=localhost", "CN=kgroups sandbox"]
    (own,) = shown_by(session)
    assert (own.issuer, own.names) == ("CN=kgroups sandbox", ("localhost", "127.0.0.1"))
    assert (own.since.year, own.until.year, own.expired) == (2020, 2049, False)


def test_undecodable_certificates_are_skipped(chain: list[bytes]) -> None:
    own, authority = chain
    twice = authority.replace(b"\x55\x1d\x13", b"\x55\x1d\x0e", 1)  # an extension that is there already
    assert twice != authority and b"\x55\x1d\x0e" in authority
    sent = [own[:40], b"", twice, own.replace(b"localhost", b"local\xffost"), own]
    assert [each.subject for each in shown_by(Session(sent, []))] == ["CN=localhost"]
    assert shown_by(Session([], [])) == []


def test_long_chain_is_truncated(chain: list[bytes]) -> None:
    assert len(shown_by(Session(chain[:1] * 1_000, []))) == DEEPEST


def certificate(subject: str, issuer: str, begins: int, ends: int) -> Certificate:
    """Valid from and until these numbers of days from now."""
    now = datetime(2026, 1, 10, tzinfo=UTC)
    return Certificate(subject, issuer, ("b1",), now + timedelta(begins), now + timedelta(ends), now)


def error(code: int) -> ssl.SSLCertVerificationError:
    found = ssl.SSLCertVerificationError(1, "certificate verify failed")
    found.verify_code = code
    return found


def test_expired_authority_is_distinguished_from_expired_certificate() -> None:
    good, over = certificate("CN=b1", "CN=between", -5, 5), certificate("CN=between", "CN=top", -9, -2)
    output = untrusted(error(EXPIRED), "b1", [good, over])
    assert output.text == "its certificate is signed by CN=between, which expired at 2026-01-08 00:00:00 UTC"
    own = untrusted(error(EXPIRED), "b1", [over, good])
    assert own.text == "its certificate has expired: it was valid until 2026-01-08 00:00:00 UTC"
    assert untrusted(error(EXPIRED), "b1", []).text == "its certificate has expired"


def test_certificate_not_yet_valid_names_its_start() -> None:
    output = untrusted(error(NOT_YET), "b1", [certificate("CN=b1", "CN=top", 3, 9)])
    assert output.text == "its certificate is not valid before 2026-01-13 00:00:00 UTC"
