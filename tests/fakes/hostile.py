"""Brokers that put control and invisible characters into every string of every response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kio.schema.errors import ErrorCode

from kgroups.model.streams import AssignedTasks

from .broker import FakeCluster
from .cluster_state import FakeMember
from .offset_records import commit_key, commit_value, key_bytes, value_bytes
from .record_batches import batch
from .streams_shop import tasks, topology

FORGED = "kgroups: note: forged"
HOSTILE = f"\x1b]0;pwned\x07\n{FORGED}\r\x9b2J\u202e\u034f\u2028"
"""Sets a window's title, makes a line, clears the screen, turns text around, and is not seen."""

Bend = Callable[[str, Any], Any]


def hostile(kept: Callable[[str, str], bool] = lambda owner, name: False, error: ErrorCode | None = None) -> Bend:
    """Every string of an answer, at any depth, ends with :data:`HOSTILE`; error messages are there wherever they may.

    :param kept: given a struct's and a field's name, whether that string stays as it is.
    :param error: what all error codes become, which are not errors already.
    """

    def bend(owner: str, name: str, value: Any) -> Any:
        if isinstance(value, ErrorCode):
            return error if error is not None and value is ErrorCode.none else value
        if isinstance(value, str):
            return value if HOSTILE in value or kept(owner, name) else value + HOSTILE
        if isinstance(value, tuple):
            return tuple(bend(owner, name, each) for each in value)
        if value is None and name == "error_message":
            return f"sorry{HOSTILE}"
        return bend_all(value) if is_dataclass(value) else value

    def bend_all(entity: Any) -> Any:
        owner = type(entity).__name__
        names = [field.name for field in fields(entity)]
        return replace(entity, **{name: bend(owner, name, getattr(entity, name)) for name in names})

    return lambda api, entity: entity if api in ("ApiVersions",) else bend_all(entity)


def brokers_address(owner: str, name: str) -> bool:
    """Whether a field is the address of a broker, which clients connect to."""
    return name == "host" and owner in ("MetadataResponseBroker", "Coordinator", "FindCoordinatorResponse")


def states_and_types(owner: str, name: str) -> bool:
    """What decides how a group is asked about, beside :func:`brokers_address`."""
    return brokers_address(owner, name) or name in ("group_state", "group_type", "protocol_type", "state_filter")


def fill_hostile(fake: FakeCluster, tail: str = HOSTILE) -> None:
    """Groups of every type, whose names end with these characters, as does what their members say of themselves."""
    state = fake.state
    t, u = f"t{tail}", f"u{tail}"
    state.cluster_id = f"cluster{tail}"
    state.topic(t, [0, 1], start=10, end=100)
    state.topic(u, [1, -1], end=50)
    member = FakeMember(f"m{tail}", {t: (0,), u: (0,)}, instance_id=f"static{tail}")
    state.group(f"orders{tail}", 0, state="Stable", members=(member,), commits={(t, 0): 60, (u, 0): 50})
    state.group(f"old{tail}", 1, commits={(t, 0): 5, (t, 1): 100, (f"gone{tail}", 0): 1})
    state.group(f"new{tail}", 1, type="Consumer", state="Reconciling", members=(member,), commits={(t, 0): 99})
    worker = FakeMember(f"w{tail}", garbage=b"?", metadata=b"\0\1" + tail.encode())
    state.group(f"connect{tail}", 0, protocol_type="connect", state="Stable", members=(worker,))
    state.group(f"other{tail}", 1, protocol_type=f"foo{tail}", state="Stable", members=(worker,))
    share = {"type": "Share", "protocol_type": "share"}
    state.group(f"share{tail}", 0, state="Stable", members=(member,), commits={(t, 0): 7}, **share)
    state.group(f"share-old{tail}", 1, commits={(t, 0): 7}, **share)
    streams = {"type": "Streams", "protocol_type": "streams", "subtopologies": topology(f"app{tail}")}
    mine = FakeMember(f"s{tail}", tasks=AssignedTasks(tasks(s0=(0, 1)), tasks(s1=(1,))))
    state.topic("orders", [0, 1, 0, 1])
    state.topic("small", [0])
    state.group(f"app{tail}", 0, state="Stable", members=(mine,), commits={("orders", 0): 40}, **streams)
    state.group(f"app-old{tail}", 1, commits={("orders", 0): 40}, **streams)
    _log(fake, f"old{tail}", t, tail)


def _log(fake: FakeCluster, group: str, topic: str, tail: str) -> None:
    """Records of a group in ``__consumer_offsets``."""
    answer = {
        "protocolType": f"consumer{tail}", "generation": 4, "protocol": f"range{tail}",
        "leader": f"m{tail}", "members": [], "currentStateTimestamp": 1_760_000_000_000,
    }  # fmt: skip
    value = commit_value(3, commitTimestamp=1_759_000_000_000, metadata=f"noted{tail}")
    records = [
        batch(0, [(0, 1_759_000_000_000)], key=commit_key(group, topic, 0), value=value),
        batch(1, [(1, 1_760_000_000_000)], key=key_bytes(2, group), value=value_bytes(2, 3, answer)),
    ]
    fake.state.topic("__consumer_offsets", [0], end=2, logs={0: records})
