"""What TLS is to be, as Python's ssl wants it. Imported only where a cluster asks for TLS."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator, Sequence

from kgroups.config.formats.ciphers import with_authentication
from kgroups.config.security import Tls
from kgroups.errors import ConfigError

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_UNSAFE = {"SSLv3", "TLSv1", "TLSv1.1"}
"""Older lists of Java's name them beside TLSv1.2; nobody needs them who has that (RFC 8996)."""

_SUITES_1_3 = "TLS_"
"""How the names of TLS 1.3's cipher suites begin, in OpenSSL too; those of older versions do not."""


def tls_context(tls: Tls) -> ssl.SSLContext:
    """For connections to brokers, and to token endpoints.

    :raises ConfigError: for a certificate, key, version or cipher that cannot be; the text names Kafka's setting.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.verify and tls.check_name
    context.verify_mode = ssl.CERT_REQUIRED if tls.verify else ssl.CERT_NONE
    _set_versions(context, tls.versions)
    _set_ciphers(context, tls.ciphers)
    _trust(context, tls.authorities)
    if tls.certificate or tls.key:
        _show(context, tls)
    return context


def _set_versions(context: ssl.SSLContext, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in _VERSIONS and name not in _UNSAFE]
    if unknown:
        raise ConfigError(f"ssl.enabled.protocols: there is no {unknown[0]}; there are {' and '.join(_VERSIONS)}")
    wanted = [_VERSIONS[name] for name in names if name in _VERSIONS]
    if names and not wanted:
        raise ConfigError(f"ssl.enabled.protocols: {', '.join(names)} is not safe; kgroups speaks TLSv1.2 and TLSv1.3")
    if wanted:
        context.minimum_version, context.maximum_version = min(wanted), max(wanted)


def _set_ciphers(context: ssl.SSLContext, names: Sequence[str]) -> None:
    """Python lets nobody choose among the suites of TLS 1.3, all of which are good; but the version can be chosen."""
    if not names:
        return
    older = [name for name in names if not name.startswith(_SUITES_1_3)]
    if not older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return
    if len(older) == len(names):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers(with_authentication(older))
    except ssl.SSLError:
        raise ConfigError(
            f"ssl.cipher.suites: OpenSSL knows none of {', '.join(older)}, or none that authenticates and encrypts"
        ) from None


def _trust(context: ssl.SSLContext, authorities: str | None) -> None:
    if authorities is None:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(
            cadata=authorities.encode("ascii", "replace").decode()
        )  # comments may be no ASCII
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"ssl.truststore: no certificates that can be read ({_said(error)})") from None
    # As in Java, what is in the truststore is trusted for itself: a broker's own certificate, an authority between.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _show(context: ssl.SSLContext, tls: Tls) -> None:
    """Loads our certificate and its key."""
    if not tls.certificate or not tls.key:
        there, missing = ("certificate", "key") if tls.certificate else ("key", "certificate")
        raise ConfigError(f"ssl.keystore: there is a {there}, but no {missing} that goes with it")

    def password() -> str:  # where there is none, OpenSSL would ask the terminal
        if not tls.key_password:
            raise ConfigError("ssl.keystore: the private key is encrypted, and there is no ssl.key.password")
        return tls.key_password.reveal()

    try:
        with _as_file(f"{tls.key.reveal().rstrip()}\n{tls.certificate}") as path:
            context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        raise ConfigError(f"ssl.keystore: {_why_not(error, encrypted=bool(tls.key_password))}") from None
    except ValueError as error:  # a password that is too long
        raise ConfigError(f"ssl.key.password: {error}") from None


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path by which only this process can read the text: in memory where the system has that, else a file that only
    its owner may read, gone at the end of the block."""
    data = text.encode()
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("kgroups", os.MFD_CLOEXEC)
        try:
            _write_all(number, data)
            yield f"/proc/self/fd/{number}"
        finally:
            os.close(number)
        return
    with tempfile.NamedTemporaryFile(prefix="kgroups-") as file:  # its mode is 0600
        file.write(data)
        file.flush()
        yield file.name


def _write_all(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]


def _why_not(error: ssl.SSLError, *, encrypted: bool) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the private key is not that of the certificate"
    if encrypted:
        return "the private key cannot be read: is ssl.key.password right?"
    return f"the certificate or its key cannot be read ({_said(error)})"


def _said(error: Exception) -> str:
    """OpenSSL's reason in its own words, without the place in its source."""
    reason = getattr(error, "reason", None)
    return reason.lower().replace("_", " ") if reason else str(error) or type(error).__name__
