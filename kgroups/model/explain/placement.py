"""The coordinator, the state, the protocol, and the leader of a group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kgroups.model.embedded.connect import WorkerAssignment
from kgroups.model.groups import GroupState, GroupType

from .facts import GroupFacts
from .findings import Finding, info, problem, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    yield _coordinator(facts)
    yield from _state(facts)
    if facts.members:
        yield from _protocol(facts)
        yield from _leader(facts)


def _coordinator(facts: GroupFacts) -> Finding:
    node, placement = facts.group.coordinator, facts.placement
    where = f"its coordinator is broker {node.id} ({node.address}), found by {placement.how}"
    if placement.partition is None:
        return info("coordinator", where)
    kept = f"partition {placement.partition} of {placement.partitions} of __consumer_offsets"
    if placement.leader is None or placement.leader == node.id:
        return info("coordinator", f"{where}: the leader of {kept}, which the hash of the group's name selects")
    return warning(
        "coordinator",
        f"{where}; but the leader of {kept}, which the hash of the group's name selects, is now broker "
        f"{placement.leader}: the group is moving there",
    )


def _state(facts: GroupFacts) -> Iterator[Finding]:
    group = facts.group
    if group.members is None:
        yield info("state", f"it is a {group.type} group in state {group.state}; its members are not described")
    elif not group.members:
        yield info("state", f"it has no members, only committed offsets; its state is {group.state}")
    elif group.state in GroupState.REBALANCING and not facts.is_modern:
        reported = "subscriptions and assignments after the rebalance"
        if any(member.assignment.topics for member in group.members):
            reported = "subscriptions after the rebalance; the assignments are those before it"
        yield warning("state", f"it is rebalancing ({group.state}): brokers report {reported}")
    elif group.state in GroupState.REBALANCING:
        yield warning("state", f"it is changing to a new assignment ({group.state})")
    elif group.state == GroupState.NOT_READY:
        yield problem(
            "state", "its state is NotReady: its topology is incomplete; most often a source topic is missing"
        )


def _protocol(facts: GroupFacts) -> Iterator[Finding]:
    group, count = facts.group, len(facts.members)
    if group.type == GroupType.CONSUMER:
        yield info(
            "protocol",
            f"the broker assigns partitions with '{group.protocol}': the assignor that most members request, otherwise "
            "the first of group.consumer.assignors; no API reports what members request",
        )
    elif group.type == GroupType.SHARE:
        yield info(
            "protocol",
            f"the broker assigns partitions{_by(group.protocol)}: several members can share the records of a partition",
        )
    elif group.type == GroupType.STREAMS:
        yield info(
            "protocol",
            f"the broker assigns tasks{_by(group.protocol)}: a task is a subtopology on one partition of its topics; "
            "describe --topology shows the subtopologies",
        )
    elif group.type == GroupType.CLASSIC or group.type is None:
        if group.protocol:
            yield info(
                "protocol",
                f"the assignor is '{group.protocol}': "
                + ("its only member supports it" if count == 1 else f"all {count:,} members support it")
                + ", and it got the most votes; no API reports other candidates and their votes",
            )
        elif group.state == GroupState.COMPLETING_REBALANCE:
            yield info(
                "protocol",
                "all members have joined, and an assignor is chosen; brokers report it after the leader has assigned "
                "the partitions",
            )
        else:
            yield info("protocol", "no assignor is chosen yet: it is chosen when all members have joined")


def _by(assignor: str) -> str:
    return f" with '{assignor}'" if assignor else ""


def _leader(facts: GroupFacts) -> Iterator[Finding]:
    if facts.group.type not in (GroupType.CLASSIC, None):
        return  # there is no leader: the broker assigns
    url = next((worker["leader_url"] for worker in _worker_facts(facts) if worker.get("leader_url")), None)
    if facts.log and facts.log.leader:
        yield info(
            "leader",
            f"{facts.log.leader} is the leader: it computes the assignment and sends it to the coordinator",
            [facts.log.leader],
        )
    elif url:
        yield info("leader", f"its members report {url} as leader")
    else:
        yield info(
            "leader",
            "one of its members is the leader, which computes the assignment; only the group's records name it "
            "(--deep)",
        )


def _worker_facts(facts: GroupFacts) -> Iterator[Mapping[str, object]]:
    """Yield facts from Connect workers; the leader of a Schema Registry can differ from the leader of the group."""
    for member in facts.members:
        if isinstance(member.assignment.user_data, WorkerAssignment):
            yield member.assignment.user_data.facts()
