"""The sticky assignor (KIP-54), and the cooperative-sticky one (KIP-429): balance, then minimize moves.

As in Java, there is one algorithm for members with equal subscriptions, and a slower one for others. The cooperative
assignor takes two steps: partitions to move are first revoked, and assigned to the new owner in a following rebalance.
"""

from __future__ import annotations

from collections.abc import Sequence

from .shape import Assigned, Participant, TopicPartition, Topics
from .sticky_claims import Claims
from .sticky_equal import assign_equal
from .sticky_general import assign_general


def assign(members: Sequence[Participant], topics: Topics) -> Assigned:
    claims = Claims(members, topics)
    if claims.equal_subscriptions:
        return assign_equal(claims)[0]
    return assign_general(claims)


def assign_cooperatively(members: Sequence[Participant], topics: Topics) -> Assigned:
    """Compute one rebalance; partitions that another member must revoke first are not assigned."""
    claims = Claims(members, topics)
    if claims.equal_subscriptions:
        assigned, changing_hands = assign_equal(claims)
    else:
        assigned = assign_general(claims)
        changing_hands = _changing_hands(members, assigned)
    return {
        member_id: [each for each in partitions if changing_hands.get(each) != member_id]
        for member_id, partitions in assigned.items()
    }


def _changing_hands(members: Sequence[Participant], assigned: Assigned) -> dict[TopicPartition, str]:
    """Return the new owner of each partition that a member lost."""
    gained: dict[TopicPartition, str] = {}
    lost: set[TopicPartition] = set()
    for member in members:
        before, after = set(member.owned), set(assigned[member.member_id])
        gained.update(dict.fromkeys(after - before, member.member_id))
        lost |= before - after
    return {partition: member_id for partition, member_id in gained.items() if partition in lost}
