"""Measure the decoding of commits alone, from Arrow batches of records to Arrow batches of rows.

Three decoders run in turn over the same batches: by columns (used by the pipeline), a loop over ``struct`` like an
optimized script, and kgroups' row decoder, which supports every record type. They must return the same rows. Times are
CPU seconds, so that other load does not count.
"""

from __future__ import annotations

import argparse
import base64
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.history.arrow import arrow_schema
from kgroups.history.decode import decode_batch
from kgroups.history.decode.rows import SCHEMA, decode_rows
from kgroups.history.tables import DECODED, RECORDS

BATCH = 10_000
METADATA = 0.05
"""Fraction of commits with metadata."""

Decoder = Callable[[pa.RecordBatch], pa.RecordBatch]


class Shape(NamedTuple):
    """Number of records, groups, and partitions per group, in a log of 50 partitions."""

    records: int
    groups: int
    partitions: int

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches in reading order: by partition of the log, with the commits of a group next to each other."""
        chance = random.Random(0)
        topics = [chance.randbytes(16) for _ in range(10)]
        keys = [
            [_key(f"group-{group:05}", f"topic-{group % 10}", partition) for partition in range(self.partitions)]
            for group in range(self.groups)
        ]
        pairs: list[tuple[bytes, bytes]] = []
        number = 0
        while number < self.records:
            # each fiftieth of the records belongs to the groups of one partition of the log
            in_partition = range(number * 50 // self.records, self.groups, 50) or range(self.groups)
            group = chance.choice(in_partition)
            for key in keys[group][: self.records - number]:
                pairs.append((key, _value(chance, topics[group % 10], number)))
                number += 1
            while len(pairs) >= BATCH or (pairs and number >= self.records):
                yield _batch(pairs[:BATCH], number)
                del pairs[:BATCH]


def _key(group: str, topic: str, partition: int) -> bytes:
    texts = b"".join(struct.pack(">h", len(text)) + text.encode() for text in (group, topic))
    return b"\0\1" + texts + struct.pack(">i", partition)


def _value(chance: random.Random, topic_id: bytes, number: int) -> bytes:
    metadata = b"of no concern" if chance.random() < METADATA else b""
    after_metadata = struct.pack(">q", 1_760_000_000_000 + number) + b"\1\0\x10" + topic_id
    return struct.pack(">hqi", 4, chance.randrange(10**9), 3) + bytes([len(metadata) + 1]) + metadata + after_metadata


def _batch(pairs: Sequence[tuple[bytes, bytes]], number: int) -> pa.RecordBatch:
    count = len(pairs)
    times = [1_760_000_000_000_000 + number] * count
    columns = [[7] * count, range(number, number + count), times, *zip(*pairs, strict=True)]
    schema = arrow_schema(RECORDS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# The decoders.


def by_rows(records: pa.RecordBatch) -> pa.RecordBatch:
    decoded = decode_rows(zip(records["key"].to_pylist(), records["value"].to_pylist(), strict=True))
    return pa.RecordBatch.from_arrays([*records.columns, *decoded.columns], schema=arrow_schema(DECODED))


_INT16, _OFFSET_EPOCH, _INT32, _INT64 = (struct.Struct(form).unpack_from for form in (">h", ">qi", ">i", ">q"))


def by_struct(records: pa.RecordBatch) -> pa.RecordBatch:
    """Decode only commits of version 4, which this benchmark writes; decode each key and topic ID once per batch."""
    rows: list[tuple[Any, ...]] = []
    keys: dict[bytes, tuple[str, str, int]] = {}
    ids: dict[bytes, str] = {}
    for key, value in zip(records["key"].to_pylist(), records["value"].to_pylist(), strict=True):
        named = keys.get(key)
        if named is None:
            at = 4 + _INT16(key, 2)[0]
            end = at + 2 + _INT16(key, at)[0]
            named = keys[key] = key[4:at].decode(), key[at + 2 : end].decode(), _INT32(key, end)[0]
        offset, epoch = _OFFSET_EPOCH(value, 2)
        end = 14 + value[14]
        topic_id = value[end + 11 :]
        text = ids.get(topic_id)
        if text is None:
            text = ids[topic_id] = _uuid(topic_id)
        rows.append((*named, offset, epoch, value[15:end].decode(), _INT64(value, end)[0] * 1000, text))
    group, topic, partition, offset, epoch, metadata, commit_time, topic_id = zip(*rows, strict=True)
    count = len(rows)
    nothing = [None] * count
    columns = [
        *([1] * count, ["OffsetCommit"] * count, [4] * count, [False] * count),
        *(group, topic, partition, offset, epoch, metadata, commit_time, nothing, topic_id, nothing, nothing),
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays([*records.columns, *arrays], schema=arrow_schema(DECODED))


def _uuid(data: bytes) -> str:
    return base64.urlsafe_b64encode(data)[:22].decode()


CONTENDERS: dict[str, Decoder] = {"by columns": decode_batch, "by struct": by_struct, "by rows": by_rows}
FIRST = next(iter(CONTENDERS))


def main() -> int:
    options = _options()
    shape = Shape(options.records, options.groups, options.partitions)
    batches = list(shape.batches())
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for number in range(options.rounds + 1):
        for name, decoder in CONTENDERS.items():
            print(f"bench: {name}: round {number} of {options.rounds}", file=sys.stderr, flush=True)
            began = time.process_time()
            for batch in batches:
                decoder(batch)
            if number:  # the first is a warm-up
                seconds[name].append(time.process_time() - began)
    same = all(decoder(batch).equals(decode_batch(batch)) for batch in batches[:20] for decoder in CONTENDERS.values())
    print(f"{shape.records:,} commits of {shape.groups:,} groups x {shape.partitions} partitions, on one core\n")
    for name, taken in seconds.items():
        rate = shape.records / median(taken)
        ratios = [other / first for other, first in zip(taken, seconds[FIRST], strict=True)]
        relative = (
            "" if name == FIRST else f"   {median(ratios):5.1f}x the time ({min(ratios):.1f} to {max(ratios):.1f})"
        )
        print(f"{name:<12}{rate:>12,.0f} records/s{relative}")
    print("\nThe same rows from each." if same else "\nTHE ROWS DIFFER")
    return 0 if same else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python bench/decode.py", description="Measure the decoding of commits alone."
    )
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--groups", type=int, default=300)
    parser.add_argument("--partitions", type=int, default=40, help="partitions per group")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds, after a warm-up round")
    return parser.parse_args()
