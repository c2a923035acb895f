"""Options of ``kgroups-offsets``."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kgroups.errors import UsageError
from kgroups.history.extract.options import OPTIONS, OffsetsOptions, milliseconds
from kgroups.history.extract.options import parse_options as parse
from kgroups.history.options import Options
from kgroups.history.tables import COMMITS, DECODED

SERVERS = {"bootstrap.servers": "localhost:9092"}


def parse_options(given: Mapping[str, str]) -> OffsetsOptions:
    return parse(Options("kgroups-offsets", given, OPTIONS))


def test_source_options_have_defaults() -> None:
    options = parse_options(SERVERS)
    assert (options.table, options.start, options.stop, options.max_records) == (DECODED, "earliest", "latest", None)
    assert options.topic == "__consumer_offsets"
    assert (options.splits, options.groups) == (None, None)
    assert options.settings.timeout == 30


def test_source_options_are_all_parsed() -> None:
    options = parse_options(
        SERVERS
        | {
            "table": "commits",
            "startingOffsets": '{"0": 17, "3": 0}',
            "endingTimestamp": "2026-01-31T12:00:00Z",
            "numPartitions": "7",
            "maxRecordsPerTrigger": "500",
            "timeout": "5",
        }
    )
    assert options.table is COMMITS
    assert (options.start, options.stop) == ({0: 17, 3: 0}, 1769860800000)
    assert (options.splits, options.max_records, options.settings.timeout) == (7, 500, 5)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "bootstrap.servers"),
        (SERVERS | {"table": "groups"}, "table"),
        (SERVERS | {"startingOffsets": "soon"}, "startingOffsets"),
        (SERVERS | {"startingOffsets": "[1]"}, "startingOffsets"),
        (SERVERS | {"startingOffsets": '{"0": -1}'}, "startingOffsets"),
        (SERVERS | {"endingTimestamp": "yesterday"}, "endingTimestamp"),
        (SERVERS | {"startingOffsets": "latest", "startingTimestamp": "5"}, "are mutually exclusive"),
        (SERVERS | {"numPartitions": "0"}, "numPartitions"),
        (SERVERS | {"maxRecordsPerTrigger": "many"}, "maxRecordsPerTrigger"),
        (SERVERS | {"timeout": "-1"}, "timeout"),
    ],
)
def test_source_options_that_are_invalid_are_named(given: dict[str, str], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        parse_options(given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12", 12), ("1970-01-01", 0), ("1970-01-01T00:00:01.5+00:00", 1500), ("1970-01-01T01:00+01:00", 0)],
)
def test_milliseconds_reads_numbers_and_times(text: str, expected: int) -> None:
    assert milliseconds("since", text) == expected
