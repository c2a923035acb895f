"""Precedence of settings, and remarks on the others."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.secret import Secret
from kgroups.config.security import Password, Sasl, Security
from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import ConfigError, UsageError
from tests.unit.config.conftest import Load

PLAIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
JAAS = (
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hush";\n'
)


@pytest.fixture
def profiles_file(tmp_path: Path) -> Path:
    (tmp_path / "prod.properties").write_text("client.id=of-the-file\nrequest.timeout.ms=1500\nbootstrap.servers=f:1\n")
    config = tmp_path / "config.toml"
    config.write_text(
        'default = "prod"\n[profiles.prod]\nbootstrap = "p:1"\ncommand-config = "prod.properties"\ntimeout = "2m"\n'
        '[profiles.prod.properties]\nclient.id = "of-the-profile"\n[profiles.dev]\nbroker-timeout = 7\n'
    )
    config.chmod(0o600)
    return config


def test_flags_alone_are_sufficient() -> None:
    loaded = load_settings(Flags(bootstrap="h:1", timeout=5), {})
    assert loaded.settings == ClientSettings((("h", 1),), timeout=5, broker_timeout=5)
    assert (loaded.warnings, loaded.understood) == ((), ())


@pytest.mark.parametrize(
    ("flags", "environ", "expected"),
    [
        (Flags(), {}, (("p", 1), 120, 1.5, "of-the-profile")),
        (Flags(overrides=("client.id=x",)), {}, (("p", 1), 120, 1.5, "x")),
        (Flags(profile="prod", bootstrap="b:1"), {}, (("b", 1), 120, 1.5, "of-the-profile")),
        (Flags(timeout=3), {}, (("p", 1), 3, 1.5, "of-the-profile")),
        (Flags(), {"KGROUPS_BOOTSTRAP_SERVER": "e:1"}, (("e", 1), 30, 10, "kgroups")),
        (Flags(profile="prod"), {"KGROUPS_BOOTSTRAP_SERVER": "e:1"}, (("p", 1), 120, 1.5, "of-the-profile")),
        (Flags(profile="dev"), {"KGROUPS_BOOTSTRAP_SERVER": "e:1"}, (("e", 1), 30, 7, "kgroups")),
        (
            Flags(),
            {"KGROUPS_BOOTSTRAP_SERVER": "e:1", "KGROUPS_PROFILE": "prod"},
            (("e", 1), 120, 1.5, "of-the-profile"),
        ),
        (Flags(profile="prod"), {"KGROUPS_COMMAND_CONFIG": "nowhere"}, (("p", 1), 120, 1.5, "of-the-profile")),
        (Flags(bootstrap="b:1"), {"KGROUPS_BOOTSTRAP_SERVER": "e:1"}, (("b", 1), 30, 10, "kgroups")),
        (Flags(bootstrap="b:1"), {"KGROUPS_PROFILE": "dev"}, (("b", 1), 30, 7, "kgroups")),
        (Flags(bootstrap="b:1", profile="dev"), {"KGROUPS_PROFILE": "prod"}, (("b", 1), 30, 7, "kgroups")),
        (
            Flags(overrides=("bootstrap.servers=x:1",)),
            {"KGROUPS_BOOTSTRAP_SERVER": "e:1"},
            (("x", 1), 30, 10, "kgroups"),
        ),
    ],
)
def test_flags_override_environment_profile_and_file(
    profiles_file: Path, flags: Flags, environ: dict[str, str], expected: tuple[object, ...]
) -> None:
    settings = load_settings(flags, {"KGROUPS_CONFIG": str(profiles_file), **environ}).settings
    assert (settings.bootstrap[0], settings.timeout, settings.broker_timeout, settings.client_id) == expected


def test_servers_of_a_named_file_override_the_environment(profiles_file: Path) -> None:
    """Its password is for its own brokers, and its flag is newer than an exported variable."""
    environ = {"KGROUPS_BOOTSTRAP_SERVER": "e:1"}
    file = profiles_file.with_name("prod.properties")
    loaded = load_settings(Flags(command_config=str(file)), environ)
    assert (loaded.settings.bootstrap, loaded.warnings) == ((("f", 1),), ())
    assert load_settings(Flags(bootstrap="b:1", command_config=str(file)), environ).settings.bootstrap == (("b", 1),)
    file.write_text("client.id=x")
    assert load_settings(Flags(command_config=str(file)), environ).settings.bootstrap == (("e", 1),)


def test_servers_of_the_file_of_a_named_profile_override_the_environment(profiles_file: Path) -> None:
    profiles_file.write_text('[profiles.prod]\ncommand-config = "prod.properties"\n')
    environ = {"KGROUPS_CONFIG": str(profiles_file), "KGROUPS_BOOTSTRAP_SERVER": "e:1"}
    assert load_settings(Flags(profile="prod"), environ).settings.bootstrap == (("f", 1),)
    assert load_settings(Flags(), {**environ, "KGROUPS_PROFILE": "prod"}).settings.bootstrap == (("e", 1),)


def test_default_profile_is_not_used_for_a_named_cluster(profiles_file: Path) -> None:
    """Its password is for its own brokers."""
    environ = {"KGROUPS_CONFIG": str(profiles_file)}
    other = profiles_file.with_name("prod.properties")
    assert load_settings(Flags(bootstrap="h:1"), environ).settings.client_id == "kgroups"
    assert load_settings(Flags(bootstrap="h:1", command_config=str(other)), environ).settings.client_id == "of-the-file"
    assert load_settings(Flags(command_config=str(other)), environ).settings.bootstrap == (("f", 1),)


def test_missing_bootstrap_servers_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no bootstrap server"):
        load_settings(Flags(), {"KGROUPS_CONFIG": os.devnull})


def test_kafka_commands_ignore_profiles(profiles_file: Path) -> None:
    environ = {"KGROUPS_CONFIG": str(profiles_file), "KGROUPS_PROFILE": "prod", "KGROUPS_COMMAND_CONFIG": "nowhere"}
    assert load_settings(Flags(bootstrap="h:1"), environ, own=False).settings == ClientSettings((("h", 1),))


def test_override_replaces_every_spelling(load: Load) -> None:
    text = PLAIN + JAAS
    for key in ("sasl.mechanism", "sasl.mechanisms"):
        security = load(text, overrides=(f"{key}=SCRAM-SHA-256",)).settings.security
        assert security and security.sasl
        assert security.sasl.mechanism == "SCRAM-SHA-256"
    one = load(text, overrides=("sasl.password=${env:PW}",), environ={"PW": "p"})
    assert one.settings.security == Security(None, Sasl("PLAIN", Password("u", Secret("p"))))
    assert one.warnings == ()
    new = JAAS.strip().replace('"u"', '"v"')
    two = load(f"{PLAIN}sasl.username=x\nsasl.password=y", overrides=(new,))
    assert two.settings.security == Security(None, Sasl("PLAIN", Password("v", Secret("hush"))))


def test_override_may_read_secret_from_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("hush\n")
    (tmp_path / "pw").chmod(0o600)
    from_file = load(PLAIN, overrides=("sasl.username=@@me", f"sasl.password=@{tmp_path / 'pw'}"))
    assert from_file.settings.security == Security(None, Sasl("PLAIN", Password("@me", Secret("hush"))))
    assert from_file.warnings == ()
    (remark,) = load(PLAIN, overrides=("sasl.username=me", "sasl.password=hush")).warnings
    assert remark.startswith("-X sasl.password: visible to every user of this machine")
    assert "hush" not in remark
    with pytest.raises(ConfigError, match=r"-X sasl\.password: cannot read .*: No such file"):
        load(PLAIN, overrides=("sasl.password=@/nowhere/pw",))
    for wrong in ("sasl.password", "=x"):
        with pytest.raises(UsageError, match="-X must be KEY=VALUE"):
            load(PLAIN, overrides=(wrong,))


def test_unknown_keys_are_one_remark(load: Load) -> None:
    loaded = load(
        "acks=all\nretries=1\nretires=5\nkey.serializer=x\nssl.treustore=1\nsecurity.protocol=PLAINTEXT\nx y\n"
    )
    (idle, unknown) = loaded.warnings
    assert idle.startswith("ssl.treustore (") and idle.endswith("ignored because security.protocol is PLAINTEXT")
    assert unknown.startswith("unknown and ignored: retires (") and "line 3), a key (" in unknown


def test_keys_unused_by_the_protocol_are_one_remark(load: Load) -> None:
    (remark,) = load("security.protocol=SSL\nsasl.mechanism=PLAIN\nsasl.kerberos.service.name=kafka\n" + JAAS).warnings
    assert remark.startswith("sasl.mechanism (") and "sasl.jaas.config (" in remark and "sasl.kerberos" in remark
    assert "hush" not in remark


def test_settings_of_another_mechanism_are_one_remark(load: Load) -> None:
    more = "sasl.oauthbearer.scope=s\nsasl.kerberos.keytab=/k\nsasl.login.class=x\n"
    (remark,) = load(PLAIN + JAAS + more).warnings
    assert remark.startswith("sasl.oauthbearer.scope (") and "sasl.kerberos.keytab (" in remark
    assert remark.endswith("): ignored because sasl.mechanism is PLAIN")


def test_second_spelling_of_a_setting_is_a_remark(load: Load) -> None:
    (remark,) = load("request.timeout.ms=1000\nsocket.timeout.ms=2000\n").warnings
    assert remark.startswith("socket.timeout.ms (") and ": ignored because request.timeout.ms (" in remark
    assert load("request.timeout.ms=1000\nsocket.timeout.ms=1000\n").warnings == ()


def test_repeated_setting_is_a_remark(load: Load) -> None:
    (remark,) = load("client.id=a\nclient.id=b\nclient.id=b\n").warnings
    assert "line 1): ignored because it is set again (" in remark and remark.endswith("line 3)")
    assert load("client.id=a\nclient.id=a\n").warnings == ()


def test_each_setting_has_one_meaning(load: Load) -> None:
    text = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
    handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
    oauth = {
        "sasl.login.callback.handler.class": handler,
        "sasl.login.connect.timeout.ms": "100",
        "sasl.login.refresh.window.factor": "0.8",
        "sasl.oauthbearer.token.endpoint.url": "https://h/t",
        "sasl.oauthbearer.client.id": "i",
        "sasl.oauthbearer.client.secret": "hush",
        "group.id": "hush",
    }
    loaded = load(text + "".join(f"{key}={value}\n" for key, value in oauth.items()))
    keys = [each.key for each in loaded.understood]
    assert len(keys) == len({*keys}) and {*oauth} <= {*keys}
    meanings = {each.key: each.meaning for each in loaded.understood}
    assert meanings["sasl.login.connect.timeout.ms"] == "time limit for connecting to the endpoint"
    assert meanings["group.id"] == meanings["sasl.login.refresh.window.factor"] == "no effect on an admin client"
    kerberos = text.replace("OAUTHBEARER", "GSSAPI") + "sasl.kerberos.service.name=kafka\n"
    assert [each.key for each in load(kerberos).understood].count("sasl.kerberos.service.name") == 1


@given(st.lists(st.text("abcdefgh.", min_size=1, max_size=12), min_size=1, max_size=8, unique=True), st.data())
def test_every_key_is_read_or_named(words: list[str], data: st.DataObject) -> None:
    """Keys that nothing reads, under any prefix, protocol, and mechanism, are in a warning, if only counted."""
    prefixes = ("", "ssl.", "sasl.", "sasl.oauthbearer.", "sasl.login.", "sasl.kerberos.", "https.", "client.")
    keys = {f"{data.draw(st.sampled_from(prefixes))}zz{word}" for word in words}
    head = data.draw(st.sampled_from(["", "security.protocol=SSL\n", PLAIN + JAAS]))
    with TemporaryDirectory() as folder:
        file = Path(folder, "client.properties")
        file.write_text(head + "".join(f"{key}=x\n" for key in sorted(keys)))
        file.chmod(0o600)
        loaded = load_settings(Flags(bootstrap="b:1", command_config=str(file)), {}, explain=True)
    first = head.count("\n") + 1
    text = "\n".join(loaded.warnings)
    assert all(f"line {number})" in text for number in range(first, first + len(keys)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("${KAFKA_PASSWORD}", "is the placeholder ${KAFKA_PASSWORD}"),
        ("$KAFKA_PASSWORD", "is the placeholder $KAFKA_PASSWORD"),
        ("$(PASSWORD)", "is the placeholder $(PASSWORD)"),
        ("a${hush}c", "contains a placeholder ${...}"),
        ("${vault:hush:x}", "contains a placeholder ${...}"),
        ("{{ .Values.hush }}", "is a placeholder"),
        ("<hush>", "is a placeholder"),
    ],
)
def test_placeholder_that_nothing_resolves_is_a_remark(load: Load, value: str, shown: str) -> None:
    (remark,) = load(PLAIN + JAAS.replace("hush", value)).warnings
    assert f"line 3: sasl.jaas.config: password {shown}, which is sent as it is; use ${{env:NAME}}" in remark
    assert "hush" not in remark
    (remark,) = load(PLAIN + f"sasl.username=u\nsasl.password={value}\n").warnings
    assert f"line 4: sasl.password {shown}, which is sent as it is" in remark


JAAS_FILE = """\
/* of the broker */
KafkaServer {
   org.apache.kafka.common.security.plain.PlainLoginModule required
   user_admin="a;b}c";
};
KafkaClient { // of clients
  org.apache.kafka.common.security.plain.PlainLoginModule required
  username="u"
  password="hu}sh";
};
"""


@pytest.mark.parametrize(
    "options",
    [
        "-Xmx1g -Djava.security.auth.login.config={}",
        "-Djava.security.auth.login.config=/no/such -Djava.security.auth.login.config=={}",
        "-Djava.security.auth.login.config=file:{} -Da=b",
        '-Djava.security.auth.login.config="{}"',
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_jaas_file_of_the_jvm_options_is_read(tmp_path: Path, options: str, own: bool) -> None:
    jaas, file = tmp_path / "jaas.conf", tmp_path / "client.properties"
    jaas.write_text(JAAS_FILE)
    file.write_text(PLAIN)
    environ = {"KAFKA_OPTS": options.format(jaas)}
    flags = Flags(bootstrap="b:1", command_config=str(file))
    security = load_settings(flags, environ, own=own).settings.security
    assert security and security.sasl == Sasl("PLAIN", Password("u", Secret("hu}sh")))
    file.write_text(PLAIN + JAAS)
    security = load_settings(flags, environ, own=own).settings.security
    assert security and security.sasl == Sasl("PLAIN", Password("u", Secret("hush")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"^KAFKA_OPTS: java.security.auth.login.config: cannot read .*: No such file"),
        ("KafkaServer { };", r"jaas\.conf \(KAFKA_OPTS\) has no section KafkaClient$"),
        ("KafkaClient { x required", r"jaas\.conf \(KAFKA_OPTS\) has a section without its closing brace$"),
        ('KafkaClient { x required a="', r"jaas\.conf \(KAFKA_OPTS\) has an unclosed quote$"),
        ("KafkaClient { x.LdapLoginModule required; };", r"jaas.conf \(KAFKA_OPTS\): KafkaClient names an unsupported"),
    ],
)
def test_invalid_jaas_file_is_named(tmp_path: Path, text: str | None, message: str) -> None:
    jaas, file = tmp_path / "jaas.conf", tmp_path / "client.properties"
    if text is not None:
        jaas.write_text(text)
    file.write_text(PLAIN)
    environ = {"KAFKA_OPTS": f"-Djava.security.auth.login.config={jaas}"}
    with pytest.raises(ConfigError, match=message):
        load_settings(Flags(bootstrap="b:1", command_config=str(file)), environ)


def test_other_options_of_the_jvm_are_a_remark(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\n")
    environ = {"KAFKA_OPTS": "-Djavax.net.ssl.trustStore=/t -Dx=y"}
    loaded = load_settings(Flags(bootstrap="b:1", command_config=str(file)), environ)
    assert loaded.warnings == ("KAFKA_OPTS: javax.net.ssl.trustStore is not read; set it in the settings file",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("security.protocol=SASL", "line 1: security.protocol is 'SASL'; use one of PLAINTEXT, SSL"),
        ("\nrequest.timeout.ms=soon", "line 2: request.timeout.ms must be a positive number of milliseconds"),
        ("default.api.timeout.ms=0", "a positive number of milliseconds"),
        (
            "security.protocol=SASL_SSL\nsasl.mechanism=CRAM-MD5",
            "line 2: sasl.mechanism is 'CRAM-MD5'; use one of PLAIN",
        ),
        (PLAIN, "line 2: sasl.mechanism: PLAIN requires a user name and a password: set sasl.jaas.config, or"),
        (PLAIN + JAAS[:-4], "line 3: sasl.jaas.config has an unclosed quote (truncated?)"),
        (PLAIN + JAAS[:-2], "line 3: sasl.jaas.config does not end with a semicolon"),
        (PLAIN + JAAS[:-9], "line 3: sasl.jaas.config has no value for password (truncated?)"),
        (PLAIN + JAAS.replace("required", ""), "needs one of required, requisite, sufficient, optional"),
        (PLAIN + JAAS.strip()[:-1] + " " + JAAS.partition("=")[2], "has no value for an option"),
        (PLAIN + JAAS.strip() + JAAS.partition("=")[2], "more than one login module"),
        (
            PLAIN + JAAS.replace("PlainLogin", "LdapLogin"),
            "names an unsupported login module; supported: PlainLoginModule",
        ),
        (PLAIN.replace("PLAIN\n", "GSSAPI\n") + JAAS, "names PlainLoginModule, which does not support GSSAPI"),
        ("sasl.password=${env:NOPE}", "line 1: sasl.password reads the environment variable NOPE, which is not set"),
        ("a=${file:/nowhere/x:k}", "line 1: a key: cannot read /nowhere/x: No such file"),
        ("a=${directory:/nowhere:k}", "line 1: a key: cannot read /nowhere/k: No such file"),
        ("a=${directory:/etc:../k}", "that is not a file name"),
        ("bootstrap.servers=h:x", ""),
    ],
)
def test_invalid_values_are_reported_with_file_and_line(load: Load, tmp_path: Path, text: str, message: str) -> None:
    flags = {} if "bootstrap" not in text else {"bootstrap": None}
    with pytest.raises(ConfigError) as caught:
        load(text, **flags)
    assert f"{tmp_path / 'client.properties'}, line" in str(caught.value)
    assert message in str(caught.value)
    assert "hush" not in str(caught.value)


def test_values_from_providers_are_filled_in(load: Load, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("user=v\npw=h\\u0075sh\n")
    (tmp_path / "token").write_text("tok")
    text = (
        f"{PLAIN}sasl.username=${{f:{tmp_path}/more:user}}\nsasl.password=${{f:{tmp_path}/more:pw}}\n"
        "config.providers=f,directory\n"
        "config.providers.f.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
        "config.providers.directory.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider\n"
        f"client.id=${{vault:a:b}}-${{directory:{tmp_path}:token}}\n"
    )
    loaded = load(text)
    assert loaded.settings.security == Security(None, Sasl("PLAIN", Password("v", Secret("hush"))))
    assert loaded.settings.client_id == "${vault:a:b}-tok"
    assert all("chmod 600" in remark for remark in loaded.warnings) and len(loaded.warnings) == 2


def test_providers_respect_allowlists(load: Load, tmp_path: Path) -> None:
    declared = "config.providers=env,file,v\nconfig.providers.v.class=com.example.Vault\n"
    for name, kind in (("env", "EnvVar"), ("file", "File")):
        declared += f"config.providers.{name}.class=org.apache.kafka.common.config.provider.{kind}ConfigProvider\n"
    declared += (
        "config.providers.env.param.allowlist.pattern=KAFKA_.*\nconfig.providers.file.param.allowed.paths=/a,/b\n"
    )
    assert load(f"{declared}client.id=${{env:KAFKA_ID}}", environ={"KAFKA_ID": "x"}).settings.client_id == "x"
    for value, output in (
        ("${env:HOME}", "reads the environment variable HOME, which .* does not allow"),
        ("${file:/a/../c/d:k}", "reads /a/../c/d, which is not in"),
        ("${v:x}", r"uses \$\{v:...\}, an unsupported config provider"),
    ):
        with pytest.raises(ConfigError, match=output):
            load(f"{declared}client.id={value}", environ={"HOME": "/"})


def test_understood_settings_name_their_origin_and_mask_secrets(load: Load, tmp_path: Path) -> None:
    loaded = load(PLAIN + JAAS, overrides=("client.id=me",), transport="librdkafka", timeout=2.0)
    found = {each.key: (each.value, each.origin) for each in loaded.understood}
    file = tmp_path / "client.properties"
    assert found["--bootstrap-server"] == ("localhost:1", "--bootstrap-server")
    assert found["--timeout"][1] == "--timeout"
    assert found["client.id"] == ("me", "-X")
    assert found["security.protocol"] == ("SASL_PLAINTEXT", f"{file}, line 1")
    assert found["sasl.jaas.config"] == ("****", f"{file}, line 3")
    assert found["sasl.jaas.config: username"] == ("u", f"{file}, line 3")
    assert found["sasl.jaas.config: password"] == ("****", f"{file}, line 3")
    assert "hush" not in repr(loaded)
    assert loaded.settings.transport is Transport.LIBRDKAFKA


def test_readable_secrets_file_is_remarked_on(load: Load, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    assert load(PLAIN + JAAS).warnings == ()
    file.chmod(0o640)
    flags = Flags(bootstrap="localhost:1", command_config=str(file))
    assert load_settings(flags, {}).warnings == (f"{file} contains secrets and is readable by the group; "
                                                f"run chmod 600 {file}",)  # fmt: skip
    file.write_text("client.id=x\n")
    assert load_settings(flags, {}).warnings == ()
