"""Create Java's key stores of the certificates: PKCS12 with openssl, JKS with keytool."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import SandboxError

from ..java import SHORT_RUN
from .certificates import Certificates, Pair, openssl
from .secrets import Secrets


class Stores(NamedTuple):
    """The client's stores, all with one password; the ``trust`` stores contain the authority."""

    pkcs12: Path
    trust_pkcs12: Path
    jks: Path
    trust_jks: Path
    password: str


def make_stores(certificates: Certificates, java: str, secrets: Secrets) -> Stores:
    """Create the client's stores.

    :param java: the path of ``java``, in whose folder keytool is.
    :raises SandboxError: when keytool is missing, or fails.
    """
    password = secrets.new()
    folder = certificates.folder
    pkcs12 = to_pkcs12(certificates.client, password)
    stores = Stores(pkcs12, folder / "trust.p12", folder / "client.jks", folder / "trust.jks", password)
    authority = ("-importcert", "-noprompt", "-alias", "authority", "-file", str(certificates.authority))
    copied = ("-importkeystore", "-noprompt", "-srckeystore", str(pkcs12), "-srcstorepass:env", "PASSWORD")
    runs = (
        (*authority, *_into("-keystore", stores.trust_pkcs12, "-storetype", "PKCS12", "-storepass:env")),
        (*authority, *_into("-keystore", stores.trust_jks, "-storetype", "JKS", "-storepass:env")),
        (*copied, *_into("-destkeystore", stores.jks, "-deststoretype", "JKS", "-deststorepass:env")),
    )
    with ThreadPoolExecutor() as pool:  # each is a JVM
        list(pool.map(lambda words: _keytool(java, words, password), runs))
    return stores


def to_pkcs12(pair: Pair, password: str) -> Path:
    """Create a store with a certificate, its chain, and its key, in the certificate's folder."""
    made = pair.certificate.with_suffix(".p12")
    words = ("pkcs12", "-export", "-name", made.stem, "-in", str(pair.certificate), "-inkey", str(pair.key))
    openssl(made.parent, *words, "-out", str(made), "-passout", "env:PASSWORD", env={"PASSWORD": password})
    return made


def _into(store: str, path: Path, type_option: str, store_type: str, password: str) -> tuple[str, ...]:
    return (store, str(path), type_option, store_type, password, "PASSWORD")


def _keytool(java: str, words: Sequence[str], password: str) -> None:
    program = Path(java).resolve().with_name("keytool")
    options = (f"-J{option}" for option in SHORT_RUN)
    env = {**os.environ, "PASSWORD": password}
    try:
        done = subprocess.run([program, *options, *words], capture_output=True, text=True, env=env, check=False)
    except FileNotFoundError:
        raise SandboxError(
            f"a secure sandbox requires keytool to create key stores, and {program} does not exist"
        ) from None
    if done.returncode:
        raise SandboxError(f"keytool failed: {done.stdout.strip()} {done.stderr.strip()}")
