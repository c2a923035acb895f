"""Why there is no TLS with a broker, and the way out, in one line. Imported when it has gone wrong."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

from .certificates import Certificate

NAMES_SHOWN = 5

_TIME = "%Y-%m-%d %H:%M:%S UTC"

NOT_YET, EXPIRED, SELF_SIGNED, NOT_ITS_NAME, NOT_ITS_ADDRESS = 9, 10, 18, 62, 64
"""OpenSSL's ``X509_V_ERR_...``."""

_TRUST = "if it is to be trusted, put it into ssl.truststore.location"

_PLAIN_PORT = "speaks no TLS on this port: its listener may be PLAINTEXT or SASL_PLAINTEXT (security.protocol)"

_OUR_CERTIFICATE = "wants a certificate from us: set ssl.keystore.location"
_REFUSED = "does not accept our certificate (ssl.keystore.location)"

_REASONS = {
    "WRONG_VERSION_NUMBER": _PLAIN_PORT,
    "HTTP_REQUEST": _PLAIN_PORT,
    "PACKET_LENGTH_TOO_LONG": _PLAIN_PORT,
    "RECORD_LAYER_FAILURE": _PLAIN_PORT,
    "UNSUPPORTED_PROTOCOL": "and we share no version of TLS (ssl.enabled.protocols)",
    "TLSV1_ALERT_PROTOCOL_VERSION": "and we share no version of TLS (ssl.enabled.protocols)",
    "NO_PROTOCOLS_AVAILABLE": "and we share no version of TLS (ssl.enabled.protocols)",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": (
        "and we agree on no TLS: no common version or cipher (ssl.enabled.protocols, ssl.cipher.suites), "
        "or it wants a certificate from us (ssl.keystore.location)"
    ),
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": _OUR_CERTIFICATE,
    "TLSV1_ALERT_UNKNOWN_CA": f"{_REFUSED}: it does not trust the authority that signed it",
    "SSLV3_ALERT_BAD_CERTIFICATE": _REFUSED,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _REFUSED,
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": _REFUSED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": f"{_REFUSED}: it has expired",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": f"{_REFUSED}: it is revoked",
    "TLSV1_UNRECOGNIZED_NAME": "does not serve the name by which we asked for it",
}
"""OpenSSL's reason -> what goes behind the broker's name."""


def reason_of(error: OSError, *, ours: bool) -> str:
    """Why a handshake failed, or the broker refused us just behind it.

    :param ours: whether we have a certificate to show.
    """
    if isinstance(error, ssl.SSLEOFError) or not isinstance(error, ssl.SSLError):
        why = "closed the connection in the TLS handshake; perhaps its listener is PLAINTEXT or SASL_PLAINTEXT"
        return why if ours else f"{why}, or it wants a certificate from us (ssl.keystore.location)"
    reason = error.reason or ""
    if not ours and "BAD_RECORD_MAC" in reason:  # how Kafka 2.8 now and then says by TLS 1.3 that one is missing
        return f"broke TLS off (bad record mac); perhaps it {_OUR_CERTIFICATE}"
    if not ours and _REASONS.get(reason) == _REFUSED:  # Java's word for none at all
        return _OUR_CERTIFICATE
    return _REASONS.get(reason) or f"TLS failed: {reason.lower().replace('_', ' ') or error}"


def untrusted(error: ssl.SSLCertVerificationError, host: str, shown: Sequence[Certificate]) -> str:
    """Why a broker's certificate was not accepted.

    :param shown: the certificate and those that came with it, where they could be had.
    """
    own = shown[0] if shown else None
    code = error.verify_code
    if code == EXPIRED:
        return f"{_expired(shown)}; the broker needs a new one"
    if code == NOT_YET:
        since = f" before {own.since:{_TIME}}" if own else ""
        return f"its certificate is not valid yet{since}; is this machine's clock right?"
    if code in (NOT_ITS_NAME, NOT_ITS_ADDRESS):
        names = f"for {_listed(own.names)}, not " if own else "not "
        return f"its certificate is {names}for {host}; ask for it by a name that is there"
    who = f" ({own.issuer})" if own and own.issuer else ""
    if code == SELF_SIGNED:
        return f"its certificate is self-signed{who} and not among those trusted; {_TRUST}"
    return f"its certificate is signed by an authority{who} that is not trusted; {_TRUST}"


def _expired(shown: Sequence[Certificate]) -> str:
    """It may be one of those behind the broker's own."""
    over = next((each for each in shown if each.expired), None)
    if over is None or over is shown[0]:
        return "its certificate has expired" + (f" since {over.until:{_TIME}}" if over else "")
    return f"its certificate is signed by {over.subject}, whose own has expired since {over.until:{_TIME}}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more if names else "no name"
