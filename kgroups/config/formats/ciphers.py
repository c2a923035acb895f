"""Convert names of cipher suites from IANA's, which Java uses, to OpenSSL's."""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEY_EXCHANGES = {"RSA": "", "ECDHE_RSA": "ECDHE-RSA-", "ECDHE_ECDSA": "ECDHE-ECDSA-", "DHE_RSA": "DHE-RSA-",
                  "DHE_DSS": "DHE-DSS-", "PSK": "PSK-", "ECDHE_PSK": "ECDHE-PSK-", "DHE_PSK": "DHE-PSK-",
                  "RSA_PSK": "RSA-PSK-"}  # fmt: skip
_CIPHER = re.compile(r"(AES|CAMELLIA|ARIA)_(128|256)_(CBC|GCM|CCM|CCM_8)(?:_(SHA|SHA256|SHA384))?")
_SUITE_1_3 = re.compile(
    "TLS_(AES_(128|256)_(GCM|CCM|CCM_8)|CHACHA20_POLY1305|SM4_(GCM|CCM)|SHA(256|384))_(SHA256|SHA384|SM3)"
)
_PART = (
    "128|256|3DES|ADH|AECDH|AES|AES128|AES256|AESCCM|AESCCM8|AESGCM|ALL|ARIA|ARIA128|ARIA256|ARIAGCM"
    "|CAMELLIA|CAMELLIA128|CAMELLIA256|CBC|CBC3|CCM|CCM8|CHACHA20|COMPLEMENTOFALL|COMPLEMENTOFDEFAULT"
    "|DEFAULT|DES|DH|DHE|DSS|ECDH|ECDHE|ECDSA|EDH|EECDH|EXP|FIPS|GCM|HIGH|IDEA|LOW|MD5|MEDIUM|NULL"
    "|POLY1305|PSK|RC2|RC4|RSA|SEED|SHA|SHA1|SHA256|SHA384|SRP|SSLv3|SUITEB128|SUITEB128ONLY|SUITEB192"
    "|TLSv1|TLSv1[.]0|TLSv1[.]2|aDSS|aECDSA|aNULL|aPSK|aRSA|aSRP|eNULL|kDHE|kDHEPSK|kECDHE|kECDHEPSK|kEDH"
    "|kEECDH|kPSK|kRSA|kRSAPSK|kSRP"
)
_TERM = rf"[!+-]?(?:{_PART})(?:[-+](?:{_PART}))*(?:@SECLEVEL=[0-5])?|@STRENGTH|@SECLEVEL=[0-5]"
_OPENSSL = rf"(?:{_TERM})(?::(?:{_TERM}))*"
"""OpenSSL's own names and keywords, a pattern that takes 5 ms to compile: done when first used. Any other word may be a
misplaced secret, which is never shown."""

AUTHENTICATED = ("!aNULL", "!eNULL")
"""Permanently excludes suites without authentication or encryption: with the former, any server would be accepted."""


def with_authentication(names: Sequence[str]) -> str:
    """Return OpenSSL's list of these suites, without anonymous and unencrypted ones."""
    return ":".join((*names, *AUTHENTICATED))


def is_weak(name: str) -> bool:
    """Return whether the word lowers OpenSSL's security level below its default of 2."""
    return any(f"@SECLEVEL={level}" in name.upper() for level in (0, 1))


def is_tls13(name: str) -> bool:
    """Return whether the suite is one of TLS 1.3, whose names do not contain a key exchange."""
    return _SUITE_1_3.fullmatch(name) is not None


def openssl_name(name: str) -> str | None:
    """Return OpenSSL's name of a suite of TLS 1.2 and before; ``None`` if it has none.

    OpenSSL's own names are returned unchanged. Example:
    ``TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`` -> ``ECDHE-RSA-AES128-GCM-SHA256``.
    """
    exchange, with_, cipher = re.sub("^(TLS|SSL)_", "", name).partition("_WITH_")
    if not with_:
        return name if re.fullmatch(_OPENSSL, name) else None
    prefix = _KEY_EXCHANGES.get(exchange)
    if prefix is None:
        return None
    if cipher == "CHACHA20_POLY1305_SHA256":
        return f"{prefix}CHACHA20-POLY1305"
    found = _CIPHER.fullmatch(cipher)
    if found is None:
        return None
    family, bits, mode, digest = found.groups()
    mode = {"CBC": "", "CCM_8": "CCM8"}.get(mode, mode)
    return "-".join(part for part in (f"{prefix}{family}{bits}", mode, digest) if part)
