"""Hypothesis strategies: any entity of kio's, from the fields of its dataclass; any call of ours."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.static.primitive import Records

from kgroups.model.offsets import Commit, Isolation
from kgroups.protocol import apis
from kgroups.protocol.apis import describe_acls
from kgroups.protocol.apis.describe_configs import Resource
from kgroups.protocol.apis.list_offsets import Where
from kgroups.protocol.versions import Api
from tests.fakes import newer_schemas  # noqa: F401  # of versions newer than kio

CALLS: dict[Api, type[Any]] = {}
"""Each API, and the call that its file under ``apis/`` provides."""
for _module in pkgutil.iter_modules(apis.__path__):
    _found = importlib.import_module(f"{apis.__name__}.{_module.name}")
    CALLS[_found.API] = getattr(_found, _found.API.name)

SPOKEN = [
    (api, version)
    for api in CALLS
    for version in range(api.oldest, api.newest + 1)
    if api != describe_acls.API or version
]
"""Every API, in every version that we speak, without DescribeAcls v0, that of Kafka 1.1, which kio lacks."""

names = st.text(min_size=1, max_size=8)
groups = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
_partitions = st.dictionaries(names, st.lists(st.integers(0, 2**31 - 1), max_size=3).map(tuple), max_size=3)

_fetched = st.dictionaries(
    names, st.dictionaries(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), max_size=3), max_size=3
)
_starts = st.tuples(st.integers(0, 2**31 - 1), st.integers(-1, 2**63 - 1))
"""Partition and offset."""
_commits = st.builds(
    Commit,
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**63 - 1),
    st.none() | st.integers(0, 2**31 - 1),
    st.text(max_size=4),
)


@cache
def calls(api: Api) -> st.SearchStrategy[Any]:
    """Any call of that API."""
    arguments: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "ApiVersions": {},
        "Metadata": {"topics": groups},
        "ListGroups": {"states": groups, "types": groups},
        "Fetch": {
            "offsets": _fetched,
            "partition_bytes": st.integers(0, 2**20),
            "isolation": st.sampled_from(Isolation),
        },
        "ListOffsets": {
            "partitions": _partitions,
            "where": st.sampled_from(Where) | st.integers(0, 2**62),
            "isolation": st.sampled_from(Isolation),
        },
        "OffsetForLeaderEpoch": {
            "epochs": st.dictionaries(names, st.lists(st.tuples(_integers(32), _integers(32)), max_size=3), max_size=3)
        },
        "OffsetCommit": {
            "group": names,
            "topics": st.dictionaries(names, st.lists(_commits, max_size=3), max_size=3),
            "member_id": st.text(max_size=4),
            "generation": st.integers(-1, 2**31 - 1),
        },
        "OffsetDelete": {"group": names, "partitions": _partitions},
        "AlterShareGroupOffsets": {
            "group": names,
            "starts": st.dictionaries(names, st.lists(_starts, max_size=3).map(tuple), max_size=3),
        },
        "DeleteShareGroupOffsets": {"group": names, "topics": st.lists(names, max_size=3).map(tuple)},
        "DeleteTopics": {"topics": groups, "timeout_ms": st.integers(0, 2**31 - 1)},
        "LeaveGroup": {
            "group": names,
            "members": st.lists(st.tuples(st.text(max_size=4), st.none() | names), max_size=3).map(tuple),
            "reason": st.text(max_size=6),
        },
        "DescribeLogDirs": {
            "partitions": st.none() | st.dictionaries(names, st.lists(_integers(32), max_size=3), max_size=3)
        },
        "IncrementalAlterConfigs": {
            "changes": st.dictionaries(names, st.dictionaries(names, st.none() | st.text(max_size=6), max_size=3)),
            "validate_only": st.booleans(),
        },
        "DescribeAcls": {"topic": names},
        "DescribeClientQuotas": {},
        "DescribeProducers": {"partitions": _partitions},
        "DescribeTransactions": {"transactional_ids": groups},
        "ListTransactions": {"producer_ids": st.lists(st.integers(-1, 2**63 - 1), max_size=3).map(tuple)},
        "SaslHandshake": {"mechanism": names},
        "SaslAuthenticate": {"message": st.binary(max_size=200)},
        "DescribeConfigs": {
            "wanted": st.dictionaries(st.builds(Resource, st.integers(0, 127), names), st.none() | groups, max_size=3),
        },
    }
    return st.builds(CALLS[api], **arguments.get(api.name, {"groups": groups}))


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "int8": _integers(8),
    "int16": _integers(16),
    "int32": _integers(32),
    "int64": _integers(64),
    "float64": st.floats(allow_nan=False),
    "datetime_i64": st.integers(0, 2**42).map(lambda ms: datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms)),
    "uint16": st.integers(0, 2**16 - 1),
    "string": st.text(max_size=6),
    "bytes": st.binary(max_size=12),
    "records": st.binary(max_size=12).map(Records),
    "bool": st.booleans(),
    "uuid": st.uuids().filter(lambda uuid: uuid != UUID(int=0)),
    "error_code": st.sampled_from(ErrorCode),
    "timedelta_i64": _integers(47).map(lambda milliseconds: timedelta(milliseconds=milliseconds)),  # 4,000 years
    "timedelta_i32": _integers(32).map(lambda milliseconds: timedelta(milliseconds=milliseconds)),
}


@cache
def entities(kind: Any) -> st.SearchStrategy[Any]:
    """Any entity of one of kio's types."""
    return st.builds(kind, **{field.name: _values(field) for field in fields(kind)})


def _values(field: Any) -> st.SearchStrategy[Any]:
    declared = field.type
    optional = get_origin(declared) is UnionType
    if optional:
        declared = next(part for part in get_args(declared) if part is not type(None))
    if get_origin(declared) is tuple:
        made: st.SearchStrategy[Any] = st.lists(_one(get_args(declared)[0], field), max_size=2).map(tuple)
    else:
        made = _one(declared, field)
    return st.none() | made if optional and "tag" not in field.metadata else made


def _one(declared: Any, field: Any) -> st.SearchStrategy[Any]:
    return entities(declared) if is_dataclass(declared) else _PRIMITIVES[field.metadata["kafka_type"]]


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes that were good until some of them were changed, and some were cut off or put in."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        piece = draw(st.sampled_from([b"", b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x7f", b"\x80"]))
        data[at : at + draw(st.integers(0, 5))] = piece
    return bytes(data)
