"""Files from Windows, editors, secret volumes, and old scripts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kgroups.config import properties
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.secret import Secret
from kgroups.config.security import ClientCredentials, Password, StaticToken
from kgroups.errors import ConfigError, UsageError
from tests.unit.config.conftest import STORE_PASSWORD, Keys, Load

PLAIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
OAUTH = (
    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
    "sasl.oauthbearer.client.id=i\nsasl.oauthbearer.client.secret=hush\n"
)
URL = "sasl.oauthbearer.token.endpoint.url="


def credentials_of(load: Load, text: str, **flags: object) -> object:
    security = load(text, **flags).settings.security
    assert security and security.sasl
    return security.sasl.credentials


@pytest.mark.parametrize("after", [" ", "\t", " \r"])
def test_trailing_blanks_of_values_are_ignored(keys: Keys, load: Load, after: str) -> None:
    store = keys.folder / "trust.JKS"
    text = f"security.protocol=SSL{after}\nssl.truststore.location={store}{after}\n"
    text += f"ssl.truststore.password={STORE_PASSWORD}{after}\n"
    security = load(text).settings.security
    assert security and security.tls and security.tls.authorities


def test_trailing_newline_of_secret_file_is_ignored(keys: Keys, load: Load, tmp_path: Path) -> None:
    (tmp_path / "word").write_text(f"{STORE_PASSWORD}\n")
    text = f"security.protocol=SSL\nssl.truststore.location={keys.folder / 'trust.JKS'}\n"
    security = load(f"{text}ssl.truststore.password=${{directory:{tmp_path}:word}}").settings.security
    assert security and security.tls and security.tls.authorities


def test_librdkafka_password_may_end_in_a_blank(load: Load) -> None:
    found = credentials_of(load, f"{PLAIN}sasl.username=u\nsasl.password=hush \n")
    assert found == Password("u", Secret("hush "))


def test_surrogate_pair_escapes_are_one_character(load: Load) -> None:
    line = r'sasl.jaas.config=x.PlainLoginModule required username="u" password="\ud83d\ude00";'
    assert credentials_of(load, PLAIN + line) == Password("u", Secret("\N{GRINNING FACE}"))


def test_utf_8_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_bytes(b"\xef\xbb\xbfbootstrap.servers=f:1\r\n")
    loaded = load_settings(Flags(command_config=str(path)), {})
    assert (loaded.settings.bootstrap, loaded.warnings) == ((("f", 1),), ())


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_file_is_named(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "client.properties"
    path.write_bytes(
        "\ufeffbootstrap.servers=f:1\n".encode(codec).removeprefix(b"\xff\xfe" if codec == "utf-16" else b"")
    )
    with pytest.raises(ConfigError, match=r"client.properties is UTF-16.*; save it as UTF-8"):
        load_settings(Flags(command_config=str(path)), {})


@pytest.mark.parametrize("flag", ["bootstrap", "command_config", "profile"])
def test_empty_flag_is_an_error_and_uses_no_other_cluster(flag: str) -> None:
    given = {"bootstrap": "h:1", flag: ""}
    with pytest.raises(UsageError, match=f"--{flag.replace('_', '-')}.* is empty"):
        load_settings(Flags(**given), {"KGROUPS_BOOTSTRAP_SERVER": "e:1"})


def test_environment_variable_that_overrides_a_file_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("# mine\nbootstrap.servers=f:1")
    environ = {"KGROUPS_BOOTSTRAP_SERVER": "e:1", "KGROUPS_COMMAND_CONFIG": str(path)}
    loaded = load_settings(Flags(), environ)
    assert loaded.settings.bootstrap == (("e", 1),)
    assert "KGROUPS_BOOTSTRAP_SERVER overrides" in loaded.warnings[0]
    assert "client.properties, line 2: bootstrap.servers" in loaded.warnings[0]
    assert load_settings(Flags(bootstrap="b:1"), environ).warnings == ()
    assert load_settings(Flags(), {**environ, "KGROUPS_BOOTSTRAP_SERVER": "f:1"}).warnings == ()


@pytest.mark.parametrize("url", ["http://[x/", "file://[x", "http://x:99999/", "https://:443/", "http://x:y/"])
def test_invalid_url_is_reported_with_its_line(load: Load, url: str) -> None:
    with pytest.raises(ConfigError, match=r"client.properties, line 5: sasl.oauthbearer.token.endpoint.url must be"):
        load(f"{OAUTH}{URL}{url}")


def test_invalid_keytab_url_is_reported_with_its_line(load: Load) -> None:
    line = 'sasl.jaas.config=x.Krb5LoginModule required keyTab="file://[x" serviceName=kafka;'
    with pytest.raises(ConfigError, match=r"client.properties, line 2: keyTab must be a file URL"):
        load(f"security.protocol=SASL_PLAINTEXT\n{line}")


@pytest.mark.parametrize("number", ["nan", "inf", "-1e300"])
def test_lifetime_out_of_range_is_rejected(load: Load, number: str) -> None:
    line = f'required unsecuredLoginStringClaim_sub="a" unsecuredLoginLifetimeSeconds="{number}";'
    with pytest.raises(ConfigError, match="unsecuredLoginLifetimeSeconds must be a number"):
        load(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
            f"sasl.jaas.config=x.OAuthBearerLoginModule {line}"
        )


def test_client_id_that_cannot_be_encoded_is_rejected(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"client.properties, line 1: client.id is not valid UTF-8"):
        load("client.id=\\ud83d")
    with pytest.raises(ConfigError, match=r"client.properties, line 1: client.id has 40,000 bytes"):
        load(f"client.id={'x' * 40_000}")


@pytest.mark.parametrize("encode", [True, False])
def test_oauth_header_urlencode_is_followed(load: Load, encode: bool) -> None:
    found = credentials_of(load, f"{OAUTH}{URL}https://x/\nsasl.oauthbearer.header.urlencode={str(encode).lower()}")
    assert isinstance(found, ClientCredentials) and found.url_encode is encode


def test_strimzi_truststore_is_used_for_the_token_endpoint(load: Load, keys: Keys) -> None:
    store = keys.folder / "trust.JKS"
    loaded = load(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        "sasl.jaas.config=x.OAuthBearerLoginModule required oauth.client.id=i oauth.client.secret=hush "
        f'oauth.token.endpoint.uri="https://sso/" oauth.ssl.truststore.location="{store}" '
        f'oauth.ssl.truststore.password="{STORE_PASSWORD}" oauth.ssl.endpoint.identification.algorithm="";'
    )
    assert loaded.settings.security and loaded.settings.security.sasl
    found = loaded.settings.security.sasl.credentials
    assert isinstance(found, ClientCredentials) and found.tls and found.tls.authorities and not found.tls.check_name
    assert [remark for remark in loaded.warnings if "token endpoint" in remark and "any host" in remark]
    assert STORE_PASSWORD not in str(loaded)


def test_secrets_in_urls_are_masked(load: Load) -> None:
    loaded = load(f"{OAUTH}{URL}https://me:hush@sso.example/token?key=hush")
    (shown,) = (each.value for each in loaded.understood if each.key.endswith("endpoint.url"))
    assert "hush" not in shown and shown.startswith("https://****@sso.example/token")


def test_later_layers_override_other_spellings(load: Load) -> None:
    assert load("request.timeout.ms=5000", overrides=("socket.timeout.ms=1000",)).settings.broker_timeout == 1
    token = f"{OAUTH}sasl.oauthbearer.token=hush"
    assert isinstance(credentials_of(load, token), StaticToken)
    assert isinstance(credentials_of(load, token, overrides=(f"{URL}https://x/",)), ClientCredentials)
    endpoint = f"{OAUTH}{URL}https://x/"
    assert isinstance(credentials_of(load, endpoint, overrides=("sasl.oauthbearer.token=t",)), StaticToken)


def test_wrong_store_type_is_named(keys: Keys, tmp_path: Path) -> None:
    folder = tmp_path / "truststore"
    folder.mkdir()
    pem = folder / "own.pem"
    pem.write_text(keys.own + keys.key)
    path = folder / "client.properties"
    path.write_text(f"security.protocol=SSL\nssl.keystore.location={pem}\n")
    with pytest.raises(ConfigError, match=r"set ssl\.keystore\.type=PEM"):
        load_settings(Flags(bootstrap="h:1", command_config=str(path)), {})


def test_properties_of_a_program_are_taken_literally() -> None:
    """No file is meant by their ``@``, and no list of processes shows them."""
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "u"}
    loaded = load_settings(Flags("localhost:1", properties=(*given.items(), ("sasl.password", "@hush"))), {})
    assert loaded.settings.security and loaded.settings.security.sasl
    assert loaded.settings.security.sasl.credentials == Password("u", Secret("@hush"))
    assert loaded.warnings == ()


def test_pipe_is_read_to_its_end_and_not_waited_for_without_writer(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr(properties, "PIPE_TIMEOUT", 0.0)
    with pytest.raises(ConfigError, match=r"pipe: it is a pipe that no process writes to"):
        load_settings(Flags(command_config=str(path)), {})
    monkeypatch.setattr(properties, "PIPE_TIMEOUT", 60.0)
    with subprocess.Popen(["sh", "-c", 'echo client.id=a > "$1"', "sh", path]) as writer:
        assert load_settings(Flags("h:1", str(path)), {}).settings.client_id == "a"
    assert writer.returncode == 0


def test_timeouts_are_shown_with_their_unit() -> None:
    understood = load_settings(Flags("h:1", timeout=5), {}, explain=True).understood
    assert [each.value for each in understood if each.origin == "--timeout"] == ["5000 ms"]
