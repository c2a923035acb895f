"""Planning of ``kgroups-offsets`` without Kafka: which partitions are read, and by how many tasks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest
from pyspark.sql.datasource import DataSourceReader
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from kgroups.errors import UsageError
from kgroups.history.connection import with_settings
from kgroups.history.extract import source
from kgroups.history.extract.ranges import SPLIT, Ends
from kgroups.history.extract.source import LogSplit, OffsetsSource
from kgroups.model.placement import partition_of


class FakeLog:
    """Start and end offsets of the partitions of a log."""

    def __init__(self, ends: Mapping[int, Ends]) -> None:
        self._ends = ends

    def ends(self) -> dict[int, Ends]:
        return dict(self._ends)

    def at(self, milliseconds: int, ends: Mapping[int, Ends]) -> dict[int, int]:
        return dict.fromkeys(ends, milliseconds)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> dict[int, Ends]:
    ends = {number: Ends(0, 100, 100) for number in range(50)}
    monkeypatch.setattr(source, "open_log", lambda settings, topic: nullcontext(FakeLog(ends)))
    return ends


def made(cores: int | None = 2, **options: str) -> OffsetsSource:
    registered = with_settings(OffsetsSource, None, cores)
    return registered({"bootstrap.servers": "h:1", **options})


def planned(found: OffsetsSource) -> list[LogSplit]:
    return list(found.reader(found.schema()).partitions())


def partitions_read(splits: list[LogSplit]) -> set[int]:
    return {each.partition for split in splits for each in split.ranges}


@pytest.mark.usefixtures("log")
def test_groups_select_their_log_partitions() -> None:
    assert partitions_read(planned(made())) == set(range(50))
    own = {partition_of("orders", 50), partition_of("a,b", 50)}
    assert partitions_read(planned(made(groups='["orders", "a,b"]'))) == own
    assert partitions_read(planned(made(groups="orders", endingTimestamp="70"))) == {partition_of("orders", 50)}


@pytest.mark.usefixtures("log")
def test_groups_of_a_copied_topic_may_be_in_any_partition() -> None:
    assert partitions_read(planned(made(groups="orders", topic="copy"))) == set(range(50))


@pytest.mark.usefixtures("log")
def test_stream_of_groups_reads_their_log_partitions() -> None:
    stream = made(groups="orders", maxRecordsPerTrigger="30")
    reader = stream.streamReader(stream.schema())
    first = reader.initialOffset()
    own = str(partition_of("orders", 50))
    assert reader.latestOffset(first, ReadMaxRows(30)) == {**first, own: 30}
    last = reader.latestOffset(first, ReadAllAvailable())
    assert last == {**first, own: 100}
    assert partitions_read(list(reader.partitions(first, last))) == {int(own)}
    assert reader.latestOffset(last, ReadAllAvailable()) == last
    assert reader.reportLatestOffset() == {own: 100}


def test_splits_follow_the_cores_of_the_cluster_and_the_size_of_the_log(log: dict[int, Ends]) -> None:
    assert len(planned(made(cores=7))) == 7
    assert len(planned(made(cores=7, numPartitions="3"))) == 3
    log[0] = Ends(0, 9 * SPLIT, 9 * SPLIT)
    splits = planned(made(cores=2))
    assert len(splits) == 10  # the large partition is divided
    assert max(sum(each.span for each in split.ranges) for split in splits) <= SPLIT
    assert len(planned(made(cores=64))) == 64


@pytest.mark.usefixtures("log")
def test_unknown_partitions_in_offsets_are_errors() -> None:
    with pytest.raises(UsageError, match="partition 50 does not exist; the topic has partitions 0 to 49"):
        planned(made(startingOffsets='{"50": 1}'))


def test_offsets_source_pushes_no_filters() -> None:
    """Spark reuses a narrowed reader for scans that push nothing (tests/integration/test_spark_source.py)."""
    found: Any = made()
    assert type(found.reader(found.schema())).pushFilters is DataSourceReader.pushFilters
