"""Read the TLS settings, in Java's or librdkafka's spelling."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kgroups.errors import ConfigError

from .formats import stores
from .formats.ciphers import is_tls13, is_weak, openssl_name
from .properties import read_bounded
from .safe_text import describe_value
from .secret import Secret
from .security import Tls
from .settings_reader import Setting, SettingsReader

T = TypeVar("T")
Warn = Callable[[str], None]
"""Called with each warning on insecure or ignored settings."""
FileCheck = Callable[[Path, str], None]
"""Called with each file that contains an unencrypted secret, and with the place of the setting that names it."""

_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_TRUST = "certificate authorities trusted for brokers"
_KEY = "certificate and key of the client"


def tls_of(settings: SettingsReader, warn: Warn, check_file: FileCheck) -> Tls:
    """Read authorities, client certificate, verification, versions and cipher suites.

    :raises ConfigError: if a store, a PEM, or a value is invalid; with its place, without secrets.
    """
    own = _client_certificate(settings, check_file)
    versions, ciphers = _ciphers(settings, _versions(settings), warn)
    return Tls(
        authorities=_authorities(settings),
        certificate=own.certificate if own else None,
        key=own.key if own else None,
        key_password=own.key_password if own else None,
        verify=_verify(settings, warn),
        check_name=_check_name(settings, warn),
        versions=versions,
        ciphers=ciphers,
    )


def _authorities(settings: SettingsReader) -> str | None:
    inline = settings.take("ssl.truststore.certificates", "ssl.ca.pem", means=_TRUST)
    location = settings.take("ssl.truststore.location", "ssl.ca.location", means=_TRUST)
    password = settings.secret("ssl.truststore.password", means="password of the truststore")
    store_type = settings.text("ssl.truststore.type", means="the truststore's format")
    if inline and inline.value.strip():
        return _of_pem(inline, stores.authorities_of)
    if location is None or not location.value.strip():
        return None
    if location.key == "ssl.ca.location":
        return _of_librdkafka(location)
    return stores.read_authorities(Path(location.value), store_type or "JKS", password, location.place)


def _of_librdkafka(location: Setting) -> str | None:
    """Read a PEM file or a directory of them; ``probe`` selects the system's authorities (``None``)."""
    if location.value.strip() == "probe":
        return None
    path = Path(location.value.strip())
    if not path.is_dir():
        return stores.read_authorities(path, "PEM", None, location.place)
    texts = (read_bounded(file, location.place).decode("latin-1") for file in sorted(path.iterdir()) if file.is_file())
    found = [text for text in texts if "-----BEGIN CERTIFICATE-----" in text]
    if not found:
        raise location.error(f"is {path}, a directory without a PEM certificate")
    return "".join(dict.fromkeys(_of_pem(location, stores.authorities_of, text) for text in found))


def _client_certificate(settings: SettingsReader, check_file: FileCheck) -> stores.ClientCertificate | None:
    chain = settings.take("ssl.keystore.certificate.chain", "ssl.certificate.pem", means=_KEY)
    key = settings.take("ssl.keystore.key", "ssl.key.pem", means=_KEY, secret=True)
    certificate_file = settings.take("ssl.certificate.location", means=_KEY)
    key_file = settings.take("ssl.key.location", means=_KEY)
    store = settings.take("ssl.keystore.location", means=_KEY)
    store_type = settings.text("ssl.keystore.type", means="the keystore's format")
    password = settings.secret("ssl.keystore.password", means="password of the keystore")
    key_password = settings.secret("ssl.key.password", means="password of the key")
    if key or chain or key_file or certificate_file:
        return _of_parts(chain or certificate_file, key or key_file, key_password, check_file)
    if store is None or not store.value.strip():
        return None
    path = Path(store.value)
    found = stores.read_client_certificate(path, store_type or "JKS", password, key_password, store.place)
    if found.key_password is None:
        check_file(path, store.place)
    return found


def _of_parts(
    certificate: Setting | None, key: Setting | None, password: Secret | None, check_file: FileCheck
) -> stores.ClientCertificate:
    """Combine a certificate and its key, each in a file or inline."""
    if certificate is None or key is None:
        present = certificate or key
        assert present
        missing = "the key to it" if certificate else "the certificate to it"
        raise present.error(f"is set, but not {missing}")
    texts = [_text_of(each) for each in (certificate, key)]
    found = _of_pem(key, lambda text: stores.client_certificate_of(texts[0], text, password), texts[1])
    if found.key_password is None and key.key.endswith(".location"):
        check_file(Path(key.value.strip()), key.place)
    return found


