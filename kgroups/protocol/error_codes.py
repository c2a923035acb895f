"""How to react to a broker's error codes: retry, look up the broker again, or report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.outcome import Failure, Scope
from kgroups.model.visible import one_line

from .codes import Code

__all__ = ["BACK_OFF", "LEADER_MOVED", "MOVED", "NOT_AUTHORIZED", "Code", "KafkaError", "kafka_error"]

MOVED = frozenset({Code.not_coordinator})
"""The group has another coordinator now: look it up again."""

BACK_OFF = frozenset({Code.coordinator_load_in_progress, Code.coordinator_not_available, Code.request_timed_out})
"""The coordinator is not ready: back off and retry."""

DOUBTFUL = frozenset({Code.request_timed_out, Code.coordinator_not_available})
"""Errors after which the outcome of a write is unknown: the coordinator may have written it to its log, without
acknowledgment by enough replicas."""

LEADER_MOVED = frozenset(
    {
        Code.not_leader_or_follower,
        Code.leader_not_available,
        Code.unknown_leader_epoch,
        Code.fenced_leader_epoch,
        Code.offset_not_available,
        Code.replica_not_available,
        Code.kafka_storage_error,
    }
)
"""The partition has another leader, or none at the moment: refresh the metadata and retry."""

NOT_AUTHORIZED = frozenset(
    {Code.group_authorization_failed, Code.topic_authorization_failed, Code.cluster_authorization_failed}
)
"""An ACL is missing; which one depends on the request and the resource (see :mod:`kgroups.model.permissions`)."""

_MESSAGES = {
    **dict.fromkeys(NOT_AUTHORIZED, "not authorized"),
    Code.group_id_not_found: "the group does not exist",
    Code.invalid_group_id: "not a valid group ID",
    Code.unknown_topic_or_partition: "the topic or partition does not exist (deleted?)",
    Code.leader_not_available: "the partition has no leader",
    Code.coordinator_not_available: "the coordinator is not available",
    Code.coordinator_load_in_progress: "the coordinator is still loading its groups",
    Code.not_coordinator: "not the coordinator (it moves, or has not taken over yet)",
    Code.not_leader_or_follower: "not the leader of the partition (it moves, or has not taken over yet)",
}

_REASONS = {
    **dict.fromkeys(NOT_AUTHORIZED, Reason.NOT_AUTHORIZED),
    Code.group_id_not_found: Reason.GROUP_NOT_FOUND,
    Code.non_empty_group: Reason.GROUP_HAS_MEMBERS,
    Code.group_subscribed_to_topic: Reason.GROUP_HAS_MEMBERS,
    Code.unknown_topic_or_partition: Reason.TOPIC_NOT_FOUND,
    Code.unknown_topic_id: Reason.TOPIC_NOT_FOUND,
    Code.leader_not_available: Reason.LEADER_UNAVAILABLE,
    Code.not_leader_or_follower: Reason.LEADER_UNAVAILABLE,
    Code.coordinator_not_available: Reason.COORDINATOR_UNAVAILABLE,
    Code.coordinator_load_in_progress: Reason.COORDINATOR_UNAVAILABLE,
    Code.not_coordinator: Reason.COORDINATOR_UNAVAILABLE,
    Code.request_timed_out: Reason.NO_RESPONSE,
    Code.unsupported_version: Reason.VERSION_UNSUPPORTED,
}


class KafkaError(NamedTuple):
    """An error that a broker reported for one group, topic, or partition."""

    code: Code
    message: str

    @property
    def name(self) -> str:
        """Kafka's name, such as GROUP_ID_NOT_FOUND."""
        return self.code.name.upper()

    @property
    def reason(self) -> Reason:
        """The reason for programs; several errors of Kafka share one."""
        return _REASONS.get(self.code, Reason.BROKER_ERROR)

    def failure(self, scope: Scope, name: str, *, api: str, broker: int | None = None) -> Failure:
        """Return the failure of that group, topic, ``topic-partition``, or broker, with the missing ACL if any."""
        failure = Failure(scope, name, self.message, self.name, int(self.code), api, broker, reason=self.reason)
        if self.code not in NOT_AUTHORIZED:
            return failure
        from kgroups.model.permissions import missing_acl

        topic = {Scope.TOPIC: name, Scope.PARTITION: name.rpartition("-")[0]}.get(scope)
        acl = missing_acl(self.name, api, group=name if scope is Scope.GROUP else None, topic=topic)
        if acl is None:
            return failure
        message, general = f"{self.message}: needs {acl}", f"{self.message}: needs {acl.of_each}"
        return failure._replace(message=message, acl=acl, general=general)


def kafka_error(code: int, message: str | None = None, messages: Mapping[Code, str] = _MESSAGES) -> KafkaError:
    """Return an error with kgroups' message if there is one, else the broker's, else Kafka's name of the error.

    :param messages: kgroups' messages that differ for an API.
    """
    code = Code(code)
    return KafkaError(
        code, messages.get(code) or _MESSAGES.get(code) or one_line(message or "") or code.name.replace("_", " ")
    )
