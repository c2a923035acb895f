"""Read named clusters from a TOML file in the user's configuration directory.

default = "prod"

[profiles.prod]
bootstrap = "b1:9093,b2:9093"
command-config = "prod.properties"     # relative to this file, or an absolute path
timeout = "1m"                         # or a number of seconds
broker-timeout = 5
transport = "wire"
client-id = "me"
tags = ["prod"]                        # see kgroups.config.fleet, as for [sets]

[profiles.prod.properties]             # any key of a properties file
security.protocol = "SSL"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from kgroups.errors import ConfigError, UsageError
from kgroups.model.duration import parse_seconds

from .flags import CONFIG_ENV, PROFILE_ENV, Flags
from .properties import read_bounded
from .safe_text import describe_value, shown_key
from .settings import Transport
from .settings_reader import Setting

_KEYS = {
    "bootstrap": "bootstrap.servers",
    "timeout": "default.api.timeout.ms",
    "broker-timeout": "request.timeout.ms",
    "transport": "--transport",
    "max-requests-per-second": "--max-requests-per-second",
    "client-id": "client.id",
}
_COMMAND_CONFIG = "command-config"
PROFILE_KEYS = (*_KEYS, _COMMAND_CONFIG, "properties", "tags")
_MAX_SECONDS = 1e9
"""Upper bound of a time limit."""

_MAX_DEPTH = 32
"""Nesting depth of tables: an unquoted key of ``properties`` has a level for each dot."""


class Profile(NamedTuple):
    """The settings of one cluster, and their file."""

    name: str
    file: Path
    command_config: Path | None
    settings: tuple[Setting, ...]
    warnings: tuple[str, ...]


class Profiles(NamedTuple):
    """The contents of the file; empty if it does not exist."""

    file: Path
    text: str = ""
    default: str | None = None
    tables: Mapping[str, Mapping[str, Any]] = {}
    sets: Mapping[str, Sequence[str]] = {}
    """Words that select profiles, by the name of the set, see :mod:`kgroups.config.fleet`."""

    def profile(self, name: str, source: str) -> Profile:
        """Return a profile.

        :param source: the flag or variable that names it, or the file's ``default``; for errors.
        :raises ConfigError: if the profile is invalid.
        :raises UsageError: if there is no profile of this name.
        """
        if name not in self.tables:
            raise missing_profile(self, name, source)
        return _profile(self, name)

    def line(self, *keys: str) -> int:
        """Return the line of a key, or of the table that contains it; 1 if neither is found."""
        return _line_of(self.text, keys)


def missing_profile(profiles: Profiles, name: str, source: str) -> UsageError:
    """Return the error to raise for a name that no profile has."""
    known = ", ".join(profiles.tables) or "none"
    if name in profiles.sets or name.startswith("@"):
        return UsageError(
            f"{source}: {name!r} selects several clusters, and this command works on one; profiles: {known}"
        )
    return UsageError(f"{source}: no profile {name!r} in {profiles.file}; profiles: {known}")


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the profiles file, which may not exist."""
    path = environ.get(CONFIG_ENV)
    if path:
        return Path(path).expanduser()
    from platformdirs import user_config_path

    return user_config_path("kgroups", appauthor=False) / "config.toml"


def read_profiles(environ: Mapping[str, str]) -> Profiles:
    """Read the profiles file.

    :raises ConfigError: if it is not valid TOML, or has the wrong structure, or KGROUPS_CONFIG names a missing file.
    """
    file = config_file(environ)
    if not environ.get(CONFIG_ENV) and not file.is_file():
        return Profiles(file)
    return _parsed(file, read_bounded(file))


