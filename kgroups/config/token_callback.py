"""Tokens for librdkafka's ``oauth_cb``, where it cannot get them itself.

It asks when a client is made, and again at four fifths of a token's life.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from kgroups.errors import AuthenticationFailed, ConfigError

from .aws import signed_token
from .formats.jwt import claims_of, end_of, over_since
from .security import AwsIam, Credentials, StaticToken, TokenFile, UnsecuredToken
from .unsecured import unsecured_jws

Answer = tuple[str, float, str, dict[str, str]]
"""Token, when it ends (seconds since 1970), principal, SASL extensions."""

UNKNOWN_LIFE = 3600.0
"""Seconds that a token is taken to live that does not tell."""


def token_callback(credentials: Credentials, host: str = "") -> Callable[[str], Answer]:
    """What librdkafka is to call.

    :param host: a broker's, whose name may tell AWS's region.
    :raises ConfigError: for credentials that are no token's.
    """
    match credentials:
        case StaticToken(token, extensions):
            return lambda config: _told(token.reveal(), extensions)
        case TokenFile(path, extensions):
            return lambda config: _told(read_token(path), extensions)
        case UnsecuredToken() as wanted:
            return lambda config: _told(unsecured_jws(wanted, time.time()).reveal(), wanted.extensions)
        case AwsIam() as aws:
            return lambda config: _signed(aws, host)
        case _:
            raise ConfigError(f"librdkafka does not support {type(credentials).__name__}; use --transport wire")


def check_life(credentials: Credentials) -> None:
    """
    :raises AuthenticationFailed: for a token of somebody else's whose life is over: librdkafka would wait for another.
    """
    match credentials:
        case StaticToken(token, _):
            text = token.reveal()
        case TokenFile(path, _):
            text = read_token(path)
        case _:
            return
    if over := over_since(text, time.time()):
        raise AuthenticationFailed(f"the token expired at {over}; get a new one")


def read_token(path: str) -> str:
    """The token that a file holds now.

    :raises ConfigError: when it cannot be read.
    """
    from .properties import read_bounded

    return read_bounded(Path(path), "sasl.oauthbearer.token.endpoint.url").decode("ascii", "replace").strip()


def _told(token: str, extensions: Mapping[str, str]) -> Answer:
    ends, who = end_of(token), claims_of(token).get("sub")
    life = time.time() + UNKNOWN_LIFE if ends is None else ends
    return token, life, who if isinstance(who, str) else "", dict(extensions)


def _signed(aws: AwsIam, host: str) -> Answer:
    token, ends = signed_token(aws, host)
    return token.reveal(), ends, "", {}
