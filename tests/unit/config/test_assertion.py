"""OAuth clients that authenticate with a JWT instead of a secret (RFC 7523, KIP-1258)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from kgroups.config.flags import Flags
from kgroups.config.formats.assertion import assertion_of
from kgroups.config.load import load_settings
from kgroups.config.secret import Secret
from kgroups.config.security import Assertion, ClientCredentials
from kgroups.errors import ConfigError
from tests.unit.config.conftest import Load

NOW = 1_800_000_000.5
OAUTH = """\
security.protocol=SASL_SSL
sasl.mechanism=OAUTHBEARER
sasl.oauthbearer.token.endpoint.url=https://idp/token
"""
SIGNED = """\
sasl.oauthbearer.assertion.claim.iss=me
sasl.oauthbearer.assertion.claim.sub=me
sasl.oauthbearer.assertion.claim.aud=https://idp
sasl.oauthbearer.assertion.claim.jti.include=true
sasl.oauthbearer.assertion.claim.exp.seconds=120
sasl.oauthbearer.assertion.private.key.passphrase=hush
sasl.oauthbearer.assertion.algorithm=ES256
"""
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())


def pem(path: Path, key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: str | None = None) -> str:
    how: KeySerializationEncryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how))
    path.chmod(0o600)
    return str(path)


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def parts(source: Assertion) -> tuple[dict[str, object], dict[str, object], bytes, bytes]:
    header, payload, signature = assertion_of(source, NOW).reveal().split(".")
    return json.loads(decoded(header)), json.loads(decoded(payload)), f"{header}.{payload}".encode(), decoded(signature)


def test_rs256_assertion_has_the_claims_of_java(tmp_path: Path) -> None:
    source = Assertion(None, pem(tmp_path / "k", RSA), claims={"iss": "me", "aud": "idp", "sub": "me"})
    header, payload, signed, signature = parts(source)
    assert header == {"alg": "RS256", "typ": "JWT"}
    assert payload == {
        "iss": "me",
        "aud": "idp",
        "sub": "me",
        "iat": 1_800_000_000,
        "exp": 1_800_000_300,
        "nbf": 1_799_999_940,
    }
    RSA.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())


def test_es256_assertion_with_template_id_and_passphrase(tmp_path: Path) -> None:
    template = tmp_path / "template.json"
    template.write_text('{"header": {"kid": "one", "alg": "none"}, "payload": {"iss": "other", "tenant": 7, "exp": 1}}')
    key = pem(tmp_path / "k", EC, "hush")
    source = Assertion(None, key, Secret("hush"), "ES256", {"iss": "me"}, str(template), 10, 5, with_id=True)
    header, payload, signed, signature = parts(source)
    assert header == {"kid": "one", "alg": "ES256", "typ": "JWT"}
    assert len(str(payload.pop("jti"))) == 36
    times = {"iat": 1_800_000_000, "exp": 1_800_000_010, "nbf": 1_799_999_995}
    assert payload == {"iss": "other", "tenant": 7, **times}
    r, s = (int.from_bytes(signature[at : at + 32], "big") for at in (0, 32))
    EC.public_key().verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
    assert parts(source)[1]["jti"] != parts(source)[1]["jti"]


def test_assertion_in_a_file_is_sent_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "jwt"
    file.write_text("a.b.c\n")
    assert assertion_of(Assertion(str(file)), NOW).reveal() == "a.b.c"
    file.write_text("hush\n")
    with pytest.raises(ConfigError, match=r"assertion\.file: .*jwt does not contain a JWT$"):
        assertion_of(Assertion(str(file)), NOW)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Assertion(None, "{rsa}", algorithm="ES256"), "rsa is not a key for ES256"),
        (Assertion(None, "{ec}", algorithm="RS256"), "ec is not a key for RS256"),
        (Assertion(None, "{locked}"), "locked is not a private key that opens with this passphrase"),
        (Assertion(None, "{locked}", Secret("wrong")), "locked is not a private key that opens with this passphrase"),
        (Assertion(None, "{rsa}", template="{ec}"), "template.file: .*ec is not JSON with the objects"),
        (Assertion(None, "{rsa}x"), "private.key.file: cannot read .*rsax: No such file"),
    ],
)
def test_invalid_files_are_named(tmp_path: Path, source: Assertion, words: str) -> None:
    names = {
        "rsa": pem(tmp_path / "rsa", RSA),
        "ec": pem(tmp_path / "ec", EC),
        "locked": pem(tmp_path / "locked", RSA, "hush"),
    }
    source = source._replace(
        key_file=(source.key_file or "").format(**names), template=source.template and source.template.format(**names)
    )
    with pytest.raises(ConfigError, match=words) as caught:
        assertion_of(source, NOW)
    assert "wrong" not in str(caught.value)


def credentials(loaded: object) -> ClientCredentials:
    found = loaded.settings.security.sasl.credentials  # type: ignore[attr-defined]
    assert isinstance(found, ClientCredentials)
    return found


def test_settings_of_an_assertion_are_read(load: Load, tmp_path: Path) -> None:
    key = pem(tmp_path / "k", EC, "hush")
    loaded = load(f"{OAUTH}{SIGNED}sasl.oauthbearer.assertion.private.key.file={key}\n")
    assert loaded.warnings == ()
    found = credentials(loaded)
    claims = {"aud": "https://idp", "iss": "me", "sub": "me"}
    assert found.assertion == Assertion(None, key, Secret("hush"), "ES256", claims, None, 120, 60, with_id=True)
    assert (found.bearer, found.client_id, found.client_secret.reveal()) == (False, "", "")
    assert {each.value for each in loaded.understood if each.key.endswith("passphrase")} == {"****"}


@pytest.mark.parametrize(
    "setting",
    [
        "sasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever",
        "sasl.oauthbearer.grant.type=urn:ietf:params:oauth:grant-type:jwt-bearer",
    ],
)
def test_assertion_as_the_grant(load: Load, tmp_path: Path, setting: str) -> None:
    key = pem(tmp_path / "k", RSA)
    found = credentials(load(f"{OAUTH}{setting}\nsasl.oauthbearer.assertion.private.key.file={key}\n"))
    assert found.bearer and found.assertion == Assertion(None, key)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sasl.oauthbearer.assertion.claim.iss=me", "requires an assertion: .*private.key.file or .*assertion.file"),
        ("sasl.oauthbearer.assertion.file=/no/such", "assertion.file: cannot read /no/such"),
        ("sasl.oauthbearer.assertion.claim.sub=me", "requires a client's id and its secret, or an assertion"),
        (
            "sasl.oauthbearer.assertion.claim.iss=me\nsasl.oauthbearer.assertion.private.key.file=/etc/hostname\n"
            "sasl.oauthbearer.assertion.algorithm=HS256",
            "algorithm is 'HS256'; use one of RS256, ES256",
        ),
        (
            "sasl.oauthbearer.assertion.claim.iss=me\nsasl.oauthbearer.assertion.private.key.file=/etc/hostname\n"
            "sasl.oauthbearer.assertion.claim.exp.seconds=soon",
            "must be a number of seconds",
        ),
    ],
)
def test_incomplete_assertion_is_an_error(load: Load, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load(OAUTH + text + "\n")


def test_program_must_be_allowed_to_send_a_file(tmp_path: Path) -> None:
    file = tmp_path / "jwt"
    file.write_text("a.b.c")
    pairs = [tuple(line.split("=", 1)) for line in OAUTH.splitlines()]
    properties = (*pairs, ("sasl.oauthbearer.assertion.file", str(file)))
    with pytest.raises(ConfigError, match="requires config_providers=True"):
        load_settings(Flags("b:1", properties=properties), {})  # type: ignore[arg-type]
    loaded = load_settings(Flags("b:1", properties=properties, config_providers=True), {})  # type: ignore[arg-type]
    assert credentials(loaded).assertion == Assertion(str(file))
