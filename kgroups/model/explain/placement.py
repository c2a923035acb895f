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
        return info("coordinator", f"{where}: it leads {kept}, where the hash of the group's name leads to")
    return warning(
        "coordinator",
        f"{where}; but {kept}, where the hash of the group's name leads to, is led by broker {placement.leader} now: "
        "the group is moving there",
    )


def _state(facts: GroupFacts) -> Iterator[Finding]:
    group = facts.group
    if group.members is None:
        yield info("state", f"it is a {group.type} group in state {group.state}; its members are not described")
    elif not group.members:
        yield info("state", f"it has no members, its state is {group.state}: what it has committed is all there is")
    elif group.state in GroupState.REBALANCING and not facts.is_modern:
        yield warning(
            "state",
            f"it is rebalancing ({group.state}): brokers report subscriptions and assignments after that",
        )
    elif group.state in GroupState.REBALANCING:
        yield warning("state", f"it is on its way to another assignment ({group.state})")
    elif group.state == GroupState.NOT_READY:
        yield problem("state", "it is NotReady: its topology lacks something, most often a source topic")


def _protocol(facts: GroupFacts) -> Iterator[Finding]:
    group, count = facts.group, len(facts.members)
    if group.type == GroupType.CONSUMER:
        yield info(
            "protocol",
            f"the broker assigns, by '{group.protocol}': the assignor that most members ask for, or else the first of "
            "group.consumer.assignors; no API reports the members' preferences",
        )
    elif group.type == GroupType.SHARE:
        yield info(
            "protocol",
            f"the broker assigns{_by(group.protocol)}: several members may have a partition, and share its records",
        )
    elif group.type == GroupType.STREAMS:
        yield info(
            "protocol",
            f"the broker assigns{_by(group.protocol)}: tasks, each a subtopology on one partition of its topics; "
            "describe --topology has them",
        )
    elif group.type == GroupType.CLASSIC or group.type is None:
        if group.protocol:
            yield info(
                "protocol",
                f"the protocol in force is '{group.protocol}': "
                + ("its only member offers it" if count == 1 else f"all {count:,} members offer it")
                + ", and of those that all offer it got the most votes; no API reports the others and their "
                "votes",
            )
        elif group.state == GroupState.COMPLETING_REBALANCE:
            yield info(
                "protocol",
                "all have joined, and a protocol is chosen; brokers report which one after the leader has assigned",
            )
        else:
            yield info("protocol", "no protocol is chosen yet: that is done when all members have joined")


def _by(assignor: str) -> str:
    return f", by '{assignor}'" if assignor else ""


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
        yield info("leader", f"its members say that {url} leads")
    else:
        yield info(
            "leader",
            "one of its members is the leader, which computes the assignment; only the group's records name it "
            "(--deep)",
        )


def _worker_facts(facts: GroupFacts) -> Iterator[Mapping[str, object]]:
    """Yield facts from Connect workers; the leader of a Schema Registry need not be that of the group."""
    for member in facts.members:
        if isinstance(member.assignment.user_data, WorkerAssignment):
            yield member.assignment.user_data.facts()
