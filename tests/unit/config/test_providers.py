"""Which sources may fill environment variables and files into settings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups import Cluster
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.properties import read_properties
from kgroups.config.providers import PROVIDERS_ENV, _places
from kgroups.config.secret_targets import URLS_ENV
from kgroups.config.security import StaticToken, TokenFile
from kgroups.errors import ConfigError, MissingPackage, UsageError

PW = "hush"
JAVAS = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
"""The pattern of Kafka's ConfigTransformer."""
OAUTH = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}


def written(folder: Path, text: str) -> str:
    file = folder / "client.properties"
    file.write_text(text)
    file.chmod(0o600)
    return str(file)


def stolen(folder: Path) -> dict[str, str]:
    """Properties that read what is none of their business, each in its own way."""
    (folder / "secret").write_text("k=hush\n")
    return {
        "env": "${env:PW}",
        "file": f"${{file:{folder}/secret:k}}",
        "directory": f"${{directory:{folder}:secret}}",
        "in the middle": "a${env:PW}b",
    }


@pytest.mark.parametrize("way", ["env", "file", "directory", "in the middle"])
def test_program_properties_use_no_providers_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("PW", PW)
    value = stolen(tmp_path)[way]
    with pytest.raises(ConfigError, match=r"^properties: client\.id uses .* requires config_providers=True$"):
        Cluster("b:1", properties={"client.id": value})
    assert PW in Cluster("b:1", properties={"client.id": value}, config_providers=True).settings.client_id
    declared = {"config.providers": "env", "config.providers.env.class": "x.EnvVarConfigProvider"}
    with pytest.raises(ConfigError, match=r"^properties: config\.providers is not allowed"):
        Cluster("b:1", properties=declared)
    assert Cluster("b:1", properties={"client.id": "${vault:x}"}).settings.client_id == "${vault:x}"


def test_command_config_uses_providers_unless_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", PW)
    file = written(tmp_path, "client.id=${env:PW}\n")
    assert Cluster("b:1", command_config=file).settings.client_id == PW
    with pytest.raises(ConfigError, match=r"line 1: client\.id uses"):
        Cluster("b:1", command_config=file, config_providers=False)


@pytest.mark.parametrize("message", ["off", "file", "file, directory"])
def test_environment_variable_disables_providers(tmp_path: Path, message: str) -> None:
    file = written(tmp_path, "client.id=${env:PW}\n")
    for own in (True, False):  # of Kafka's commands too
        with pytest.raises(ConfigError, match=f"which {PROVIDERS_ENV} does not allow"):
            load_settings(Flags("b:1", file), {"PW": PW, PROVIDERS_ENV: message}, own=own)
    declared = "config.providers=env\nconfig.providers.env.class=x.EnvVarConfigProvider\n"
    with pytest.raises(ConfigError, match=f"which {PROVIDERS_ENV} does not allow"):
        load_settings(
            Flags("b:1", written(tmp_path, f"{declared}client.id=${{env:PW}}")), {"PW": PW, PROVIDERS_ENV: message}
        )


