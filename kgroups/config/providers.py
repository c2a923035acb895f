"""Config providers: ``${env:NAME}``, ``${file:PATH:KEY}`` and ``${directory:PATH:FILE}`` in values (KIP-297, 421, 887).

Java's clients know only those that ``config.providers`` declares. Where nothing is declared, these three go by their
names here; where something is, only that, by its class. ``${`` of any other name stays as it is, as with Java. A value
that is not there is an error, where Java would send the placeholder as the password.

Whoever writes such a value reads this machine's files and variables, and may send them to a broker of his: see
CVE-2024-31141. So a program's ``properties`` fill in nothing unless the program says so, and KGROUPS_CONFIG_PROVIDERS
turns providers off, as Java's ``org.apache.kafka.automatic.config.providers`` does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import ConfigError, UsageError

from .properties import read_bounded, read_properties
from .safe_text import shown_key
from .settings_reader import Setting, SettingsReader

PROVIDERS_ENV = "KGROUPS_CONFIG_PROVIDERS"
"""``off``, or a comma list of ``env``, ``file`` and ``directory``: which may be used at all."""

PROGRAM = "properties"
"""The origin of settings that a program passes."""

_CLASSES = {
    "EnvVarConfigProvider": "env",
    "FileConfigProvider": "file",
    "DirectoryConfigProvider": "directory",
}
_KINDS = tuple(_CLASSES.values())
DECLARED = "config.providers"

_BLANKS = "".join(map(chr, range(33)))
"""What Java's ``trim`` takes off."""
_AS_IT_IS = ("sasl.username", "sasl.password")

Note = Callable[[Path, str], None]
"""Told of each file that secrets come from, and of who asked for it."""


class _Place(NamedTuple):
    """``${NAME:KEY}`` or ``${NAME:PATH:KEY}``: where it stands in a value, and its parts."""

    start: int
    end: int
    name: str
    path: str | None
    key: str


