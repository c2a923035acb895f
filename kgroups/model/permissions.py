"""What a principal must be allowed to do: which ACL is missing when a broker refuses.

The facts are those of Kafka's documentation, "Authorization: protocols and resources". READ, WRITE, DELETE and ALTER
each imply DESCRIBE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

GROUP, TOPIC, CLUSTER = "GROUP", "TOPIC", "CLUSTER"
"""Kinds of resources, as Kafka's own tools write them."""

CLUSTER_NAME = "kafka-cluster"
"""The one name that a resource of kind CLUSTER has."""

_DESCRIBE, _READ, _DELETE = "DESCRIBE", "READ", "DELETE"

RESOURCES = {
    "GROUP_AUTHORIZATION_FAILED": GROUP,
    "TOPIC_AUTHORIZATION_FAILED": TOPIC,
    "CLUSTER_AUTHORIZATION_FAILED": CLUSTER,
}
"""By Kafka's name of the error: the kind of resource that is shut."""

_MORE_THAN_DESCRIBE: Mapping[tuple[str, str], str] = {
    ("OffsetCommit", GROUP): _READ,
    ("OffsetCommit", TOPIC): _READ,
    ("OffsetDelete", GROUP): _DELETE,
    ("OffsetDelete", TOPIC): _READ,
    ("DeleteGroups", GROUP): _DELETE,
    ("LeaveGroup", GROUP): _READ,
    ("Fetch", TOPIC): _READ,
}
"""By API and kind of resource: the operation, where it is another than DESCRIBE."""


class Acl(NamedTuple):
    """An operation on a resource; ``name`` is ``None`` where the broker does not tell which resource it is."""

    operation: str
    resource: str
    name: str | None

    def __str__(self) -> str:
        if self.resource == CLUSTER:
            return f"{self.operation} on CLUSTER"
        return f"{self.operation} on {self.resource} {self.name}" if self.name else f"{self.of_each} of its members"

    @property
    def of_each(self) -> str:
        """The same where it is missing on several resources of that kind."""
        return f"{self.operation} on each {self.resource}"


DESCRIBE_CLUSTER = Acl(_DESCRIBE, CLUSTER, CLUSTER_NAME)
"""Who has it sees all groups in a list; others only those that they may DESCRIBE (KIP-231, Kafka 2.1)."""


OMITTED_GROUPS_NOTICE = (
    f"the list may be partial: without {DESCRIBE_CLUSTER} brokers leave out, in silence, each group on which DESCRIBE "
    "is missing"
)
OMITTED_COMMITS_NOTICE = (
    "commits on topics on which DESCRIBE is missing are not shown: brokers leave them out, in silence"
)
"""Remarks on what nobody can name."""


def missing_acl(error: str, api: str, *, group: str | None = None, topic: str | None = None) -> Acl | None:
    """The ACL that would have let a request pass; ``None`` when the error is not about one.

    :param error: Kafka's name of it.
    :param group: the one that was refused, where there is one; likewise ``topic``.
    """
    resource = RESOURCES.get(error)
    if resource is None:
        return None
    name = {GROUP: group, TOPIC: topic, CLUSTER: CLUSTER_NAME}[resource]
    return Acl(_MORE_THAN_DESCRIBE.get((api, resource), _DESCRIBE), resource, name)