@pytest.mark.parametrize("message", ["", " ", "on", "off,env", "env;file"])
def test_environment_variable_with_invalid_value_is_an_error(tmp_path: Path, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{PROVIDERS_ENV} must be off, or a list of env, file, directory, keyring$"):
        load_settings(Flags("b:1", written(tmp_path, "acks=all\n")), {PROVIDERS_ENV: message})


def test_declared_providers_exclude_all_others(tmp_path: Path) -> None:
    """An allowlist of one provider would be useless if undeclared providers worked."""
    stolen(tmp_path)
    declared = (
        "config.providers=env\nconfig.providers.env.class=x.EnvVarConfigProvider\n"
        "config.providers.env.param.allowlist.pattern=KAFKA_.*\n"
    )
    environ = {"KAFKA_ID": "me", "PW": PW}
    assert load_settings(Flags("b:1", written(tmp_path, declared + "client.id=${env:KAFKA_ID}")), environ)
    for value, why in (
        ("${env:PW}", "reads the environment variable PW, which .* does not allow"),
        (f"${{file:{tmp_path}/secret:k}}", "which config.providers does not declare"),
        (f"${{directory:{tmp_path}:secret}}", "which config.providers does not declare"),
    ):
        with pytest.raises(ConfigError, match=why):
            load_settings(Flags("b:1", written(tmp_path, f"{declared}client.id={value}")), environ)


def test_token_file_url_needs_a_trusted_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a file holds would be sent to a broker as the token."""
    token = tmp_path / "to ken"
    token.write_text("x")
    token.chmod(0o600)
    url = f"file://{tmp_path}/to%20ken"
    key = "sasl.oauthbearer.token.endpoint.url"
    properties = {**OAUTH, key: url}
    jaas = f'org.apache.kafka.OAuthBearerLoginModule required oauth.token.endpoint.uri="{url}";'
    for each in (properties, {**OAUTH, "sasl.jaas.config": jaas}):
        with pytest.raises(
            ConfigError, match="is a file: URL; properties passed by a program need config_providers=True"
        ):
            Cluster("b:1", properties=each)
        security = Cluster("b:1", properties=each, config_providers=True).settings.security
        assert security and security.sasl and security.sasl.credentials == TokenFile(str(token))
    file = written(tmp_path, "\n".join(f"{name}={value}" for name, value in properties.items()))
    assert Cluster("b:1", command_config=file).settings.security == security
    monkeypatch.setenv(URLS_ENV, f"https://idp/t, {url}")
    assert Cluster("b:1", properties=properties).settings.security == security
    monkeypatch.setenv(URLS_ENV, "https://idp/t")
    with pytest.raises(ConfigError, match=f"names a token URL that is not in {URLS_ENV}"):
        Cluster("b:1", command_config=file)
    client = {"sasl.oauthbearer.client.id": "c", "sasl.oauthbearer.client.secret": "s"}
    assert Cluster("b:1", properties={**OAUTH, **client, key: "https://idp/t"}).settings.security
    with pytest.raises(ConfigError, match=f"names a token URL that is not in {URLS_ENV}"):
        Cluster("b:1", properties={**OAUTH, **client, key: "https://idp/t/2"})
    assert isinstance(
        Cluster("b:1", properties={**OAUTH, "sasl.oauthbearer.token": "x"}).settings.security.sasl.credentials,
        StaticToken,
    )


@given(st.text(st.sampled_from("${}:ab/"), max_size=40))
def test_placeholders_match_java(text: str) -> None:
    found = [(place.start, place.end, place.name, place.path, place.key) for place in _places(text)]
    assert found == [
        (match.start(), match.end(), match[1], match[3] if match[2] else None, match[4])
        for match in JAVAS.finditer(text)
    ]


@pytest.mark.parametrize("text", ["${a:" * 200_000, "${" * 400_000, "${a:b" * 200_000 + "}", "${}" * 200_000])
def test_placeholders_in_long_values_take_linear_time(text: str) -> None:
    """Java's pattern takes time that grows with the cube: days for these."""
    assert len(list(_places(text))) <= 1


@pytest.mark.parametrize(
    ("servers", "lines", "message"),
    [
        ("b:1", "sasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p", ["the password goes"]),
        ("localhost:1,b:1", "sasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p", ["the password goes"]),
        ("localhost:1,127.0.0.9:1,[::1]:2", "sasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p", []),
        ("b:1", "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token=t", ["the token goes"]),
        ("b:1", "sasl.mechanism=SCRAM-SHA-256\nsasl.username=u\nsasl.password=p", []),
        (
            "localhost:1",
            "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.client.id=c\nsasl.oauthbearer.client.secret=s\n"
            "sasl.oauthbearer.token.endpoint.url=http://idp/t",
            ["the client secret goes"],
        ),
        (
            "localhost:1",
            "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.client.id=c\nsasl.oauthbearer.client.secret=s\n"
            "sasl.oauthbearer.token.endpoint.url=http://127.0.0.1:80/t",
            [],
        ),
    ],
)
def test_secret_without_encryption_is_remarked_on(tmp_path: Path, servers: str, lines: str, message: list[str]) -> None:
    file = written(tmp_path, f"security.protocol=SASL_PLAINTEXT\n{lines}\n")
    remarks = load_settings(Flags(servers, file), {}).warnings
    assert len(remarks) == len(message) and all(word in remark for word, remark in zip(message, remarks, strict=True))
    secure = written(tmp_path, f"security.protocol=SASL_SSL\n{lines}\n")
    assert not [each for each in load_settings(Flags(servers, secure), {}).warnings if "SASL_PLAINTEXT" in each]


def test_scram_over_librdkafka_without_encryption_is_remarked_on(tmp_path: Path) -> None:
    lines = "sasl.mechanism=SCRAM-SHA-256\nsasl.username=u\nsasl.password=p\n"
    plain = written(tmp_path, f"security.protocol=SASL_PLAINTEXT\n{lines}")
    (remark,) = load_settings(Flags("b:1", plain, transport="librdkafka"), {}).warnings
    assert "SCRAM iterations" in remark and "--transport wire" in remark
    assert not load_settings(Flags("b:1", plain), {}).warnings
    assert not load_settings(Flags("127.0.0.1:1", plain, transport="librdkafka"), {}).warnings
    secure = written(tmp_path, f"security.protocol=SASL_SSL\n{lines}")
    assert not load_settings(Flags("b:1", secure, transport="librdkafka"), {}).warnings


def test_property_repr_hides_its_value(tmp_path: Path) -> None:
    (found,) = read_properties(Path(written(tmp_path, "sasl.password=hush")))
    assert "hush" not in repr(found)


HOSTILE_TOML = {
    "nested arrays": "x = " + "[" * 100_000,
    "nested tables": "x = " + "{a = " * 100_000,
    "a long key": ".".join("a" * 5000) + " = 1",
    "a long number": "x = " + "9" * 10_000,
    "a long hexadecimal number": "x = 0x" + "f" * 10_000,
    "a deep table": "[profiles.p.properties." + ".".join("a" * 5000) + "]\nx = 1",
}


@pytest.mark.parametrize("case", HOSTILE_TOML)
def test_toml_beyond_limits_is_a_one_line_error(tmp_path: Path, case: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text('default = "p"\n[profiles.p]\nbootstrap = "h:1"\n' + HOSTILE_TOML[case])
    with pytest.raises(ConfigError, match=r"nested too deeply|number that is too long|line 4") as caught:
        load_settings(Flags(), {"KGROUPS_CONFIG": str(file)})
    assert len(str(caught.value)) < 300


@pytest.fixture
def keyring_of_test(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library with a keyring in memory, in place of that of the system."""
    pytest.importorskip("keyring")
    import keyring.backend
    import keyring.errors

    class InMemory(keyring.backend.KeyringBackend):  # type: ignore[misc, name-defined]
        priority = 1
        passwords: ClassVar = {("kgroups/prod", "ann"): PW}

        def get_password(self, service: str, username: str) -> str | None:
            if service == "locked":
                raise keyring.errors.KeyringLocked("the keyring is locked")
            return self.passwords.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    yield
    keyring.set_keyring(before)


def test_keyring_provides_passwords(keyring_of_test: object, tmp_path: Path) -> None:
    def client_id(value: str, environ: dict[str, str] | None = None) -> str:
        return load_settings(Flags("b:1", written(tmp_path, f"client.id={value}")), environ or {}).settings.client_id

    assert client_id("${keyring:kgroups/prod/ann}") == PW
    for value, why in (
        ("${keyring:kgroups/prod/bob}", "has no such entry; run: keyring set kgroups/prod bob$"),
        ("${keyring:locked/bob}", "failed: the keyring is locked$"),
        ("${keyring:ann}", r"use \$\{keyring:SERVICE/USER\}$"),
    ):
        with pytest.raises(ConfigError, match=why):
            client_id(value)
    with pytest.raises(ConfigError, match=f"which {PROVIDERS_ENV} does not allow"):
        client_id("${keyring:kgroups/prod/ann}", {PROVIDERS_ENV: "env"})
    with pytest.raises(ConfigError, match="requires config_providers=True"):
        Cluster("b:1", properties={"client.id": "${keyring:kgroups/prod/ann}"})


def test_keyring_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingPackage, match=r"line 1: client\.id uses .*pip install 'kgroups\[keyring\]'"):
        load_settings(Flags("b:1", written(tmp_path, "client.id=${keyring:a/b}")), {})


def test_file_without_key_is_read_as_a_whole(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{PW}\n")
    secret.chmod(0o644)
    loaded = load_settings(Flags("b:1", written(tmp_path, f"client.id=${{file:{secret}}}")), {})
    assert loaded.settings.client_id == PW
    assert f"chmod 600 {secret}" in loaded.warnings[0]
    with pytest.raises(ConfigError, match=r"line 1: client\.id.*absent"):
        load_settings(Flags("b:1", written(tmp_path, f"client.id=${{file:{tmp_path}/absent}}")), {})
    declared = (
        "config.providers=file\nconfig.providers.file.class=x.FileConfigProvider\n"
        "config.providers.file.param.allowed.paths=/nowhere\n"
    )
    with pytest.raises(ConfigError, match=r"allowed\.paths"):
        load_settings(Flags("b:1", written(tmp_path, f"{declared}client.id=${{file:{secret}}}")), {})
