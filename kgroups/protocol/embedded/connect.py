"""The metadata of Kafka Connect workers: ConnectProtocol and IncrementalCooperativeConnectProtocol.

v0 ``default``, eager · v1 ``compatible``: current and revoked work, a delay (KIP-415) · v2 ``sessioned``, as v1
(KIP-507). A newer version is read as v2. In v1 and later an array can be null, and fields at the end can be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.embedded.connect import ConnectorWork, WorkerAssignment, WorkerState

from ..reader import Reader

T = TypeVar("T")

NEWEST = 2
_COOPERATIVE = 1
_CONNECTOR = -1
"""The task number that represents the connector itself."""


def decode_worker(data: bytes, protocol: str) -> Subscription:
    """Return a worker's metadata; never raise."""
    found = _decode("ConnectProtocol metadata", data, _state)
    if isinstance(found, Raw):
        return Subscription(raw=found)
    state, note = found
    return Subscription(version=state.version, user_data=state, note=note)


def decode_work(data: bytes, protocol: str) -> Assignment:
    """Return a worker's assignment; never raise."""
    found = _decode("ConnectProtocol assignment", data, _assignment)
    if isinstance(found, Raw):
        return Assignment(raw=found)
    work, note = found
    return Assignment(version=work.version, user_data=work, note=note)


def _decode(name: str, data: bytes, read: Callable[[Reader, int], T]) -> tuple[T, str | None] | Raw:
    try:
        with Reader(name, data, 0) as reader:
            version = reader.int16()
            if version < 0:
                raise ValueError(f"version {version}")
            found = read(reader, version)
            reader.inside()
    except RemoteProtocolError as error:
        return Raw(data, str(error))
    left = len(data) - reader.at
    if version > NEWEST:
        return found, f"version {version} is newer than {NEWEST}: {left} more bytes are ignored"
    return found, f"{left} bytes after its end" if left else None


def _state(reader: Reader, version: int) -> WorkerState:
    url, offset = reader.string(), reader.int64()
    running = None
    if version >= _COOPERATIVE and not _ended(reader) and (data := reader.nullable_bytes()):
        reader.inside()
        with Reader("allocation", data, 0) as inner:
            running = _assignment(inner, inner.int16())
            inner.inside()
    return WorkerState(version, url, offset, running)


def _assignment(reader: Reader, version: int) -> WorkerAssignment:
    error, leader, leader_url, offset = reader.int16(), reader.string(), reader.string(), reader.int64()
    if version < _COOPERATIVE:
        return WorkerAssignment(version, error, leader, leader_url, offset, _work(reader))
    work = _work(reader)
    revoked = _work(reader)
    delay = 0 if _ended(reader) else reader.int32()
    return WorkerAssignment(version, error, leader, leader_url, offset, work, revoked, delay)


def _work(reader: Reader) -> tuple[ConnectorWork, ...]:
    if _ended(reader):
        return ()
    runs: dict[str, list[int]] = {}
    for _ in reader.turns(reader.nullable_count() or 0):
        runs.setdefault(reader.string(), []).extend(reader.int32s())  # a connector can be repeated: stay linear
    reader.inside()
    return tuple(
        ConnectorWork(name, _CONNECTOR in tasks, tuple(sorted(set(tasks) - {_CONNECTOR})))
        for name, tasks in sorted(runs.items())
    )


def _ended(reader: Reader) -> bool:
    return reader.at == len(reader.data)
