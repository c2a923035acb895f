"""What makes a token that nobody signs, for brokers that are there to test against: in Java's words or librdkafka's."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from .jaas_line import JaasLine
from .secret import Secret, Veiled
from .security import UnsecuredToken
from .settings_reader import Setting, SettingsReader

_RECKONED = ("iat", "exp")
"""Claims that follow from the clock and the lifetime; Java lets nobody set them either."""

_MOST = 1e15
"""What a JSON number of ours may come to."""


def unsecured_of(given: SettingsReader, line: JaasLine, extensions: Mapping[str, str]) -> UnsecuredToken | None:
    """``None`` when nobody says who the token is to name.

    :raises ConfigError: for claims that cannot be.
    """
    enabled = given.flag("enable.sasl.oauthbearer.unsecure.jwt", otherwise=False, means="unsigned token")
    config = given.take("sasl.oauthbearer.config", means="claims of the token")
    if enabled:
        return _librdkafkas(config, extensions)
    means = "claims of the unsigned token"
    claims: dict[str, str | float | list[str]] = {}
    for key, setting in line.given.take_all("unsecuredLoginStringClaim_", means=means).items():
        claims[_free(key, setting)] = setting.value
    for key, setting in line.given.take_all("unsecuredLoginNumberClaim_", means=means).items():
        claims[_free(key, setting)] = _number(setting)
    for key, setting in line.given.take_all("unsecuredLoginListClaim_", means=means).items():
        claims[_free(key, setting)] = setting.value[1:].split(setting.value[:1]) if setting.value[1:] else []
    who = line.given.text("unsecuredLoginPrincipalClaimName", means=means) or "sub"
    seconds = line.given.take("unsecuredLoginLifetimeSeconds", means=means)
    line.given.take("unsecuredLoginScopeClaimName", means=means)
    subject = claims.pop(who, None)
    if not isinstance(subject, str):
        return None
    lifetime = _number(seconds) if seconds else 3600.0
    return UnsecuredToken(subject, who, lifetime, claims, extensions)


def _librdkafkas(config: Setting | None, extensions: Mapping[str, str]) -> UnsecuredToken:
    """``principal=admin scope=a,b lifeSeconds=600 extension_traceId=1``."""
    words = dict(re.findall(r"(\w+)=(\S*)", config.value)) if config else {}
    claims: dict[str, str | float | list[str]] = {}
    if "scope" in words:
        claims[words.get("scopeClaimName", "scope")] = words["scope"].split(",")
    life = words.get("lifeSeconds", "3600")
    if config and (not words.get("principal") or not re.fullmatch("[0-9]{1,12}", life)):
        raise config.wrong("is not principal=NAME [scope=A,B] [lifeSeconds=N]")
    more = {key.removeprefix("extension_"): word for key, word in words.items() if key.startswith("extension_")}
    who = words.get("principalClaimName", "sub")
    return UnsecuredToken(words.get("principal", ""), who, float(life), claims, Veiled({**extensions, **more}))


def _free(claim: str, setting: Setting) -> str:
    if claim in _RECKONED:
        raise setting.wrong(f"sets the claim {claim}, which follows from unsecuredLoginLifetimeSeconds")
    return claim


def _number(setting: Setting) -> float:
    try:
        number = float(setting.value)
    except ValueError:
        number = math.inf
    if not -_MOST < number < _MOST:  # nor is "nan"
        raise setting.wrong("must be a number within range")
    return number


def unsecured_jws(wanted: UnsecuredToken, now: float) -> Secret:
    """A token whose header says that nobody signed it, with claims as Java's unsecured login makes them.

    :param now: seconds since 1970.
    """
    # Whole seconds: brokers cut their clock to milliseconds, and take no token that was issued half of one later.
    reckoned = {"iat": int(now), "exp": now + wanted.lifetime}
    claims = {**wanted.claims, wanted.principal_claim: wanted.subject, **reckoned}
    return Secret(f"{_part({'alg': 'none'})}.{_part(claims)}.")


def _part(values: Mapping[str, Any]) -> str:
    data = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
