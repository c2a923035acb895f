"""Kafka's sentences about failures, as they print them, because scripts match them.

Each is a complete line of the stream that the Java tools use. What kgroups knows in addition is on stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TextIO

from kgroups.errors import (
    AuthenticationFailed,
    ClusterUnreachable,
    ConfigError,
    DeadlineExceeded,
    KgroupsError,
    Reason,
    UnknownTopic,
    UsageError,
)
from kgroups.model.outcome import NOT_FOUND, Failure, Scope
from kgroups.model.visible import escape

from .joptsimple import ParsedOptions
from .releases import release
from .topics import named_partitions

if TYPE_CHECKING:
    from kgroups.model.groups import Group

_ERRORS = "org.apache.kafka.common.errors."
_EXECUTION = "java.util.concurrent.ExecutionException: "
_UNKNOWN_TOPIC = f"{_ERRORS}UnknownTopicOrPartitionException: This server does not host this topic-partition."
_NO_CLIENT = "Failed to create new KafkaAdminClient"
_NO_BROKER = f"{_EXECUTION}org.apache.kafka.common.KafkaException: Failed to find brokers to send ListGroups"
_OF_GROUPS = "Error while executing groups command"
_AUTHORIZATION = (29, 30, 31)
"""Error codes of topics, groups, and the cluster."""
_CALLS = {
    "application": "describeConsumerGroups",
    "consumer": "describeConsumerGroups",
    "share": "describeShareGroups",
    "streams": "describeStreamsGroups",
}
_WRAPPED = ("reset-offsets", "delete-offsets")
"""Actions that show an exception of the admin client within another one."""


Lines = tuple[str, ...]
"""A sentence, often after an empty line."""


class CausedBy(str):
    """The message of a :class:`Failure` that is the text of Kafka's exception."""

    __slots__ = ()


class Sentence(str):
    """The message of a :class:`Failure` that is a sentence of Kafka's tool about one group."""

    __slots__ = ()


class ToolError(UsageError):
    """An error with the text of Kafka's exception; ``str(error)`` is what kgroups knows about it."""

    def __init__(self, cause: str, text: str) -> None:
        super().__init__(text)
        self.cause = cause
        self.before: Lines = ()
        """The lines that Kafka's tool prints before the exception."""


def failed_due_to(kind: str, cause: str) -> Lines:
    """Return the sentence of a command that ends with an exception.

    :param kind: ``consumer``, ``share``, or ``streams``; ``application`` for kafka-streams-application-reset, which
        names the exception; empty for kafka-groups.
    """
    if kind == "application":
        return (f"ERROR: {cause}",)
    if not kind:
        return (f"{_OF_GROUPS} : {cause}",)
    return "", f"Error: Executing {kind} group command failed due to {cause}"


def other_type(kind: str, name: str) -> Failure:
    """Return the failure of a group of another type than the tool's."""
    return Failure(
        Scope.GROUP, name, CausedBy(f"{_ERRORS}GroupIdNotFoundException: Group {name} is not a {kind} group.")
    )


def not_a_consumer_group(group: Group) -> Failure:
    """Return the failure of a group of another type, or of another program, such as a Connect worker."""
    name, protocol_type = group.group, group.protocol_type
    if protocol_type in ("share", "streams"):
        return other_type("consumer", name)
    text = f"GroupId {name} is not a consumer group ({protocol_type})."
    return Failure(Scope.GROUP, name, CausedBy(f"java.lang.IllegalArgumentException: {text}"))


def not_part(group: str) -> Sentence:
    """Return the sentence about a streams group that has not committed on a topic of a reset."""
    return Sentence(f"One or more topics are not part of the group '{group}'.")


def of_error(error: KgroupsError, parsed: ParsedOptions) -> Lines | None:
    """Return Kafka's sentence about an error that ends the command; ``None`` if it has none."""
    kind = parsed.kind
    match error:
        case ToolError():
            return *error.before, *failed_due_to(kind, error.cause)
        case UnknownTopic():
            return failed_due_to(kind, _unknown_topic(error, parsed))
        case ConfigError():
            return _no_client(kind)
        case AuthenticationFailed() if not _lists(kind, parsed):
            cause = f"SaslAuthenticationException: {error.received or error.text}"
            return failed_due_to(kind, _wrap(parsed) + _ERRORS + cause)
        case AuthenticationFailed():
            return failed_due_to(kind, _no_broker(kind))
        case ClusterUnreachable() | DeadlineExceeded():
            if error.reason in (Reason.NAME_NOT_RESOLVED, Reason.INVALID_ADDRESS):
                return _no_client(kind)
            return _no_response(kind, parsed)
    return None


def _no_client(kind: str) -> Lines:
    exception = "org.apache.kafka.common.KafkaException: " if kind == "application" else ""
    return failed_due_to(kind, exception + _NO_CLIENT)


def _wrap(parsed: ParsedOptions) -> str:
    return _EXECUTION if parsed.kind == "application" or parsed.any_of(*_WRAPPED) else ""


def _unknown_topic(error: UnknownTopic, parsed: ParsedOptions) -> str:
    if error.partitions:
        named = named_partitions(() if "from-file" in parsed else (*parsed.all("topic"), *parsed.all("input-topic")))
        given = [partition for topic, partition in named if topic == error.topic and partition in error.partitions]
        partitions = ",".join(f"{error.topic}-{partition}" for partition in given or error.partitions)
        return f'The partitions "{partitions}" do not exist'
    if error.topic in (*parsed.all("topic"), *parsed.all("input-topic")):  # without partitions
        return _UNKNOWN_TOPIC.partition(": ")[2]
    return _EXECUTION + _UNKNOWN_TOPIC


