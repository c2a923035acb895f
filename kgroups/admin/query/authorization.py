"""What brokers hide from a principal without an error: groups in lists, and committed offsets on topics.

One rule for all commands, which never assumes that nothing is hidden:

- Groups: hidden unless the principal has DESCRIBE on CLUSTER (KIP-231).
- Offsets: OffsetFetch leaves out topics without DESCRIBE. None are hidden if brokers have no authorizer, or if every
  topic that has a replica (DescribeLogDirs, which needs DESCRIBE on CLUSTER only) can be described. ACLs themselves
  show less: the principal is unknown, other authorizers list no ACLs, and with allow.everyone.if.no.acl.found, another
  principal's ACL hides a topic, too.

And which changes brokers will reject: those whose ACLs are not among the authorized operations on the group or topic,
which brokers report on request (KIP-430).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from kgroups.errors import KgroupsError
from kgroups.model.outcome import Outcome
from kgroups.model.permissions import (
    DESCRIBE_CLUSTER,
    GROUP,
    OMITTED_COMMITS_NOTICE,
    OMITTED_GROUPS_NOTICE,
    TOPIC,
    UNCHECKED_COMMITS_NOTICE,
    Acl,
    HiddenTopics,
    Unchecked,
)
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_groups
from kgroups.protocol.apis.describe_acls import DescribeAcls
from kgroups.protocol.apis.describe_log_dirs import DescribeLogDirs
from kgroups.protocol.apis.metadata import Metadata
from kgroups.protocol.error_codes import NOT_AUTHORIZED, KafkaError

from ..routing.query_coordinators import GroupQuery, query_coordinators

T = TypeVar("T")

_OPERATIONS: GroupQuery[frozenset[str]] = GroupQuery(
    "permissions read", describe_groups.OPERATIONS_API, describe_groups.GroupOperations
)

_AT_ONCE = 2_000
"""Topics that are described in one request."""


def missing_acls(operations: Collection[str] | None) -> tuple[Acl, ...]:
    """Return the missing ACL without which brokers omit groups from lists; empty if it is not missing.

    :param operations: the authorized operations on the cluster; ``None`` if brokers do not report them.
    """
    return () if operations is None or "DESCRIBE" in operations else (DESCRIBE_CLUSTER,)


def note_omitted_groups(outcome: Outcome[T], missing: tuple[Acl, ...]) -> Outcome[T]:
    """Add a notice and the missing ACLs, if any, to an outcome that depends on the list of groups."""
    return outcome.with_failures((), (OMITTED_GROUPS_NOTICE,))._replace(hidden_by=missing) if missing else outcome


def note_omitted_offsets(outcome: Outcome[T], hidden: HiddenTopics) -> Outcome[T]:
    """Add a notice to an outcome with commits if some are or may be omitted."""
    notice = UNCHECKED_COMMITS_NOTICE if isinstance(hidden, Unchecked) else OMITTED_COMMITS_NOTICE
    return outcome.with_failures((), (notice,)) if hidden else outcome


async def may_list_all(cluster: Cluster) -> bool:
    """Return whether the principal sees all groups, for brokers that do not report it (before Kafka 2.3)."""
    try:
        acls = await cluster.call_any(DescribeAcls(OFFSETS_TOPIC))
    except KgroupsError:
        return True  # ListGroups meets the same error and reports it
    return not (isinstance(acls, KafkaError) and acls.code in NOT_AUTHORIZED)


async def hidden_topics(cluster: Cluster, missing: Sequence[Acl] = (), selected: Collection[str] = ()) -> HiddenTopics:
    """Return the topics without permission DESCRIBE whose committed offsets brokers with an authorizer leave out.

    :param missing: the ACLs that are known to be missing.
    :param selected: the only topics that count, if not empty.
    """
    if selected:
        return await _without_describe(cluster, selected)
    if missing:
        return f"needs {missing[0]}"
    names: set[str] = set()
    calls = ((node, cluster.call(node, DescribeLogDirs())) for node in cluster.nodes_by_health())
    for node, sizes in await fan_out(calls):
        if isinstance(sizes, KafkaError) and sizes.code in NOT_AUTHORIZED:
            return f"needs {DESCRIBE_CLUSTER}"
        if isinstance(sizes, KafkaError):
            return Unchecked(f"{node}: topics are not listed: {sizes.message}")
        if isinstance(sizes, KgroupsError):
            return Unchecked(f"topics are not listed: {sizes}")
        names.update(topic for topic, _ in sizes)
    return await _without_describe(cluster, names)


async def rejected_without(cluster: Cluster, wanted: Iterable[Acl]) -> tuple[Acl, ...]:
    """Return which of the ACLs on groups and topics the principal lacks, as far as brokers report it."""
    acls = dict.fromkeys(wanted)
    named = {kind: sorted({acl.name for acl in acls if acl.resource == kind and acl.name}) for kind in (GROUP, TOPIC)}
    found = await query_coordinators(cluster, _OPERATIONS, dict.fromkeys(named[GROUP]))
    cluster.progress.clear()
    allowed = {(GROUP, name): operations for name, (_, operations) in found.found.items()}
    try:
        for at in range(0, len(named[TOPIC]), _AT_ONCE):
            request = Metadata(tuple(named[TOPIC][at : at + _AT_ONCE]), of_topics=True)
            for each in (await cluster.call_any(request)).topics:
                if each.error and each.error.code in NOT_AUTHORIZED:
                    allowed[TOPIC, each.topic] = frozenset()
                elif each.operations is not None and not each.error:
                    allowed[TOPIC, each.topic] = each.operations
    except KgroupsError:
        pass  # unknown: the change reports what it needs
    known = [(acl, allowed.get((acl.resource, acl.name or ""))) for acl in acls]
    return tuple(acl for acl, operations in known if operations is not None and acl.operation not in operations)


async def _without_describe(cluster: Cluster, names: Iterable[str]) -> HiddenTopics:
    hidden: set[str] = set()
    ordered = sorted(names)
    try:
        for at in range(0, len(ordered), _AT_ONCE):
            found = (await cluster.refresh(ordered[at : at + _AT_ONCE])).topics
            hidden.update(each.topic for each in found if each.error and each.error.code in NOT_AUTHORIZED)
    except KgroupsError as error:
        return Unchecked(f"topics are not described: {error}")
    return frozenset(hidden)
