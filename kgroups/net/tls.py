"""Convert TLS settings to Python's ``ssl.SSLContext``. Imported only if TLS is configured."""

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
"""Older Java configurations list them next to TLSv1.2; they are obsolete (RFC 8996) and ignored."""

_SUITES_1_3 = "TLS_"
"""Prefix of TLS 1.3 cipher suites, also in OpenSSL; suites of older versions do not have it."""


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Return the context for connections to brokers or token endpoints.

    :raises ConfigError: if a certificate, key, version, or cipher suite is invalid; the text names Kafka's setting.
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
        raise ConfigError(f"ssl.enabled.protocols: unsupported version {unknown[0]}; use {' or '.join(_VERSIONS)}")
    wanted = [_VERSIONS[name] for name in names if name in _VERSIONS]
    if names and not wanted:
        raise ConfigError(f"ssl.enabled.protocols: {', '.join(names)} is not safe; use TLSv1.2 or TLSv1.3")
    if wanted:
        context.minimum_version, context.maximum_version = min(wanted), max(wanted)


def _set_ciphers(context: ssl.SSLContext, names: Sequence[str]) -> None:
    """Set the suites before TLS 1.3. Python cannot choose among the suites of TLS 1.3, all of which are safe."""
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
            f"ssl.cipher.suites: OpenSSL supports none of {', '.join(older)}, or none that authenticates and encrypts"
        ) from None


def _trust(context: ssl.SSLContext, authorities: str | None) -> None:
    if authorities is None:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(
            cadata=authorities.encode("ascii", "replace").decode()
        )  # comments may contain other text than ASCII
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"ssl.truststore: the certificates cannot be read ({_said(error)})") from None
    # As in Java, each certificate in the truststore is trusted: a broker's own, or an intermediate authority.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _show(context: ssl.SSLContext, tls: Tls) -> None:
    """Load the client certificate and its key."""
    if not tls.certificate or not tls.key:
        there, missing = ("certificate", "key") if tls.certificate else ("key", "certificate")
        raise ConfigError(f"ssl.keystore: there is a {there}, but no matching {missing}")

    def password() -> str:  # without one, OpenSSL would prompt on the terminal
        if not tls.key_password:
            raise ConfigError("ssl.keystore: the private key is encrypted: set ssl.key.password")
        return tls.key_password.reveal()

    try:
        with _as_file(f"{tls.key.reveal().rstrip()}\n{tls.certificate}") as path:
            context.load_cert_chain(path, password=password)
    except ssl.SSLError as error:
        raise ConfigError(f"ssl.keystore: {_why_not(error, encrypted=bool(tls.key_password))}") from None
    except ValueError as error:  # the password is too long
        raise ConfigError(f"ssl.key.password: {error}") from None


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Yield a path from which only this process can read the text.

    It is in memory if the system supports that; otherwise a file that only its owner can read, removed at the end of
    the block.
    """
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
        return "the private key does not match the certificate"
    if encrypted:
        return "the private key cannot be read: check ssl.key.password"
    return f"the certificate or its key cannot be read ({_said(error)})"


def _said(error: Exception) -> str:
    """Return OpenSSL's reason as text, without the position in its source."""
    reason = getattr(error, "reason", None)
    return reason.lower().replace("_", " ") if reason else str(error) or type(error).__name__
