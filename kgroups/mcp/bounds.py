"""Limit the size of a document, and count in it what was omitted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

_LISTS = ("failures", "missing_acls", "notices", "items")
"""The lists of a document; the first are the last to be cut."""

_SHORTER = (100, 20, 5, 1)
"""The lengths to which the lists inside a row are cut, until it fits."""

_LONGEST_TEXT = 2000
"""Characters of a text inside a row that is cut."""

HINT = (
    "select fewer groups, partitions, or columns, or filter the rows; or start the server with larger --max-rows and "
    "--max-bytes"
)


class Bounds(NamedTuple):
    """The largest document: rows of each list, and bytes of JSON."""

    rows: int
    size: int

    def applied(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document within the bounds, with the key ``truncated``: what was left out, or ``None``.

        ``omitted`` has the number of entries that are missing from a list, ``None`` if it is unknown. ``shortened``:
        whether the lists inside a row end with ``... N more``. Rows of a check that are not OK are kept first.
        """
        lists = {name: document[name] for name in _LISTS if name in document}
        rest = {name: value for name, value in document.items() if name not in lists}
        left = self.size - _size(rest) - 400  # for truncated itself
        kept: dict[str, list[Any]] = {}
        shortened = False
        for name, entries in lists.items():
            share = left if name == "items" else left // 2
            found = self._first(entries, share)
            if not found and entries and name == "items":
                found, shortened = _shortened(_worst_first(entries)[0], share)
            kept[name] = found
            left -= _size(found)
        omitted: dict[str, int | None] = {
            name: len(lists[name]) - len(found) for name, found in kept.items() if len(found) < len(lists[name])
        }
        if document.get("has_more"):
            omitted["items"] = None
        truncated = {"omitted": omitted, "shortened": shortened, "hint": HINT} if omitted or shortened else None
        return {name: kept.get(name, value) for name, value in document.items()} | {"truncated": truncated}

    def _first(self, entries: list[Any], size: int) -> list[Any]:
        if len(entries) <= self.rows and _size(entries) <= size:
            return entries
        found = []
        for entry in _worst_first(entries)[: self.rows]:
            size -= _size(entry) + 2
            if size < 0:
                break
            found.append(entry)
        return found


def _worst_first(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda entry: isinstance(entry, dict) and entry.get("status") == "OK")


def _shortened(entry: Any, size: int) -> tuple[list[Any], bool]:
    """Return an entry with shorter lists, alone in a list, and whether it fits then."""
    for most in _SHORTER:
        if _size(found := _cut(entry, most)) <= size:
            return [found], True
    return [], False


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {key: _cut(each, most) for key, each in value.items()}
    if isinstance(value, list):
        more = [f"... {len(value) - most:,} more"] if len(value) > most else []
        return [*(_cut(each, most) for each in value[:most]), *more]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}... {len(value) - _LONGEST_TEXT:,} more characters"
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value))
