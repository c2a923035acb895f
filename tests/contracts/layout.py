"""The layout of the schema files: what fits into a line is in one line, so that a difference shows whole keys."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 120


def pretty(value: Any, indent: int = 0, before: int = 0) -> str:
    """Return JSON.

    :param indent: of the line in which the value begins.
    :param before: characters in this line before the value.
    """
    text = json.dumps(value, ensure_ascii=False)
    if indent + before + len(text) < WIDTH or not isinstance(value, dict | list):
        return text
    pad = " " * (indent + 1)
    if isinstance(value, list):
        lines = [pretty(each, indent + 1) for each in value]
        return "[\n" + ",\n".join(pad + line for line in lines) + f"\n{' ' * indent}]"
    pairs = [(json.dumps(key) + ": ", each) for key, each in value.items()]
    lines = [key + pretty(each, indent + 1, len(key)) for key, each in pairs]
    return "{\n" + ",\n".join(pad + line for line in lines) + f"\n{' ' * indent}}}"
