"""The sticky assignor (KIP-54): balance, then minimize moves.

As in Java, there is one algorithm for members with equal subscriptions, and a slower one for others.
"""

from __future__ import annotations

from collections.abc import Sequence

from .shape import Assigned, Participant, Topics
from .sticky_claims import Claims
from .sticky_equal import assign_equal
from .sticky_general import assign_general


def assign(members: Sequence[Participant], topics: Topics) -> Assigned:
    claims = Claims(members, topics)
    if claims.equal_subscriptions:
        return assign_equal(claims)[0]
    return assign_general(claims)
