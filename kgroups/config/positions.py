"""Where the positions of a group outside Kafka are: the value of ``--positions``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kgroups.errors import UsageError

OPTION = "--positions"
_KIND = "spark:"


class PositionSource(NamedTuple):
    """The checkpoint of a Spark query: the name of its group, and the location of its files."""

    name: str
    location: str


def position_sources(values: Iterable[str]) -> tuple[PositionSource, ...]:
    """Return the sources of ``spark:PATH[=NAME]``; the default name is that of the folder.

    NAME follows the last ``=``, and contains no ``/``; a setting of the location (``?region=eu-west-1``) is not a name.

    :raises UsageError: if a value is invalid, or if two have the same name.
    """
    found: dict[str, PositionSource] = {}
    for value in values:
        source = _source(value)
        if other := found.get(source.name):
            raise UsageError(
                f"{OPTION}: two checkpoints have the name {source.name!r}; add =NAME to one of them"
                if other != source
                else f"{OPTION}: {source.name!r} is given twice"
            )
        found[source.name] = source
    return tuple(found.values())


def _source(value: str) -> PositionSource:
    if not value.startswith(_KIND):
        raise UsageError(
            f"{OPTION}: must be spark:PATH or spark:PATH=NAME, where PATH is the checkpoint of a Spark query"
        )
    location, name = _split(value.removeprefix(_KIND))
    if name == "":
        raise UsageError(f"{OPTION}: the name after = is empty")
    _, separator, path = location.partition("?")[0].rstrip("/").rpartition("://")
    if not path:
        raise UsageError(f"{OPTION}: the path is empty")
    if name is None:
        _, slash, name = path.rpartition("/")
        if name in (".", "..") or (separator and not slash):
            raise UsageError(f"{OPTION}: the location has no folder after which to name the group; add =NAME")
    if not name.isprintable():
        raise UsageError(f"{OPTION}: {name!r} is not a valid name; add =NAME")
    return PositionSource(name, location)


def _split(text: str) -> tuple[str, str | None]:
    """Return location and name; no name if there is none."""
    location, equals, name = text.rpartition("=")
    settings = location.partition("?")[2] if "://" in location else ""
    is_setting = "?" in location and "://" in location and "=" not in settings.rpartition("&")[2]
    return (location, name) if equals and "/" not in name and not is_setting else (text, None)
