"""Properties files, as Java clients take them: what they say, and which of it this client follows.

TLS and SASL are not there yet: a file that asks for them is an error, because to go on without would ask another port,
or in the clear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import ConfigError

from .settings import ClientSettings

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PLAIN = "PLAINTEXT"


class Property(NamedTuple):
    """One setting, and the line of the file on which it begins."""

    key: str
    value: str
    line: int


def apply_properties(settings: ClientSettings, path: Path) -> tuple[ClientSettings, tuple[str, ...]]:
    """The settings with those of a file over them, and a remark on each that is not followed.

    ``bootstrap.servers`` is passed over in silence, as the Java tools do: their flag wins.

    :raises ConfigError: when the file cannot be read, a value cannot be, or it asks for TLS or SASL.
    """
    remarks = []
    for item in {found.key: found for found in read_properties(path)}.values():
        place = f"{path}, line {item.line}"
        match item.key:
            case "client.id":
                settings = settings._replace(client_id=item.value)
            case "request.timeout.ms":
                seconds = _milliseconds(item, place)
                settings = settings._replace(broker_timeout=min(seconds, settings.timeout))
            case "security.protocol":
                _check_plain(item, place)
            case "bootstrap.servers":
                pass
            case _:
                remarks.append(f"{place}: '{item.key}' is not understood, and ignored")
    return settings, tuple(remarks)


def _milliseconds(item: Property, place: str) -> float:
    text = item.value.strip()
    if not re.fullmatch("0{0,99}[1-9][0-9]{0,11}", text):
        raise ConfigError(f"{place}: {item.key} is {item.value!r}, which is no number of milliseconds above zero")
    return int(text) / 1000


def _check_plain(item: Property, place: str) -> None:
    if item.value.strip().upper() != _PLAIN:
        raise ConfigError(f"{place}: {item.key}={item.value}: only {_PLAIN} is spoken as yet, neither TLS nor SASL")


def read_properties(path: Path) -> Iterator[Property]:
    """The settings in the order of the file; where a key comes twice, Java goes by the last.

    :raises ConfigError: when there is no such file, or a ``\\u`` escape in it is none.
    """
    try:
        text = path.read_text(encoding="latin-1")  # by the format's definition; others are escaped
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    for number, line in _whole_lines(text):
        found = re.match(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?", line, re.DOTALL)
        assert found  # it matches anything
        key, value = found[1], line[found.end() :]
        try:
            yield Property(_unescaped(key), _unescaped(value), number)
        except ValueError:
            raise ConfigError(f"{path}, line {number}: a \\u must be followed by four hexadecimal digits") from None


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that continue them, which an odd number of backslashes at the end announces; no comments."""
    begun: tuple[int, str] | None = None
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.lstrip(" \t\f")
        if begun is None and (not line or line[0] in "#!"):
            continue
        first, so_far = begun or (number, "")
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun = first, so_far + line[:-1]
        else:
            begun = None
            yield first, so_far + line
    if begun and begun[1]:
        yield begun


def _unescaped(text: str) -> str:
    """:raises ValueError: for a ``\\u`` without its digits."""
    parts = re.split(r"\\(u.{0,4}|.)", text, flags=re.DOTALL)
    for at in range(1, len(parts), 2):
        escape = parts[at]
        if escape[0] != "u":
            parts[at] = _ESCAPES.get(escape, escape)
        elif re.fullmatch("u[0-9a-fA-F]{4}", escape):
            parts[at] = chr(int(escape[1:], 16))
        else:
            raise ValueError
    return "".join(parts)
