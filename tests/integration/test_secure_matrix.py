"""Every mechanism x protocol x transport: the same ``client.properties`` goes to Kafka's own tool and to kgroups."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kgroups.config.security import UnsecuredToken
from kgroups.config.settings import Transport
from kgroups.config.unsecured import unsecured_jws
from kgroups.sandbox.security import Secure
from kgroups.sandbox.security.client_configs import protocol_of
from kgroups.sandbox.security.users import OPERATOR
from tests.integration.asking import run_here
from tests.integration.auth_methods import GROUPS, METHODS, NOT_BY_JAVA, JavaLists

LESS = "kgroups: note: librdkafka lists only consumer groups; Connect, share, and streams groups are missing\n"


def test_auth_methods_cover_the_kafka_version(secure: Secure) -> None:
    lacking = {way for way in METHODS[secure.sandbox.version.name] if "gssapi" in way and not secure.kerberos}
    assert set(secure.ways) == set(METHODS[secure.sandbox.version.name]) - lacking


@pytest.fixture
def usable_way(way: str, secure: Secure, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same, when there is all that it needs."""
    if "gssapi" in way:
        if secure.kerberos is None:
            pytest.skip("no Kerberos KDC is installed (Debian: krb5-kdc krb5-admin-server krb5-user)")
        monkeypatch.setenv("KRB5_CONFIG", str(secure.kerberos.configuration))
    return way


def test_java_connects(usable_way: str, secure: Secure, java_lists: JavaLists) -> None:
    output = java_lists.by(usable_way)
    if (refusal := NOT_BY_JAVA.get((secure.sandbox.version.name, usable_way))) is not None:
        assert refusal in output.err
    else:
        assert sorted(output.names) == GROUPS.names(), output.err


def test_kgroups_connects_like_java(usable_way: str, secure: Secure) -> None:
    answer = run_here("list", "--command-config", str(secure.file(usable_way)), "--timeout", "20s")
    assert (answer.code, answer.lines, answer.err) == (0, GROUPS.names(), "")


def test_librdkafka_connects_like_java(usable_way: str, secure: Secure) -> None:
    words = ("--transport", Transport.LIBRDKAFKA.value, "--timeout", "20s")
    answer = run_here("list", "--command-config", str(secure.file(usable_way)), *words)
    if "gssapi" in usable_way:
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.count("\n") == 1 and "GSSAPI" in answer.err and "--transport wire" in answer.err
    else:
        assert (answer.code, answer.lines, answer.err) == (0, GROUPS.names(), LESS)


@pytest.mark.parametrize("transport", Transport)
def test_token_obtained_elsewhere_is_accepted(secure: Secure, transport: Transport, tmp_path: Path) -> None:
    """The setting does not exist in Java; brokers that verify no signatures get an unsigned token."""
    if secure.tokens:
        listener, token = "SASL_SSL", secure.tokens.file
    else:
        listener, token = "UNSECURED_SSL", tmp_path / "unsigned.jwt"
        token.touch(0o600)
        token.write_text(unsecured_jws(UnsecuredToken(OPERATOR), time.time()).reveal())
    settings = {**protocol_of(listener, secure.certificates), "sasl.mechanism": "OAUTHBEARER"}
    file = secure.write("static-token", listener, settings)
    words = ("-X", f"sasl.oauthbearer.token=@{token}", "--transport", transport.value)
    answer = run_here("list", "--command-config", str(file), *words)
    assert (answer.code, answer.lines) == (0, GROUPS.names()), answer.err
