"""The rows of ``describe --members`` and ``--state``, in a module that the other views need not load."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..assignment import Assignment, Subscription, UserData
from ..cluster import Node
from ..groups import Group, Member

if TYPE_CHECKING:
    from ..listed import ValueList
    from ..streams import Pairs, StreamsMember, Tasks


class StateRow(NamedTuple):
    """One group of ``describe --state``; ``members`` counts its members.

    A group that the principal cannot describe has only a ``note``.
    """

    group: str
    coordinator: Node | None
    assignment_strategy: str | None
    state: str | None
    group_epoch: int | None
    target_assignment_epoch: int | None
    members: int | None
    type: str | None
    protocol_type: str | None
    topology_epoch: int | None = None
    note: str | None = None


class MemberRow(NamedTuple):
    """One member of ``describe --members``; ``partitions`` counts its assigned partitions.

    A group that the principal cannot describe has one row without a member, and with a ``note``.
    """

    group: str
    consumer_id: str | None
    group_instance_id: str | None
    host: str | None
    client_id: str | None
    partitions: int | None
    current_epoch: int | None
    current_assignment: Assignment | None
    target_epoch: int | None
    target_assignment: Assignment | None
    upgraded: bool | None
    subscription: Subscription | None
    owned_partitions: Assignment | None
    rack: str | None
    process_id: str | None = None
    active_tasks: Tasks | None = None
    standby_tasks: Tasks | None = None
    warmup_tasks: Tasks | None = None
    target_active_tasks: Tasks | None = None
    target_standby_tasks: Tasks | None = None
    target_warmup_tasks: Tasks | None = None
    topology_epoch: int | None = None
    user_endpoint: str | None = None
    client_tags: Pairs | None = None
    reconciling: bool | None = None
    generation: int | None = None
    previous_assignment: Assignment | None = None
    worker_url: str | None = None
    leader_url: str | None = None
    leader_eligibility: bool | None = None
    config_offset: int | None = None
    connectors: ValueList | None = None
    connector_tasks: ValueList | None = None
    revoked: ValueList | None = None
    delay_ms: int | None = None
    metadata_version: int | None = None
    metadata_bytes: int | None = None
    assignment_bytes: int | None = None
    user_data: UserData | None = None
    assigned_user_data: UserData | None = None
    note: str | None = None


def state_row(group: Group) -> StateRow:
    return StateRow(
        group=group.group,
        coordinator=group.coordinator,
        assignment_strategy=group.protocol or None,
        state=group.state,
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.target_assignment_epoch,
        members=None if group.members is None else len(group.members),
        type=group.type,
        protocol_type=group.protocol_type,
        topology_epoch=group.topology.epoch if group.topology else None,
    )


def member_rows(group: Group) -> Iterator[MemberRow]:
    """Yield the members of one group, sorted by member ID."""
    for member in sorted(group.members or (), key=_member_id):
        subscription, assigned = member.subscription, member.assignment
        row = MemberRow(
            group.group,
            consumer_id=member.member_id,
            group_instance_id=member.instance_id,
            host=member.host,
            client_id=member.client_id,
            partitions=assigned.size,
            current_epoch=member.member_epoch,
            current_assignment=assigned,
            target_epoch=group.target_assignment_epoch,
            target_assignment=member.target,
            upgraded=member.upgraded,
            subscription=subscription,
            owned_partitions=subscription.owned,
            rack=member.rack_id,
            reconciling=is_reconciling(group, member),
            generation=subscription.generation,
            metadata_version=subscription.version,
            metadata_bytes=member.metadata_bytes,
            assignment_bytes=member.assignment_bytes,
            user_data=subscription.user_data,
            assigned_user_data=assigned.user_data,
            note=_note(subscription, assigned),
        )
        if member.streams or assigned.user_data or subscription.user_data:
            row = row._replace(**_rare_columns(member))
        yield row


def is_reconciling(group: Group, member: Member) -> bool | None:
    """Return whether a member has not yet reached or acknowledged its target assignment.

    ``None``: it is a member of a classic group.
    """
    if group.target_assignment_epoch is None or member.member_epoch is None:
        return None
    streams = member.streams
    assigned, target = (streams.tasks, streams.target) if streams else (member.assignment, member.target)
    late = member.member_epoch < group.target_assignment_epoch
    return late or (target is not None and assigned != target)  # brokers report no target for share groups


def _note(subscription: Subscription, assigned: Assignment) -> str | None:
    """Return what is unusual about the metadata and assignment of a member of a classic group."""
    if not (subscription.raw or subscription.note or assigned.raw or assigned.note):
        return None
    notes = (_noted("metadata", subscription), _noted("assignment", assigned))
    return "; ".join(filter(None, notes)) or None


def _noted(what: str, reported: Subscription | Assignment) -> str | None:
    note = reported.raw.reason if reported.raw else reported.note
    return f"{what}: {note}" if note else None


def _rare_columns(member: Member) -> dict[str, Any]:
    """Return the columns that only some members have, by name."""
    found: dict[str, Any] = _streams_columns(member.streams) if member.streams else {}
    if given := member.assignment.user_data:
        found |= {
            key: fact for key, fact in given.facts().items() if fact is not None and key not in _REPORTED_BY_MEMBERS
        }
    if reported := member.subscription.user_data:
        found |= {key: fact for key, fact in reported.facts().items() if fact is not None}
        found |= reported.facts_with(given)
    return found


_REPORTED_BY_MEMBERS = ("generation", "previous_assignment")
"""Reported by the member itself: the assignment of a librdkafka leader contains the values of the next rebalance."""


def _streams_columns(member: StreamsMember) -> dict[str, Any]:
    names = ("active_tasks", "standby_tasks", "warmup_tasks")
    return {
        "process_id": member.process,
        "topology_epoch": member.topology_epoch,
        "user_endpoint": member.endpoint,
        "client_tags": member.tags,
        **dict(zip(names, member.tasks, strict=True)),
        **{f"target_{name}": tasks for name, tasks in zip(names, member.target, strict=True)},
    }


_member_id = attrgetter("member_id")
