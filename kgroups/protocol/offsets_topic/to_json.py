"""A decoded record as JSON text, spelled as Kafka's own JSON converters spell it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any


def to_json(value: Mapping[str, Any] | None) -> str:
    """One line, without blanks; bytes in base64 (RFC 4648, with padding)."""
    return json.dumps(value, default=_base64, ensure_ascii=False, separators=(",", ":"))


def _base64(value: Any) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} is not of a decoded record")
    return base64.b64encode(value).decode()
