"""The output of a large cluster, queried in many batches, equals that of one batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query import stream
from kgroups.render import table
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran

Run = Callable[..., Ran]

GROUPS = 60


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, 2], start=5, end=100)
    fake.state.topic("idle", [2])
    for at in range(GROUPS):
        members = (FakeMember(f"m-{at}", {"orders": (0, 1)}), FakeMember("idle", {})) if at % 4 == 1 else ()
        commits = {("orders", partition): 3 * at - partition for partition in range(3) if 3 * at >= partition}
        commits |= {("idle", 1): 7} if at % 9 == 0 else {}
        kind = {"type": "Consumer"} if at % 5 == 2 else {}
        state = "Stable" if members else "Empty"
        # Names and coordinators in different orders, and one coordinator with nearly all groups at the end.
        name, node = f"{at * 37 % 100:02}-group-{at}", at % 3 if at < 40 else 1
        fake.state.group(name, node, state=state, members=members, commits=commits, **kind)
        if at in (7, 41):
            for api in ("DescribeGroups", "OffsetFetch"):
                fake.state.fail(api, name, ErrorCode.group_authorization_failed)


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "--all-groups"),
        ("describe", "--all-groups", "-o", "json"),
        ("describe", "--all-groups", "-o", "csv", "--wide"),
        ("describe", "--all-groups", "--sort", "-lag"),
        ("describe", "--regex", "[0-4].*", "--topic", "orders", "-o", "jsonl"),
        ("describe", "99-no-such-group", "00-group-0", "37-group-1", "-o", "json"),
        ("describe", "--all-groups", "--members"),
        ("describe", "--all-groups", "--state"),
        ("lag",),
        ("lag", "-o", "json"),
        ("lag", "--by", "partition", "--only-lagging"),
        ("lag", "--by", "topic", "--top", "9"),
        ("lag", "--by", "member", "--min", "50"),
        ("lag", "--time", "-o", "json"),
        ("explain", "--all-groups"),
        ("check", "--all-groups", "--max-lag", "50", "--assigned"),
        ("check", "--all-groups", "--max-lag", "50", "--max-partition-lag", "30", "--state", "empty", "-o", "junit"),
        ("check", "--all-groups", "--max-lag", "50", "--max-commit-age", "1h", "-o", "openmetrics"),
    ],
    ids=" ".join,
)
def test_output_of_many_batches_equals_output_of_one(
    run_cli: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)  # JUnit reports hold the second
    at = ("-b", serve(brokers=3, fill=shop).bootstrap)
    at_once = run_cli(*words, *at)
    assert at_once.out
    monkeypatch.setattr(stream, "LARGEST_PIECE", 3)
    monkeypatch.setattr(stream, "SMALLEST_PIECE", 3)
    monkeypatch.setattr(table, "MAX_PLAIN_ROWS", 10)
    monkeypatch.setattr(table, "CHUNK_ROWS", 4)
    monkeypatch.setattr(table, "IN_MEMORY", 500)
    assert run_cli(*words, *at) == at_once


def test_slow_reader_does_not_use_up_the_timeout(
    run_cli: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are made between requests: on a busy machine that takes longer than --timeout."""
    import time

    from kgroups.render.table import RowStore

    append = RowStore.append

    def slowly(self: RowStore, rows: object) -> None:
        time.sleep(0.5)
        append(self, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(stream, "LARGEST_PIECE", 5)
    monkeypatch.setattr(stream, "SMALLEST_PIECE", 5)
    monkeypatch.setattr(RowStore, "append", slowly)
    code, out, err = run_cli(
        "lag", "--regex", "[0-4].*", "-b", serve(brokers=3, fill=healthy).bootstrap, "--timeout", "2s"
    )
    assert (code, err, len(out.splitlines())) == (0, "", 61)


def healthy(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, 2], end=100)
    for at in range(GROUPS):
        fake.state.group(f"0-{at}", at % 3, commits={("orders", 0): at})
