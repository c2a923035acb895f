"""Output of ``kafka-streams-application-reset``, byte-identical to Kafka's, sorted by topic and partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgroups.model.assignment import Assignment
from kgroups.model.groups import Member
from kgroups.model.offsets import PlanKey, place_name
from kgroups.model.operations.reset import Clamp, PlannedOffset
from kgroups.model.operations.results import DeletedTopic

from .operations import java_error

DONE = "Done."
DRY_RUN = "----Dry run displays the actions which will be performed when running Streams Reset Tool----"
RESET_FAILED = "ERROR: Resetting offsets failed."
NO_TOPICS = "No input or intermediate topics specified. Skipping seek."
INTERMEDIATE = "WARN: `--intermediate-topics` is deprecated and will be removed in a future release"
CONFIG_FILE = (
    "Option --config-file has been deprecated and will be removed in a future version. Use --command-config instead."
)


def active_text(application: str, members: Sequence[Member]) -> str:
    """Return why a group with members is not reset."""
    return (
        f"Consumer group '{application}' is still active and has following members: {_listed(map(_member, members))}. "
        "Make sure to stop all running application instances before running the reset tool. You can use option "
        "'--force' to remove active members from the group."
    )


def _member(member: Member) -> str:
    target = "Optional.empty" if member.target is None else f"Optional[{_assignment(member.target)}]"
    upgraded = "null" if member.upgraded is None else str(member.upgraded).lower()
    return (
        f"(memberId={member.member_id}, groupInstanceId={_or_null(member.instance_id)}, "
        f"rackId={_or_null(member.rack_id)}, clientId={member.client_id}, host={member.host}, "
        f"assignment={_assignment(member.assignment)}, targetAssignment={target}, "
        f"memberEpoch={_or_null(member.member_epoch)}, upgraded={upgraded})"
    )


def _assignment(assignment: Assignment) -> str:
    places = (place_name(entry.topic, partition) for entry in assignment.topics for partition in entry.partitions)
    return f"(topicPartitions={','.join(places)})"


def _or_null(value: str | int | None) -> str:
    return "null" if value is None else str(value)


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def force_text(application: str) -> str:
    return f"Force deleting all active members in the group: {application}"


def selected_lines(
    inputs: Sequence[str], intermediates: Sequence[str], missing: Iterable[str], missing_intermediates: Iterable[str]
) -> Iterator[str]:
    """Yield the topics to reset, and those of them that do not exist."""
    if inputs:
        yield f"Reset-offsets for input topics {_listed(inputs)}"
    if intermediates:
        yield f"Seek-to-end for intermediate topics {_listed(intermediates)}"
    for kind, names, label in (("input", missing, "Topic: "), ("intermediate", missing_intermediates, "Topic:")):
        for number, name in enumerate(names):
            if not number:
                yield f"Following {kind} topics are not found, skipping them"
            yield f"{label}{name}"


def reset_text(application: str) -> str:
    return f"Following input topics offsets will be reset to (for consumer group {application})"


def offset_lines(planned: Iterable[PlannedOffset], requested: Mapping[PlanKey, int]) -> Iterator[str]:
    """Yield the new offsets of input topics, after notes about offsets that differ from the requested ones.

    :param requested: the offsets that a scenario names, by partition.
    """
    entries = tuple(planned)
    for entry in entries:
        if entry.clamp is Clamp.NO_RECORD:
            yield (
                f"Partition {entry.partition} from topic {entry.topic} is empty, without a committed record. "
                "Falling back to latest known offset."
            )
        elif entry.key in requested:
            yield from _limits(requested[entry.key], entry)
    for entry in entries:
        yield f"Topic: {entry.topic} Partition: {entry.partition} Offset: {entry.new}"


def _limits(offset: int, entry: PlannedOffset) -> Iterator[str]:
    """Yield that an offset is at or beyond an end of the log."""
    start, end = entry.seen.start, entry.seen.end
    if end is not None and offset >= end:
        yield f"New offset ({offset}) is higher than latest offset. Value will be set to {end}"
    elif start is not None and offset <= start:
        yield f"New offset ({offset}) is lower than earliest offset. Value will be set to {start}"


def end_lines(application: str, planned: Iterable[PlannedOffset]) -> Iterator[str]:
    """Yield the intermediate topics, once for each partition."""
    yield f"Following intermediate topics offsets will be reset to end (for consumer group {application})"
    for entry in planned:
        yield f"Topic: {entry.topic}"


def deletion_text(topics: Iterable[str], *, named: bool) -> str:
    return f"Deleting {'specified' if named else 'inferred'} internal topics {_listed(topics)}"


def undeleted_lines(topics: Iterable[DeletedTopic]) -> Iterator[str]:
    """Yield the topics that could not be deleted, for stderr."""
    failed = [(topic.topic, topic.failure) for topic in topics if topic.failure]
    for name, failure in failed:
        yield f"ERROR: deleting topic {name}"
        yield f"java.util.concurrent.ExecutionException: {java_error(failure)}"
    if failed:
        yield "ERROR: java.lang.RuntimeException: Encountered an error deleting one or more topics"
