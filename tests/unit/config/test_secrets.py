"""A secret that stands where it does not belong is in no message, remark, ``repr`` or setting that is shown.

Half-written and exchanged values are what people have in the files that they then ask about, in a log that others read.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgroups.config import warnings
from kgroups.config.flags import Flags
from kgroups.config.librdkafka import Options, librdkafka_options, make_client
from kgroups.config.load import load_settings
from kgroups.config.properties import Property
from kgroups.config.settings_reader import Setting
from kgroups.errors import ConfigError, KgroupsError
from kgroups.net.cluster import Cluster as Net

SECRET = "Zq8hunter2Xv"
"""Letters and digits alone, so that nothing has to be quoted or escaped anywhere."""

PLAIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
SCRAM = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
OAUTH = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
GSSAPI = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n"
URL = "sasl.oauthbearer.token.endpoint.url=https://idp/t\n"
MODULE = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
PEM = "-----BEGIN PRIVATE KEY-----"

MALFORMED = {
    "the line is the password": f"{PLAIN}sasl.jaas.config={SECRET}",
    "the line is the password, ended": f"{PLAIN}sasl.jaas.config={SECRET};",
    "a variable that is the password": f"{PLAIN}sasl.jaas.config=${{env:PW}}",
    "a variable that is the password, with a flag": f"{PLAIN}sasl.jaas.config=${{env:PW}} required;",
    "the flag is the password": f"{PLAIN}sasl.jaas.config=org.apache.kafka.PlainLoginModule {SECRET};",
    "no quotes, and a blank": f'{PLAIN}{MODULE} username="u" password=half {SECRET};',
    "no quotes, and a semicolon": f'{PLAIN}{MODULE} username="u" password=half;{SECRET};',
    "no quotes, and an equals sign": f'{PLAIN}{MODULE} username="u" password=half {SECRET}=x;',
    "an open quote": f'{PLAIN}{MODULE} username="u" password="{SECRET};',
    "quotes within": f'{PLAIN}{MODULE} username="u" password="half"{SECRET}";',
    "no end": f'{PLAIN}{MODULE} username="u" password="x" {SECRET}',
    "twice": f'{PLAIN}{MODULE} username="u" password="{SECRET}"; {SECRET} required;',
    "another module": f"{PLAIN}sasl.jaas.config=com.example.{SECRET} required;",
    "another module's option": f'{PLAIN}{MODULE} username="u" password="x" {SECRET}="y";',
    "an option like one that is known": f'{PLAIN}{MODULE} username="u" password="x" passwrd="{SECRET}";',
    "a password of two lines": f'{PLAIN}{MODULE} username="u" password="x";\n{SECRET}',
    "a password of two lines, with a colon": f"{PLAIN}sasl.username=u\nsasl.password=x\n{SECRET}: rest",
    "a key file": f"security.protocol=SSL\n{PEM}\n" + "\n".join(f"MII{n}{SECRET}{n}==" for n in range(20)),
    "a key in a value": f"security.protocol=SSL\nssl.keystore.key={PEM} {SECRET}\nssl.keystore.certificate.chain=x",
    "a certificate that is none": f"security.protocol=SSL\nssl.truststore.certificates={SECRET}",
    "the mechanism": f"security.protocol=SASL_SSL\nsasl.mechanism={SECRET}",
    "the protocol": f"security.protocol={SECRET}",
    "user info in an address": f"bootstrap.servers=user:{SECRET}@host:9092",
    "user info without a port": f"bootstrap.servers={SECRET}@host",
    "a name and a password for an address": f"bootstrap.servers=me:{SECRET}",
    "an address of too many parts": f"bootstrap.servers=me:{SECRET}:9092",
    "an address in brackets": f"bootstrap.servers=[{SECRET}",
    "one address of two": f"bootstrap.servers=h:1,me:{SECRET}",
    "extensions that are none": f"{OAUTH}sasl.oauthbearer.token=x\nsasl.oauthbearer.extensions={SECRET}",
    "extensions": f"{OAUTH}sasl.oauthbearer.token=x\nsasl.oauthbearer.extensions=key={SECRET}",
    "librdkafka's unsecured token": f"{OAUTH}enable.sasl.oauthbearer.unsecure.jwt=true\n"
    f"sasl.oauthbearer.config={SECRET}",
    "librdkafka's extension": f"{OAUTH}enable.sasl.oauthbearer.unsecure.jwt=true\n"
    f"sasl.oauthbearer.config=principal=me extension_key={SECRET}",
    "an endpoint that is none": f"{OAUTH}sasl.oauthbearer.token.endpoint.url={SECRET}",
    "user info in an endpoint": f"{OAUTH}sasl.oauthbearer.token.endpoint.url=https://me:{SECRET}@idp/t",
    "an endpoint's query": f"{OAUTH}sasl.oauthbearer.token.endpoint.url=https://idp/t?key={SECRET}",
    "the method": f"{OAUTH}{URL}sasl.oauthbearer.client.id=c\nsasl.oauthbearer.client.secret=x\n"
    f"sasl.oauthbearer.method={SECRET}",
    "the grant": f"{OAUTH}{URL}sasl.oauthbearer.client.id=c\nsasl.oauthbearer.client.secret=x\n"
    f"sasl.oauthbearer.grant.type={SECRET}",
    "user info in an endpoint that is asked": f"{OAUTH}sasl.oauthbearer.client.id=c\nsasl.oauthbearer.client.secret=x\n"
    f"sasl.oauthbearer.token.endpoint.url=https://me:{SECRET}@idp/t?key={SECRET}",
    "half a client": f"{OAUTH}{URL}sasl.oauthbearer.client.secret={SECRET}",
    "a handler": f"{OAUTH}sasl.login.callback.handler.class=com.example.{SECRET}",
    "two services": f"{GSSAPI}sasl.kerberos.service.name=kafka\n"
    f'sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required serviceName="{SECRET}";',
    "a flag": f"{GSSAPI}sasl.kerberos.service.name=kafka\n"
    f'sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab="{SECRET}";',
    "a time": f"request.timeout.ms={SECRET}",
    "the name check": f"security.protocol=SSL\nssl.endpoint.identification.algorithm={SECRET}",
    "versions": f"security.protocol=SSL\nssl.enabled.protocols={SECRET}",
    "no cipher": f"security.protocol=SSL\nssl.cipher.suites=TLS_{SECRET}_WITH_X",
    "a store's type": f"security.protocol=SSL\nssl.truststore.location=/etc/hosts\nssl.truststore.type={SECRET}",
    "a key": f"{SECRET}=x",
    "a key without a value": SECRET,
    "a key with a placeholder": f"{SECRET}=${{env:NONE}}",
    "an escape that is none": f"sasl.password={SECRET}\\u00",
    "an escape that is none, in a key": f"{SECRET}\\u00=x",
    "a provider of nobody's": f"config.providers=x\nconfig.providers.x.class=com.{SECRET}\nsasl.password=${{x:y}}",
    "a pattern that is none": f"config.providers=env\nconfig.providers.env.class=EnvVarConfigProvider\n"
    f"config.providers.env.param.allowlist.pattern=({SECRET}\nsasl.password=${{env:PW}}",
}


def printed(files: Path, text: str, environ: Mapping[str, str] = {}, **flags: object) -> Iterator[str]:
    """Yield all output about a properties file: errors with their causes, remarks, shown settings, reprs."""
    file = files / "client.properties"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    where = {} if "bootstrap.servers" in text else {"bootstrap": "b:1"}
    try:
        loaded = load_settings(
            Flags(command_config=str(file), **where, **flags), {"PW": SECRET, **environ}, explain=True
        )
    except KgroupsError as error:
        yield str(error)
        yield "".join(traceback.format_exception(error, chain=True)).replace(text, "")
        return
    yield from loaded.warnings
    yield repr(loaded)
    yield repr(Net(loaded.settings))
    try:
        yield repr(librdkafka_options(loaded.settings))
    except KgroupsError as error:
        yield str(error)


@pytest.mark.parametrize("case", MALFORMED)
def test_misplaced_secret_is_never_shown(tmp_path: Path, case: str) -> None:
    assert [line for line in printed(tmp_path, MALFORMED[case]) if SECRET in line] == []


WHOLE = (
    "client.id=me\nrequest.timeout.ms=1000\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
    'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  username="u" '
    'password="p";\nssl.endpoint.identification.algorithm=https\nssl.enabled.protocols=TLSv1.2,TLSv1.3\n'
    "config.providers=env\nconfig.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
    "sasl.oauthbearer.extensions=a=b\nssl.cipher.suites=TLS_AES_256_GCM_SHA384\nretries=3\nacks=all\n"
)
SHOWN = (re.compile(r"\s*client\.id[\s:=]"), "username=")
"""What is shown as it is given: how brokers know us."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    at=st.integers(0, len(WHOLE)),
    cut=st.integers(0, 40),
    around=st.sampled_from(["{}", " {} ", "\n{}\n", "={}", ":{}", '"{}"', "{};", "{}=", "\\\n{}", "${{{}}}", "{{{}"]),
)
def test_secret_at_any_position_is_never_shown(tmp_path: Path, at: int, cut: int, around: str) -> None:
    before, after = WHOLE[:at], WHOLE[min(len(WHOLE), at + cut) :]
    text = f"{before}{around.format(SECRET)}{after}"
    lines = [line for line in text.replace("\\\n", "").splitlines() if SECRET in line]
    if any(SHOWN[0].match(line) or SHOWN[1] in line.partition(SECRET)[0][-12:] for line in lines):
        return
    assert [line for line in printed(tmp_path, text) if SECRET in line] == []


