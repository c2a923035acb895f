"""The JSON Schemas of outputs and files: one file in this folder for each version of each of them.

``python -m tests.contracts.generate`` writes the files from the code; they are the contract. See docs/stability.md.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, NamedTuple

PREFIX = "kgroups/"
_FILE = re.compile(r"(?P<name>[a-z_-]+)-v(?P<version>[0-9]+)\.json")


class SchemaName(NamedTuple):
    """The name of an output or file, such as ``offsets``, and the version of its schema."""

    name: str
    version: int

    def __str__(self) -> str:
        """Return the name as outputs and files contain it: ``kgroups/offsets/v1``."""
        return f"{PREFIX}{self.name}/v{self.version}"


def schema_names() -> list[SchemaName]:
    """Return all schemas, sorted."""
    found = (_FILE.fullmatch(path.name) for path in files(__name__).iterdir())
    return sorted(SchemaName(match["name"], int(match["version"])) for match in found if match)


def find_schema(text: str) -> SchemaName | None:
    """Return the schema with a name such as ``offsets``, ``offsets/v1``, or ``kgroups/offsets/v1``.

    Without a version, it is the latest one. ``None``: there is no such schema.
    """
    name, _, version = text.removeprefix(PREFIX).partition("/")
    found = [each for each in schema_names() if each.name == name and version in ("", f"v{each.version}")]
    return found[-1] if found else None


def schema_of(name: SchemaName) -> dict[str, Any]:
    """Return a JSON Schema (draft 2020-12)."""
    text = files(__name__).joinpath(f"{name.name}-v{name.version}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def whole_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an output without ``--columns``: its items have every key that is not conditional."""
    item = schema["$defs"]["item"]
    keys = [key for key, value in item.get("properties", {}).items() if "x-when" not in value]
    return {**schema, "$defs": {**schema["$defs"], "item": {"required": keys, **item}}}


def item_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one item of an envelope, which is one line of ``-o jsonl``.

    :raises KeyError: if the schema is not that of an envelope.
    """
    head = {key: schema[key] for key in ("$schema", "title", "x-name", "x-version")}
    definitions = {key: value for key, value in schema["$defs"].items() if key != "item"}
    identifier = f"urn:kgroups:{schema['x-name']}-item:v{schema['x-version']}"
    return {**head, "$id": identifier, "x-format": "jsonl", **schema["$defs"]["item"], "$defs": definitions}
