"""Reset offsets with confluent-kafka's AdminClient, optimized: requests for all groups are sent at once.

``peer_reset.py BOOTSTRAP earliest|latest`` moves the committed partitions of each group, and prints the new offsets.
"""

from __future__ import annotations

import sys

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

PATIENCE = 300.0


def main(bootstrap: str, where: str) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap})
    listed = client.list_consumer_groups(request_timeout=PATIENCE).result()
    names = [group.group_id for group in listed.valid]
    # librdkafka accepts one group per call
    requested = [client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)]) for name in names]
    committed = {name: future[name].result().topic_partitions for name, future in zip(names, requested, strict=True)}
    pairs = {(entry.topic, entry.partition) for entries in committed.values() for entry in entries}
    spec = OffsetSpec.earliest() if where == "earliest" else OffsetSpec.latest()  # type: ignore[no-untyped-call]
    ends = client.list_offsets({TopicPartition(*pair): spec for pair in pairs}, request_timeout=PATIENCE)
    offsets = {(entry.topic, entry.partition): future.result().offset for entry, future in ends.items()}
    written = {}
    for name, entries in committed.items():
        moved = [
            TopicPartition(entry.topic, entry.partition, offsets[entry.topic, entry.partition]) for entry in entries
        ]
        request = [ConsumerGroupTopicPartitions(name, moved)]
        written[name] = client.alter_consumer_group_offsets(request, request_timeout=PATIENCE)[name]
    for name, future in sorted(written.items()):
        for entry in future.result().topic_partitions:
            print(f"{name},{entry.topic},{entry.partition},{entry.offset}")


if __name__ == "__main__":
    main(*sys.argv[1:])
