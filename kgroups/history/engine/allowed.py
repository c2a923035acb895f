"""The SQL that an untrusted query may use: nodes of a SELECT, known tables, and classified functions.

Strategy: DuckDB's parser returns the query as a tree. Every key, node, and function in it must be known here; what a
later version of DuckDB adds is refused until someone has looked at it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from kgroups.errors import UsageError

NOT_SELECT = "sql: the query must be one SELECT statement"

_SHOWN = ("DESCRIBE", "SUMMARY")
_PARSED = ("unnest",)
"""Functions of the parser, which DuckDB does not list."""


Allowed = Mapping[tuple[str, str], str | None]
"""What is known by kind and name: ``None`` if a query may have it, otherwise why it may not."""

_UNKNOWN = "it is unknown to this version of kgroups"


@cache
def allowed() -> Allowed:
    """Return the classified elements of DuckDB's SQL."""
    found: dict[tuple[str, str], str | None] = {}
    kind, reason = "", ""
    text = files(__package__).joinpath("allowed.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            kind, _, reason = line.removeprefix("[").removesuffix("]").partition(": ")
        elif not line.startswith("# "):
            found |= {(kind, name.lower()): reason or None for name in line.split()}
    return found


def check_tree(tree: str, tables: Collection[str]) -> set[str]:
    """Check a query, as the result of ``json_serialize_sql``; return the tables that it names.

    :param tables: names of the tables that it may read.
    :raises UsageError: if it is not one SELECT, or has a part that is not allowed.
    """
    try:
        parsed = json.loads(tree)
        if parsed["error"]:
            text = NOT_SELECT if parsed["error_type"] == "not implemented" else f"sql: {parsed['error_message']}"
            raise UsageError(text)
        if len(parsed["statements"]) != 1:
            raise UsageError(NOT_SELECT)
        check = _Check({name.lower(): name for name in tables})
        check.part(parsed["statements"][0], frozenset(), "scalar")
        return check.found
    except RecursionError:
        raise UsageError("sql: the query is nested too deeply") from None


class _Check:
    """Checks the parts of a query."""

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._tables = tables
        self.found: set[str] = set()
        """The tables that the query names."""

    def part(self, value: Any, named: frozenset[str], kind: str) -> None:
        """Check a part of the tree.

        :param named: names that WITH clauses around it define.
        :param kind: of the function that it may be.
        """
        if isinstance(value, list):
            for each in value:
                self.part(each, named, kind)
        elif isinstance(value, dict):
            named |= {name.lower() for name in _defined(value)}
            node = self._node(value, named)
            if "function_name" in value:
                _check_function(value, kind)
            for key, each in value.items():
                self.part(each, named, "table" if node == "TABLE_FUNCTION" and key == "function" else "scalar")

    def _node(self, value: Mapping[str, Any], named: frozenset[str]) -> str | None:
        """Check the keys and the type of a part; return its type, unless it is an expression."""
        for key in value:
            _require("key", key)
        node = value.get("type")
        if "class" in value:
            _require("expression", value["class"])
            return None
        if not isinstance(node, str):
            return None
        if node.endswith("_QUERY_NODE"):  # DuckDB allows statements that write in a WITH clause
            raise UsageError(NOT_SELECT)
        _require("node", node)
        if node == "BASE_TABLE":
            self._table(value, named)
        elif node == "SHOW_REF" and (value["show_type"] not in _SHOWN or value["query"] is None or value["table_name"]):
            raise UsageError(NOT_SELECT)
        elif node == "PIVOT" and any(pivot["pivot_enum"] for pivot in value["pivots"]):
            raise UsageError("sql: PIVOT by an ENUM is not allowed here")
        return node

    def _table(self, value: Mapping[str, Any], named: frozenset[str]) -> None:
        name = value["table_name"]
        if value["at_clause"] is not None:
            raise UsageError("sql: AT is not allowed here")
        if value["schema_name"] or value["catalog_name"] or name.lower() not in self._tables.keys() | named:
            raise UsageError(f"sql: table {name} does not exist; a query can read {', '.join(self._tables.values())}")
        if name.lower() in self._tables:
            self.found.add(self._tables[name.lower()])


def _require(kind: str, name: str) -> None:
    reason = allowed().get((kind, name.lower()), _UNKNOWN)
    if reason is not None:
        what = "function " if kind in ("scalar", "table") else ""
        raise UsageError(f"sql: {what}{name} is not allowed here: {reason}")


def _check_function(function: Mapping[str, Any], kind: str) -> None:
    name = function["function_name"]
    path = function.get("qualified_name", {}).get("path", [name])
    if path != [name] or function["schema"] or function["catalog"]:
        raise UsageError(f"sql: function {'.'.join(path)}: omit the schema")
    if name.lower() not in _PARSED:
        _require(kind, name)


def _defined(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that the WITH clause of a node defines."""
    if isinstance(clause := node.get("cte_map"), dict):
        yield from (each["key"] for each in clause.get("map", ()))
