"""Records of every type and version: read as they were written; of other bytes, nothing worse than one exception."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import UndecodableRecord
from kgroups.history.decode import FILLED_FROM, STORED_FROM_RECORDS, decode_batch, split
from kgroups.history.decode.commits import decode_commits
from kgroups.history.decode.rows import decode_rows
from kgroups.history.tables import UNDECODED
from kgroups.protocol.offsets_topic import RECORD_TYPES, decode
from kgroups.protocol.record_schemas import Record, to_json
from tests.fakes.offset_records import Pair, key_bytes, record_batch, value_bytes
from tests.property.offset_records import SCHEMAS, batches, keys, pairs, records, values
from tests.property.test_apis import survives_absurd_lengths  # noqa: F401  # a fixture

FEWER = settings(max_examples=max(10, settings.default.max_examples // 3))
MORE = settings(max_examples=settings.default.max_examples * 2)
every_schema = pytest.mark.parametrize(
    "schema", SCHEMAS, ids=[f"{RECORD_TYPES[number].name}-v{version}" for number, version in SCHEMAS]
)


@every_schema
@FEWER
@given(data=st.data())
def test_record_round_trips(schema: tuple[int, int], data: st.DataObject) -> None:
    record_type, version = schema
    key, value = data.draw(keys(record_type)), data.draw(values(record_type, version))
    encoded = key_bytes(record_type, *key.values())
    name = RECORD_TYPES[record_type].name
    record = decode(encoded, value_bytes(record_type, version, value))
    assert record == Record(record_type, name, key, value, version)
    assert list(record.value or ()) == [field.name for field in RECORD_TYPES[record_type].value if field.name in value]
    assert decode(encoded, None) == Record(record_type, name, key, None, None)


@every_schema
@FEWER
@given(data=st.data())
def test_truncated_record_is_rejected(schema: tuple[int, int], data: st.DataObject) -> None:
    key, value = data.draw(records(schema))
    assert key is not None
    for at in range(len(key)):
        with pytest.raises(UndecodableRecord):
            decode(key[:at], value)
    for at in range(len(value or b"")):
        with pytest.raises(UndecodableRecord) as caught:
            decode(key, (value or b"")[:at])
        assert (caught.value.record_type, caught.value.group) == (schema[0], decode(key, None).group)


@MORE
@given(pairs)
def test_any_bytes_are_a_record_or_one_exception_without_memory(pair: Pair) -> None:
    tracemalloc.start()
    try:
        record = decode(*pair)
        assert to_json(record.value)
    except UndecodableRecord as error:
        assert error.cause
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 1_000_000


@MORE
@given(batches)
def test_decoded_batch_matches_decoded_rows(batch: list[Pair]) -> None:
    decoded = decode_batch(record_batch(batch))
    decoded.validate(full=True)
    by_rows = decode_rows(batch)
    assert decoded.select(by_rows.schema.names).equals(by_rows)
    assert decoded["log_offset"].to_pylist() == list(range(len(batch)))


@MORE
@given(batches.filter(bool))
def test_columnar_decoding_matches_each_row_alone(batch: list[Pair]) -> None:
    """Each row is decoded alone, so that no other row affects it."""
    records = record_batch(batch)
    together, odd = decode_commits(records["key"], records["value"])
    for number, row_is_odd in enumerate(odd):
        piece = records.slice(number, 1)
        alone, odd_alone = decode_commits(piece["key"], piece["value"])
        assert [row_is_odd] == list(odd_alone)
        assert row_is_odd or alone.equals(together.slice(number, 1))


@pytest.mark.usefixtures("survives_absurd_lengths")
@MORE
@given(batches)
def test_split_loses_no_record(batch: list[Pair]) -> None:
    decoded = decode_batch(record_batch(batch))
    dealt = split(decoded)
    assert set(dealt) == set(STORED_FROM_RECORDS)
    for table in dealt.values():
        table.validate(full=True)
        assert _places(table) == sorted(_places(table))
    found = {place for table in dealt.values() for place in _places(table)}
    assert found == set(range(len(batch)))
    commits_and_others = [*_places(dealt["commits"]), *_places(dealt["undecoded"])]
    assert len(commits_and_others) == len(set(commits_and_others))
    undecoded = {row["log_offset"]: row["reason"] for row in dealt["undecoded"].to_pylist()}
    errors = {row["log_offset"]: row["error"] for row in decoded.to_pylist() if row["error"]}
    assert {place: reason for place, reason in undecoded.items() if reason} == errors


def _places(batch: pa.RecordBatch) -> list[Any]:
    found: list[Any] = batch["log_offset"].to_pylist()
    return found


@every_schema
@FEWER
@given(data=st.data())
def test_record_fills_only_its_declared_tables(schema: tuple[int, int], data: st.DataObject) -> None:
    """Spark writes only declared tables: rows of other tables would be lost."""
    tables = split(decode_batch(record_batch([data.draw(records(schema))])))
    filled = {name for name, rows in tables.items() if rows.num_rows}
    output = {name for name, types in FILLED_FROM.items() if schema[0] in types} or {UNDECODED.name}
    assert filled <= output
