"""The ACLs that requests need, and which one is missing when a broker rejects a request.

They follow Kafka's documentation, "Authorization: protocols and resources". READ, WRITE, DELETE, and ALTER each imply
DESCRIBE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .counts import some

GROUP, TOPIC, CLUSTER = "GROUP", "TOPIC", "CLUSTER"
"""Resource types, as Kafka's own tools spell them."""

CLUSTER_NAME = "kafka-cluster"
"""The only name of a resource of type CLUSTER."""

_DESCRIBE, _DESCRIBE_CONFIGS, _READ, _DELETE = "DESCRIBE", "DESCRIBE_CONFIGS", "READ", "DELETE"
_ALTER_CONFIGS = "ALTER_CONFIGS"

RESOURCES = {
    "GROUP_AUTHORIZATION_FAILED": GROUP,
    "TOPIC_AUTHORIZATION_FAILED": TOPIC,
    "CLUSTER_AUTHORIZATION_FAILED": CLUSTER,
}
"""Kafka's name of the error -> the type of the resource that it concerns."""

_MORE_THAN_DESCRIBE: Mapping[tuple[str, str], str] = {
    ("OffsetCommit", GROUP): _READ,
    ("OffsetCommit", TOPIC): _READ,
    ("OffsetDelete", GROUP): _DELETE,
    ("OffsetDelete", TOPIC): _READ,
    ("DeleteGroups", GROUP): _DELETE,
    ("AlterShareGroupOffsets", GROUP): _READ,
    ("AlterShareGroupOffsets", TOPIC): _READ,
    ("DeleteShareGroupOffsets", GROUP): _DELETE,
    ("DeleteShareGroupOffsets", TOPIC): _READ,
    ("DeleteTopics", TOPIC): _DELETE,
    ("LeaveGroup", GROUP): _READ,
    ("DescribeConfigs", GROUP): _DESCRIBE_CONFIGS,
    ("DescribeConfigs", TOPIC): _DESCRIBE_CONFIGS,
    ("DescribeConfigs", CLUSTER): _DESCRIBE_CONFIGS,
    ("DescribeClientQuotas", CLUSTER): _DESCRIBE_CONFIGS,
    ("IncrementalAlterConfigs", GROUP): _ALTER_CONFIGS,
    ("Fetch", TOPIC): _READ,
    ("DescribeProducers", TOPIC): _READ,
}
"""(API, resource type) -> the required operation, if other than DESCRIBE."""


class Acl(NamedTuple):
    """An operation on a resource; ``name`` is ``None`` if the broker does not report which resource."""

    operation: str
    resource: str
    name: str | None

    def __str__(self) -> str:
        if self.resource == CLUSTER:
            return f"{self.operation} on CLUSTER"
        return f"{self.operation} on {self.resource} {self.name}" if self.name else f"{self.of_each} of its members"

    @property
    def of_each(self) -> str:
        """The text of an ACL that is missing on several resources of that type."""
        return f"{self.operation} on each {self.resource}"


DESCRIBE_CLUSTER = Acl(_DESCRIBE, CLUSTER, CLUSTER_NAME)
"""A principal with this ACL lists all groups, others only groups that they can DESCRIBE (KIP-231, Kafka 2.1)."""


class Unchecked(str):
    """Why it is unknown whether any topics are hidden: a request failed, which says nothing about permissions."""

    __slots__ = ()


HiddenTopics = frozenset[str] | str
"""The topics without permission DESCRIBE, or why it is unknown which they are; empty: none."""


def omitted_commits(hidden: HiddenTopics) -> str | None:
    """Return why committed offsets of any group may be missing in responses; ``None`` if none are."""
    if isinstance(hidden, Unchecked):
        return f"whether committed offsets are hidden is unknown ({hidden})"
    if isinstance(hidden, str):
        return f"committed offsets on topics without permission DESCRIBE may be hidden ({hidden})" if hidden else None
    names = some(sorted(hidden))
    return f"committed offsets on topics without permission DESCRIBE are hidden: {names}" if hidden else None


OMITTED_GROUPS_NOTICE = (
    f"the list may be partial: without {DESCRIBE_CLUSTER} brokers leave out groups on which DESCRIBE is missing, "
    "without an error"
)
OMITTED_COMMITS_NOTICE = (
    "commits on topics on which DESCRIBE is missing are not shown: brokers leave them out without an error"
)
"""Notices about items that brokers omit silently, so that their names are unknown."""
UNCHECKED_COMMITS_NOTICE = "whether ACLs hide committed offsets is unknown: the check failed"
COMMITS_NOTICES = frozenset({OMITTED_COMMITS_NOTICE, UNCHECKED_COMMITS_NOTICE})
"""Committed offsets are, or may be, hidden."""


def needed_acls(api: str, group: str, topics: Iterable[str] = ()) -> Iterator[Acl]:
    """Yield the ACLs that a change of a group needs."""
    yield Acl(_MORE_THAN_DESCRIBE[api, GROUP], GROUP, group)
    for topic in topics:
        yield Acl(_MORE_THAN_DESCRIBE[api, TOPIC], TOPIC, topic)


def rejection_notices(needed: Iterable[Acl]) -> Iterator[str]:
    """Yield that brokers will reject a change without these ACLs; one notice for each kind."""
    kinds: dict[tuple[str, str], list[Acl]] = {}
    for acl in needed:
        kinds.setdefault((acl.operation, acl.resource), []).append(acl)
    for acls in kinds.values():
        names = some([acl.name or "" for acl in acls])
        needs = str(acls[0]) if len(acls) == 1 else f"{acls[0].of_each}: {names}"
        yield f"brokers will reject the change: not authorized: needs {needs}"


def missing_acl(error: str, api: str, *, group: str | None = None, topic: str | None = None) -> Acl | None:
    """Return the ACL whose absence caused an error; ``None`` if the error is not about authorization.

    :param error: Kafka's name of the error.
    :param group: the group that was rejected, if any; likewise ``topic``.
    """
    resource = RESOURCES.get(error)
    if resource is None:
        return None
    name = {GROUP: group, TOPIC: topic, CLUSTER: CLUSTER_NAME}[resource]
    return Acl(_MORE_THAN_DESCRIBE.get((api, resource), _DESCRIBE), resource, name)