def _lists(kind: str, parsed: ParsedOptions) -> bool:
    """Return whether the first request of the action is ListGroups."""
    return parsed.any_of("list", "all-groups") or ("delete" in parsed and kind != "consumer")


def _no_broker(kind: str) -> str:
    return release().share_no_broker if kind == "share" else _NO_BROKER


def _no_response(kind: str, parsed: ParsedOptions) -> Lines:
    """Return the sentence if no broker responds, which depends on the first request of the action."""
    timeout = "Timed out waiting for a node assignment. Call: "
    exception = f"{_ERRORS}TimeoutException: {timeout}"
    if _lists(kind, parsed):
        return failed_due_to(kind, _no_broker(kind))
    if "delete" in parsed:
        cause = f"could not be deleted due to: {exception}deleteConsumerGroups(api=FIND_COORDINATOR)"
        names = dict.fromkeys(parsed.all("group"))
        return "", "Error: Deletion of some consumer groups failed:", *(f"* Group '{name}' {cause}" for name in names)
    if "delete-offsets" in parsed:
        if kind == "share":
            return "", f"Error: Encounter some unknown error: {exception}deleteShareGroupOffsets(api=FIND_COORDINATOR)"
        return "", "Error: Encountered some unknown error: REQUEST_TIMED_OUT"
    call = f"{_CALLS[kind]}(api=FIND_COORDINATOR)"
    if "describe" in parsed:
        return failed_due_to(kind, exception + call)
    return (timeout + call,) if kind == "share" else failed_due_to(kind, _EXECUTION + exception + call)


def of_failures(failures: Iterable[Failure], parsed: ParsedOptions) -> tuple[list[Lines], list[Failure]]:
    """Return Kafka's sentences, and the failures that they do not describe completely."""
    sentences: dict[Lines, None] = {}
    others = []
    for failure in sorted(failures, key=Failure.sort_key):
        sentence = _of_failure(failure, parsed)
        if sentence:
            sentences[sentence] = None
        if not sentence or failure.scope not in (Scope.GROUP, Scope.PARTITION) or failure.acl:
            others.append(failure)
    return list(sentences), others


def _of_failure(failure: Failure, parsed: ParsedOptions) -> Lines | None:
    name, kind = failure.name, parsed.kind
    if isinstance(failure.message, CausedBy):
        return failed_due_to(kind, _wrap(parsed) + failure.message)
    if isinstance(failure.message, Sentence):
        return "", f"Error: {failure.message}"
    if failure.state and "reset-offsets" in parsed:
        return _not_inactive(failure, kind)
    if failure.error == NOT_FOUND and failure.scope is Scope.GROUP:
        return _not_found(name, parsed)
    if failure.code in _AUTHORIZATION:
        return _not_authorized(failure, parsed)
    if failure.code == 3 and "describe" in parsed:
        return failed_due_to(kind, _EXECUTION + _UNKNOWN_TOPIC)
    if failure.scope is Scope.PARTITION and failure.error is None and "shift-by" in parsed:
        return (f"Cannot shift offset for partition {name} since there is no current committed offset",)
    return None


def _not_inactive(failure: Failure, kind: str) -> Lines:
    if kind == "share":
        return (f"Share group '{failure.name}' is not empty.",)
    inactive = f"Assignments can only be reset if the group '{failure.name}' is inactive"
    return "", f"Error: {inactive}, but the current state is {failure.state}."


def _not_found(name: str, parsed: ParsedOptions) -> Lines:
    if "reset-offsets" in parsed and "input-topic" in parsed:
        return "", f"Error: {not_part(name)}"
    if "delete-offsets" in parsed and parsed.kind == "consumer":
        return "", "Error: The group id does not exist."
    cause = f"{_ERRORS}GroupIdNotFoundException: Group {name} not found."
    return failed_due_to(parsed.kind, _wrap(parsed) + cause)


def _not_authorized(failure: Failure, parsed: ParsedOptions) -> Lines:
    from .text.operations import java_error, java_message

    if "delete-offsets" in parsed and failure.scope is Scope.GROUP:
        return "", f"Error: {java_message(failure)}"
    if parsed.kind == "share" and "reset-offsets" in parsed:
        return (java_error(failure).partition(": ")[2],)
    return failed_due_to(parsed.kind, _wrap(parsed) + java_error(failure))


def own_words(text: str, kind: str) -> str:
    """Return a message without an option that two tools lack: theirs is a fixed time limit."""
    return text if kind not in ("", "application") else text.replace("--timeout (", "the time limit (")


def print_sentence(lines: Lines) -> None:
    """Print the lines of a sentence to the stream on which Kafka's tools print it: errors of tools are on stdout."""
    stream = sys.stdout if not lines[0] or lines[0].startswith(_OF_GROUPS) else sys.stderr
    show = escape_for(stream)
    for line in lines:
        print(show(line), file=stream)
    stream.flush()


def escape_for(stream: TextIO) -> Callable[[str], str]:
    """Return the function that formats names from the cluster: escaped for a terminal, otherwise unchanged."""
    if not stream.isatty():
        return str
    return escape
