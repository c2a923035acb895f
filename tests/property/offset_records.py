"""Hypothesis strategies: any record of ``__consumer_offsets``, from its schema; good, damaged, or something else."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from hypothesis import strategies as st

from kgroups.protocol.offsets_topic.record_types import RECORD_TYPES
from kgroups.protocol.record_schemas.spec import Field, default_of, versions
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes
from tests.fakes.offset_records import Pair, key_bytes, valid_versions, value_bytes
from tests.property.strategies import damaged

SCHEMAS = [(record_type, version) for record_type in RECORD_TYPES for version in valid_versions(record_type)]
"""Every record type, with every version of its value."""


def _integers(bits: int) -> st.SearchStrategy[int]:
    whole = st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.sampled_from([0, 1, -1]) | whole


_embedded = st.sampled_from([b"", subscription_bytes(["t", "ü"]), assignment_bytes({"t": (0, 1), "u": (2,)})])
# About 128 bytes a length takes a second one. Letter by letter they would take long to make.
_long_texts = st.integers(60, 150).map(lambda size: ("mü" * size)[:size])
_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "int8": st.sampled_from([0, 1, 2, 127]) | _integers(8),
    "int16": _integers(16),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": _integers(32),
    "int64": st.integers(1_500_000_000_000, 1_900_000_000_000) | _integers(64),
    "string": st.sampled_from(["", "consumer"]) | st.text(max_size=8) | _long_texts,
    "bytes": _embedded | st.binary(max_size=12),
    "uuid": st.binary(min_size=16, max_size=16).map(lambda data: base64.urlsafe_b64encode(data).decode()[:22]),
}


def values(record_type: int, version: int) -> st.SearchStrategy[dict[str, Any]]:
    """As :func:`~kgroups.protocol.offsets_topic.decode` gives them: with every field that the version has."""
    return _structs(RECORD_TYPES[record_type].value, version)


def keys(record_type: int) -> st.SearchStrategy[dict[str, Any]]:
    return _structs(RECORD_TYPES[record_type].key, 0)


@cache
def _structs(fields: tuple[Field, ...], version: int) -> st.SearchStrategy[dict[str, Any]]:
    present = [field for field in fields if version in versions(field.versions)]
    names = [field.name for field in present]
    # Not as fixed_dictionaries: these do not keep to the order.
    return st.tuples(*(_values(field, version) for field in present)).map(
        lambda found: dict(zip(names, found, strict=True))
    )


def _values(field: Field, version: int) -> st.SearchStrategy[Any]:
    many = field.type.startswith("[]")
    kind = field.type.removeprefix("[]")
    made = _structs(field.fields, version) if field.fields else _PRIMITIVES[kind]
    if many:
        made = st.lists(made, max_size=3)
    if field.tag is not None:
        made = st.just(default_of(field)) | made
    return st.none() | made if field.nullable else made


def encoded_keys(record_type: int) -> st.SearchStrategy[bytes]:
    return keys(record_type).map(lambda key: key_bytes(record_type, *key.values()))


@st.composite
def records(draw: st.DrawFn, schema: tuple[int, int]) -> Pair:
    """A good one; a tombstone now and then, and a tagged field from the future."""
    record_type, version = schema
    key = draw(encoded_keys(record_type))
    if not draw(st.integers(0, 7)):
        return key, None
    value = draw(values(record_type, version))
    flexible = version in versions(RECORD_TYPES[record_type].flexible)
    future = {9: draw(st.binary(max_size=3))} if flexible and not draw(st.integers(0, 7)) else None
    return key, value_bytes(record_type, version, value, future)


@st.composite
def _spoilt(draw: st.DrawFn, pair: st.SearchStrategy[Pair]) -> Pair:
    """A good key with a value that is not, or the other way round, or both."""
    key, value = draw(pair)
    which = draw(st.sampled_from(["key", "value", "cut", "both"]))
    if which != "value" and key is not None:
        key = draw(damaged(st.just(key)))
    if which in ("value", "both") and value is not None:
        value = draw(damaged(st.just(value)))
    if which == "cut" and value is not None:
        value = value[: draw(st.integers(0, len(value)))]
    return key, value


_commits = st.sampled_from([schema for schema in SCHEMAS if schema[0] < 2]).flatmap(records)
_any = st.sampled_from(SCHEMAS).flatmap(records)
_rubbish = st.tuples(st.none() | st.binary(max_size=20), st.none() | st.binary(max_size=40))
_markers = st.sampled_from([(b"\0\0\0\0", b"\0\0\0\0\0\5"), (b"\0\0\0\1", b"\0\0\0\0\0\5")])

pairs: st.SearchStrategy[Pair] = _commits | _commits | _any | _spoilt(_commits) | _spoilt(_any) | _rubbish | _markers
"""Anything that may be met in the topic, and more."""

batches = st.lists(pairs, max_size=12)
