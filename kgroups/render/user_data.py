"""Convert decoded user data of clients for JSON: objects with the fields of the model and a ``kind``."""

from __future__ import annotations

import re
from typing import Any

from kgroups.model.assignment import Assignment


def plain_user_data(value: Any) -> object:
    """Convert a named tuple of :mod:`kgroups.model.embedded`, recursively."""
    return {"kind": _snake(type(value).__name__), **_fields(value)}


def _fields(value: Any) -> dict[str, object]:
    return {name: _plain(field) for name, field in zip(value._fields, value, strict=True)}


def _plain(value: Any) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case Assignment():
            return [{"topic": entry.topic, "partitions": entry.partitions} for entry in value.topics]
        case tuple() if hasattr(value, "_fields"):
            return str(value) if type(value).__name__ == "TaskId" else _fields(value)
        case tuple():
            return list(map(_plain, value))
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
