"""The files that answer a query: all commits, or the materialized tables and the commits since then.

``upkeep/materialize.py`` writes what is materialized, and explains why answers from both are the same. This
needs no new definitions: the files of a few commits replace the files of all commits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .load.manifest import DataFile, Snapshot
from .rules import DEFAULTS, Rules
from .tables import COMMITS, FINISHED_BUCKETS, HEADS, KEPT_COMMITS, OPEN_COMMITS
from .transform.definitions import BEGINNING, FOREVER, Span, Value, fill, parameters, relations

if TYPE_CHECKING:
    from .engine.port import Engine
    from .load.store import Store

SETTLED = timedelta(minutes=10)
"""Time after which no sample of log ends is still unwritten."""

NEW_COMMITS = COMMITS._replace(name="new_commits")

Files = Mapping[str, Sequence[DataFile]]
"""Files by table."""


def horizon(snapshot: Snapshot, through: int) -> int | None:
    """Return the time in microseconds before which all samples of log ends are known; ``None`` without commits."""
    heads, _ = snapshot.split_files(HEADS, through)
    commits, _ = snapshot.split_files(COMMITS, through)
    sampled = max((file.last for file in heads if file.last is not None), default=0)
    committed = max((file.last for file in commits if file.last is not None), default=None)
    return None if committed is None else max(sampled, committed - SETTLED // timedelta(microseconds=1))


def literals(literal: Callable[[Value], str], horizon_us: int) -> dict[str, str]:
    """Return the parameters of definitions over what is materialized, by a function that returns a value in SQL."""
    values = parameters(Span(BEGINNING, FOREVER), DEFAULTS) | {"horizon_us": horizon_us}
    return {name: literal(value) for name, value in values.items()}


def materialized_files(
    engine: Engine, store: Store, snapshot: Snapshot, used: Collection[str], until: datetime, rules: Rules
) -> Files:
    """Return the files that replace the files of commits; empty if a query needs all commits.

    :param used: names of the stored tables and relations that the query uses.
    """
    done = snapshot.materialized
    at = horizon(snapshot, done.through) if done else None
    if not done or at is None or (FINISHED_BUCKETS.name in used and rules.bucket != DEFAULTS.bucket):
        return {}
    _, heads = snapshot.split_files(HEADS, done.through)
    before, new = snapshot.split_files(COMMITS, done.through)
    last = max((file.last for file in before if file.last is not None), default=0)
    is_past = last >= (until - BEGINNING) // timedelta(microseconds=1)
    if is_past or any(file.first is not None and file.first <= at for file in heads):
        return {}
    kept, last_ones, buckets = (
        [file for file in done.files if file.table == table.name]
        for table in (KEPT_COMMITS, OPEN_COMMITS, FINISHED_BUCKETS)
    )
    if new:
        engine.load(store, OPEN_COMMITS, last_ones)
        engine.load(store, NEW_COMMITS, new)
        for name, query in relations(["late_commits"]).items():
            engine.define(name, fill(query, literals(engine.literal, at)))
        if engine.fetch("select log_partition from late_commits limit 1").num_rows:
            return {}
    return {COMMITS.name: [*kept, *last_ones, *new], FINISHED_BUCKETS.name: buckets}
