"""Whole schemas: a head, the schema itself, and the definitions that it refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .definitions import DEFINITIONS
from .values import Schema, listing, mapping, or_null, record, ref, text

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def definition(name: str) -> Schema:
    """Return a definition that several schemas share.

    :raises KeyError: if there is none of that name.
    """
    if name == "user_data":
        from .user_data import user_data

        return user_data()
    return DEFINITIONS[name]


def with_definitions(schema: Schema) -> Schema:
    """Return the schema with the shared definitions that it refers to, also indirectly."""
    own: dict[str, Schema] = dict(schema.get("$defs", {}))
    todo = [schema]
    while todo:
        for name in re.findall(r"#/\$defs/(\w+)", str(todo.pop())):
            if name not in own:
                own[name] = definition(name)
                todo.append(own[name])
    return {**schema, "$defs": {name: own[name] for name in sorted(own)}} if own else schema


def document(name: str, version: int, title: str, fmt: str, schema: Schema) -> Schema:
    """Return a complete schema.

    :param fmt: ``json``, ``jsonl`` (the schema is that of one line), or ``toml``.
    """
    head = {"$schema": DIALECT, "$id": f"urn:kgroups:{name}:v{version}", "title": title}
    return with_definitions({**head, "x-name": name, "x-version": version, "x-format": fmt, **schema})


def envelope(name: str, items: Schema, version: int = 1, more: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of the envelope of ``-o json``. The definition ``item`` is that of a line of ``jsonl``."""
    optional = {
        "clusters": mapping(
            "IDs of the clusters by name; only if several are queried. Null: unknown.", {"type": ["string", "null"]}
        ),
        **(more or {}),
    }
    schema = record(
        "The result of a command.",
        {
            "schema": {"const": f"kgroups/{name}/v{version}", "description": "Name and version of this schema."},
            "cluster_id": or_null(text("ID of the cluster. Null: unknown, or several clusters.")),
            "items": listing("The rows, sorted.", ref("item")),
            "failures": listing("What is missing from the rows, and why. Empty: nothing.", ref("failure")),
            "notices": listing("Remarks in words, which may change.", {"type": "string"}),
            "missing_acls": listing("Permissions without which rows may be missing.", ref("acl")),
            **optional,
        },
        optional=optional,
    )
    return {**schema, "$defs": {"item": items}}
