"""Key stores and trust stores of every type as PEM, and errors of invalid ones."""

from __future__ import annotations

import ssl
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from kgroups.config.flags import Loaded
from kgroups.config.formats.ciphers import openssl_name
from kgroups.config.secret import Secret
from kgroups.config.security import Tls
from kgroups.errors import ConfigError
from tests.unit.config.conftest import KEY_PASSWORD, STORE_PASSWORD, Keys, Load, inline

JAVA = ["JKS", "PKCS12", "PKCS12-8"]


def tls_of(loaded: Loaded) -> Tls:
    assert loaded.settings.security and loaded.settings.security.tls
    return loaded.settings.security.tls


def opens(tls: Tls, folder: Path) -> bool:
    """Whether OpenSSL takes the certificate, its key and the authorities."""
    assert tls.certificate and tls.key
    file = folder / "own.pem"
    file.write_text(tls.certificate + tls.key.reveal())
    context = ssl.create_default_context(cadata=tls.authorities)
    context.load_cert_chain(file, password=tls.key_password.reveal() if tls.key_password else "")
    return True


def escaped(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode().replace("\\x", "\\u00")


@pytest.mark.parametrize("kind", JAVA)
def test_stores_written_by_java_are_read(kind: str, keys: Keys, load: Load, tmp_path: Path) -> None:
    word = KEY_PASSWORD if kind == "JKS" else STORE_PASSWORD
    tls = tls_of(
        load(
            f"security.protocol=SSL\nssl.truststore.location={keys.folder}/trust.{kind}\n"
            f"ssl.truststore.password={STORE_PASSWORD}\nssl.truststore.type={kind.partition('-')[0]}\n"
            f"ssl.keystore.location={keys.folder}/keys.{kind}\nssl.keystore.password={STORE_PASSWORD}\n"
            f"ssl.key.password={escaped(word)}\n"
        )
    )
    assert tls.authorities and keys.authority in tls.authorities and keys.own in tls.authorities
    assert tls.certificate and tls.certificate.startswith(keys.own) and keys.authority in tls.certificate
    assert tls.key and tls.key.reveal().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert tls.key_password == Secret(word)
    assert opens(tls, tmp_path)


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("where", ["java-file", "java-inline", "librdkafka", "librdkafka-inline", "librdkafka-p12"])
def test_pem_stores_of_java_and_librdkafka_are_read(
    where: str, encrypted: bool, keys: Keys, load: Load, tmp_path: Path
) -> None:
    key = keys.encrypted if encrypted else keys.key
    for name, text in (("ca.pem", keys.authority), ("own.pem", keys.own + key), ("key.pem", key)):
        (tmp_path / name).write_text(f"what it is\n{text}")
        (tmp_path / name).chmod(0o600)
    text = {
        "java-file": f"ssl.truststore.type=PEM\nssl.truststore.location={tmp_path}/ca.pem\n"
        f"ssl.keystore.type=PEM\nssl.keystore.location={tmp_path}/own.pem\n",
        "java-inline": f"ssl.truststore.type=PEM\nssl.truststore.certificates={inline(keys.authority)}\n"
        f"ssl.keystore.type=PEM\nssl.keystore.certificate.chain={inline(keys.own)}\nssl.keystore.key={inline(key)}\n",
        "librdkafka": f"ssl.ca.location={tmp_path}/ca.pem\nssl.certificate.location={tmp_path}/own.pem\n"
        f"ssl.key.location={tmp_path}/key.pem\n",
        "librdkafka-inline": f"ssl.ca.pem={inline(keys.authority)}\nssl.certificate.pem={inline(keys.own)}\n"
        f"ssl.key.pem={inline(key)}\n",
        "librdkafka-p12": f"ssl.ca.location={tmp_path}/ca.pem\nssl.keystore.location={keys.folder}/keys.PKCS12\n"
        f"ssl.keystore.password={STORE_PASSWORD}\n",
    }[where]
    word = f"ssl.key.password={escaped(KEY_PASSWORD)}\n" if encrypted and "p12" not in where else ""
    loaded = load(f"security.protocol=SSL\n{text}{word}")
    tls = tls_of(loaded)
    assert loaded.warnings == ()
    assert tls.authorities == keys.authority
    assert opens(tls, tmp_path)
    assert keys.key.splitlines()[1] not in repr(loaded)


LIGHT = """
import sys
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
tls = load_settings(Flags("h:1", sys.argv[1]), {}).settings.security.tls
print(bool(tls.authorities), *sorted(sys.modules.keys() & {"cryptography", "tomllib", "platformdirs", "ssl"}))
"""


def test_pem_authorities_import_no_tls_library(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(keys.authority)
    file = tmp_path / "client.properties"
    file.write_text(f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={tmp_path}/ca.pem\n")
    answer = subprocess.run(
        [sys.executable, "-c", LIGHT, str(file)], capture_output=True, text=True, timeout=120, check=True
    )
    assert answer.stdout.split()[0] == "True"
    assert not {"cryptography", "ssl"} & set(answer.stdout.split())


def test_readable_private_key_is_remarked_on(keys: Keys, load: Load, tmp_path: Path) -> None:
    (tmp_path / "own.pem").write_text(keys.own + keys.key)
    (tmp_path / "own.pem").chmod(0o644)
    text = f"security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location={tmp_path}/own.pem\n"
    (remark,) = load(text).warnings
    assert remark == (
        f"{tmp_path}/own.pem contains a key that is not encrypted and is readable by all users; "
        f"run chmod 600 {tmp_path}/own.pem"
    )


@pytest.mark.parametrize(
    ("store", "settings", "message"),
    [
        ("truststore", "location={keys}/trust.JKS\npassword=wrong", "trust.JKS: does not open with this password"),
        ("truststore", "location={keys}/trust.PKCS12\npassword=wrong", "trust.PKCS12: does not open with this"),
        ("truststore", "location={keys}/trust.PKCS12", "trust.PKCS12: does not open without a password"),
        ("truststore", "location={keys}/trust.JCEKS\npassword=x", "is a keystore of unsupported type JCEKS"),
        ("truststore", "location={keys}/trust.JKS\ntype=BCFKS", "of type 'BCFKS' are not supported, only JKS, PKCS12"),
        ("truststore", "location={here}/ca.pem", "ca.pem is PEM, not JKS: set ssl.truststore.type=PEM"),
        ("truststore", "location={here}/none", "cannot read {here}/none: No such file"),
        ("truststore", "location={here}/empty", "{here}/empty is empty"),
        ("truststore", "location={here}/half.jks\npassword=storepass", "half.jks: is truncated or corrupt"),
        (
            "truststore",
            "location={here}/half.p12\npassword=storepass",
            "half.p12: is not JKS or PKCS12, or is truncated",
        ),
        (
            "truststore",
            "type=PEM\nlocation={here}/half.pem",
            "half.pem: the CERTIFICATE that begins in line 2 has no END",
        ),
        (
            "truststore",
            "type=PEM\nlocation={here}/torn.pem",
            "torn.pem: the CERTIFICATE that begins in line 1 is corrupt",
        ),
        ("truststore", "type=PEM\nlocation={here}/key.pem", "key.pem: contains no certificate"),
        ("keystore", "location={keys}/trust.JKS\npassword=storepass", "trust.JKS: contains no private key"),
        ("keystore", "location={keys}/trust.PKCS12\npassword=storepass", "trust.PKCS12: contains no private key"),
        ("keystore", "location={keys}/keys.JKS\npassword=storepass", "has a key that does not open with this password"),
        ("keystore", "type=PEM\nlocation={here}/ca.pem", "ca.pem: contains no private key"),
        ("keystore", "type=PEM\nlocation={here}/locked.pem", "contains an encrypted key; set ssl.key.password"),
        (
            "keystore",
            "type=PEM\nlocation={here}/locked.pem\nssl.key.password=wrong",
            "does not open with ssl.key.password",
        ),
        ("keystore", "type=PEM\nlocation={here}/others.pem", "a certificate that does not match its key"),
        ("keystore", "type=PEM\nkey=x", "ssl.keystore.key is set, but not the certificate to it"),
    ],
)
def test_invalid_stores_are_errors_without_secrets(
    store: str, settings: str, message: str, keys: Keys, load: Load, tmp_path: Path
) -> None:
    certificate = keys.authority
    for name, text in {
        "ca.pem": certificate,
        "empty": "",
        "half.pem": "# mine\n" + certificate[:300],
        "torn.pem": certificate.replace(certificate[100:200], ""),
        "key.pem": keys.key,
        "locked.pem": keys.own + keys.encrypted,
        "others.pem": certificate + keys.key,
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "half.jks").write_bytes((keys.folder / "trust.JKS").read_bytes()[:500])
    (tmp_path / "half.p12").write_bytes((keys.folder / "trust.PKCS12").read_bytes()[:500])
    lines = settings.format(keys=keys.folder, here=tmp_path).splitlines()
    text = "".join(f"{line}\n" if line.startswith("ssl.") else f"ssl.{store}.{line}\n" for line in lines)
    with pytest.raises(ConfigError) as caught:
        load(f"security.protocol=SSL\n{text}")
    assert str(caught.value).startswith(f"{tmp_path}/client.properties, line ")
    assert message.format(here=tmp_path) in str(caught.value)
    for secret in (STORE_PASSWORD, KEY_PASSWORD, "wrong"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "versions", "ciphers"),
    [
        ("", (), ()),
        ("ssl.protocol=TLS", (), ()),
        ("ssl.protocol=TLSv1.2", ("TLSv1.2",), ()),
        ("ssl.protocol=TLSv1.3", ("TLSv1.2", "TLSv1.3"), ()),
        ("ssl.enabled.protocols=TLSv1.3, TLSv1.2", ("TLSv1.3", "TLSv1.2"), ()),
        ("ssl.protocol=TLSv1.2\nssl.enabled.protocols=TLSv1.2,TLSv1.3", ("TLSv1.2",), ()),
        ("ssl.cipher.suites=TLS_AES_256_GCM_SHA384", ("TLSv1.3",), ()),
        ("ssl.cipher.suites=TLS_RSA_WITH_AES_128_CBC_SHA", ("TLSv1.2",), ("AES128-SHA",)),
        (
            "ssl.cipher.suites=TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            (),
            ("ECDHE-RSA-AES256-GCM-SHA384",),
        ),
        ("ssl.cipher.suites=HIGH:!aNULL", (), ("HIGH:!aNULL",)),
    ],
)
def test_tls_versions_and_ciphers_are_read(
    load: Load, text: str, versions: tuple[str, ...], ciphers: tuple[str, ...]
) -> None:
    tls = tls_of(load(f"security.protocol=SSL\n{text}\n"))
    assert (tls.versions, tls.ciphers) == (versions, ciphers)


@pytest.mark.parametrize(("suites", "weak"), [("ALL:@SECLEVEL=0", True), ("HIGH:@SECLEVEL=2", False), ("HIGH", False)])
def test_low_security_level_is_remarked_on(load: Load, suites: str, weak: bool) -> None:
    remarks = load(f"security.protocol=SSL\nssl.cipher.suites={suites}\n").warnings
    assert [("@SECLEVEL below 2" in each, "line 2" in each) for each in remarks] == ([(True, True)] if weak else [])


def test_openssl_name_matches_the_suite_number() -> None:
    """A suite has one number under both names: Python reports it for OpenSSL's, IANA for its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.set_ciphers("ALL:COMPLEMENTOFALL:@SECLEVEL=0")
    numbers = {cipher["name"]: cipher["id"] & 0xFFFF for cipher in context.get_ciphers()}
    for name, number in {
        "TLS_RSA_WITH_AES_128_CBC_SHA": 0x002F,
        "TLS_RSA_WITH_AES_256_CBC_SHA256": 0x003D,
        "TLS_RSA_WITH_AES_128_GCM_SHA256": 0x009C,
        "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384": 0x009F,
        "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256": 0x0067,
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": 0xC009,
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384": 0xC028,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": 0xC02C,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": 0xCCA8,
        "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8": 0xC0AE,
    }.items():
        assert numbers[str(openssl_name(name))] == number, name
    assert openssl_name("TLS_RSA_WITH_NULL_MD5") is None


@pytest.mark.parametrize(
    "text", ["ssl.protocol=SSLv3", "ssl.enabled.protocols=TLSv9", "ssl.cipher.suites=TLS_A_WITH_B"]
)
def test_invalid_tls_words_are_rejected(load: Load, text: str) -> None:
    with pytest.raises(ConfigError, match=r"line 2: ssl\."):
        load(f"security.protocol=SSL\n{text}\n")


@pytest.mark.parametrize(
    ("text", "verify", "check_name", "message"),
    [
        ("ssl.endpoint.identification.algorithm=", True, False, "a certificate for any host is accepted"),
        ("ssl.endpoint.identification.algorithm=none", True, False, "a certificate for any host is accepted"),
        ("enable.ssl.certificate.verification=false", False, True, "brokers are not verified, and an attacker"),
    ],
)
def test_disabled_checks_are_remarked_on(load: Load, text: str, verify: bool, check_name: bool, message: str) -> None:
    loaded = load(f"security.protocol=SSL\n{text}\n")
    assert (tls_of(loaded).verify, tls_of(loaded).check_name) == (verify, check_name)
    (remark,) = loaded.warnings
    assert message in remark
    assert load("security.protocol=SSL\nssl.endpoint.identification.algorithm=https").warnings == ()


def test_directory_of_authorities_is_read(keys: Keys, load: Load, tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "a.pem").write_text(keys.authority)
    (folder / "b.0").write_text(keys.authority + keys.own)
    (folder / "README").write_text("no certificate")
    authorities = tls_of(load(f"security.protocol=SSL\nssl.ca.location={folder}\n")).authorities
    assert authorities and keys.own in authorities
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="a directory without a PEM certificate"):
        load(f"security.protocol=SSL\nssl.ca.location={tmp_path}/empty\n")


def test_openssl_names_and_keywords_are_kept_and_other_words_rejected() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers("ALL:COMPLEMENTOFALL:@SECLEVEL=0")
    names = [cipher["name"] for cipher in context.get_ciphers() if not cipher["name"].startswith("TLS_")]
    words = [*names, "HIGH:!aNULL:!MD5", "ECDHE+AESGCM:ECDHE+CHACHA20", "kEECDH+AESGCM:-RC4", "DEFAULT@SECLEVEL=2"]
    assert [word for word in words if openssl_name(word) != word] == []
    assert [openssl_name(word) for word in ("hunter2", "ECDHE-RSA-hunter2", "HIGH:hunter2", "HIGH:")] == [None] * 4
