"""Read the settings of unsigned tokens for test brokers, in Java's or librdkafka's spelling, and create the tokens."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from .jaas_line import JaasLine
from .secret import Secret, SecretDict
from .security import UnsecuredToken
from .settings_reader import Setting, SettingsReader

_COMPUTED = ("iat", "exp")
"""Claims computed from the clock and the lifetime; Java does not allow setting them either."""

_MAX_NUMBER = 1e15
"""Bound on the absolute value of a numeric claim."""


def unsecured_of(settings: SettingsReader, line: JaasLine, extensions: Mapping[str, str]) -> UnsecuredToken | None:
    """Read an unsigned token; ``None`` if no principal is set.

    :raises ConfigError: if a claim is invalid.
    """
    enabled = settings.flag("enable.sasl.oauthbearer.unsecure.jwt", default=False, means="unsigned token")
    config = settings.take("sasl.oauthbearer.config", means="claims of the token")
    if enabled:
        return _of_librdkafka(config, extensions)
    means = "claims of the unsigned token"
    claims: dict[str, str | float | list[str]] = {}
    for key, setting in line.options.take_all("unsecuredLoginStringClaim_", means=means).items():
        claims[_checked(key, setting)] = setting.value
    for key, setting in line.options.take_all("unsecuredLoginNumberClaim_", means=means).items():
        claims[_checked(key, setting)] = _number(setting)
    for key, setting in line.options.take_all("unsecuredLoginListClaim_", means=means).items():
        claims[_checked(key, setting)] = setting.value[1:].split(setting.value[:1]) if setting.value[1:] else []
    principal_claim = line.options.text("unsecuredLoginPrincipalClaimName", means=means) or "sub"
    seconds = line.options.take("unsecuredLoginLifetimeSeconds", means=means)
    line.options.take("unsecuredLoginScopeClaimName", means=means)
    subject = claims.pop(principal_claim, None)
    if not isinstance(subject, str):
        return None
    lifetime = _number(seconds) if seconds else 3600.0
    return UnsecuredToken(subject, principal_claim, lifetime, claims, extensions)


def _of_librdkafka(config: Setting | None, extensions: Mapping[str, str]) -> UnsecuredToken:
    """Read librdkafka's ``principal=admin scope=a,b lifeSeconds=600 extension_traceId=1``."""
    fields = dict(re.findall(r"(\w+)=(\S*)", config.value)) if config else {}
    claims: dict[str, str | float | list[str]] = {}
    if "scope" in fields:
        claims[fields.get("scopeClaimName", "scope")] = fields["scope"].split(",")
    lifetime = fields.get("lifeSeconds", "3600")
    if config and (not fields.get("principal") or not re.fullmatch("[0-9]{1,12}", lifetime)):
        raise config.error("is not principal=NAME [scope=A,B] [lifeSeconds=N]")
    more = {key.removeprefix("extension_"): value for key, value in fields.items() if key.startswith("extension_")}
    principal_claim = fields.get("principalClaimName", "sub")
    principal = fields.get("principal", "")
    return UnsecuredToken(principal, principal_claim, float(lifetime), claims, SecretDict({**extensions, **more}))


def _checked(claim: str, setting: Setting) -> str:
    if claim in _COMPUTED:
        raise setting.error(f"sets the claim {claim}, which follows from unsecuredLoginLifetimeSeconds")
    return claim


def _number(setting: Setting) -> float:
    try:
        number = float(setting.value)
    except ValueError:
        number = math.inf
    if not -_MAX_NUMBER < number < _MAX_NUMBER:  # also rejects "nan"
        raise setting.error("must be a number within range")
    return number


def unsecured_jws(token: UnsecuredToken, now: float) -> Secret:
    """Return an unsigned JWS (``alg`` is ``none``) with the same claims as Java's unsecured login.

    :param now: seconds since 1970.
    """
    # Whole seconds: brokers truncate their clock to milliseconds, and reject tokens issued in the future.
    times = {"iat": int(now), "exp": now + token.lifetime}
    claims = {**token.claims, token.principal_claim: token.subject, **times}
    return Secret(f"{_encoded({'alg': 'none'})}.{_encoded(claims)}.")


def _encoded(values: Mapping[str, Any]) -> str:
    data = json.dumps(values, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
