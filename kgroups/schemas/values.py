"""The parts of JSON Schemas: values of JSON, with their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]


def text(doc: str, **more: Any) -> Schema:
    return {"type": "string", "description": doc, **more}


def whole(doc: str, **more: Any) -> Schema:
    return {"type": "integer", "description": doc, **more}


def number(doc: str, **more: Any) -> Schema:
    return {"type": "number", "description": doc, **more}


def flag(doc: str) -> Schema:
    return {"type": "boolean", "description": doc}


def listing(doc: str, items: Schema) -> Schema:
    return {"type": "array", "description": doc, "items": items}


def mapping(doc: str, values: Schema) -> Schema:
    return {"type": "object", "description": doc, "additionalProperties": values}


def one_of(doc: str, values: Iterable[object]) -> Schema:
    return {"enum": [str(value) if isinstance(value, str) else value for value in values], "description": doc}


def ref(name: str, doc: str | None = None) -> Schema:
    return {"$ref": f"#/$defs/{name}", **({"description": doc} if doc else {})}


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may also be null."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    own = {key: value for key, value in schema.items() if key == "description"}
    rest = {key: value for key, value in schema.items() if key != "description"}
    if list(rest) == ["anyOf"]:
        return {"anyOf": [*rest["anyOf"], {"type": "null"}], **own}
    return {"anyOf": [rest, {"type": "null"}], **own}


def record(doc: str, properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """Return the schema of an object with exactly these keys."""
    missing = set(optional)
    assert missing <= properties.keys(), missing - properties.keys()
    return {
        "type": "object",
        "description": doc,
        "properties": dict(properties),
        "required": [key for key in properties if key not in missing],
        "additionalProperties": False,
    }
