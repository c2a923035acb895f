"""The names of groups and topics in a store."""

from __future__ import annotations

from ..engine import Engine
from ..load.store import Store
from ..tables import STORED


def names_in(engine: Engine, store: Store, column: str) -> set[str]:
    """Return all names in a column of the collected tables, such as ``group``.

    It loads these tables again, so all queries of the user must be finished.

    :raises HistoryError: if the store cannot be read.
    """
    snapshot, names = store.snapshot(), set[str]()
    for table in STORED:
        if column in table.names and (files := snapshot.files(table)):
            engine.load(store, table, files)
            found = engine.fetch(f"select distinct `{column}` as name from {table.name} where `{column}` is not null")
            names.update(found["name"].to_pylist())
    return names