@lru_cache(maxsize=1)  # a command for many clusters asks for each
def _parsed(file: Path, data: bytes) -> Profiles:
    try:
        text = data.decode()
        tree = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not valid UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}{_place(str(error))}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None
    except ValueError:  # Python limits the number of digits of an int
        raise ConfigError(f"{file}: contains a number that is too long") from None
    _check_size(tree, file)
    tables = tree.get("profiles", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ConfigError(f"{file}, line {_line_of(text, ('profiles',))}: profiles must be tables: [profiles.NAME]")
    default = tree.get("default")
    if default is not None and not isinstance(default, str):
        raise ConfigError(f"{file}, line {_line_of(text, ('default',))}: default must be a profile's name")
    return Profiles(file, text, default, tables, _sets(tree, text, file, tables))


def _sets(tree: Mapping[str, Any], text: str, file: Path, tables: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    sets = tree.get("sets", {})
    if not isinstance(sets, dict):
        raise ConfigError(f"{file}, line {_line_of(text, ('sets',))}: sets must be a table: [sets]")
    for name, words in sets.items():
        place = f"{file}, line {_line_of(text, ('sets', name))}: set {name!r}"
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ConfigError(f'{place} must be a list of profiles: ["eu-*", "!eu-canary"]')
        if name in tables:
            raise ConfigError(f"{place} has the name of a profile; rename one of them")
    return sets


def _check_size(tree: object, file: Path) -> None:
    """Check nesting and numbers, which TOML's grammar does not limit.

    :raises ConfigError: if they exceed what a profile needs.
    """
    pending = [(tree, 0)]
    while pending:
        value, depth = pending.pop()
        if depth > _MAX_DEPTH:
            raise ConfigError(f"{file}: nested too deeply")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ConfigError(f"{file}: contains a number that is too long")
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        pending += [(each, depth + 1) for each in inner]


def chosen_profile(flags: Flags, environ: Mapping[str, str]) -> Profile | None:
    """Return the profile of ``--profile`` or KGROUPS_PROFILE, or the default; ``None`` if there is none."""
    profiles = read_profiles(environ)
    if flags.profile:
        return profiles.profile(flags.profile, "--profile")
    if environ.get(PROFILE_ENV):
        return profiles.profile(environ[PROFILE_ENV], PROFILE_ENV)
    return profiles.profile(profiles.default, f"{profiles.file}: default") if profiles.default else None


def _profile(profiles: Profiles, name: str) -> Profile:
    settings: list[Setting] = []
    unknown: list[str] = []
    command_config = None
    for key, value in profiles.tables[name].items():
        origin = f"profile {name} ({profiles.file}, line {profiles.line('profiles', name, key)})"
        if key == _COMMAND_CONFIG:
            command_config = profiles.file.parent / Path(_text(value, f"{origin}: {key}")).expanduser()
        elif key == "tags":
            continue
        elif key == "properties":
            settings += _properties(profiles, name, value, origin)
        elif key in _KEYS:
            text = _milliseconds(value, f"{origin}: {key}") if "timeout" in key else _text(value, f"{origin}: {key}")
            if key == "transport" and text not in list(Transport):
                raise ConfigError(
                    f"{origin}: {key} {describe_value(text, Transport)}; use one of {', '.join(Transport)}"
                )
            settings.append(Setting(_KEYS[key], text, origin, written=key))
        else:
            unknown.append(f"{shown_key(key, PROFILE_KEYS)} (line {profiles.line('profiles', name, key)})")
    place = f"profile {name} ({profiles.file}, line {profiles.line('profiles', name)})"
    known = ", ".join(PROFILE_KEYS)
    warnings = (f"{place}: unknown and ignored: {', '.join(unknown)}; known keys: {known}",) if unknown else ()
    return Profile(name, profiles.file, command_config, tuple(settings), warnings)


def _properties(profiles: Profiles, name: str, value: object, origin: str) -> Iterator[Setting]:
    if not isinstance(value, dict):
        raise ConfigError(f"{origin}: properties must be a table: [profiles.{name}.properties]")
    for key, text in _flat(value):
        line = profiles.line("profiles", name, "properties", key)
        at = f"profile {name} ({profiles.file}, line {line})"
        yield Setting(key, _text(text, f"{at}: {shown_key(key)}"), at)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys: TOML reads ``security.protocol`` without quotes as nested tables."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _text(value: object, place: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    if isinstance(value, str | int | float):
        return str(value)
    raise ConfigError(f"{place} must be a string or a number")


def _milliseconds(value: object, place: str) -> str:
    seconds = parse_seconds(_text(value, place))
    milliseconds = round(seconds * 1000) if seconds and seconds < _MAX_SECONDS else 0
    if not milliseconds:
        raise ConfigError(f'{place} must be a positive duration such as 30, "500ms", "10s", or "2m"')
    return str(milliseconds)


def _place(error: str) -> str:
    """Rewrite tomllib's ``... (at line 3, column 5)`` as ``, line 3: ...``, without keys, which it quotes."""
    error = re.sub(r" (?:\('.*\)|'.{3,}')", "", error, flags=re.DOTALL)
    found = re.search(r"\(at line (\d+), column \d+\)$", error)
    return f", line {found[1]}: {error[: found.start()].strip()}" if found else f": {error}"


def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line of a key, else of its table or of the longest prefix of either; tomllib does not report lines."""
    dotted = ".".join(keys)
    best, depth, table = 1, 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if found := re.match(r"\[\s*([^\]]+?)\s*\]", stripped):
            table = here = _unquoted(found[1])
        elif found := re.match(r"([\w.\-\"' ]+?)\s*=", stripped):
            here = f"{table}.{_unquoted(found[1])}" if table else _unquoted(found[1])
        else:
            continue
        if here == dotted:
            return number
        if dotted.startswith(here + ".") and len(here) > depth:
            best, depth = number, len(here)
    return best


def _unquoted(key: str) -> str:
    return re.sub(r"[\"' ]", "", key)
