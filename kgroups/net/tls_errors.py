"""Explain a failed TLS handshake: what happened, and what to do about it. Imported only after a failure."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import NamedTuple

from kgroups.errors import Reason

from .certificates import Certificate

NAMES_SHOWN = 5

_TIME = "%Y-%m-%d %H:%M:%S UTC"

NOT_YET, EXPIRED, SELF_SIGNED, NOT_ITS_NAME, NOT_ITS_ADDRESS = 9, 10, 18, 62, 64
"""OpenSSL's ``X509_V_ERR_...``."""


class TlsFailure(NamedTuple):
    """``text`` follows the broker's name."""

    text: str
    reason: Reason
    hint: str


_TRUST = "if you trust it, add it to ssl.truststore.location"
_VERSIONS = "check ssl.enabled.protocols"
_OWN = "check the certificate in ssl.keystore.location"

_PLAIN_PORT = TlsFailure(
    "does not speak TLS on this port",
    Reason.NOT_TLS,
    "if the listener is PLAINTEXT or SASL_PLAINTEXT, set security.protocol to that",
)
_NO_VERSION = TlsFailure("no TLS version in common", Reason.TLS_INCOMPATIBLE, _VERSIONS)
_REQUIRED = TlsFailure("requires a client certificate", Reason.CLIENT_CERTIFICATE_REQUIRED, "set ssl.keystore.location")
_REJECTED = TlsFailure("rejected the client certificate", Reason.CLIENT_CERTIFICATE_REJECTED, _OWN)

_FAILURES = {
    "WRONG_VERSION_NUMBER": _PLAIN_PORT,
    "HTTP_REQUEST": _PLAIN_PORT,
    "PACKET_LENGTH_TOO_LONG": _PLAIN_PORT,
    "RECORD_LAYER_FAILURE": _PLAIN_PORT,
    "UNSUPPORTED_PROTOCOL": _NO_VERSION,
    "TLSV1_ALERT_PROTOCOL_VERSION": _NO_VERSION,
    "NO_PROTOCOLS_AVAILABLE": _NO_VERSION,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": TlsFailure(
        "rejected the TLS handshake: no TLS version or cipher suite in common, or it requires a client certificate",
        Reason.TLS_FAILED,
        "check ssl.enabled.protocols, ssl.cipher.suites, and ssl.keystore.location",
    ),
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": _REQUIRED,
    "TLSV1_ALERT_UNKNOWN_CA": _REJECTED._replace(
        text=f"{_REJECTED.text}: it does not trust the authority that signed it"
    ),
    "SSLV3_ALERT_BAD_CERTIFICATE": _REJECTED,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _REJECTED,
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": _REJECTED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": _REJECTED._replace(text=f"{_REJECTED.text}: it has expired"),
    "SSLV3_ALERT_CERTIFICATE_REVOKED": _REJECTED._replace(text=f"{_REJECTED.text}: it is revoked"),
    "TLSV1_UNRECOGNIZED_NAME": TlsFailure(
        "does not serve the requested host name",
        Reason.CERTIFICATE_NAME_MISMATCH,
        "connect by a name that the broker's certificate contains",
    ),
}
"""By OpenSSL's reason."""


def handshake_failure(error: OSError, *, ours: bool) -> TlsFailure:
    """Explain why a handshake failed, or why the broker rejected the client right after it.

    :param ours: whether the client has a certificate.
    """
    if isinstance(error, ssl.SSLEOFError) or not isinstance(error, ssl.SSLError):
        hint = _PLAIN_PORT.hint
        if not ours:
            hint += "; if it requires a client certificate, set ssl.keystore.location"
        return TlsFailure("closed the connection during the TLS handshake", Reason.TLS_FAILED, hint)
    reason = error.reason or ""
    if not ours and "BAD_RECORD_MAC" in reason:  # how Kafka 2.8 sometimes reports a missing certificate by TLS 1.3
        hint = f"if the broker requires a client certificate, {_REQUIRED.hint}"
        return TlsFailure("ended TLS (bad record mac)", Reason.TLS_FAILED, hint)
    found = _FAILURES.get(reason)
    if not ours and found == _REJECTED:  # Java's alert for no certificate at all
        return _REQUIRED
    text = f"TLS failed: {reason.lower().replace('_', ' ') or error}"
    return found or TlsFailure(text, Reason.TLS_FAILED, "check security.protocol and the ssl settings")


def untrusted(error: ssl.SSLCertVerificationError, host: str, shown: Sequence[Certificate]) -> TlsFailure:
    """Explain why a broker's certificate was not accepted.

    :param shown: the certificate and those that came with it, if they could be read.
    """
    own = shown[0] if shown else None
    code = error.verify_code
    if code == EXPIRED:
        return TlsFailure(_expired(shown), Reason.CERTIFICATE_EXPIRED, "renew the broker's certificate")
    if code == NOT_YET:
        since = f" before {own.since:{_TIME}}" if own else ""
        text = f"its certificate is not valid{since or ' yet'}"
        return TlsFailure(text, Reason.CERTIFICATE_NOT_YET_VALID, "check the clock of this machine")
    if code in (NOT_ITS_NAME, NOT_ITS_ADDRESS):
        names = f"for {_listed(own.names)}, not " if own else "not "
        hint = "connect by a name that the certificate contains"
        return TlsFailure(f"its certificate is {names}for {host}", Reason.CERTIFICATE_NAME_MISMATCH, hint)
    issuer = f" ({own.issuer})" if own and own.issuer else ""
    text = f"its certificate is signed by an authority{issuer} that is not trusted"
    if code == SELF_SIGNED:
        text = f"its certificate is self-signed{issuer} and not trusted"
    return TlsFailure(text, Reason.CERTIFICATE_UNTRUSTED, _TRUST)


def _expired(shown: Sequence[Certificate]) -> str:
    """Return the message for an expired certificate, which may be any certificate of the chain."""
    over = next((each for each in shown if each.expired), None)
    if over is None or over is shown[0]:
        return "its certificate has expired" + (f": it was valid until {over.until:{_TIME}}" if over else "")
    return f"its certificate is signed by {over.subject}, which expired at {over.until:{_TIME}}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more if names else "no name"
