"""Config providers: ``${env:NAME}``, ``${file:PATH:KEY}`` and ``${directory:PATH:FILE}`` in values (KIP-297, 421, 887).

Java's clients know only those that ``config.providers`` declares. Here these three go by their names without it, and
what is declared besides goes by its class; ``${`` of any other name stays as it is, as with Java. A value that is not
there is an error, where Java would send the placeholder as the password.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from kgroups.errors import ConfigError

from .given import Given, Setting
from .properties import read_bounded, read_properties

_PLACE = re.compile(r"\$\{([^}:]*):(?:([^}]*?):)?([^}]*)\}")
"""``${NAME:KEY}`` or ``${NAME:PATH:KEY}``: Java's pattern."""

_CLASSES = {
    "EnvVarConfigProvider": "env",
    "FileConfigProvider": "file",
    "DirectoryConfigProvider": "directory",
}
DECLARED = "config.providers"

_BLANKS = "".join(map(chr, range(33)))
"""What Java's ``trim`` takes off."""
_AS_IT_IS = ("sasl.username", "sasl.password")

Note = Callable[[Path, str], None]
"""Told of each file that secrets come from, and of who asked for it."""


class Providers:
    """The providers that settings may name."""

    def __init__(self, given: Given, environ: Mapping[str, str], note: Note) -> None:
        """:raises ConfigError: never; a class that nobody knows is an error where it is used."""
        self._environ = environ
        self._note = note
        self._kinds = {kind: kind for kind in _CLASSES.values()}
        self._unknown: dict[str, str] = {}
        self._allowed: dict[str, str] = {}
        self._files: dict[str, dict[str, str]] = {}
        for name in _names(given.text(DECLARED, means="who fills in ${...}")):
            self._declare(given, name)

    def _declare(self, given: Given, name: str) -> None:
        made = given.text(f"{DECLARED}.{name}.class", means=f"who fills in ${{{name}:...}}") or ""
        kind = _CLASSES.get(made.rpartition(".")[2])
        if kind is None:
            self._unknown[name] = made
            self._kinds.pop(name, None)
        else:
            self._kinds[name] = kind
        params = given.take_all(f"{DECLARED}.{name}.param.", means="which values may be filled in")
        limit = params.get("allowlist.pattern" if kind == "env" else "allowed.paths")
        if limit:
            self._allowed[name] = limit.value.strip()

    def fill_in(self, setting: Setting) -> str:
        """The value with what its placeholders stand for.

        :raises ConfigError: when one of them stands for nothing; it names file and line, and no value.
        """
        if "${" not in setting.value:
            return setting.value
        return _PLACE.sub(lambda found: self._value(setting, found), setting.value)

    def _value(self, setting: Setting, found: re.Match[str]) -> str:
        name, path, key = found.groups()
        if name in self._unknown:
            raise setting.wrong(f"asks for ${{{name}:...}} of {self._unknown[name] or 'no class'}, which kgroups lacks")
        kind = self._kinds.get(name)
        if kind is None:
            return found[0]
        if kind == "env":
            return self._variable(setting, name, f"{path}:{key}" if path else key)
        if not path:
            raise setting.wrong(f"has ${{{name}:...}} without a key: it is ${{{name}:PATH:KEY}}")
        self._check_allowed(setting, name, path)
        return self._of_file(setting, path, key) if kind == "file" else self._of_folder(setting, path, key)

    def _variable(self, setting: Setting, name: str, key: str) -> str:
        pattern = self._allowed.get(name)
        try:
            if pattern and not re.fullmatch(pattern, key):
                raise setting.wrong(f"may not ask for the environment variable {key}: {DECLARED}.{name} forbids it")
        except re.error:
            raise ConfigError(f"{DECLARED}.{name}.param.allowlist.pattern is no regular expression") from None
        if key not in self._environ:
            raise setting.wrong(f"asks for the environment variable {key}, which is not set")
        return self._environ[key]

    def _of_file(self, setting: Setting, path: str, key: str) -> str:
        if path not in self._files:
            try:
                self._files[path] = {found.key: found.value for found in read_properties(Path(path))}
            except ConfigError as error:
                raise ConfigError(f"{setting.place}: {error}") from None
            self._note(Path(path), setting.place)
        if key not in self._files[path]:
            raise setting.wrong(f"asks for {key} of {path}, which has no such key")
        return self._files[path][key]

    def _of_folder(self, setting: Setting, path: str, key: str) -> str:
        if "/" in key or key in ("", ".", ".."):
            raise setting.wrong(f"asks for {key!r} of the folder {path}: that is no file's name")
        file = Path(path, key)
        text = read_bounded(file, setting.place)
        self._note(file, setting.place)
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise setting.wrong(f"asks for {file}, which is not UTF-8") from None

    def _check_allowed(self, setting: Setting, name: str, path: str) -> None:
        allowed = self._allowed.get(name)
        if allowed is None:
            return
        wanted = os.path.normpath(Path(path).absolute())
        if not any(Path(wanted).is_relative_to(folder) for folder in _names(allowed)):
            raise setting.wrong(f"may not ask for {path}: {DECLARED}.{name}.param.allowed.paths is {allowed}")


def filled_in(given: Given, environ: Mapping[str, str], note: Note) -> list[Setting]:
    """All settings with their values, those of ``config.providers`` left out.

    Blanks around a value are not part of it, nor is the line's end in a file that a placeholder stands for: Java's
    ConfigDef has it so, of passwords too. librdkafka's user name and password, which Java does not know, stay.

    :raises ConfigError: see :meth:`Providers.fill_in`.
    """
    providers = Providers(given, environ, note)
    return [_trimmed(setting._replace(value=providers.fill_in(setting))) for setting in given.left()]


def _trimmed(setting: Setting) -> Setting:
    return setting if setting.key in _AS_IT_IS else setting._replace(value=setting.value.strip(_BLANKS))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
