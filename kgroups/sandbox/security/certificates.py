"""Create a certificate authority and its certificates with openssl: PEM files of valid and invalid peers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.errors import SandboxError

from .secrets import Secrets

_SERVER: Final = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
_CLIENT: Final = "extendedKeyUsage=clientAuth\n"
_YEARS: Final = ("20200101000000Z", "20491231000000Z")
_PAST: Final = ("20200101000000Z", "20210101000000Z")

# With an index and a configuration, because only `openssl ca` accepts the start and end of a certificate's validity.
_CA: Final = """\
[ca]
default_ca=here
[here]
database=index.txt
new_certs_dir=.
unique_subject=no
rand_serial=yes
default_md=sha256
policy=names
[names]
commonName=supplied
"""


class Pair(NamedTuple):
    """A certificate, followed by its chain, and its key, as PEM files."""

    certificate: Path
    key: Path


class Certificates(NamedTuple):
    folder: Path
    authority: Path
    """The authority's certificate (PEM), which clients and brokers trust."""
    server: Pair
    client: Pair
    """Its common name is the user's name."""
    expired: Pair
    """A server's, valid until 2021."""
    wrong_name: Pair
    """A server's, for another host."""
    self_signed: Pair
    """A server's, without an authority."""
    encrypted_key: Path
    """The client's key, encrypted with ``key_password`` as Java supports it (PBE-SHA1-3DES)."""
    modern_key: Path
    """The client's key with openssl's default encryption (PBES2, AES-256), which Kafka on Java 17 does not support."""
    key_password: str


def make_certificates(folder: Path, user: str, secrets: Secrets) -> Certificates:
    """Create all certificates in a new folder, whose parent other users cannot read.

    :raises SandboxError: when openssl is missing, or fails.
    """
    folder.mkdir()
    authority = _Authority(folder)
    client = authority.sign("client", user, _CLIENT)
    key_password = secrets.new()
    return Certificates(
        folder=folder,
        authority=authority.certificate,
        server=authority.sign("server", "localhost", _SERVER),
        client=client,
        expired=authority.sign("expired", "localhost", _SERVER, _PAST),
        wrong_name=authority.sign("wrong-name", "elsewhere", "subjectAltName=DNS:elsewhere.example\n"),
        self_signed=_self_signed(folder, "self-signed", "localhost", _SERVER),
        encrypted_key=_encrypted(client.key, "encrypted", key_password, "-v1", "PBE-SHA1-3DES"),
        modern_key=_encrypted(client.key, "encrypted-pbes2", key_password, "-v2", "aes-256-cbc"),
        key_password=key_password,
    )


class _Authority:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.certificate, self._key = _self_signed(folder, "authority", "kgroups sandbox", "basicConstraints=CA:TRUE\n")
        (folder / "index.txt").touch()
        (folder / "ca.cnf").write_text(_CA)

    def sign(self, name: str, common_name: str, extensions: str, life: tuple[str, str] = _YEARS) -> Pair:
        folder = self._folder
        pair, request = Pair(folder / f"{name}.pem", folder / f"{name}.key"), folder / f"{name}.csr"
        openssl(folder, "req", "-new", *_new_key(pair.key), *_subject(common_name), "-out", str(request))
        (folder / f"{name}.ext").write_text(extensions)
        signing = ("-cert", str(self.certificate), "-keyfile", str(self._key), "-extfile", f"{name}.ext")
        dates = ("-startdate", life[0], "-enddate", life[1])
        openssl(
            folder, "ca", "-batch", "-notext", "-config", "ca.cnf", *signing, *dates, "-in", str(request), "-out",
            str(pair.certificate),
        )  # fmt: skip
        with pair.certificate.open("a") as chain:
            chain.write(self.certificate.read_text())
        return pair


def _self_signed(folder: Path, name: str, common_name: str, extensions: str) -> Pair:
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    added = [word for line in extensions.splitlines() for word in ("-addext", line)]
    openssl(
        folder, "req", "-x509", "-days", "3650", *_new_key(pair.key), *_subject(common_name), *added, "-out",
        str(pair.certificate),
    )  # fmt: skip
    return pair


def _encrypted(key: Path, name: str, password: str, *how: str) -> Path:
    made = key.with_name(f"{name}.key")
    words = ("pkcs8", "-topk8", *how, "-in", str(key), "-out", str(made), "-passout", "env:PASSWORD")
    openssl(key.parent, *words, env={"PASSWORD": password})
    return made


def _new_key(path: Path) -> tuple[str, ...]:
    return ("-newkey", "rsa:2048", "-nodes", "-keyout", str(path))


def _subject(common_name: str) -> tuple[str, str]:
    return ("-subj", f"/CN={common_name}")


def openssl(folder: Path, *words: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
    """Run openssl, and return its output. Passwords are passed in the environment, which other users cannot read.

    :raises SandboxError: when openssl is missing, or fails.
    """
    program = shutil.which("openssl")
    if program is None:
        raise SandboxError("a secure sandbox requires openssl to create certificates: install openssl")
    done = subprocess.run(
        [program, *words], cwd=folder, input=stdin, capture_output=True, env={**os.environ, **(env or {})}, check=False
    )
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip()
        raise SandboxError(f"openssl {words[0]} failed: {output}")
    return done.stdout
