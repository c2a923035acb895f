"""The exceptions of kgroups; each class has the exit code of a command that ends with it.

    KgroupsError                     exit
    ├── UsageError                    2    an invalid option, argument, or environment variable
    ├── ConfigError                   2    an invalid configuration file or profile
    ├── SandboxError                  1    Kafka cannot be downloaded, started, or stopped on this machine
    ├── MissingPackage                2    an optional package is not installed
    ├── HistoryError                  1    history cannot be collected, stored, or read
    ├── PositionsError                1    positions outside Kafka, such as a checkpoint, cannot be read
    ├── ClusterUnreachable            1    no bootstrap server responded
    ├── DeadlineExceeded              1    the command's --timeout expired
    │   └── NotRequested                   ... before this request was sent
    ├── NotSent                       1    a change was not sent, because the command was interrupted
    │   └── NotAsPlanned                   ... because its groups are not as planned
    ├── OutcomeUnknown                1    a change was sent, and no readable response arrived
    ├── BrokerUnavailable             1    one broker refused or closed the connection, or did not respond in time
    │   ├── DecodingTimeout                ... its response was not decoded in time
    │   ├── TlsRefused                     ... the TLS handshake failed
    │   └── AuthenticationFailed           ... authentication failed, or there is no token to authenticate with
    ├── ProtocolError                 1    bytes that violate Kafka's protocol
    │   ├── LocalProtocolError             ... made by kgroups (a bug)
    │   └── RemoteProtocolError            ... sent by the peer (not Kafka, truncated, corrupt)
    │       ├── ResponseTooLarge               ... more bytes than kgroups accepts, compressed or decompressed
    │       └── UndecodableRecord              ... of a coordinator, in __consumer_offsets or __share_group_state
    ├── UnsupportedVersion            1    no version of an API is supported by both the broker and kgroups
    └── UnsupportedMechanism          1    the wire client does not support that SASL mechanism

A failure that affects one group, topic, or broker of many is data, not an exception: see
:class:`kgroups.model.outcome.Failure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

EXIT_OK = 0
EXIT_FAILED = 1


class Reason(StrEnum):
    """The reason of a failure, for programs: messages may change, these values do not; new values may be added."""

    # Connections.
    NAME_NOT_RESOLVED = "name_not_resolved"
    INVALID_ADDRESS = "invalid_address"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_FAILED = "connection_failed"
    """No connection for another reason, such as no route to the host."""
    CONNECTION_CLOSED = "connection_closed"
    NO_RESPONSE = "no_response"
    """A broker, or another server, did not respond in time."""
    TIMEOUT = "timeout"
    """The time limit of the whole command expired."""
    THROTTLED = "throttled"
    CLUSTER_UNREACHABLE = "cluster_unreachable"
    """No bootstrap server responded, for different reasons."""
    NO_BROKERS = "no_brokers"

    # TLS.
    TLS_REQUIRED = "tls_required"
    NOT_TLS = "not_tls"
    TLS_INCOMPATIBLE = "tls_incompatible"
    """No TLS version or cipher suite in common."""
    TLS_FAILED = "tls_failed"
    CERTIFICATE_UNTRUSTED = "certificate_untrusted"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_NOT_YET_VALID = "certificate_not_yet_valid"
    CERTIFICATE_NAME_MISMATCH = "certificate_name_mismatch"
    CLIENT_CERTIFICATE_REQUIRED = "client_certificate_required"
    CLIENT_CERTIFICATE_REJECTED = "client_certificate_rejected"

    # Authentication and authorization.
    AUTHENTICATION_FAILED = "authentication_failed"
    AUTHENTICATION_NOT_SUPPORTED = "authentication_not_supported"
    """The listener does not use SASL."""
    MECHANISM_UNSUPPORTED = "mechanism_unsupported"
    TOKEN_UNAVAILABLE = "token_unavailable"
    TOKEN_EXPIRED = "token_expired"
    NOT_AUTHORIZED = "not_authorized"

    # Groups, topics, and partitions.
    NO_MATCH = "no_match"
    """Nothing matches a pattern."""
    GROUP_NOT_FOUND = "group_not_found"
    TOPIC_NOT_FOUND = "topic_not_found"
    """The topic, or a partition of it, does not exist."""
    COORDINATOR_UNAVAILABLE = "coordinator_unavailable"
    LEADER_UNAVAILABLE = "leader_unavailable"
    BROKER_ERROR = "broker_error"
    """A broker reported another error, which ``error`` names."""
    NOT_APPLICABLE = "not_applicable"
    """The request does not apply to this group, topic, or partition, or what it depends on is unknown."""

    # Protocol.
    NOT_KAFKA = "not_kafka"
    """The port speaks another protocol."""
    INVALID_RESPONSE = "invalid_response"
    RESPONSE_TOO_LARGE = "response_too_large"
    DECODING_TIMEOUT = "decoding_timeout"
    VERSION_UNSUPPORTED = "version_unsupported"

    # Changes.
    GROUP_HAS_MEMBERS = "group_has_members"
    STILL_COMMITTING = "still_committing"
    """A client that is not a member commits for the group."""
    OFFSETS_HIDDEN = "offsets_hidden"
    """Committed offsets that ACLs hide would be lost."""
    CHANGED = "changed"
    """What a plan, an undo file, or a snapshot relies on has changed."""
    NOT_SAVED = "not_saved"
    """It could not be read when the snapshot was saved."""
    NOT_SENT = "not_sent"
    OUTCOME_UNKNOWN = "outcome_unknown"
    UNDO_INCOMPLETE = "undo_incomplete"
    """The undo file lacks results, or old offsets, of the change."""

    # This machine and its user.
    INVALID_USAGE = "invalid_usage"
    INVALID_CONFIG = "invalid_config"
    MISSING_PACKAGE = "missing_package"
    OUT_OF_RESOURCES = "out_of_resources"
    SANDBOX_FAILED = "sandbox_failed"
    HISTORY_FAILED = "history_failed"
    POSITIONS_UNREADABLE = "positions_unreadable"
    """Positions outside Kafka, such as a checkpoint of Spark, cannot be read."""
    INTERNAL_ERROR = "internal_error"


ERROR_PAGE = "errors.md"
"""The page of the documentation that has a section for each reason."""


def reference_of(reason: Reason | None) -> str | None:
    """Return the page and the anchor of a reason in the documentation, such as ``errors.md#no_response``."""
    return None if reason is None else f"{ERROR_PAGE}#{reason}"


