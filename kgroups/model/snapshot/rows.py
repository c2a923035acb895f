"""The rows of snapshots, and of the comparison of two."""

from __future__ import annotations

from typing import NamedTuple

from .snapshot import Snapshot


class SnapshotRow(NamedTuple):
    """One snapshot: when it was taken, of which cluster, and how much it contains."""

    created: str | None
    cluster_id: str | None
    groups: int
    members: int | None
    topics: int
    offsets: int
    records: int
    failures: int
    complete: bool
    version: str | None
    bootstrap: str | None
    command: str | None


def snapshot_row(snapshot: Snapshot) -> SnapshotRow:
    """Return the summary of a snapshot; ``members`` is ``None`` if the members of a group are unknown."""
    source = snapshot.source
    members = [each.group.members for each in snapshot.groups]
    known = [len(each) for each in members if each is not None]
    return SnapshotRow(
        created=source.created,
        cluster_id=source.cluster_id,
        groups=len(snapshot.groups),
        members=sum(known) if len(known) == len(members) else None,
        topics=len({*source.topic_ids, *snapshot.logs.offsets}),
        offsets=snapshot.count_offsets(),
        records=len(snapshot.records),
        failures=len(snapshot.failures),
        complete=not snapshot.failures,
        version=source.version,
        bootstrap=source.bootstrap,
        command=source.command,
    )


class ConfigRow(NamedTuple):
    """One value of the dynamic configuration of a group."""

    group: str
    name: str
    value: str | None


def config_rows(snapshot: Snapshot) -> list[ConfigRow]:
    """Return the dynamic configuration of all groups, sorted."""
    pairs = sorted(snapshot.configs.items())
    return [ConfigRow(group, name, value) for group, configs in pairs for name, value in sorted(configs.items())]


class DiffRow(NamedTuple):
    """One difference between the states A and B, or one value that is unknown on a side.

    ``result``: ``differs``, ``only in A``, ``only in B``, or ``unknown``.
    """

    group: str | None
    topic: str | None
    partition: int | None
    what: str
    a: str | None
    b: str | None
    result: str
