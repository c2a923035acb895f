"""Resolve placeholders of config providers (KIP-297, KIP-421, KIP-887).

They are ``${env:NAME}``, ``${file:PATH:KEY}`` and ``${directory:PATH:FILE}``, and, only in kgroups,
``${file:PATH}`` (the whole file) and ``${keyring:SERVICE/USER}`` (a password in the keyring of the system).

Java's clients support only providers declared in ``config.providers``. Without declarations, kgroups accepts these
four names; otherwise only declared names, by their class. As in Java, ``${`` with any other name is left unchanged. A
missing value is an error; Java would send the placeholder as the password.

The author of a placeholder can read local files and variables, and send them to a broker of their choice: see
CVE-2024-31141. Therefore a program's ``properties`` are not resolved unless the program requests it, and
KGROUPS_CONFIG_PROVIDERS restricts providers, like Java's ``org.apache.kafka.automatic.config.providers``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import ConfigError, MissingPackage, UsageError, install_command

from .properties import read_bounded, read_properties
from .safe_text import shown_key
from .settings_reader import Setting, SettingsReader

PROVIDERS_ENV = "KGROUPS_CONFIG_PROVIDERS"
"""Allowed providers: ``off``, or a comma-separated list of ``env``, ``file``, ``directory`` and ``keyring``."""

PROGRAM = "properties"
"""The origin of settings that a program passes."""

_CLASSES = {
    "EnvVarConfigProvider": "env",
    "FileConfigProvider": "file",
    "DirectoryConfigProvider": "directory",
}
_PROVIDERS = (*_CLASSES.values(), "keyring")
DECLARED = "config.providers"

_BLANKS = "".join(map(chr, range(33)))
"""Characters that Java's ``String.trim`` removes."""
_UNTRIMMED = ("sasl.username", "sasl.password")

FileCheck = Callable[[Path, str], None]
"""Called with each file that a placeholder reads, and with the place of the setting."""


class _Place(NamedTuple):
    """``${NAME:KEY}`` or ``${NAME:PATH:KEY}``: its parts, and its position in a value."""

    start: int
    end: int
    name: str
    path: str | None
    key: str


def _places(text: str) -> Iterator[_Place]:
    """Yield the matches of Java's pattern ``\\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}``, in linear time."""
    start = text.find("${")
    while start >= 0:
        end = text.find("}", start)
        if end < 0:
            return
        name, colon, rest = text[start + 2 : end].partition(":")
        if colon:
            path, second, key = rest.partition(":")
            yield _Place(start, end + 1, name, path if second else None, key if second else rest)
        start = text.find("${", end)


