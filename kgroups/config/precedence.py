"""Which settings put which others out of force: spellings of one thing, and things that stand for one another."""

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
"""Spellings of one thing, and what else they stand instead of: given later, one puts the others out of force."""


def effective(layers: Iterable[Iterable[Setting]]) -> list[Setting]:
    """The settings in force: later layers go before earlier ones, and within a file the last of two."""
    merged: dict[str, Setting] = {}
    for layer in layers:
        current = {setting.key: setting for setting in layer}
        for key in current:
            for rival in _replaced_by(key) - current.keys():
                merged.pop(rival, None)
        merged.update(current)
    return list(merged.values())


def _replaced_by(key: str) -> set[str]:
    return {rival for these, others in _GROUPS if key in these for rival in these | others}
