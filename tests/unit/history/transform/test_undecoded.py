"""A commit that this version cannot decode: its offset is unknown, and never that of the commit before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.cli.main import main
from kgroups.history.load.store import Store
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.history import History, at, rows_of
from tests.unit.history.transform.conftest import Show

REMARK = "unknown: this version cannot decode the last commit"


def scene(history: History) -> None:
    for second in range(0, 600, 60):
        history.head(second, 1000, topic="secret")
    first = history.next_offset(20)
    # Reads everything; then its last commits, or some of them, are of a later version.
    for second in range(-5, 600, 60):
        history.commit("q-known", second, 1000, topic="secret", log_partition=20)
        hidden = second > 120
        for group, is_hidden in (("q-all", True), ("q-later", hidden), ("q-once", 100 < second < 160)):
            if is_hidden:
                history.undecoded(group, second, topic="secret", log_partition=20)
            else:
                history.commit(group, second, 1000, topic="secret", log_partition=20)
    history.commit("q-last", 0, 900, topic="secret", log_partition=20)
    history.undecoded("q-last", 550, topic="secret", log_partition=20)
    history.commit("q-again", 0, 900, topic="secret", log_partition=20)
    history.undecoded("q-again", 100, topic="secret", log_partition=20)
    history.commit("q-again", 200, 1000, topic="secret", log_partition=20)
    history.commit("q-deleted", 0, 900, topic="secret", log_partition=20)
    history.commit("q-deleted", 10, None, topic="secret", log_partition=20)
    history.undecoded("q-deleted", 20, topic="secret", log_partition=20)
    last = history.next_offset(20)
    history.read(20, (first, last), last - first, (-5, 599), compacted=0)


def test_latest_offset_is_unknown_after_an_undecoded_commit(show: Show) -> None:
    found = show("latest_offsets", "group", "committed_offset", "commit_time", "log_time", "source", topic="secret")
    assert found == [
        ("q-again", 1000, at(200), at(200), "log"),
        ("q-all", None, None, at(595), "log"),
        ("q-deleted", None, None, at(20), "log"),
        ("q-known", 1000, at(595), at(595), "log"),
        ("q-last", None, None, at(550), "log"),
        ("q-later", None, None, at(595), "log"),
        ("q-once", 1000, at(595), at(595), "log"),
    ]


def test_lag_is_unknown_until_the_next_decoded_commit(show: Show) -> None:
    columns = ("sampled_at", "committed_offset", "lag", "time_lag_ms", "remark")
    unknown = (None, None, None, REMARK)
    assert show("lag", *columns, group="q-again")[:5] == [
        (at(0), 900, 100, None, None),
        (at(60), 900, 100, None, None),
        (at(120), *unknown),
        (at(180), *unknown),
        (at(240), 1000, 0, 0, None),
    ]
    assert {row[1:] for row in show("lag", *columns, group="q-all")} == {unknown}
    assert {row[1:] for row in show("lag", *columns, group="q-later") if row[0] > at(120)} == {unknown}


def test_verdict_after_an_undecoded_commit_is_unknown(show: Show) -> None:
    assert show("verdicts", "group", "status", "group_status", "remark", topic="secret") == [
        ("q-again", "OK", "OK", None),
        ("q-all", "UNKNOWN", "UNKNOWN", REMARK),
        ("q-deleted", "UNKNOWN", "UNKNOWN", REMARK),
        ("q-known", "OK", "OK", None),
        ("q-last", "STOP", "STOP", None),
        ("q-later", "UNKNOWN", "UNKNOWN", REMARK),
        ("q-once", "OK", "OK", None),
    ]


def test_undecoded_commit_shows_that_a_group_is_in_use(show: Show) -> None:
    columns = ("group", "status", "partitions", "last_commit")
    assert [row for row in show("stale", *columns) if row[0].startswith("q-")] == [
        ("q-again", "LIVE", 1, at(200)),
        ("q-all", "LIVE", 1, at(595)),
        ("q-deleted", "LIVE", 1, at(20)),
        ("q-known", "LIVE", 1, at(595)),
        ("q-last", "LIVE", 1, at(550)),
        ("q-later", "LIVE", 1, at(595)),
        ("q-once", "LIVE", 1, at(595)),
    ]


def test_steps_over_an_undecoded_commit_are_unknown(show: Show) -> None:
    found = show("commit_rate", "bucket", "commits", "progress", "complete", group="q-again")
    assert found == [(at(0), 1, None, True), (at(180), 1, None, True)]
    found = show("commit_rate", "bucket", "progress", "complete", group="q-once")
    assert found[:4] == [(at(0), 0, True), (at(120), None, True), (at(180), 0, True), (at(240), 0, True)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    history = History()
    history.commit("orders", 0, 900)
    history.undecoded("orders", 10)
    history.head(20, 1000)
    history.read(0, (0, 2), 2, (0, 10), compacted=0)
    return history.stored_in(tmp_path / "store", "east")


@pytest.mark.parametrize("table", ["latest_offsets", "lag", "verdicts", "commit_rate", "stale", "expiring"])
def test_note_names_undecoded_commits(store: Store, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["history", "show", table, "--store", store.location, "--until", "2026-03-01T12:01:00Z"])
    assert code == (1 if table in ("expiring", "commit_rate") else 0)
    assert (
        "this version cannot decode some commits; offsets are unknown from them to the next commit: table undecoded "
        "has 1 commit, such as of group orders, orders-0"
    ) in capsys.readouterr().err


def test_note_on_undecoded_commits_of_an_earlier_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = History()
    history.undecoded("orders", 10, topic=None)
    store = history.stored_in(tmp_path / "store", "east")
    assert main(["history", "show", "latest_offsets", "--store", store.location]) == 0
    assert "kgroups history upgrade decodes their records again" in capsys.readouterr().err


def test_undecoded_commit_stays_the_last_after_expiry_and_materializing(store: Store) -> None:
    before = rows_of(store, "latest_offsets"), rows_of(store, "stale")
    expire(store, at(15))
    assert [row["committed_offset"] for row in before[0]] == [None]
    assert (rows_of(store, "latest_offsets"), rows_of(store, "stale")) == before
    assert rows_of(store, "commits") == []
    materialize(store)
    assert rows_of(store, "latest_offsets") == before[0]