TOML = {
    "a key of a profile": f'{SECRET} = "x"',
    "a key of its properties": f'properties = {{ {SECRET} = "${{env:NONE}}" }}',
    "a list for a text": f'client-id = [["{SECRET}"]]',
    "a time": f'timeout = "{SECRET}"',
    "a transport": f'transport = "{SECRET}"',
    "an address": f'bootstrap = "me:{SECRET}"',
    "properties that are none": f'properties = "{SECRET}"',
    "a property that is a list": f'properties = {{ "sasl.password" = [1, "{SECRET}"] }}',
    "a key twice": f"{SECRET} = 1\n{SECRET} = 2",
    "a table twice": f"[profiles.p.{SECRET}]\n[profiles.p.{SECRET}]",
    "no quotes": f"client-id = {SECRET}",
    "no end": f'client-id = "{SECRET}',
    "no value": f"{SECRET}",
}


@pytest.mark.parametrize("case", TOML)
def test_secret_in_a_profile_is_never_shown(tmp_path: Path, case: str) -> None:
    file = tmp_path / "config.toml"
    body = TOML[case]
    first = "" if "bootstrap" in body else 'bootstrap = "h:1"\n'
    file.write_text(f'default = "p"\n[profiles.p]\n{first}{body}\n')
    try:
        loaded = load_settings(Flags(), {"KGROUPS_CONFIG": str(file)}, explain=True)
    except KgroupsError as error:
        assert SECRET not in str(error)
    else:
        assert SECRET not in repr(loaded)


