"""Warn of secrets that are sent unencrypted over the network."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from .security import ClientCredentials, Mechanism, Security, UnsecuredToken
from .settings import Transport


def cleartext_warnings(security: Security, bootstrap: Sequence[tuple[str, int]], transport: Transport) -> Iterator[str]:
    """Yield a warning for each secret that is sent unencrypted to another machine."""
    if security.sasl is None:
        return
    plain = {Mechanism.PLAIN: "the password", Mechanism.OAUTHBEARER: "the token"}
    what = plain.get(Mechanism(security.sasl.mechanism)) if security.sasl.mechanism in set(Mechanism) else None
    secret = what and not isinstance(security.sasl.credentials, UnsecuredToken)
    if secret and security.tls is None and not all(_is_loopback(host) for host, _ in bootstrap):
        yield f"security.protocol is SASL_PLAINTEXT: {what} goes over the network unencrypted; use SASL_SSL"
    weak = transport is Transport.LIBRDKAFKA and security.sasl.mechanism.startswith("SCRAM-")
    if weak and security.tls is None and not all(_is_loopback(host) for host, _ in bootstrap):
        yield (
            "security.protocol is SASL_PLAINTEXT: librdkafka accepts any number of SCRAM iterations, so that a false "
            "broker can guess the password sooner; use SASL_SSL, or --transport wire"
        )
    credentials = security.sasl.credentials
    if isinstance(credentials, ClientCredentials) and credentials.endpoint.casefold().startswith("http:"):
        host = urlsplit(credentials.endpoint).hostname or ""
        if not _is_loopback(host):
            yield "the token endpoint is an http:// URL: the client secret goes over the network unencrypted"


def _is_loopback(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
