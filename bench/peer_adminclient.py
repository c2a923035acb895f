"""Describe all groups with offsets and lag like an optimized script on confluent-kafka's AdminClient.

``python peer_adminclient.py BOOTSTRAP`` prints the same columns as kgroups and Kafka's own tool. Every call is batched,
or sent for all groups before the first response is awaited; log end offsets are requested once per partition; rows are
formatted by ``%`` and written at once. With thousands of groups, describing and fetching offsets concurrently is slower
than one after the other.
"""

from __future__ import annotations

import sys

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription, OffsetSpec

TIMEOUT = 120.0
HEADER = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")

Pair = tuple[str, int]
Row = tuple[object, ...]


def main(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = sorted(group.group_id for group in admin.list_consumer_groups(request_timeout=TIMEOUT).result().valid)
    descriptions = admin.describe_consumer_groups(names, request_timeout=TIMEOUT)
    described = {name: future.result() for name, future in descriptions.items()}
    commits = _commits(admin, names)
    owners = {name: _owners(group) for name, group in described.items()}
    ends = _ends(admin, {pair for of in (commits, owners) for partitions in of.values() for pair in partitions})
    _write([row for name in names for row in _rows(name, commits[name], owners[name], ends)])


def _commits(admin: AdminClient, names: list[str]) -> dict[str, dict[Pair, int]]:
    # librdkafka accepts one group per call; make all calls before waiting for the first
    requested = [
        admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)], request_timeout=TIMEOUT)[name]
        for name in names
    ]
    return {
        name: {(entry.topic, entry.partition): entry.offset for entry in future.result().topic_partitions}
        for name, future in zip(names, requested, strict=True)
    }


def _owners(group: ConsumerGroupDescription) -> dict[Pair, tuple[str, str, str]]:
    return {
        (entry.topic, entry.partition): (member.member_id, member.host, member.client_id)
        for member in group.members
        for entry in member.assignment.topic_partitions
    }


def _ends(admin: AdminClient, pairs: set[Pair]) -> dict[Pair, int]:
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    requested = admin.list_offsets({TopicPartition(*pair): latest for pair in pairs}, request_timeout=TIMEOUT)
    return {(entry.topic, entry.partition): future.result().offset for entry, future in requested.items()}


def _rows(
    name: str, commits: dict[Pair, int], owners: dict[Pair, tuple[str, str, str]], ends: dict[Pair, int]
) -> list[Row]:
    no_owner = ("-", "-", "-")
    rows: list[Row] = []
    for pair in sorted(commits.keys() | owners.keys()):
        committed, end = commits.get(pair, -1), ends[pair]
        offset, lag = (committed, end - committed) if committed >= 0 else ("-", "-")
        rows.append((name, *pair, offset, end, lag, *owners.get(pair, no_owner)))
    return rows


def _write(rows: list[Row]) -> None:
    widths = [max(map(len, map(str, set(column)))) for column in zip(HEADER, *rows, strict=True)]
    line = "  ".join(f"%-{width}s" for width in widths) + "\n"
    sys.stdout.write(line % HEADER)
    sys.stdout.write("".join([line % row for row in rows]))


if __name__ == "__main__":
    main(sys.argv[1])
