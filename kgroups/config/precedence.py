"""Precedence between layers: which settings of an earlier layer a later setting overrides."""

from __future__ import annotations

from collections.abc import Iterable

from .settings_reader import Setting

SERVERS = ("bootstrap.servers", "metadata.broker.list")
_TRUST = {"ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem"}
_CERTIFICATE = {"ssl.keystore.certificate.chain", "ssl.certificate.pem", "ssl.certificate.location"}
_KEY = {"ssl.keystore.key", "ssl.key.pem", "ssl.key.location"}
_STORE = {"ssl.keystore.location"}
_ID = {"sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id"}
_SECRET = {"sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret"}
_TOKEN, _ENDPOINT = {"sasl.oauthbearer.token"}, {"sasl.oauthbearer.token.endpoint.url"}
_GROUPS: tuple[tuple[set[str], set[str]], ...] = (
    ({"sasl.mechanism", "sasl.mechanisms"}, set()),
    (set(SERVERS), set()),
    (_TRUST, set()),
    (_CERTIFICATE, _STORE),
    (_KEY, _STORE),
    (_STORE, _CERTIFICATE | _KEY),
    ({"sasl.jaas.config"}, {"sasl.username", "sasl.password"}),
    (_ID, set()),
    (_SECRET, set()),
    (_TOKEN, _ENDPOINT),
    (_ENDPOINT, _TOKEN),
    ({"https.ca.location", "https.ca.pem"}, set()),
    ({"request.timeout.ms", "socket.timeout.ms"}, set()),
)
"""Pairs of keys that are spellings of one setting, and of keys that they replace: a key in the first set of a pair
overrides the other keys of both sets in earlier layers."""


def effective(layers: Iterable[Iterable[Setting]]) -> list[Setting]:
    """Return the effective settings: later layers override earlier ones, as do later values in the same layer."""
    merged: dict[str, Setting] = {}
    for layer in layers:
        current = {setting.key: setting for setting in layer}
        for key in current:
            for overridden in _overridden_by(key) - current.keys():
                merged.pop(overridden, None)
        merged.update(current)
    return list(merged.values())


def _overridden_by(key: str) -> set[str]:
    return {other for spellings, replaced in _GROUPS if key in spellings for other in spellings | replaced}
