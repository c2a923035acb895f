"""Output of the operations of ``kafka-consumer-groups``, byte-identical to Kafka's, sorted.

What the Java tool does not print is separate, for stderr.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgroups.model.groups import GroupId
from kgroups.model.operations.plan_file import java_csv
from kgroups.model.operations.reset import Clamp, PlannedOffset
from kgroups.model.operations.results import DeletedGroup, DeletedOffset
from kgroups.model.outcome import Failure, Scope
from kgroups.render.cells import escape

from .text import NAME, Show, pad, widest

_EXCEPTIONS = {
    3: ("UnknownTopicOrPartition", "This server does not host this topic-partition."),
    14: ("CoordinatorLoadInProgress", "The coordinator is loading and hence can't process requests."),
    15: ("CoordinatorNotAvailable", "The coordinator is not available."),
    16: ("NotCoordinator", "This is not the correct coordinator."),
    17: ("InvalidTopic", "The request attempted to perform an operation on an invalid topic."),
    24: ("InvalidGroupId", "The configured groupId is invalid."),
    29: ("TopicAuthorization", "Topic authorization failed."),
    30: ("GroupAuthorization", "Group authorization failed."),
    31: ("ClusterAuthorization", "Cluster authorization failed."),
    68: ("GroupNotEmpty", "The group is not empty."),
    69: ("GroupIdNotFound", "The group id does not exist."),
    86: (
        "GroupSubscribedToTopic",
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    ),
}
"""Error code of an operation -> Java's name and message."""

_GROUP_AUTHORIZATION = 30


def plan_text(planned: Sequence[PlannedOffset], groups: Iterable[GroupId], show: Show = str) -> Iterator[str]:
    """Yield the table of ``--reset-offsets``.

    :param groups: selected groups, in addition to those in the plan; without any group there is no header.
    """
    names = {show(name) for name in (*groups, *(entry.group for entry in planned))}
    wide, far = widest(NAME, names), widest(NAME, (show(entry.topic) for entry in planned))
    if names:
        yield f"\n{pad('GROUP', wide)} {pad('TOPIC', far)} {'PARTITION':10} NEW-OFFSET"
    for entry in planned:
        yield f"\n{pad(show(entry.group), wide)} {pad(show(entry.topic), far)} {entry.partition!s:10} {entry.new}"
    yield "\n"


def plan_csv(planned: Iterable[PlannedOffset], *, with_group: bool, show: Show = str) -> Iterator[str]:
    """Yield ``--export``, which ends with an empty line."""
    for line in java_csv(planned, with_group=with_group):
        yield show(line) + "\n"
    yield "\n"


def fallback_text(planned: Iterable[PlannedOffset], show: Show = str) -> Iterator[str]:
    """Yield warnings on partitions without a record at or after the requested time, for stdout before table or CSV.

    The Java tool calls such a partition empty, even if it has earlier records.
    """
    for entry in planned:
        if entry.clamp is Clamp.NO_RECORD:
            yield (
                f"\nWarn: Partition {entry.partition} from topic {show(entry.topic)} is empty. "
                "Falling back to latest known offset.\n"
            )


def remark_lines(planned: Iterable[PlannedOffset]) -> Iterator[str]:
    """Yield notes on unusual new offsets, for stderr. The Java tool logs some of them."""
    for entry in planned:
        if entry.note and entry.clamp is not Clamp.NO_RECORD:
            yield escape(f"Note: group '{entry.group}': {entry.topic}-{entry.partition}: {entry.note}")


def deleted_text(groups: Sequence[DeletedGroup], show: Show = str, kind: str = "consumer") -> Iterator[str]:
    """Yield the groups that ``--delete`` has deleted.

    :param kind: group type, as in the output.
    """
    names = ", ".join(f"'{show(group.group)}'" for group in groups if not group.failure)
    if not any(group.failure for group in groups):
        yield f"Deletion of requested {kind} groups ({names}) was successful.\n"
    elif names:
        yield f"\nThese {kind} groups were deleted successfully: {names}\n"


def undeleted_text(groups: Sequence[DeletedGroup], show: Show = str, kind: str = "consumer") -> Iterator[str]:
    """Yield the groups that ``--delete`` has not deleted.

    :param kind: group type, as in the output.
    """
    failed = [(show(group.group), group.failure) for group in groups if group.failure]
    if failed:
        yield f"\nError: Deletion of some {kind} groups failed:\n"
    for name, failure in failed:
        yield f"* Group '{name}' could not be deleted due to: {show(java_error(failure))}\n"


def deleted_offsets_text(
    group: str, offsets: Sequence[DeletedOffset], show: Show = str, *, failed: bool = False
) -> Iterator[str]:
    """Yield the table of ``--delete-offsets``; partitions are sorted as text, and a missing topic has none.

    :param failed: whether the request failed as a whole.
    """
    if not failed and all(entry.partition is None or not entry.failure for entry in offsets):
        yield f"Request succeeded for deleting offsets from group {show(group)}.\n"
    wide = widest(NAME, (show(entry.topic) for entry in offsets))
    yield f"\n{pad('TOPIC', wide)} {'PARTITION':10} {'STATUS':15}"
    for entry in sorted(offsets, key=_as_text):
        status = f"Error: {show(java_error(entry.failure))}" if entry.failure else "Successful"
        partition = "-" if entry.partition is None or entry.partition < 0 else str(entry.partition)
        yield f"\n{pad(show(entry.topic), wide)} {partition:10} {status:15}"
    yield "\n"


def _as_text(entry: DeletedOffset) -> str:
    return f"{entry.topic}{-1 if entry.partition is None else entry.partition}"


def offset_errors_text(offsets: Iterable[DeletedOffset], show: Show = str) -> Iterator[str]:
    """Yield the error of the group, or that partitions have errors."""
    failed = [entry for entry in offsets if entry.failure]
    group_failures = [entry.failure for entry in failed if entry.failure and entry.failure.scope is Scope.GROUP]
    if group_failures:
        yield f"\nError: {show(java_message(group_failures[0]))}\n"
    elif any(entry.partition is not None for entry in failed):
        yield "\nError: Encountered some partition-level error, see the follow-up details.\n"


def topic_errors_text(offsets: Iterable[DeletedOffset], show: Show = str) -> Iterator[str]:
    """Yield the errors of topics, for stderr."""
    for entry in offsets:
        if entry.failure and entry.partition is None:
            yield f"Error: topic '{show(entry.topic)}': {show(entry.failure.message)}\n"


def java_error(failure: Failure) -> str:
    """Return the failure as Java prints the exception; for other failures than error codes of brokers, the message."""
    known = _EXCEPTIONS.get(failure.code or 0)
    if known is None:
        return java_message(failure)
    text = known[1]
    if failure.code == _GROUP_AUTHORIZATION and failure.api == "FindCoordinator":
        key = f"CoordinatorKey(idValue='{failure.name}', type=GROUP)"
        text = f"FindCoordinator request for groupId `{key}` failed due to authorization failure"
    return f"org.apache.kafka.common.errors.{known[0]}Exception: {text}"


def java_message(failure: Failure) -> str:
    known = _EXCEPTIONS.get(failure.code or 0)
    return known[1] if known else failure.message