class KgroupsError(Exception):
    """The root of all errors. ``str(error)`` is one line: what happened, and where."""

    exit_code = 1
    default_reason = Reason.INTERNAL_ERROR

    peer: str | None = None
    """The broker or server that the error is about; ``str(error)`` starts with it."""
    hint: str | None = None
    """What to do about it, as an imperative; not part of ``str(error)``."""

    def __init__(
        self, text: str = "", *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None
    ) -> None:
        super().__init__(text)
        self.peer = peer
        self.reason = reason or self.default_reason
        self.hint = hint

    @property
    def text(self) -> str:
        """The message without the peer."""
        return str(self.args[0]) if self.args else ""

    @property
    def reference(self) -> str | None:
        """The section of the documentation about the reason, such as ``errors.md#no_response``."""
        return reference_of(self.reason)

    def at(self, peer: str) -> Self:
        """Set the peer unless it is already set."""
        self.peer = self.peer or peer
        return self

    def within(self, context: str) -> Self:
        """Prefix the message with what was in progress."""
        self.args = (f"{context}: {self.text}",)
        return self

    def __str__(self) -> str:
        return f"{self.peer}: {self.text}" if self.peer else self.text


class UsageError(KgroupsError):
    """An option, argument, or environment variable is invalid; the text names it."""

    exit_code = 2
    default_reason = Reason.INVALID_USAGE