class Providers:
    """The providers that placeholders may name."""

    def __init__(
        self, settings: SettingsReader, environ: Mapping[str, str], check_file: FileCheck, trusted: bool | None = None
    ) -> None:
        """Read the declarations of providers.

        :param trusted: whether to resolve placeholders; ``None``: everywhere except in a program's properties.
        :raises UsageError: if KGROUPS_CONFIG_PROVIDERS is invalid.
        :raises ConfigError: if a program's properties declare providers without ``trusted``. An unsupported class is an
            error only in :meth:`resolve`.
        """
        self._environ = environ
        self._check_file = check_file
        self._trusted = trusted
        self._permitted = _permitted(environ)
        self._unknown: set[str] = set()
        self._allowed: dict[str, str] = {}
        self._files: dict[str, dict[str, str]] = {}
        declaration = settings.peek(DECLARED)
        if declaration and declaration.origin == PROGRAM and not trusted:
            raise declaration.error("is not allowed in properties of a program unless config_providers=True")
        declared = _names(settings.text(DECLARED, means="config providers for ${...}"))
        self._providers = {} if declared else {provider: provider for provider in _PROVIDERS}
        for name in declared:
            self._declare(settings, name)

    def _declare(self, settings: SettingsReader, name: str) -> None:
        class_name = settings.text(f"{DECLARED}.{name}.class", means=f"config provider for ${{{name}:...}}") or ""
        provider = _CLASSES.get(class_name.rpartition(".")[2])
        if provider is None:
            self._unknown.add(name)
        else:
            self._providers[name] = provider
        params = settings.take_all(f"{DECLARED}.{name}.param.", means="values that the config provider may read")
        limit = params.get("allowlist.pattern" if provider == "env" else "allowed.paths")
        if limit:
            self._allowed[name] = limit.value.strip()

    def resolve(self, setting: Setting) -> str:
        """Return the value with its placeholders resolved.

        :raises ConfigError: if one of them has no value; with file and line, without values.
        """
        parts, at = [], 0
        for place in _places(setting.value):
            parts += [setting.value[at : place.start], self._value(setting, place)]
            at = place.end
        return "".join((*parts, setting.value[at:]))

    def _value(self, setting: Setting, place: _Place) -> str:
        name, path, key = place.name, place.path, place.key
        provider = self._providers.get(name)
        if provider is None and name not in self._unknown and name not in _PROVIDERS:
            return setting.value[place.start : place.end]
        self._check_trust(setting, name)
        if name in self._unknown:
            raise setting.error(f"uses ${{{name}:...}}, an unsupported config provider")
        if provider is None:
            raise setting.error(f"uses ${{{name}:...}}, which {DECLARED} does not declare")
        if provider not in self._permitted:
            raise setting.error(f"uses ${{{name}:...}}, which {PROVIDERS_ENV} does not allow")
        if provider == "env":
            return self._variable(setting, name, f"{path}:{key}" if path else key)
        if provider == "keyring":
            return _keyring_password(setting, f"{path}:{key}" if path else key)
        if not path and provider == "file" and key:
            self._check_allowed(setting, name, key)
            return self._whole_file(setting, Path(key).expanduser())
        if not path:
            raise setting.error(f"has ${{{name}:...}} without a key; use ${{{name}:PATH:KEY}}")
        self._check_allowed(setting, name, path)
        return self._of_file(setting, path, key) if provider == "file" else self._of_folder(setting, path, key)

    def _check_trust(self, setting: Setting, name: str) -> None:
        trusted = setting.origin != PROGRAM if self._trusted is None else self._trusted
        if not trusted:
            raise setting.error(f"uses ${{{name}:...}}, which requires config_providers=True")

    def _variable(self, setting: Setting, name: str, key: str) -> str:
        pattern = self._allowed.get(name)
        try:
            if pattern and not re.fullmatch(pattern, key):
                raise setting.error(f"reads the environment variable {key}, which {DECLARED}.{name} does not allow")
        except re.error:
            raise ConfigError(f"{DECLARED}.{name}.param.allowlist.pattern is not a valid regular expression") from None
        if key not in self._environ:
            raise setting.error(f"reads the environment variable {key}, which is not set")
        return self._environ[key]

    def _of_file(self, setting: Setting, path: str, key: str) -> str:
        if path not in self._files:
            try:
                self._files[path] = {found.key: found.value for found in read_properties(Path(path))}
            except ConfigError as error:
                raise ConfigError(f"{setting.place}: {error}") from None
            self._check_file(Path(path), setting.place)
        if key not in self._files[path]:
            raise setting.error(f"reads {key} from {path}, which has no such key")
        return self._files[path][key]

    def _of_folder(self, setting: Setting, path: str, key: str) -> str:
        if "/" in key or key in ("", ".", ".."):
            raise setting.error(f"reads {key!r} from the directory {path}, but that is not a file name")
        return self._whole_file(setting, Path(path, key))

    def _whole_file(self, setting: Setting, file: Path) -> str:
        text = read_bounded(file, setting.place)
        self._check_file(file, setting.place)
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise setting.error(f"reads {file}, which is not valid UTF-8") from None

    def _check_allowed(self, setting: Setting, name: str, path: str) -> None:
        allowed = self._allowed.get(name)
        if allowed is None:
            return
        normalized = os.path.normpath(Path(path).absolute())
        if not any(Path(normalized).is_relative_to(folder) for folder in _names(allowed)):
            raise setting.error(f"reads {path}, which is not in {DECLARED}.{name}.param.allowed.paths ({allowed})")


def resolve_placeholders(
    settings: SettingsReader, environ: Mapping[str, str], check_file: FileCheck, trusted: bool | None = None
) -> list[Setting]:
    """Return the settings, except ``config.providers``, with their placeholders resolved.

    Values are trimmed, including the line end of a file: Java's ConfigDef does the same, even with passwords.
    librdkafka's user name and password, which Java does not have, are not trimmed.

    :raises UsageError: if KGROUPS_CONFIG_PROVIDERS is invalid.
    :raises ConfigError: if a placeholder has no value, or is not allowed.
    """
    providers = Providers(settings, environ, check_file, trusted)
    return [
        _trimmed(setting._replace(value=providers.resolve(_with_safe_name(setting)))) for setting in settings.unused()
    ]


def _with_safe_name(setting: Setting) -> Setting:
    """Hide the key in errors unless it looks like one: unknown keys are not filtered yet."""
    return setting if setting.written is not None else setting._replace(written=shown_key(setting.key))


def _trimmed(setting: Setting) -> Setting:
    return setting if setting.key in _UNTRIMMED else setting._replace(value=setting.value.strip(_BLANKS))


def _permitted(environ: Mapping[str, str]) -> frozenset[str]:
    text = environ.get(PROVIDERS_ENV)
    if text is None:
        return frozenset(_PROVIDERS)
    words = _names(text)
    if words == ["off"]:
        return frozenset()
    if not words or not {*words} <= {*_PROVIDERS}:
        raise UsageError(f"{PROVIDERS_ENV} must be off, or a list of {', '.join(_PROVIDERS)}")
    return frozenset(words)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _keyring_password(setting: Setting, entry: str) -> str:
    """Return the password of an entry ``SERVICE/USER`` in the keyring of the system. Requires ``kgroups[keyring]``.

    :raises ConfigError: if the entry is invalid or missing, or the keyring cannot be read.
    :raises MissingPackage: if the package ``keyring`` is not installed.
    """
    service, _, user = entry.rpartition("/")
    if not service or not user:
        raise setting.error("has ${keyring:...} without a service or a user; use ${keyring:SERVICE/USER}")
    try:
        import keyring.errors
    except ImportError:
        raise MissingPackage(
            f"{setting.place} uses ${{keyring:...}}, which needs keyring: {install_command('keyring')}"
        ) from None
    try:
        password: str | None = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise setting.error(f"reads {entry} from the keyring, which failed: {error}") from None
    if password is None:
        raise setting.error(
            f"reads {entry} from the keyring, which has no such entry; run: keyring set {service} {user}"
        )
    return password
