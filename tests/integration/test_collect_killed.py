"""A collector that is killed at a write to an object store: the store stays readable, and the next one continues."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from uuid import uuid4

import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import HistoryError
from kgroups.history.extract.ranges import between
from kgroups.history.extract.reader import read
from kgroups.history.jobs.verify import verify
from kgroups.history.load.store import Store
from kgroups.history.verify.result import OK
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.fakes.history import rows_of
from tests.fakes.object_store import s3_bucket
from tests.integration.offsets_log import log_ends
from tests.integration.versions import MAIN

Collect = Callable[[str, int | None], int]

LOAD = Commits(groups=4, partitions=3, rounds=20)
"""Two batches."""


@pytest.fixture(scope="module")
def settings(
    require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClientSettings]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, brokers=1, name="killed") as sandbox:
            make_commits(sandbox, LOAD)
            yield ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=20)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_bucket() as location:
        yield location


@pytest.fixture
def collect(settings: ClientSettings, s3: str) -> Iterator[Collect]:
    """Collect in a process that is killed before a write, and return its exit code."""
    command = [sys.executable, "-m", "tests.integration.killed_collector", settings.bootstrap_servers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        requests, results = process.stdin, process.stdout

        def run(location: str, write: int | None) -> int:
            print(json.dumps([location, write]), file=requests, flush=True)
            return int(results.readline())

        yield run
        requests.close()
        assert process.wait(60) == 0


def places_in_the_log(settings: ClientSettings) -> list[tuple[int, int]]:
    ends = log_ends(settings)
    starts, stops = ({each: end.start for each, end in ends.items()}, {each: end.stable for each, end in ends.items()})
    batches = list(read(settings, between(starts, stops)))
    return sorted(
        place
        for batch in batches
        for place in zip(batch["log_partition"].to_pylist(), batch["log_offset"].to_pylist(), strict=True)
    )


def problems(store: Store, settings: ClientSettings | None) -> list[str]:
    try:
        return [str(each) for each in verify(store, settings) if each.status != OK]
    except HistoryError as error:
        return [str(error)]


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.soak)])
def test_collect_killed_at_any_write_loses_and_repeats_nothing(
    collect: Collect, settings: ClientSettings, s3: str, every: int
) -> None:
    """Each collector begins a store of its own, and is killed at a later write than the one before."""
    whole = places_in_the_log(settings)
    assert len(whole) >= LOAD.records
    for write in count(1, every):
        location = f"{s3}/killed {uuid4()}"
        code = collect(location, write)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        found = problems(Store(location), None)
        assert not found or "holds no history" in found[0], (write, found)
        assert collect(location, None) == 0, write
        assert [(row["log_partition"], row["log_offset"]) for row in rows_in_order(location)] == whole, write
        assert problems(Store(location), settings) == [], write
    assert write > 20


def rows_in_order(location: str) -> list[dict[str, int]]:
    return sorted(rows_of(Store(location), "records"), key=lambda row: (row["log_partition"], row["log_offset"]))
