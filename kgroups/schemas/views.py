"""The schemas of the outputs that are tables: from the columns of their views in :mod:`kgroups.render`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from kgroups.render.views import Column, View

from .compose import envelope
from .contents import Table
from .definitions import fields_of
from .values import Schema, listing, mapping, or_null, record, text

WHEN: Final = "x-when"
"""Annotation of a key that only some rows have: the option, or the condition."""

CLUSTER: Final = text("Name of the cluster; only if several are queried.", **{WHEN: "several clusters"})
_UNDO: Final = {
    "undo_file": or_null(text("Path of the undo file. Null: nothing was changed, or none was wanted.")),
    "undo_files": mapping(
        "Paths of the undo files by cluster; only if several clusters are changed.", {"type": "string"}
    ),
}


def table(name: str, output: Table) -> Schema:
    """Return the schema of a table in its envelope."""
    view = view_named(output.view)
    assert view.name == name, f"the view {output.view} has the name {view.name}"
    item = row_item(output.title, _properties(view, output))
    if output.titled:
        # The title of a row is its class in Python: generators of code use it.
        item = {"title": _row_of(view.columns[0]).__name__, **item}
    return envelope(name, item, more=_UNDO if output.undo else {})


def view_named(place: str) -> View:
    """Return a view by module and name."""
    module, _, name = place.partition(":")
    view: View = getattr(import_module(f"kgroups.render.{module}"), name)
    return view


def _row_of(column: Column) -> type[Any]:
    assert column.row, f"the column {column.key} has no type"
    return column.row


def row_item(title: str, properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a row: without ``--columns``, it has every key but ``cluster``, and those of ``--deep``."""
    row = record(f"A row. Without --columns, it has all keys except those with x-when. {title}.", properties)
    return {key: value for key, value in row.items() if key != "required"}


def _properties(view: View, output: Table) -> dict[str, Schema]:
    columns = (view_named(output.deep) if output.deep else view).columns
    types = {column.key: fields_of(_row_of(column))[column.key] for column in columns}
    if view.name == "all-views":
        types |= _nested()
    if output.refused:
        types = {key: value if key == "group" else or_null_once(value) for key, value in types.items()}
    properties = described(columns, types)
    for key in properties.keys() - {column.key for column in view.columns}:
        properties[key] |= {"description": f"{properties[key]['description']} Only with --deep.", WHEN: "--deep"}
    return properties if output.local else {"cluster": CLUSTER, **properties}


_NESTED: Final = {
    "summary": "summary_view:SUMMARY",
    "members": "member_views:MEMBERS",
    "offsets": "offset_view:OFFSETS",
}
"""Key of ``describe --all-views`` -> view of its rows, which have all fields with a column, in order."""


def _nested() -> dict[str, Schema]:
    return {key: listing("", record("A row.", fields(place))) for key, place in _NESTED.items()}


def fields(place: str) -> dict[str, Schema]:
    """Return the schemas of the fields of the rows of a view, in their order.

    :param place: module and name of the view.
    """
    view = view_named(place)
    shown = {column.key for column in view.columns}
    types = fields_of(_row_of(view.columns[0]))
    return described(view.columns, {key: value for key, value in types.items() if key in shown})


def or_null_once(schema: Schema) -> Schema:
    """Return the schema of a value that may be null, which it may already be."""
    if "null" in (kinds if isinstance(kinds := schema.get("type", []), list) else [kinds]):
        return schema
    return schema if {"type": "null"} in schema.get("anyOf", []) else or_null(schema)


def described(columns: Iterable[Column], types: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the schemas of the keys of columns with their descriptions."""
    docs = {column.key: column.doc for column in columns}
    return {key: {**value, "description": described_value(docs[key], value)} for key, value in types.items()}


def described_value(doc: str, schema: Schema) -> str:
    """Return the description of a value, with the meaning of null only if it may be null."""
    assert doc, "each column has a meaning: its doc"
    if or_null_once(schema) != schema:
        return doc.partition(" Null: ")[0]
    return doc if "null" in doc.lower() else f"{doc} Null: unknown, or does not apply."
