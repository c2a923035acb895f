"""Every exception that kgroups raises on purpose; each class knows the exit code it ends a command with.

    KgroupsError                     exit
    ├── UsageError                    2    a flag, argument or environment variable cannot be right
    ├── ConfigError                   2    a file or profile cannot be right
    ├── SandboxError                  1    Kafka could not be fetched, started or stopped on this machine
    ├── MissingPackage                2    something is asked for that an extra of this package brings
    ├── HistoryError                  1    history could not be collected, kept or read
    ├── ClusterUnreachable            1    no bootstrap server answered
    ├── DeadlineExceeded              1    the command's total --timeout is used up
    │   └── NotRequested                   ... before this request was sent
    ├── NotSent                       1    a change was not sent, because the command is being interrupted
    ├── OutcomeUnknown                1    a change was sent, and no answer came that could be read
    ├── BrokerUnavailable             1    one broker refused, dropped, or did not answer in --broker-timeout
    │   ├── DecodingTimeout                ... its response was not decoded in time
    │   ├── TlsRefused                     ... it and we found no TLS that both sides accept
    │   └── AuthenticationFailed           ... it did not believe who we are, or we got nothing to say it with
    ├── ProtocolError                 1    bytes that are not what Kafka's protocol says
    │   ├── LocalProtocolError             ... and we made them (a bug here)
    │   └── RemoteProtocolError            ... and the peer sent them (not Kafka, truncated, corrupt)
    │       ├── ResponseTooLarge               ... more of them than are accepted, packed or unpacked
    │       └── UndecodableRecord              ... in __consumer_offsets
    ├── UnsupportedVersion            1    a broker and this client share no version of an API
    └── UnsupportedMechanism          1    our wire client does not speak that SASL mechanism

A failure that concerns one group, topic or broker among many is not an exception but data: see
:class:`kgroups.model.outcome.Failure`.
"""

from __future__ import annotations


class KgroupsError(Exception):
    """The root. Its text is one line for a person: what is wrong, where, and the way out."""

    exit_code = 1


class UsageError(KgroupsError):
    """A flag, argument or environment variable that cannot be right; the text names it."""

    exit_code = 2


class ConfigError(KgroupsError):
    """A configuration file or profile that cannot be right; the text names file and line."""

    exit_code = 2


class SandboxError(KgroupsError):
    """Kafka could not be fetched, started or stopped on this machine."""


class MissingPackage(KgroupsError):
    """Something was asked for that needs an extra of this package; the text names the extra."""

    exit_code = 2


class HistoryError(KgroupsError):
    """History could not be collected, kept or read; the text names the topic, or the store and its file."""


class ClusterUnreachable(KgroupsError):
    """No bootstrap server gave an answer that is Kafka's."""


class DeadlineExceeded(KgroupsError):
    """The command's total time is used up."""


class NotRequested(DeadlineExceeded):
    """The command's total time was used up before this request was sent: no broker is to blame."""


class NotSent(KgroupsError):
    """A change was not sent, because the command is being interrupted."""


class OutcomeUnknown(KgroupsError):
    """A change was sent, and no answer came that could be read: it may be made or not."""


class BrokerUnavailable(KgroupsError):
    """One broker refused the connection, dropped it, or did not answer in time."""


class DecodingTimeout(BrokerUnavailable):
    """A response that arrived, and was not decoded in the time that was left."""


class TlsRefused(BrokerUnavailable):
    """No TLS that both sides accept: a certificate that is not trusted, or that is missing; no TLS there at all."""


class AuthenticationFailed(BrokerUnavailable):
    """A sign-in that was refused, by either side, or no token to sign in with. To try again is no use, and may lock
    the account."""


class ProtocolError(KgroupsError):
    """Bytes that are not what Kafka's protocol says."""


class LocalProtocolError(ProtocolError):
    """We were about to send something that Kafka's protocol cannot carry."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that is not Kafka's protocol."""


class ResponseTooLarge(RemoteProtocolError):
    """A response, or what its records unpack to, has more bytes than are accepted."""


class UndecodableRecord(RemoteProtocolError):
    """A record of ``__consumer_offsets`` that says nothing we know; with what of it could be read before that."""

    def __init__(
        self,
        reason: str,
        record_type: int | None = None,
        name: str | None = None,
        group: str | None = None,
        value_version: int | None = None,
    ) -> None:
        """
        :param reason: why, in a few words; or what else it is, a transaction marker.
        :param record_type: its id, which may be one that we do not know; ``None`` when the key has none.
        :param name: of the record type, where we know it.
        :param group: where the key could be read.
        :param value_version: where the value has one.
        """
        super().__init__(reason)
        self.reason = reason
        self.record_type = record_type
        self.name = name
        self.group = group
        self.value_version = value_version


class UnsupportedVersion(KgroupsError):
    """A broker and this client share no version of an API."""


class UnsupportedMechanism(KgroupsError):
    """A SASL mechanism that our wire client does not speak; librdkafka may."""
