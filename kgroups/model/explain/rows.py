"""The table of members, in addition to the findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kgroups.model.assignment import Assignment, Subscription
from kgroups.model.groups import Member
from kgroups.model.views.share_state_rows import share_columns, share_row

from .facts import GroupFacts, subscribed_topics
from .participants import could_hold


class ExplainedMember(NamedTuple):
    """One member.

    ``could_hold``: the number of partitions of all topics that it subscribes to. ``subscription_version`` and
    ``metadata_bytes`` are known only in classic groups. ``note``: what is unusual about it.
    """

    group: str
    consumer_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    partitions: int | None
    could_hold: int | None
    assignment: Assignment
    subscription: Subscription
    subscription_version: int | None
    metadata_bytes: int | None
    note: str | None


def explained_members(facts: GroupFacts) -> Iterator[ExplainedMember]:
    for member in facts.members:
        yield ExplainedMember(
            group=facts.group.group,
            consumer_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            partitions=member.assignment.size,
            could_hold=could_hold(facts, member),
            assignment=member.assignment,
            subscription=member.subscription,
            subscription_version=member.subscription.version,
            metadata_bytes=member.metadata_bytes,
            note="; ".join(_notes(facts, member)) or None,
        )


def share_rows(facts: GroupFacts) -> Iterator[tuple[object, ...]]:
    """Yield a :class:`ShareRow` and its :class:`ShareColumns` for each partition of a share group."""
    if facts.share is not None:
        for partition in facts.share.partitions:
            yield (*share_row(partition), *share_columns(partition, facts.share.settings))


def _notes(facts: GroupFacts, member: Member) -> Iterator[str]:
    if member.assignment.raw:
        yield f"its assignment cannot be decoded: {member.assignment.raw.reason}"
    elif facts.has_subscriptions and not member.assignment.size:
        yield "no partitions"
    if member.upgraded is False:
        yield "uses the classic protocol"
    if member.target is not None and member.target.topics != member.assignment.topics:
        yield f"target assignment: {str(member.target) or 'none'}"
    if facts.of_consumers and facts.has_subscriptions and not subscribed_topics(facts, member):
        regex = member.subscription.regex
        yield f"no topic is known to match {regex!r}" if regex else "no subscription"
    if member.subscription.raw and facts.of_consumers:
        yield "its subscription cannot be decoded"
    yield from filter(None, (member.subscription.note, member.assignment.note))
