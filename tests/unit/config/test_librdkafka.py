"""Settings for librdkafka: a client is created with each of them."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.secret import Secret
from kgroups.config.security import (
    AwsIam,
    ClientCredentials,
    Credentials,
    Kerberos,
    Password,
    Sasl,
    Security,
    StaticToken,
    Tls,
    TokenFile,
    UnsecuredToken,
)
from kgroups.config.settings import ClientSettings
from kgroups.config.token_callback import token_callback
from kgroups.errors import AuthenticationFailed, ConfigError
from tests.unit.config.conftest import KEY_PASSWORD, Keys

PLAIN = ClientSettings((("h", 1),))
HUSH = Secret("hush")


def options_of(security: Security) -> dict[str, object]:
    return librdkafka_options(PLAIN._replace(security=security))


def sasl(credentials: Credentials, mechanism: str = "OAUTHBEARER") -> Security:
    return Security(None, Sasl(mechanism, credentials))


def test_plaintext_options_are_minimal() -> None:
    assert set(librdkafka_options(PLAIN)) == {"bootstrap.servers", "client.id", "log_level"}


def test_tls_options_are_accepted_by_librdkafka(keys: Keys) -> None:
    tls = Tls(
        keys.authority, keys.own, Secret(keys.encrypted), Secret(KEY_PASSWORD), ciphers=("AES128-SHA", "AES256-SHA")
    )
    options = options_of(Security(tls))
    assert options["security.protocol"] == "SSL"
    assert (options["ssl.ca.pem"], options["ssl.certificate.pem"]) == (keys.authority, keys.own)
    assert options["ssl.cipher.suites"] == "AES128-SHA:AES256-SHA:!aNULL:!eNULL"
    assert options["enable.ssl.certificate.verification"] is True
    assert options["ssl.endpoint.identification.algorithm"] == "https"
    AdminClient(options)
    options = options_of(Security(Tls(verify=False, check_name=False)))
    assert options["enable.ssl.certificate.verification"] is False
    assert options["ssl.endpoint.identification.algorithm"] == "none"
    AdminClient(options)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_password_options_are_accepted_by_librdkafka(mechanism: str) -> None:
    options = options_of(sasl(Password("u", HUSH), mechanism))
    assert (options["sasl.mechanisms"], options["sasl.username"], options["sasl.password"]) == (mechanism, "u", "hush")
    AdminClient(options)


def test_client_credentials_options(keys: Keys) -> None:
    wanted = ClientCredentials("https://127.0.0.1:1/t", "c", HUSH, "s", {"a": "b"}, Tls(keys.authority))
    options = options_of(sasl(wanted))
    assert {
        key.removeprefix("sasl.oauthbearer."): value for key, value in options.items() if "oauthbearer." in key
    } == {
        "method": "oidc",
        "token.endpoint.url": "https://127.0.0.1:1/t",
        "client.id": "c",
        "client.secret": "hush",
        "scope": "s",
        "extensions": "a=b",
    }
    assert options["https.ca.pem"] == keys.authority


@pytest.mark.parametrize(
    ("credentials", "mechanism", "way_out"),
    [
        (Kerberos("kafka"), "GSSAPI", "does not support GSSAPI; use --transport wire"),
        (Password("id", HUSH, True), "SCRAM-SHA-256", r"delegation tokens .* use --transport wire"),
    ],
)
def test_unsupported_credentials_suggest_the_wire_transport(
    credentials: Credentials, mechanism: str, way_out: str
) -> None:
    with pytest.raises(ConfigError, match=way_out):
        options_of(sasl(credentials, mechanism))


def _part(token: str, at: int) -> dict[str, object]:
    text = token.split(".")[at]
    found: dict[str, object] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


def test_token_callback_returns_configured_tokens(tmp_path: Path) -> None:
    unsecured = UnsecuredToken("me", lifetime=60.0, claims={"scope": ["a"]}, extensions={"x": "y"})
    token, ends, who, extensions = token_callback(unsecured)("")
    assert (_part(token, 0), token.endswith(".")) == ({"alg": "none"}, True)
    assert _part(token, 1)["sub"] == who == "me"
    assert _part(token, 1)["scope"] == ["a"]
    assert ends == _part(token, 1)["exp"]
    assert abs(ends - time.time() - 60) < 30
    assert extensions == {"x": "y"}
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    ask = token_callback(TokenFile(str(file)))
    assert ask("")[:3] == (token, ends, "me")
    file.write_text("opaque\n")
    assert ask("")[0] == "opaque"
    assert ask("")[1] > time.time() + 600
    assert token_callback(StaticToken(HUSH))("")[0] == "hush"
    AdminClient(options_of(sasl(StaticToken(Secret(token)))))


def test_settings_rejected_by_librdkafka_are_config_errors() -> None:
    with pytest.raises(ConfigError, match=r"librdkafka rejected these settings: .*no cipher match"):
        make_client(AdminClient, options_of(Security(Tls(ciphers=("NOPE",)))))
    with pytest.raises(ConfigError, match="cannot read /nowhere/token"):
        make_client(AdminClient, options_of(sasl(TokenFile("/nowhere/token"))))


def test_token_callback_signs_for_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aws_msk_iam_sasl_signer")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    token, ends, _, _ = token_callback(AwsIam(), "b-1.x.kafka.eu-north-1.amazonaws.com")("")
    url = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    assert url.startswith("https://kafka.eu-north-1.amazonaws.com/")
    assert "hush" not in url
    assert 0 < ends - time.time() < 3600
    with pytest.raises(AuthenticationFailed, match="localhost does not contain its region; set AWS_REGION"):
        token_callback(AwsIam(), "localhost")("")