def test_reprs_hide_secrets() -> None:
    flags = Flags("b:1", overrides=(f"sasl.password={SECRET}",), properties=(("sasl.password", SECRET),))
    shown = (flags, Property(SECRET, SECRET, 3), Setting(SECRET, SECRET, "f, line 3"), Options(a=SECRET))
    assert [each for each in shown if SECRET in repr(each) or SECRET in f"{each}"] == []
    assert "b:1" in repr(flags) and "line 3" in repr(shown[1])
    assert SECRET not in repr(Options(a=1) | {"b": SECRET})


def test_unknown_cipher_suite_that_may_be_a_secret_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        f"security.protocol=SSL\nssl.cipher.suites={SECRET}_WITH_X, TLS_A_WITH_B, TLS_RSA_WITH_AES_128_CBC_SHA"
    )
    (remark,) = load_settings(Flags("b:1", str(file)), {}).warnings
    assert remark.endswith("not supported by OpenSSL, ignored: an unknown name, TLS_A_WITH_B")


def test_librdkafka_errors_hide_secrets() -> None:
    def refuse(options: Mapping[str, object]) -> None:
        raise ValueError(options)

    class Wordy(Exception):
        def str(self) -> str:
            return f'Invalid value "{SECRET}" for configuration property "ssl.key.password"'

    def wordy(options: Mapping[str, object]) -> None:
        raise RuntimeError(Wordy())

    for kind in (refuse, wordy):
        with pytest.raises(ConfigError) as caught:
            make_client(kind, Options({"ssl.key.password": SECRET}))
        assert SECRET not in str(caught.value)


def test_mistyped_key_is_named_and_other_keys_are_not() -> None:
    """A mistyped key must be named; a key that resembles none may be a secret."""
    left = [Setting(key, "", f"f, line {line}") for line, key in enumerate(("retires", "ssl.treustore", SECRET), 1)]
    (remark,) = warnings.warnings_on_unused(left, "SASL_SSL")
    assert remark == ("unknown and ignored: retires (f, line 1), ssl.treustore (f, line 2), a key (f, line 3)")