def _places(text: str) -> Iterator[_Place]:
    """What Java's pattern ``\\$\\{([^}]*?):(([^}]*?):)?([^}]*?)\\}`` finds, in one pass."""
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
    """The providers that settings may name."""

    def __init__(
        self, given: SettingsReader, environ: Mapping[str, str], note: Note, trusted: bool | None = None
    ) -> None:
        """
        :param trusted: whether values are filled in at all; ``None``: those of a program's properties are not.
        :raises UsageError: for a KGROUPS_CONFIG_PROVIDERS that is none.
        :raises ConfigError: for a program's declaration of providers where it is not trusted; a class that nobody knows
            is an error where it is used.
        """
        self._environ = environ
        self._note = note
        self._trusted = trusted
        self._permitted = _permitted(environ)
        self._unknown: set[str] = set()
        self._allowed: dict[str, str] = {}
        self._files: dict[str, dict[str, str]] = {}
        declaration = given.peek(DECLARED)
        if declaration and declaration.origin == PROGRAM and not trusted:
            raise declaration.wrong("is not allowed in properties of a program unless config_providers=True")
        declared = _names(given.text(DECLARED, means="config providers for ${...}"))
        self._kinds = {} if declared else {kind: kind for kind in _KINDS}
        for name in declared:
            self._declare(given, name)

    def _declare(self, given: SettingsReader, name: str) -> None:
        made = given.text(f"{DECLARED}.{name}.class", means=f"config provider for ${{{name}:...}}") or ""
        kind = _CLASSES.get(made.rpartition(".")[2])
        if kind is None:
            self._unknown.add(name)
        else:
            self._kinds[name] = kind
        params = given.take_all(f"{DECLARED}.{name}.param.", means="values that the config provider may read")
        limit = params.get("allowlist.pattern" if kind == "env" else "allowed.paths")
        if limit:
            self._allowed[name] = limit.value.strip()

    def fill_in(self, setting: Setting) -> str:
        """The value with what its placeholders stand for.

        :raises ConfigError: when one of them stands for nothing; it names file and line, and no value.
        """
        parts, at = [], 0
        for place in _places(setting.value):
            parts += [setting.value[at : place.start], self._value(setting, place)]
            at = place.end
        return "".join((*parts, setting.value[at:]))

    def _value(self, setting: Setting, place: _Place) -> str:
        name, path, key = place.name, place.path, place.key
        kind = self._kinds.get(name)
        if kind is None and name not in self._unknown and name not in _KINDS:
            return setting.value[place.start : place.end]
        self._check_trust(setting, name)
        if name in self._unknown:
            raise setting.wrong(f"uses ${{{name}:...}}, an unsupported config provider")
        if kind is None:
            raise setting.wrong(f"uses ${{{name}:...}}, which {DECLARED} does not declare")
        if kind not in self._permitted:
            raise setting.wrong(f"uses ${{{name}:...}}, which {PROVIDERS_ENV} does not allow")
        if kind == "env":
            return self._variable(setting, name, f"{path}:{key}" if path else key)
        if not path:
            raise setting.wrong(f"has ${{{name}:...}} without a key; use ${{{name}:PATH:KEY}}")
        self._check_allowed(setting, name, path)
        return self._of_file(setting, path, key) if kind == "file" else self._of_folder(setting, path, key)

    def _check_trust(self, setting: Setting, name: str) -> None:
        trusted = setting.origin != PROGRAM if self._trusted is None else self._trusted
        if not trusted:
            raise setting.wrong(f"uses ${{{name}:...}}, which requires config_providers=True")

    def _variable(self, setting: Setting, name: str, key: str) -> str:
        pattern = self._allowed.get(name)
        try:
            if pattern and not re.fullmatch(pattern, key):
                raise setting.wrong(f"reads the environment variable {key}, which {DECLARED}.{name} does not allow")
        except re.error:
            raise ConfigError(f"{DECLARED}.{name}.param.allowlist.pattern is not a valid regular expression") from None
        if key not in self._environ:
            raise setting.wrong(f"reads the environment variable {key}, which is not set")
        return self._environ[key]

    def _of_file(self, setting: Setting, path: str, key: str) -> str:
        if path not in self._files:
            try:
                self._files[path] = {found.key: found.value for found in read_properties(Path(path))}
            except ConfigError as error:
                raise ConfigError(f"{setting.place}: {error}") from None
            self._note(Path(path), setting.place)
        if key not in self._files[path]:
            raise setting.wrong(f"reads {key} from {path}, which has no such key")
        return self._files[path][key]

    def _of_folder(self, setting: Setting, path: str, key: str) -> str:
        if "/" in key or key in ("", ".", ".."):
            raise setting.wrong(f"reads {key!r} from the directory {path}, but that is not a file name")
        file = Path(path, key)
        text = read_bounded(file, setting.place)
        self._note(file, setting.place)
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise setting.wrong(f"reads {file}, which is not valid UTF-8") from None

    def _check_allowed(self, setting: Setting, name: str, path: str) -> None:
        allowed = self._allowed.get(name)
        if allowed is None:
            return
        wanted = os.path.normpath(Path(path).absolute())
        if not any(Path(wanted).is_relative_to(folder) for folder in _names(allowed)):
            raise setting.wrong(f"reads {path}, which is not in {DECLARED}.{name}.param.allowed.paths ({allowed})")


def filled_in(
    given: SettingsReader, environ: Mapping[str, str], note: Note, trusted: bool | None = None
) -> list[Setting]:
    """All settings with their values, those of ``config.providers`` left out.

    Blanks around a value are not part of it, nor is the line's end in a file that a placeholder stands for: Java's
    ConfigDef has it so, of passwords too. librdkafka's user name and password, which Java does not know, stay.

    :raises UsageError: see :class:`Providers`.
    :raises ConfigError: see :class:`Providers` and :meth:`Providers.fill_in`.
    """
    providers = Providers(given, environ, note, trusted)
    return [_trimmed(setting._replace(value=providers.fill_in(_told(setting)))) for setting in given.left()]


def _told(setting: Setting) -> Setting:
    """The setting as errors name it: nobody knows yet whether there is such a key."""
    return setting if setting.written is not None else setting._replace(written=shown_key(setting.key))


def _trimmed(setting: Setting) -> Setting:
    return setting if setting.key in _AS_IT_IS else setting._replace(value=setting.value.strip(_BLANKS))


def _permitted(environ: Mapping[str, str]) -> frozenset[str]:
    said = environ.get(PROVIDERS_ENV)
    if said is None:
        return frozenset(_KINDS)
    words = _names(said)
    if words == ["off"]:
        return frozenset()
    if not words or not {*words} <= {*_KINDS}:
        raise UsageError(f"{PROVIDERS_ENV} must be off, or a list of {', '.join(_KINDS)}")
    return frozenset(words)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
