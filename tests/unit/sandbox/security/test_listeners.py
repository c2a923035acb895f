"""Mechanisms of each listener by Kafka version, and the users' settings."""

from __future__ import annotations

import pytest

from kgroups.config.formats.jaas import parse_jaas
from kgroups.sandbox import kafka_version
from kgroups.sandbox.security.client_configs import by_password
from kgroups.sandbox.security.listeners import LISTENERS, mechanisms, quoted, validates_tokens
from kgroups.sandbox.security.secrets import Secrets


@pytest.mark.parametrize("version", ["2.8.2", "4.3.1"])
def test_signed_tokens_are_offered_only_by_brokers_that_validate_them(version: str) -> None:
    tokens = validates_tokens(kafka_version(version))
    assert ("OAUTHBEARER" in mechanisms("SASL_SSL", tokens=tokens, kerberos=True)) == (version == "4.3.1")
    assert mechanisms("UNSECURED", tokens=tokens, kerberos=True) == ("OAUTHBEARER",)


def test_gssapi_is_offered_only_with_a_kdc() -> None:
    offered = {name: mechanisms(name, tokens=True, kerberos=False) for name in LISTENERS}
    assert not [name for name, words in offered.items() if "GSSAPI" in words]
    assert offered["SSL"] == offered["MTLS"] == ()


def test_awkward_password_survives_its_jaas_line() -> None:
    password = Secrets().awkward()
    assert '"' in password and "\\" in password
    line = parse_jaas(by_password("PLAIN", 'a"b', password)["sasl.jaas.config"])
    assert dict(line.options) == {"username": 'a"b', "password": password}
    assert quoted("a\\") == '"a\\\\"'
