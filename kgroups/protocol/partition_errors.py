"""Read the errors by partition that OffsetCommit and OffsetDelete responses have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .error_codes import Code, KafkaError
from .reader import Reader

PartitionErrors = Mapping[tuple[str, int], KafkaError | None]
"""(topic, partition) -> its error, or ``None`` if there is none."""

_OF_A_PARTITION = frozenset(
    {
        Code.unknown_topic_or_partition,
        Code.topic_authorization_failed,
        Code.invalid_topic_exception,
        Code.offset_metadata_too_large,
        Code.invalid_commit_offset_size,
        Code.group_subscribed_to_topic,
        Code.unknown_topic_id,
    }
)
"""Errors of one topic or partition. Any other error is the group's if each of its partitions has an error."""


def read_partition_errors(
    reader: Reader, error: Callable[[Code], KafkaError], topic_name: Callable[[], str] | None = None
) -> PartitionErrors | KafkaError:
    """Return the error of each partition, or the error of the whole group if there is one.

    If one partition has no error, no error is the group's: an applied write must never be reported as failed.

    :param topic_name: reads the topic; by default its name.
    """
    errors: dict[tuple[str, int], KafkaError | None] = {}
    whole: Code | None = None
    for _ in reader.turns(reader.count()):
        topic = (topic_name or reader.string)()
        for _ in reader.turns(reader.count()):
            partition, code = reader.int32(), reader.int16()
            reader.tags()
            if code and Code(code) not in _OF_A_PARTITION:
                whole = Code(code)
            errors[topic, partition] = error(Code(code)) if code else None
        reader.tags()
    return errors if whole is None or None in errors.values() else error(whole)
