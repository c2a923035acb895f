"""The derived tables, each defined by one SQL query in this folder. Needs neither Spark nor DuckDB.

The queries are SQL of DuckDB, limited to what :mod:`kgroups.history.engine.spark` can translate. ``$name`` is a
parameter: the time span, or a rule. A file defines the relation with its name, and may use stored tables and other
relations.

Rules: records are ordered by log offset, never by time, because times tie and go back; every window defines its order,
so results do not depend on the order of rows. A query ignores everything after ``$until``: a later run returns the
same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from string import Template
from typing import Final, NamedTuple

from kgroups.model.time_lag import CLOCK_SKEW, OLDEST

from .. import derived
from ..rules import Rules
from ..tables import FINISHED_BUCKETS, STORED, Table

DERIVED: Final[Mapping[str, Table]] = {
    table.name: table for table in vars(derived).values() if isinstance(table, Table)
}
"""Derived tables by name."""

Value = datetime | str | int | float | None
"""A value of a parameter."""


BEGINNING, FOREVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class Span(NamedTuple):
    """From ``since`` (inclusive) to ``until`` (exclusive), both with a time zone."""

    since: datetime
    until: datetime


def relations(names: Iterable[str]) -> dict[str, str]:
    """Return the definitions of these relations, and of all that they use, in the order in which to define them."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if name in _definitions() and name not in found:
            query = _definitions()[name]
            for each in _USED.findall(query):
                add(each)
            found[name] = query

    for name in names:
        add(name)
    return found


def has_span(name: str) -> bool:
    """Return whether the rows of a table are those of a time span; otherwise, they show the end of it."""
    return name not in DERIVED or any(re.search(r"\$(bucket_)?since\b", query) for query in relations([name]).values())


def stored_tables(names: Iterable[str]) -> list[Table]:
    """Return the tables with files among these, and the tables that the definitions of the others use."""
    wanted = set(names)
    used = wanted.union(*map(_USED.findall, relations(wanted).values()))
    return [table for table in (*STORED, FINISHED_BUCKETS) if table.name in used]


def parameters(span: Span, rules: Rules) -> dict[str, Value]:
    """Return the value of each parameter of the definitions.

    :raises ValueError: if a time has no zone.
    """
    for moment in span:
        if moment.tzinfo is None:
            raise ValueError(f"a span's time without a zone: {moment}")
    return {
        "since": span.since,
        "until": span.until,
        "bucket_us": _micros(rules.bucket),
        "bucket_since": span.since - (span.since - BEGINNING) % rules.bucket,
        "dense": rules.dense,
        "judged": rules.judged,
        "samples": rules.samples,
        "clock_skew_us": CLOCK_SKEW * 1000,
        "oldest_us": OLDEST * 1000,
        "stale_after_us": _micros(rules.stale_after),
        "retention_ms": None if rules.retention is None else _micros(rules.retention) // 1000,
        "expiring_within_us": _micros(rules.expiring_within),
        "storm": rules.storm,
        "storm_window_us": _micros(rules.storm_window),
        "storm_window_text": f"{rules.storm_window.total_seconds():g} s",
        "flaps": rules.flaps,
        "flap_window_us": _micros(rules.flap_window),
        "flap_window_text": f"{rules.flap_window.total_seconds():g} s",
    }


def fill(query: str, literals: Mapping[str, str]) -> str:
    """Replace the parameters of a definition."""
    return Template(query).substitute(literals)


def union(column: str, parts: Mapping[str, str], literal: Callable[[Value], str]) -> str:
    """Return a query for the rows of relations, after a column with the value of each."""
    return " union all ".join(f"select {literal(value)} as {column}, * from {name}" for name, value in parts.items())


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


_USED = re.compile(r"\b(?:from|join) (\w+)\b(?!\()")


@cache
def _definitions() -> dict[str, str]:
    folders = [each for each in files(__package__).iterdir() if each.is_dir()]  # also those of a ZIP file
    queries = [each for folder in folders for each in folder.iterdir() if each.name.endswith(".sql")]
    found = {each.name.removesuffix(".sql"): each.read_text(encoding="utf-8") for each in queries}
    # The same for the last samples: all others would be computed for nothing.
    found["last_changes"] = _reading(found["offset_changes"], "span_heads", "last_heads")
    last = _reading(found["samples"], "span_heads", "last_heads")
    found["last_samples"] = _reading(last, "offset_changes", "last_changes")
    return found


def _reading(query: str, relation: str, other: str) -> str:
    """Return a query that reads another relation.

    :raises ValueError: if it does not read the first one.
    """
    if f"from {relation}" not in query:
        raise ValueError(f"a definition that does not read {relation}: {query}")
    return query.replace(f"from {relation}", f"from {other}")
