"""The second of two collectors gets the name of the owner of the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kgroups.errors import HistoryError
from kgroups.history.load.owner import Owner
from kgroups.history.load.store import Identity, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(Identity("cluster", "__consumer_offsets", "2026-01-01T00:00:00"))
    return made


def change_owner(store: Store, **change: object) -> None:
    (file,) = Path(store.location).glob("_manifest/*/_owner-*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | change))


def in_seconds(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def test_second_collector_is_told_who_has_the_store(store: Store) -> None:
    with (
        Owner(store),
        pytest.raises(HistoryError, match=rf"another collector has it: process {os.getpid()} on .*since"),
    ):
        Owner(Store(store.location)).__enter__()
    with Owner(store):
        pass


def test_store_is_free_after_the_lease_of_another_machine(store: Store) -> None:
    with Owner(store):
        change_owner(store, host="another", until=in_seconds(20))
        with pytest.raises(HistoryError, match=r"on another, since .* the store is free at \d{4}-"):
            Owner(Store(store.location)).__enter__()
        change_owner(store, host="another", until=in_seconds(-1))
        with Owner(Store(store.location)):
            pass


def test_store_is_free_at_once_after_a_process_of_this_machine_died(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        assert dead.wait(60) == 0
    with Owner(store):
        change_owner(store, pid=dead.pid)
        with Owner(Store(store.location)):
            pass


def test_store_is_free_if_another_process_has_the_number_of_a_dead_one(store: Store) -> None:
    with Owner(store):
        change_owner(store, pid=os.getppid(), started="1")
        with Owner(Store(store.location)):
            pass
