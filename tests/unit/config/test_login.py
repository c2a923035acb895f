"""Credentials from JAAS lines and from librdkafka's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.config.flags import Loaded
from kgroups.config.secret import Secret
from kgroups.config.security import (
    AwsIam,
    ClientCredentials,
    Kerberos,
    Password,
    Sasl,
    StaticToken,
    Tls,
    TokenFile,
    UnsecuredToken,
)
from kgroups.errors import ConfigError
from tests.unit.config.conftest import Keys, Load

MODULES = "org.apache.kafka.common.security"
OAUTH = f"{MODULES}.oauthbearer.OAuthBearerLoginModule"
HANDLER = "sasl.login.callback.handler.class="
URL = "sasl.oauthbearer.token.endpoint.url="
HUSH = Secret("hush")


def sasl_of(loaded: Loaded) -> Sasl:
    assert loaded.warnings == ()
    assert loaded.settings.security and loaded.settings.security.sasl
    return loaded.settings.security.sasl


def logged_in(load: Load, mechanism: str, text: str, **more: object) -> Sasl:
    return sasl_of(load(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n{text}\n", **more))


def jaas(module: str, *options: str) -> str:
    return f"sasl.jaas.config={module} required {' '.join(options)};"


@pytest.mark.parametrize(
    ("mechanism", "text", "expected"),
    [
        ("PLAIN", jaas(f"{MODULES}.plain.PlainLoginModule", 'username="u"', 'password="hush"'), Password("u", HUSH)),
        ("PLAIN", jaas("kafkashaded.x.PlainLoginModule", "username=u", "password='hush'"), Password("u", HUSH)),
        ("PLAIN", "sasl.username=u\nsasl.password=hush", Password("u", HUSH)),
        ("SCRAM-SHA-256", jaas("x.ScramLoginModule", "username=u", "password=hush"), Password("u", HUSH)),
        (
            "scram-sha-512",
            jaas("x.ScramLoginModule", "username=id", "password=hush", "tokenauth=true"),
            Password("id", HUSH, True),
        ),
    ],
)
def test_password_login_is_read(load: Load, mechanism: str, text: str, expected: Password) -> None:
    assert logged_in(load, mechanism, text) == Sasl(mechanism.upper(), expected)


@pytest.mark.parametrize("package", ["oauthbearer", "oauthbearer.secured"])
def test_java_client_credentials_are_read(load: Load, keys: Keys, package: str) -> None:
    options = ("clientId=c", "clientSecret=hush", "scope='a b'", "extension_logicalCluster=lkc")
    trust = (f"ssl.truststore.location='{keys.folder}/trust.JKS'", "ssl.truststore.password=storepass")
    text = (
        f"{HANDLER}{MODULES}.{package}.OAuthBearerLoginCallbackHandler\n{URL}https://idp/token\n"
        f"sasl.login.read.timeout.ms=2000\n{jaas(OAUTH, *options, *trust)}"
    )
    found = logged_in(load, "OAUTHBEARER", text).credentials
    assert isinstance(found, ClientCredentials)
    tls = found.tls
    assert isinstance(tls, Tls) and tls.authorities and keys.authority in tls.authorities
    expected = ClientCredentials("https://idp/token", "c", HUSH, "a b", {"logicalCluster": "lkc"}, tls, 2.0)
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        f"{URL}https://idp/t\nsasl.oauthbearer.client.credentials.client.id=c\n"
        "sasl.oauthbearer.client.credentials.client.secret=hush\nsasl.oauthbearer.scope=s\n"
        "sasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.ClientCredentialsJwtRetriever\n"
        + jaas(OAUTH),
        f"{URL}https://idp/t\nsasl.oauthbearer.method=oidc\nsasl.oauthbearer.client.id=c\n"
        "sasl.oauthbearer.client.secret=hush\nsasl.oauthbearer.scope=s",
        f"{HANDLER}io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler\n"
        + jaas(
            OAUTH,
            "oauth.token.endpoint.uri='https://idp/t'",
            "oauth.client.id=c",
            "oauth.client.secret=hush",
            "oauth.scope=s",
        ),
    ],
    ids=["KIP-1139", "librdkafka", "strimzi"],
)
def test_other_client_credentials_are_read(load: Load, text: str) -> None:
    expected = ClientCredentials("https://idp/t", "c", HUSH, "s")
    assert logged_in(load, "OAUTHBEARER", text) == Sasl("OAUTHBEARER", expected)


def test_token_sources_are_read(load: Load, tmp_path: Path) -> None:
    file = tmp_path / "to ken"
    file.write_text("abc")
    file.chmod(0o600)
    assert logged_in(load, "OAUTHBEARER", f"{URL}file:{tmp_path}/to%20ken\n{jaas(OAUTH)}").credentials == TokenFile(
        str(file)
    )
    own = "sasl.oauthbearer.token=hush\nsasl.oauthbearer.extensions=a=b,c=d"
    assert logged_in(load, "OAUTHBEARER", own).credentials == StaticToken(HUSH, {"a": "b", "c": "d"})
    strimzi = jaas(OAUTH, "oauth.access.token=hush")
    assert logged_in(load, "OAUTHBEARER", strimzi).credentials == StaticToken(HUSH)


def test_unsecured_tokens_are_read(load: Load) -> None:
    java = jaas(
        OAUTH,
        "unsecuredLoginStringClaim_sub=me",
        "unsecuredLoginNumberClaim_n=7",
        "unsecuredLoginListClaim_scope='|a|b'",
        "unsecuredLoginLifetimeSeconds=60",
        "unsecuredLoginExtension_x=y",
    )
    expected = UnsecuredToken("me", "sub", 60.0, {"n": 7.0, "scope": ["a", "b"]}, {"x": "y"})
    assert logged_in(load, "OAUTHBEARER", java).credentials == expected
    theirs = (
        "enable.sasl.oauthbearer.unsecure.jwt=true\n"
        "sasl.oauthbearer.config=principal=me scope=a,b lifeSeconds=60 extension_x=y"
    )
    found = logged_in(load, "OAUTHBEARER", theirs).credentials
    assert found == UnsecuredToken("me", "sub", 60.0, {"scope": ["a", "b"]}, {"x": "y"})


def test_kerberos_login_is_read(load: Load, tmp_path: Path) -> None:
    keytab = tmp_path / "me.keytab"
    keytab.write_bytes(b"\5\2")
    keytab.chmod(0o600)
    krb5 = "com.sun.security.auth.module.Krb5LoginModule"
    options = ("useKeyTab=true", f'keyTab="{keytab}"', 'principal="me@REALM"', "storeKey=true", "doNotPrompt=true")
    service = "sasl.kerberos.service.name=kafka\n"
    text = service + "sasl.kerberos.ticket.renew.jitter=0.1\n"
    expected = Kerberos("kafka", "me@REALM", str(keytab))
    assert logged_in(load, "GSSAPI", text + jaas(krb5, *options)).credentials == expected
    bare = f"security.protocol=SASL_PLAINTEXT\n{text}{jaas(krb5, *options)}\n"
    assert sasl_of(load(bare)) == Sasl("GSSAPI", expected)  # the default mechanism, as with Java
    cached = jaas(krb5, "useTicketCache=true", "ticketCache='FILE:/tmp/cc'", "serviceName=kafka")
    assert logged_in(load, "GSSAPI", cached).credentials == Kerberos("kafka", None, None, "/tmp/cc")
    theirs = f"{service}sasl.kerberos.principal=me@REALM\nsasl.kerberos.keytab={keytab}"
    assert logged_in(load, "GSSAPI", theirs).credentials == expected
    keytab.chmod(0o644)
    (remark,) = load(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n{theirs}").warnings
    assert "readable by all users" in remark
    for wrong, output in (
        (jaas(krb5, *options), "GSSAPI requires the brokers' service name"),
        (service + jaas(krb5, "serviceName=other"), "has a serviceName that differs from sasl.kerberos.service.name"),
        (service + jaas(krb5, "useKeyTab=true", "keyTab='/nowhere/k'"), "names a file that does not exist: /nowhere/k"),
    ):
        with pytest.raises(ConfigError, match=output):
            logged_in(load, "GSSAPI", wrong)


def test_aws_login_is_read(load: Load) -> None:
    options = ("awsProfileName=p", "awsRoleArn='arn:aws:iam::1:role/x'", "awsStsRegion=eu-west-1", "awsDebugCreds=true")
    expected = Sasl("OAUTHBEARER", AwsIam("eu-west-1", "p", "arn:aws:iam::1:role/x"))
    handler = "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler\n"
    text = handler + jaas("software.amazon.msk.auth.iam.IAMLoginModule", *options)
    assert logged_in(load, "AWS_MSK_IAM", text) == expected
    other = f"{HANDLER}software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler\n{jaas(OAUTH, *options)}"
    assert logged_in(load, "OAUTHBEARER", other) == expected


def test_unknown_jaas_options_are_counted_not_shown(load: Load) -> None:
    text = f"sasl.mechanism=PLAIN\n{jaas('x.PlainLoginModule', 'username=u', 'password=hush', 'hush=hush', 'user_x=y')}"
    (remark,) = load(f"security.protocol=SASL_PLAINTEXT\n{text}\n").warnings
    assert remark.endswith("line 3: sasl.jaas.config: 2 options unknown and ignored")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (jaas(OAUTH), "OAUTHBEARER requires a source of tokens"),
        (f"{URL}https://idp/t\n{jaas(OAUTH, 'clientId=c')}", "requires a client's id and its secret"),
        (f"{URL}ftp://idp/t\n{jaas(OAUTH)}", "must be an https://"),
        (f"{URL}file:///nowhere/token\n{jaas(OAUTH)}", "cannot read /nowhere/token"),
        (f"{HANDLER}com.example.Mine\n{jaas(OAUTH)}", "names an unsupported class; supported:"),
        (jaas(OAUTH, "unsecuredLoginStringClaim_sub=me", "unsecuredLoginNumberClaim_n=x"), "must be a number"),
        (
            jaas(OAUTH, "unsecuredLoginStringClaim_sub=me", "unsecuredLoginNumberClaim_exp=9"),
            "sets the claim exp, which",
        ),
        (jaas(OAUTH, "unsecuredLoginStringClaim_iat=me"), "sets the claim iat, which follows from"),
        ("sasl.oauthbearer.token=hush\nsasl.oauthbearer.extensions=x", "is not NAME=VALUE"),
    ],
)
def test_incomplete_login_is_an_error_with_its_line(load: Load, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        logged_in(load, "OAUTHBEARER", text)
    assert "hush" not in str(caught.value)
    assert ", line " in str(caught.value)
