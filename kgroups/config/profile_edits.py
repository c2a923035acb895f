"""Add, remove, and rename profiles, and set the default, in a file that the user maintains: other lines do not change.

An edit is made in the text, and then parsed: if the result is anything but the intended change, nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kgroups.errors import ConfigError, UsageError

from .profiles import Profiles
from .replace_file import replace_file
from .settings_reader import is_secret

Table = Mapping[str, str | Mapping[str, str]]
"""A profile: its keys and values, and ``properties``."""

REFERENCES = "${env:NAME}, ${file:PATH}, or ${keyring:SERVICE/USER}"

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # not splitlines(), for which names may contain line ends
_HEADER = re.compile(r"[ \t]*\[[^\[]")
_NAME = re.compile(
    r"""([ \t]*\[[ \t]*(?:profiles|"profiles"|'profiles')[ \t]*\.[ \t]*)("(?:\\.|[^"\\])*"|'[^']*'|[\w-]+)"""
)
_JAAS_SECRET = re.compile(r"""\w*(?:password|secret|assertion|token)\w*\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


class _Section(NamedTuple):
    """The lines of a TOML table; comments right above the next table belong to that one."""

    start: int
    end: int
    keys: tuple[str, ...]


def add_profiles(profiles: Profiles, tables: Mapping[str, Table], *, default: str | None = None) -> None:
    """Append profiles to the file, which is created if necessary; readable by its owner only if they have secrets.

    :param default: the profile to make the default.
    :raises UsageError: if a name is empty or used.
    :raises ConfigError: if a profile is invalid, or the file cannot be edited safely or written.
    """
    for name in tables:
        _check_new(profiles, name)
    end = "\r\n" if "\r\n" in profiles.text else "\n"
    lines = [line for name, table in tables.items() for line in _table_lines(name, table)]
    text = profiles.text if not profiles.text or profiles.text.endswith("\n") else profiles.text + end
    text += end.join([*([""] if text.strip() else []), *lines, ""]) if lines else ""
    expected = _tree(profiles.text)
    expected["profiles"] = {**expected.get("profiles", {}), **{name: _plain(table) for name, table in tables.items()}}
    if default is not None:
        text, expected = with_default(text, default) or "", {**expected, "default": default}
    _check(profiles, text, expected)
    added = Profiles(profiles.file, text, None, {**profiles.tables, **{name: _plain(tables[name]) for name in tables}})
    for name in tables:
        added.profile(name, "profile")  # raises for invalid values
    replace_file(profiles.file, text, private=any(clear_text_secrets(table) for table in tables.values()))


def remove_profile(profiles: Profiles, name: str) -> None:
    """Remove a profile, and the line of the default if it names this profile.

    :raises ConfigError: if the file cannot be edited safely or written.
    """
    lines = _LINE.findall(profiles.text)
    for section in reversed([*_sections_of(lines, name)]):
        del lines[section.start : section.end]
    text, expected = "".join(lines), _tree(profiles.text)
    del expected["profiles"][name]
    if profiles.default == name:
        text = without_default(text)
        del expected["default"]
    _check(profiles, text, expected)
    replace_file(profiles.file, text)


def rename_profile(profiles: Profiles, old: str, new: str) -> None:
    """Rename a profile, also as the default.

    :raises UsageError: if the new name is empty or used.
    :raises ConfigError: if the file cannot be edited safely or written.
    """
    _check_new(profiles, new)
    lines = _LINE.findall(profiles.text)
    for section in _sections_of(lines, old):
        if found := _NAME.match(lines[section.start]):
            lines[section.start] = f"{found[1]}{_key(new)}{lines[section.start][found.end() :]}"
    text, expected = "".join(lines), _tree(profiles.text)
    expected["profiles"][new] = expected["profiles"].pop(old)
    if profiles.default == old:
        expected["default"] = new
        try:
            text = with_default(text, new) or ""
        except tomllib.TOMLDecodeError:
            text = ""
    _check(profiles, text, expected)
    replace_file(profiles.file, text)


def clear_text_secrets(table: Table) -> list[str]:
    """Return the properties of a profile with a password, key, or token in clear text."""
    properties = table.get("properties", {})
    assert not isinstance(properties, str)
    return [key for key, value in properties.items() if is_secret(key) and not _is_reference(key, value)]


def _is_reference(key: str, value: str) -> bool:
    if key.endswith("jaas.config"):
        secrets = ["".join(found) for found in _JAAS_SECRET.findall(value)]
        return all("${" in secret for secret in secrets)
    return not value or re.fullmatch(r"\$\{[^}]*\}", value.strip()) is not None


def _check_new(profiles: Profiles, name: str) -> None:
    if not name.strip():
        raise UsageError("the name of a profile must not be empty")
    if name in profiles.tables:
        raise UsageError(
            f"profile {name!r} already exists in {profiles.file}", hint="remove or rename it, or use another name"
        )


def _table_lines(name: str, table: Table) -> Iterator[str]:
    yield f"[profiles.{_key(name)}]"
    for key, value in table.items():
        if isinstance(value, str):
            yield f"{_key(key)} = {quoted(value)}"
    for key, value in table.items():
        if not isinstance(value, str) and value:
            yield f"[profiles.{_key(name)}.{_key(key)}]"
            yield from (f"{quoted(inner)} = {quoted(text)}" for inner, text in value.items())


def _plain(table: Table) -> dict[str, Any]:
    return {key: value if isinstance(value, str) else dict(value) for key, value in table.items() if value != {}}


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else quoted(name)


def _sections_of(lines: list[str], name: str) -> Iterator[_Section]:
    return (section for section in _sections(lines) if section.keys[:2] == ("profiles", name))


def _sections(lines: list[str]) -> Iterator[_Section]:
    headers = [(number, keys) for number, line in enumerate(lines) if (keys := _keys_of(line))]
    for (start, keys), (following, other) in zip(headers, [*headers[1:], (len(lines), ())], strict=False):
        end = following
        while other and other[:2] != keys[:2] and lines[end - 1].lstrip().startswith("#"):
            end -= 1
        yield _Section(start, end, keys)


def _keys_of(line: str) -> tuple[str, ...]:
    """Return the dotted keys of the header of a table; nothing for another line."""
    if not _HEADER.match(line):
        return ()
    try:
        tree: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    return tuple(_path(tree))


def _path(tree: Any) -> Iterable[str]:
    while isinstance(tree, dict) and tree:
        ((key, tree),) = tree.items()
        yield key


def _tree(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def _check(profiles: Profiles, text: str, expected: Mapping[str, Any]) -> None:
    """Check the result of an edit.

    :raises ConfigError: if it is not the intended change.
    """
    try:
        after = _tree(text)
    except tomllib.TOMLDecodeError:
        after = {}
    # Without its last profile, a file may keep an empty table of profiles, or none.
    if {"profiles": {}, **after} != {"profiles": {}, **expected}:
        raise ConfigError(f"{profiles.file}: cannot edit this file safely; change it in an editor")


_DEFAULT = re.compile(
    r"""^([ \t]*(?:default|"default"|'default')[ \t]*=[ \t]*)("(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*')""", re.MULTILINE
)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def set_default(profiles: Profiles, name: str) -> None:
    """Set the default profile in the file, atomically; comments, order and the file mode are preserved.

    :raises ConfigError: if the file cannot be written, or cannot be edited safely.
    """
    text = with_default(profiles.text, name)
    if text is None:
        raise ConfigError(f'{profiles.file}: cannot edit this file safely; add default = "{name}" yourself')
    replace_file(profiles.file, text)


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_default(text: str) -> str:
    """Return the same TOML without the line of the default profile."""
    first = _TABLE.search(text)
    found = _DEFAULT.search(text, 0, first.start() if first else len(text))
    if not found:
        return text
    end = text.find("\n", found.end())
    return text[: found.start()] + (text[end + 1 :] if end >= 0 else "")


def with_default(text: str, name: str) -> str | None:
    """Return the same TOML with this default; ``None`` if the edit would change anything else."""
    before = tomllib.loads(text)
    value = quoted(name)
    first = _TABLE.search(text)
    head = first.start() if first else len(text)
    found = _DEFAULT.search(text, 0, head)
    if found:
        edited = f"{text[: found.start(2)]}{value}{text[found.end(2) :]}"
    else:
        end = "\r\n" if "\r\n" in text else "\n"
        edited = f"default = {value}{end}{text}"
    try:
        after = tomllib.loads(edited)
    except tomllib.TOMLDecodeError:
        return None
    return edited if after == {**before, "default": name} else None
