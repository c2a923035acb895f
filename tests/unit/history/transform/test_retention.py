"""What a sweep of the cluster proves, and how long that is kept."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kgroups.history.engine.duck import DuckDB
from kgroups.history.jobs.show import TableQuery, show_table
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.rules import Rules
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import Span
from kgroups.history.upkeep.expire import expire
from tests.fakes.history import SPAN, History, at, derived_in, hours, rows_of


def stored(location: Path, *entries: History) -> Store:
    store = Store(str(location))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    for history in entries:
        rows = history.arrow()
        store.add(BATCH, {table: rows[table.name] for table in STORED if table.name in rows})
    return store


def notices(store: Store, table: str) -> tuple[str, ...]:
    """Without the age of the store."""
    with DuckDB() as engine:
        return show_table(engine, store, TableQuery(table, (), (), None, at(600), 10)).notices[1:]


@pytest.mark.parametrize("left", [True, False], ids=["another group is left", "no group is left"])
def test_expire_keeps_the_last_complete_sweep(left: bool, tmp_path: Path) -> None:
    """The tombstones were compacted away: only that sweep shows that the group was deleted."""
    committed, swept = History(), History()
    committed.commit("zombie", hours(-3), 7)
    committed.swept(hours(-2.5))
    committed.sweep(hours(-2.5), "zombie", {("orders", 0): 7})
    if left:
        swept.sweep(hours(-2), "other", {("orders", 0): 1})
    swept.swept(hours(-2))
    swept.swept(hours(-1), complete=False)
    store = stored(tmp_path / "store", committed, swept)
    expire(store, at(500))
    assert {row["group"]: row["status"] for row in rows_of(store, "stale", at(600))}["zombie"] == "DELETED"
    assert [row["group"] for row in rows_of(store, "latest_offsets", at(600))] == ["other"] * left
    assert [row["swept_at"] for row in rows_of(store, "sweeps", at(600))] == [at(hours(-2)), at(hours(-1))]
    assert {row["swept_at"] for row in rows_of(store, "baseline", at(600))} == ({at(hours(-2))} if left else set())


def used(history: History, span: Span, rules: Rules) -> tuple[int, str]:
    with DuckDB() as engine:
        rows = derived_in(engine, history, ["retention", "expiring"], span, rules)
        ((kept, source),) = (row.values() for row in rows("retention"))
        assert {(row["retention_ms"], row["retention_source"]) for row in rows("expiring")} <= {(kept, source)}
    return kept, source


def test_retention_is_the_last_one_that_a_broker_reported() -> None:
    history = History()
    history.commit("simple", 0, 1)
    minute = Rules(retention=timedelta(minutes=1))
    assert used(history, SPAN, Rules()) == (7 * 24 * 3_600_000, "assumed")
    history.swept(-60, retention=120)
    history.swept(-30, retention=600)
    history.swept(0)  # not authorized
    history.swept(700, retention=1)  # after the span
    assert used(history, SPAN, Rules()) == (600_000, "brokers")
    assert used(history, Span(at(-100), at(-40)), Rules()) == (120_000, "brokers")
    assert used(history, SPAN, minute) == (60_000, "rule")


def test_offsets_expire_after_the_retention_time_of_the_brokers(tmp_path: Path) -> None:
    history = History()
    history.commit("simple", 590, 1)
    history.swept(0, retention=120)
    store = stored(tmp_path / "store", history)
    (row,) = rows_of(store, "expiring", at(600))
    assert (row["expires_at"], row["left_ms"]) == (at(710), 110_000)
    assert notices(store, "expiring") == ()


def test_assumed_retention_is_named(tmp_path: Path) -> None:
    history = History()
    history.commit("simple", 590, 1)
    (notice,) = notices(stored(tmp_path / "store", history), "expiring")
    assert notice.startswith("expiring: offsets.retention.minutes of the brokers is unknown; 7 days are assumed")


def test_stalled_partitions_are_named(tmp_path: Path) -> None:
    history = History()
    for partition in range(7):
        history.read(partition, (0, 10), 10, (0, 90), high_watermark=10 + partition)
        history.read(partition, (10, 10), 0, (90, 90), high_watermark=10 + partition, unread_since=at(91))
    store = stored(tmp_path / "store", history)
    found = notices(store, "lag")
    assert notices(store, "commits") == found
    assert notices(store, "heads") == ()
    since = "its groups are unknown since 2026-03-01T12:01:31.000Z"
    assert found[:2] == (
        f"__consumer_offsets-1: 1 offset waits behind an open transaction; {since}",
        f"__consumer_offsets-2: 2 offsets wait behind an open transaction; {since}",
    )
    assert found[5:] == ("1 further partition of __consumer_offsets likewise",)


def test_store_in_folder_with_special_characters_is_read(tmp_path: Path) -> None:
    history = History()
    history.commit("simple", 590, 1)
    store = stored(tmp_path / "st[o]re's", history)
    assert [row["group"] for row in rows_of(store, "commits", at(600))] == ["simple"]
