"""Describe all groups like a typical script on confluent-kafka's AdminClient: one group after the other.

``python peer_plain.py BOOTSTRAP`` prints the same columns as kgroups and Kafka's own tool; peer_adminclient.py is an
optimized script.
"""

from __future__ import annotations

import sys

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

HEADER = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")


def main(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = sorted(group.group_id for group in admin.list_consumer_groups().result().valid)
    ends: dict[tuple[str, int], int] = {}
    print("  ".join(HEADER))
    for name in names:
        described = admin.describe_consumer_groups([name])[name].result()
        owners = {
            (entry.topic, entry.partition): (member.member_id, member.host, member.client_id)
            for member in described.members
            for entry in member.assignment.topic_partitions
        }
        offsets = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])[name].result()
        commits = {(entry.topic, entry.partition): entry.offset for entry in offsets.topic_partitions}
        pairs = sorted(commits.keys() | owners.keys())
        new = [TopicPartition(*pair) for pair in pairs if pair not in ends]
        if new:
            latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            found = admin.list_offsets(dict.fromkeys(new, latest))
            ends.update({(place.topic, place.partition): future.result().offset for place, future in found.items()})
        for pair in pairs:
            committed, end = commits.get(pair, -1), ends[pair]
            offset, lag = (committed, end - committed) if committed >= 0 else ("-", "-")
            print(name, *pair, offset, end, lag, *owners.get(pair, ("-", "-", "-")), sep="  ")


if __name__ == "__main__":
    main(sys.argv[1])
