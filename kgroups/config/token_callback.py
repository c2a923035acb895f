"""Provide tokens to librdkafka's ``oauth_cb`` where librdkafka cannot fetch them itself.

librdkafka calls it when a client is created, and again after four fifths of a token's lifetime.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from kgroups.errors import AuthenticationFailed, ConfigError

from .aws import signed_token
from .formats.jwt import claims_of, expired_at, expiry_of
from .properties import read_bounded
from .security import AwsIam, Credentials, StaticToken, TokenFile, UnsecuredToken
from .unsecured import unsecured_jws

TokenResult = tuple[str, float, str, dict[str, str]]
"""Token, expiry (seconds since 1970), principal, SASL extensions."""

DEFAULT_LIFETIME = 3600.0
"""Assumed lifetime of an opaque token, in seconds."""


def token_callback(credentials: Credentials, host: str = "") -> Callable[[str], TokenResult]:
    """Return the callback.

    :param host: a broker's host name, which may contain the AWS region.
    :raises ConfigError: if the credentials do not provide a token.
    """
    match credentials:
        case StaticToken(token, extensions):
            return lambda config: _with_claims(token.reveal(), extensions)
        case TokenFile(path, extensions):
            return lambda config: _with_claims(read_token(path), extensions)
        case UnsecuredToken() as unsecured:
            return lambda config: _with_claims(unsecured_jws(unsecured, time.time()).reveal(), unsecured.extensions)
        case AwsIam() as aws:
            return lambda config: _signed(aws, host)
        case _:
            raise ConfigError(f"librdkafka does not support {type(credentials).__name__}; use --transport wire")


def check_life(credentials: Credentials) -> None:
    """Check the expiry of an existing token: with an expired one, librdkafka waits for a new one.

    :raises AuthenticationFailed: if it has expired.
    :raises ConfigError: if the token file cannot be read.
    """
    match credentials:
        case StaticToken(token, _):
            text = token.reveal()
        case TokenFile(path, _):
            text = read_token(path)
        case _:
            return
    if expired := expired_at(text, time.time()):
        raise AuthenticationFailed(f"the token expired at {expired}; get a new one")


def read_token(path: str) -> str:
    """Return the current token in a file.

    :raises ConfigError: if it cannot be read.
    """
    return read_bounded(Path(path), "sasl.oauthbearer.token.endpoint.url").decode("ascii", "replace").strip()


def _with_claims(token: str, extensions: Mapping[str, str]) -> TokenResult:
    """Add the expiry and the principal in the token's claims."""
    expiry, subject = expiry_of(token), claims_of(token).get("sub")
    if expiry is None:
        expiry = time.time() + DEFAULT_LIFETIME
    return token, expiry, subject if isinstance(subject, str) else "", dict(extensions)


def _signed(aws: AwsIam, host: str) -> TokenResult:
    token, expiry = signed_token(aws, host)
    return token.reveal(), expiry, "", {}
