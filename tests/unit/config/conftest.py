"""Real keys, and files as a real JVM reads them: one run of Java for all tests."""

from __future__ import annotations

import datetime
import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from kgroups.config.flags import Flags, Loaded
from kgroups.config.load import load_settings

STORE_PASSWORD, KEY_PASSWORD = "storepass", "keypäss"
CASES = 300
SEED = 20_261_122
"""Of the files that Java is asked about: the same each time, so that a failure can be had again."""

Load = Callable[..., Loaded]


class Keys(NamedTuple):
    """A certificate, its key and its authority's certificate, as PEM; stores with them lie in the folder."""

    folder: Path
    authority: str
    own: str
    key: str
    encrypted: str
    """The key under KEY_PASSWORD."""


def _signed(name: str, key: rsa.RSAPrivateKey, by: rsa.RSAPrivateKey) -> x509.Certificate:
    made = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")])
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder(issuer, made, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(by, hashes.SHA256())
    )


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """Created for each run; ``trust.TYPE`` and ``keys.TYPE`` are written by Java, for JKS, PKCS12, PKCS12-8 (as Java
    8 wrote it) and JCEKS."""
    folder = tmp_path_factory.mktemp("keys")
    ca_key, own_key = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    ca, own = _signed("ca", ca_key, ca_key), _signed("me", own_key, ca_key)
    (folder / "ca.der").write_bytes(ca.public_bytes(Encoding.DER))
    (folder / "own.der").write_bytes(own.public_bytes(Encoding.DER))
    plain = (PrivateFormat.PKCS8, NoEncryption())
    (folder / "own.key.der").write_bytes(own_key.private_bytes(Encoding.DER, *plain))
    _write_cases(folder)
    java = shutil.which("java", path=f"{os.environ.get('JAVA_HOME', '')}/bin{os.pathsep}{os.environ['PATH']}")
    assert java, "these tests need Java 17, as the sandbox does"
    program = Path(__file__).with_name("Stores.java")
    subprocess.run([java, "-XX:TieredStopAtLevel=1", str(program), str(folder)], check=True, timeout=300)
    sealed = own_key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(KEY_PASSWORD.encode())
    ).decode()
    ca_pem, own_pem = (each.public_bytes(Encoding.PEM).decode() for each in (ca, own))
    return Keys(folder, ca_pem, own_pem, own_key.private_bytes(Encoding.PEM, *plain).decode(), sealed)


def _write_cases(folder: Path) -> None:
    """Files of all sorts of bytes that mean something to the formats, for Java to read."""
    chance = random.Random(SEED)
    keys_and_values = ["a", "b", "=", ":", " ", "\t", "\f", "\\", "\\\\", "\n", "\r", "\r\n", "#", "!", "é"]
    keys_and_values += ["\\u00e9", "\\u1", "\\n"]
    words = ["word", '"a b"', "'c'", "=", ";", " ", '"\\n\\101\\x\\\\"', '"\\7z\\400"', " //c\n", " /*c\n*/", "\n"]
    for number in range(CASES):
        text = "".join(chance.choices(keys_and_values, k=chance.randrange(1, 25)))
        (folder / f"{number}.properties").write_text(text, encoding="latin-1", newline="")
        text = "".join(chance.choices(words, k=chance.randrange(1, 12)))
        (folder / f"{number}.jaas").write_text(text, encoding="utf-8", newline="")


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Settings of a properties file's text, and of flags; the file is ``client.properties`` of the test's folder."""

    def load(text: str = "", environ: Mapping[str, str] | None = None, **flags: object) -> Loaded:
        path = tmp_path / "client.properties"
        path.write_text(text, encoding="latin-1", newline="")
        path.chmod(0o600)
        given = {"bootstrap": "localhost:1", "command_config": str(path), **flags}
        return load_settings(Flags(**given), environ or {})  # type: ignore[arg-type]

    yield load


def inline(pem: str) -> str:
    """A PEM as a value of a properties file."""
    return json.dumps(pem)[1:-1].replace("\\n", "\\n")
