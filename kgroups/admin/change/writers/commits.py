"""Moves groups that commit: OffsetCommit, one group a request and many under way; OffsetDelete for what is to go.

In nobody's name (generation -1, no member id), as Kafka's own AdminClient does it. The broker then refuses a group that
has members at that moment, and writes nothing of it: so nobody is overtaken who joins between plan and execution.
"""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import offset_commit, offset_delete

from ...routing.partition_leaders import by_topic
from .ledger import Ledger, Part

BYTES_A_REQUEST = 400_000
"""What the commits of one request may come to in the broker's log, whose batches are of one megabyte at most."""
_RECORD = 100
"""Bytes of a commit's record beside its texts, at most."""


async def write_commits(cluster: Cluster, ledger: Ledger, entries: Part) -> None:
    """Once a request of a group has failed, nothing more is asked for that group."""
    requests = {name: list(_requests(part)) for name, part in by_group(entries)}
    for turn in range(max(map(len, requests.values()), default=0)):
        parts = {name: each[turn] for name, each in requests.items() if turn < len(each)}
        await ledger.send(cluster, offset_commit.API, _commit, parts)
    going = by_group(entry for entry in entries if entry.before and not entry.after)
    await ledger.send(cluster, offset_delete.API, _delete, dict(going), gone_is_done=True)


def _requests(entries: Part) -> Iterator[Part]:
    """The commits of one group, in as many requests as they need."""
    part: list[PlannedOffset] = []
    size = 0
    for entry in entries:
        if entry.after:
            texts = entry.group_id, entry.topic, entry.after.metadata or ""
            more = _RECORD + 4 * sum(map(len, texts))
            if part and size + more > BYTES_A_REQUEST:
                yield part
                part, size = [], 0
            part.append(entry)
            size += more
    if part:
        yield part


def _commit(group: GroupId, part: Part) -> offset_commit.OffsetCommit:
    topics: dict[str, list[Commit]] = {}
    for entry in part:
        if entry.after:
            topics.setdefault(entry.topic, []).append(entry.after)
    return offset_commit.OffsetCommit(group, topics)


def _delete(group: GroupId, part: Part) -> offset_delete.OffsetDelete:
    return offset_delete.OffsetDelete(group, by_topic((entry.topic, entry.partition) for entry in part))
