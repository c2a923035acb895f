"""The size of the group's metadata, of the requests of a rebalance, and the broker's limits.

In each rebalance of a classic group, the leader receives the metadata of all members. A rolling restart causes two
rebalances per member, so that its volume grows with the square of the number of members. The group is one record of
``__consumer_offsets``, with all metadata and assignments; if it exceeds the limit, rebalances fail repeatedly.
"""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.groups import GroupType, Member

from ..counts import count
from .facts import GroupFacts, Limit
from .findings import Finding, info, problem, warning

NEAR, TOO_NEAR = 0.5, 0.9
"""Fractions of a limit: for a warning, and for a problem."""

_FIXED_IN_RESPONSE = 8
_FIXED_IN_RECORD = 26
"""Bytes of lengths and timeouts per member."""


class Weight:
    """Sizes in bytes.

    ``metadata``: the largest of a member. ``response``: JoinGroup, to the leader. ``request``: SyncGroup, with all
    assignments. ``record``: that of the group.
    """

    def __init__(self, members: tuple[Member, ...]) -> None:
        sizes = [(member.metadata_bytes or 0) for member in members]
        self.total = sum(sizes)
        self.metadata = max(sizes, default=0)
        self.response = sum(
            size + len(member.member_id) + len(member.instance_id or "") + _FIXED_IN_RESPONSE
            for member, size in zip(members, sizes, strict=True)
        )
        self.request = sum(
            (member.assignment_bytes or 0) + len(member.member_id) + _FIXED_IN_RESPONSE for member in members
        )
        self.record = sum(
            size + (member.assignment_bytes or 0) + _names(member) + _FIXED_IN_RECORD
            for member, size in zip(members, sizes, strict=True)
        )


def _names(member: Member) -> int:
    return sum(len(text.encode(errors="surrogatepass")) for text in (member.member_id, member.client_id, member.host))


def find(facts: GroupFacts) -> Iterator[Finding]:
    """Yield the sizes, and warnings about sizes near a limit of the broker."""
    members = facts.members
    if not members:
        return
    if facts.is_modern:
        yield from _near("group-size", len(members), facts.limits.consumers, count(len(members), "member"))
        return
    if facts.group.type not in (GroupType.CLASSIC, None):
        return
    yield from _near("group-size", len(members), facts.limits.members, count(len(members), "member"))
    weight = Weight(members)
    if not weight.total:
        return
    restart = 2 * len(members) * weight.response
    text = (
        f"metadata per member: {in_bytes(weight.total // len(members))} on average, "
        f"{in_bytes(weight.metadata)} at most; in each rebalance, the JoinGroup response to the leader is "
        f"{in_bytes(weight.response)}"
    )
    if any(member.instance_id is None for member in members):  # static members restart without a rebalance
        text += (
            f"; a rolling restart of all members sends {in_bytes(restart)}, proportional to the square of the number "
            "of members"
        )
    yield info("weight", text)
    largest = max(weight.request, weight.metadata)
    yield from _near("request-size", largest, facts.limits.request, "the largest request of a rebalance")
    yield from _near(
        "record-size", weight.record, facts.limits.record, "the group's uncompressed record in __consumer_offsets"
    )


def _near(rule: str, value: int, limit: Limit, subject: str) -> Iterator[Finding]:
    share = value / limit.value if limit.value > 0 else 0.0
    if share < NEAR:
        return
    size = f" ({in_bytes(value)})" if limit.name.endswith("bytes") else ""
    text = f"{subject}{size}: {share:.0%} of the broker's limit ({limit})"
    yield problem(rule, text) if share >= TOO_NEAR else warning(rule, text)


def in_bytes(size: int) -> str:
    """Return ``512 B``, ``1.5 KiB``, or ``20.0 MiB``."""
    if size < 1024:
        return f"{size} B"
    value, units = size / 1024, ["KiB", "MiB", "GiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.1f} {units[0]}"
