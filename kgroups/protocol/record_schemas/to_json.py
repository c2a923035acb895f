"""Write a decoded record as JSON, as Kafka's JSON converters do."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any


def to_json(value: Mapping[str, Any] | None) -> str:
    """Return one line, without spaces; bytes are in base64 (RFC 4648, with padding)."""
    return json.dumps(value, default=_base64, ensure_ascii=False, separators=(",", ":"))


def _base64(value: Any) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} is not a type of decoded records")
    return base64.b64encode(value).decode()
