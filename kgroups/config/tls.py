"""What TLS needs, of settings in Java's words or librdkafka's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kgroups.errors import ConfigError

from .formats import stores
from .formats.ciphers import is_tls13, is_weak, openssl_name
from .properties import read_bounded
from .safe_text import told
from .secret import Secret
from .security import Tls
from .settings_reader import Setting, SettingsReader

T = TypeVar("T")
Remark = Callable[[str], None]
FileNote = Callable[[Path, str], None]
"""Told of each file that holds a key unencrypted, and of who asked for it."""

_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_TRUST = "whose certificates brokers may show"
_KEY = "certificate and key of the client"


def tls_of(given: SettingsReader, remark: Remark, note: FileNote) -> Tls:
    """
    :param remark: is told what is dangerous.
    :raises ConfigError: for a store, a PEM or a word that cannot be right; with the place, without secrets.
    """
    identity = _identity(given, note)
    versions, ciphers = _ciphers(given, _versions(given), remark)
    return Tls(
        authorities=_authorities(given),
        certificate=identity.certificate if identity else None,
        key=identity.key if identity else None,
        key_password=identity.key_password if identity else None,
        verify=_verify(given, remark),
        check_name=_check_name(given, remark),
        versions=versions,
        ciphers=ciphers,
    )


def _authorities(given: SettingsReader) -> str | None:
    inline = given.take("ssl.truststore.certificates", "ssl.ca.pem", means=_TRUST)
    location = given.take("ssl.truststore.location", "ssl.ca.location", means=_TRUST)
    password = given.secret("ssl.truststore.password", means="password of the truststore")
    kind = given.text("ssl.truststore.type", means="the truststore's format")
    if inline and inline.value.strip():
        return _of_pem(inline, stores.authorities_of)
    if location is None or not location.value.strip():
        return None
    if location.key == "ssl.ca.location":
        return _of_librdkafka(location)
    return stores.read_authorities(Path(location.value), kind or "JKS", password, location.place)


def _of_librdkafka(location: Setting) -> str | None:
    """A file, a folder of them, or ``probe``: where the system keeps its own."""
    if location.value.strip() == "probe":
        return None
    path = Path(location.value.strip())
    if not path.is_dir():
        return stores.read_authorities(path, "PEM", None, location.place)
    texts = (read_bounded(file, location.place).decode("latin-1") for file in sorted(path.iterdir()) if file.is_file())
    found = [text for text in texts if "-----BEGIN CERTIFICATE-----" in text]
    if not found:
        raise location.wrong(f"is {path}, a directory without a PEM certificate")
    return "".join(dict.fromkeys(_of_pem(location, stores.authorities_of, text) for text in found))


def _identity(given: SettingsReader, note: FileNote) -> stores.Identity | None:
    chain = given.take("ssl.keystore.certificate.chain", "ssl.certificate.pem", means=_KEY)
    key = given.take("ssl.keystore.key", "ssl.key.pem", means=_KEY, secret=True)
    certificate_file = given.take("ssl.certificate.location", means=_KEY)
    key_file = given.take("ssl.key.location", means=_KEY)
    store = given.take("ssl.keystore.location", means=_KEY)
    kind = given.text("ssl.keystore.type", means="the keystore's format")
    password = given.secret("ssl.keystore.password", means="password of the keystore")
    key_password = given.secret("ssl.key.password", means="password of the key")
    if key or chain or key_file or certificate_file:
        return _of_parts(chain or certificate_file, key or key_file, key_password, note)
    if store is None or not store.value.strip():
        return None
    path = Path(store.value)
    found = stores.read_identity(path, kind or "JKS", password, key_password, store.place)
    if found.key_password is None:
        note(path, store.place)
    return found


def _of_parts(
    certificate: Setting | None, key: Setting | None, password: Secret | None, note: FileNote
) -> stores.Identity:
    """A certificate and its key, each in a file or in the settings."""
    if certificate is None or key is None:
        there = certificate or key
        assert there
        missing = "the key to it" if certificate else "the certificate to it"
        raise there.wrong(f"is set, but not {missing}")
    texts = [_text_of(each) for each in (certificate, key)]
    found = _of_pem(key, lambda text: stores.identity_of(texts[0], text, password), texts[1])
    if found.key_password is None and key.key.endswith(".location"):
        note(Path(key.value.strip()), key.place)
    return found


def _text_of(setting: Setting) -> str:
    if not setting.key.endswith(".location"):
        return setting.value
    return read_bounded(Path(setting.value.strip()), setting.place).decode("latin-1")


def _of_pem(setting: Setting, read: Callable[[str], T], text: str | None = None) -> T:
    """:raises ConfigError: what is wrong with the PEM, and where it is."""
    try:
        return read(setting.value if text is None else text)
    except ValueError as error:
        where = f"{setting.place}: {setting.value.strip()}" if setting.key.endswith(".location") else setting.place
        raise ConfigError(f"{where}: {error}") from None


def _verify(given: SettingsReader, remark: Remark) -> bool:
    key = "enable.ssl.certificate.verification"
    verify = given.flag(key, otherwise=True, means="verify the brokers' certificates")
    if not verify:
        remark(f"{key}=false: brokers are not verified, and an attacker can read your password")
    return verify


def _check_name(given: SettingsReader, remark: Remark) -> bool:
    found = given.take("ssl.endpoint.identification.algorithm", means="verify the host name in the certificate")
    if found is None:
        return True
    word = found.value.strip().lower()
    if word in ("", "none"):
        remark(f"{found.place} is {word or 'empty'}: a certificate for any host is accepted")
        return False
    if word != "https":
        raise found.wrong(f"{told(word, ('https', 'none'))}: must be https, or empty (librdkafka: none)")
    return True


def _versions(given: SettingsReader) -> tuple[str, ...]:
    enabled = given.take("ssl.enabled.protocols", means="TLS versions")
    highest = given.take("ssl.protocol", means="highest TLS version")
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
            raise setting.wrong(f"{told(word, _VERSIONS)}: there are {', '.join(_VERSIONS)}")
    return words


def _ciphers(
    given: SettingsReader, versions: tuple[str, ...], remark: Remark
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Suites of TLS 1.3 cannot be chosen one by one; where only such are given, TLS is 1.3."""
    found = given.take("ssl.cipher.suites", means="cipher suites")
    words = [word for word in re.split(r"[\s,]+", found.value) if word] if found else []
    if found is None or not words:
        return versions, ()
    older = [word for word in words if not is_tls13(word)]
    if not older:
        return ("TLSv1.3",), ()
    names = {word: openssl_name(word) for word in older}
    known = [name for name in names.values() if name]
    unknown = [_shown_suite(word) for word, name in names.items() if not name]
    if not known:
        raise found.wrong(f"has no suite that OpenSSL supports: {', '.join(unknown[:5])}")
    if unknown:
        remark(f"{found.place}: not supported by OpenSSL, ignored: {', '.join(unknown[:5])}")
    if any(map(is_weak, known)):
        remark(f"{found.place}: @SECLEVEL below 2 accepts keys, certificates, and ciphers that can be broken")
    if all("_WITH_" in word for word in words):  # a list of Java's without a suite of 1.3: then there is no 1.3
        versions = tuple(word for word in versions or _VERSIONS[2:] if word != "TLSv1.3") or versions
    return versions, tuple(known)


def _shown_suite(word: str) -> str:
    return word if re.fullmatch("(TLS|SSL)_[A-Z0-9_]{1,60}", word) else "a word that names none"