class UnknownTopic(UsageError):
    """A named topic does not exist, or does not have the partitions that are named with it."""

    def __init__(self, text: str, topic: str = "", partitions: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.topic = topic
        self.partitions = tuple(partitions)


class ConfigError(KgroupsError):
    """A configuration file or profile is invalid; the text names file and line."""

    exit_code = 2
    default_reason = Reason.INVALID_CONFIG


class SandboxError(KgroupsError):
    """Kafka cannot be downloaded, started, or stopped on this machine."""

    default_reason = Reason.SANDBOX_FAILED


class MissingPackage(KgroupsError):
    """An optional package is not installed; the text names the extra that installs it."""

    exit_code = 2
    default_reason = Reason.MISSING_PACKAGE


class HistoryError(KgroupsError):
    """History cannot be collected, stored, or read; the text names the topic, or the store and its file.

    ``fault``: the file and what is wrong with it, without the store.
    """

    default_reason = Reason.HISTORY_FAILED
    fault: str | None = None


class PositionsError(KgroupsError):
    """Positions outside Kafka cannot be read; the text names the file."""

    default_reason = Reason.POSITIONS_UNREADABLE


class ClusterUnreachable(KgroupsError):
    """No bootstrap server gave a valid Kafka response."""

    default_reason = Reason.CLUSTER_UNREACHABLE


class DeadlineExceeded(KgroupsError):
    """The time limit of the whole command expired."""

    default_reason = Reason.TIMEOUT


class NotRequested(DeadlineExceeded):
    """The time limit expired before this request was sent: no broker is at fault."""


class NotSent(KgroupsError):
    """A change was not sent, because the command was interrupted."""

    default_reason = Reason.NOT_SENT


class NotAsPlanned(NotSent):
    """A change was not sent, because groups in it are not as planned. ``failures``: group -> its failure."""

    def __init__(self, failures: Mapping[str, Any]) -> None:
        super().__init__("not sent: its groups are not as planned")
        self.failures = failures


class OutcomeUnknown(KgroupsError):
    """A change was sent, and no readable response arrived: it may have been applied."""

    default_reason = Reason.OUTCOME_UNKNOWN


class BrokerUnavailable(KgroupsError):
    """One broker refused or closed the connection, or did not respond in time."""

    default_reason = Reason.CONNECTION_FAILED


class DecodingTimeout(BrokerUnavailable):
    """A response arrived and was not decoded in the time that was left."""

    default_reason = Reason.DECODING_TIMEOUT


class TlsRefused(BrokerUnavailable):
    """The TLS handshake failed: an untrusted or missing certificate, or a listener without TLS."""

    default_reason = Reason.TLS_FAILED


class AuthenticationFailed(BrokerUnavailable):
    """Either side rejected the authentication, or there is no token. A retry is useless and may lock the account."""

    default_reason = Reason.AUTHENTICATION_FAILED

    received: str | None = None
    """The broker's message."""


class ProtocolError(KgroupsError):
    """Bytes that violate Kafka's protocol."""

    default_reason = Reason.INVALID_RESPONSE


class LocalProtocolError(ProtocolError):
    """kgroups was about to send something that Kafka's protocol cannot express."""

    default_reason = Reason.INTERNAL_ERROR


class RemoteProtocolError(ProtocolError):
    """The peer sent something that is not Kafka's protocol."""


class ResponseTooLarge(RemoteProtocolError):
    """A response, or its decompressed records, has more bytes than kgroups accepts."""

    default_reason = Reason.RESPONSE_TOO_LARGE


class UndecodableRecord(RemoteProtocolError):
    """A record of a coordinator in an unknown form, with the parts that were decoded."""

    def __init__(
        self,
        cause: str,
        record_type: int | None = None,
        name: str | None = None,
        group: str | None = None,
        value_version: int | None = None,
        key: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe the record.

        :param cause: a short reason, or what the record is instead, such as a transaction marker.
        :param record_type: the type ID, which may be unknown; ``None`` if the key has none.
        :param name: the name of the record type, if it is known.
        :param group: the group, if the key was decoded.
        :param value_version: the version of the value, if it has one.
        :param key: the fields of the key, if it was decoded.
        """
        super().__init__(cause)
        self.cause = cause
        self.record_type = record_type
        self.name = name
        self.group = group
        self.value_version = value_version
        self.key = key


class UnsupportedVersion(KgroupsError):
    """No version of an API is supported by both the broker and kgroups."""

    default_reason = Reason.VERSION_UNSUPPORTED


class UnsupportedMechanism(KgroupsError):
    """The wire client does not support this SASL mechanism; librdkafka may."""

    default_reason = Reason.MECHANISM_UNSUPPORTED


def install_command(extra: str) -> str:
    """Return the command that installs an extra, also for a kgroups that was installed from a clone."""
    return f"pip install 'kgroups[{extra}]'; in a clone of the repository: pip install '.[{extra}]'"
