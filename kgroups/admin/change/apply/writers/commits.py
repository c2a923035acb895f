"""Write committed offsets: OffsetCommit, one group per request and many in flight; OffsetDelete to delete them.

Requests have generation -1 and no member ID, as those of Kafka's AdminClient. If a member joins at the last moment, the
broker rejects the write and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import offset_commit, offset_delete

from ....routing.partition_leaders import by_topic
from .ledger import Ledger, Part

BYTES_A_REQUEST = 400_000
"""Bytes of the commits of one request in the broker's log, whose batches have at most one megabyte."""
_RECORD = 100
"""Maximum bytes of the record of a commit, without its strings."""


async def write_commits(cluster: Cluster, ledger: Ledger, entries: Part) -> None:
    """Write the offsets of groups. After the first failed request of a group, no more are sent for it."""
    requests = {name: list(_requests(part)) for name, part in by_group(entries)}
    for turn in range(max(map(len, requests.values()), default=0)):
        parts = {name: each[turn] for name, each in requests.items() if turn < len(each)}
        await ledger.send(cluster, offset_commit.API, _commit, parts)
    going = by_group(entry for entry in entries if entry.before and not entry.after)
    await ledger.send(cluster, offset_delete.API, _delete, dict(going), gone_is_done=True)


def _requests(entries: Part) -> Iterator[Part]:
    """Yield the commits of one group in parts that fit in one request."""
    part: list[PlannedOffset] = []
    size = 0
    for entry in entries:
        if entry.after:
            texts = entry.group, entry.topic, entry.after.metadata or ""
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
    ids: dict[str, int] = {}
    for entry in part:
        if entry.after:
            topics.setdefault(entry.topic, []).append(entry.after)
            if entry.seen.topic_id:
                ids[entry.topic] = entry.seen.topic_id
    return offset_commit.OffsetCommit(group, topics, topic_ids=ids)


def _delete(group: GroupId, part: Part) -> offset_delete.OffsetDelete:
    return offset_delete.OffsetDelete(group, by_topic((entry.topic, entry.partition) for entry in part))