def _text_of(setting: Setting) -> str:
    if not setting.key.endswith(".location"):
        return setting.value
    return read_bounded(Path(setting.value.strip()), setting.place).decode("latin-1")


def _of_pem(setting: Setting, read: Callable[[str], T], text: str | None = None) -> T:
    """Parse a PEM.

    :param text: contents of the file, if the setting is a path.
    :raises ConfigError: if the PEM is invalid; with its place.
    """
    try:
        return read(setting.value if text is None else text)
    except ValueError as error:
        where = f"{setting.place}: {setting.value.strip()}" if setting.key.endswith(".location") else setting.place
        raise ConfigError(f"{where}: {error}") from None


def _verify(settings: SettingsReader, warn: Warn) -> bool:
    key = "enable.ssl.certificate.verification"
    verify = settings.flag(key, default=True, means="verify the brokers' certificates")
    if not verify:
        warn(f"{key}=false: brokers are not verified, and an attacker can read your password")
    return verify


def _check_name(settings: SettingsReader, warn: Warn) -> bool:
    found = settings.take("ssl.endpoint.identification.algorithm", means="verify the host name in the certificate")
    if found is None:
        return True
    word = found.value.strip().lower()
    if word in ("", "none"):
        warn(f"{found.place} is {word or 'empty'}: a certificate for any host is accepted")
        return False
    if word != "https":
        raise found.error(f"{describe_value(word, ('https', 'none'))}: must be https, or empty (librdkafka: none)")
    return True


def _versions(settings: SettingsReader) -> tuple[str, ...]:
    enabled = settings.take("ssl.enabled.protocols", means="TLS versions")
    highest = settings.take("ssl.protocol", means="highest TLS version")
    words = _known(enabled) if enabled else []
    top = _known(highest)[:1] if highest and highest.value.strip() not in ("", "TLS", "SSL") else []
    if not top:
        return tuple(words)
    bound = _VERSIONS.index(top[0])
    within = [word for word in words or _VERSIONS[2:] if _VERSIONS.index(word) <= bound]
    return tuple(within or top)


def _known(setting: Setting) -> list[str]:
    words = [word.strip() for word in setting.value.split(",") if word.strip()]
    for word in words:
        if word not in _VERSIONS:
            raise setting.error(f"{describe_value(word, _VERSIONS)}; use one of {', '.join(_VERSIONS)}")
    return words


def _ciphers(
    settings: SettingsReader, versions: tuple[str, ...], warn: Warn
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return TLS versions and cipher suites.

    Single suites of TLS 1.3 cannot be selected; a list that contains no others restricts the version to 1.3.
    """
    found = settings.take("ssl.cipher.suites", means="cipher suites")
    words = [word for word in re.split(r"[\s,]+", found.value) if word] if found else []
    if found is None or not words:
        return versions, ()
    names = {word: openssl_name(word) for word in words if not is_tls13(word)}
    if not names:
        return ("TLSv1.3",), ()
    known = [name for name in names.values() if name]
    unknown = [word for word, name in names.items() if not name]
    shown = ", ".join(map(_shown_suite, unknown[:5]))
    if unknown:  # possibly misplaced secrets
        value = ", ".join(word for word in words if word not in unknown)
        settings.understood[-1] = settings.understood[-1]._replace(value=value)
    if not known:
        raise found.error(f"has no suite that OpenSSL supports: {shown}")
    if unknown:
        warn(f"{found.place}: not supported by OpenSSL, ignored: {shown}")
    if any(map(is_weak, known)):
        warn(f"{found.place}: @SECLEVEL below 2 accepts keys, certificates, and ciphers that can be broken")
    if all("_WITH_" in word for word in words):  # Java: a list without a suite of 1.3 disables 1.3
        versions = tuple(word for word in versions or _VERSIONS[2:] if word != "TLSv1.3") or versions
    return versions, tuple(known)


def _shown_suite(word: str) -> str:
    return word if re.fullmatch("(TLS|SSL)_[A-Z0-9_]{1,60}", word) else "an unknown name"
