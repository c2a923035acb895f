"""What the group's own log tells, where it was read: since when the group is as it is, and how long it waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kgroups.model.moments import moment_text

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, info, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.log is None:
        return
    log, group = facts.log, facts.group
    parts = []
    if log.generation is not None:
        parts.append(f"its generation is {log.generation:,}")
    if log.state_since is not None:
        parts.append(f"it is {group.state} since {moment_text(log.state_since)}")
    if log.rebalanced is not None and facts.members:
        parts.append(f"its assignment was last written at {moment_text(log.rebalanced)}")
    if parts:
        yield info("history", ", ".join(parts))
    yield from _timeouts(facts)


def _timeouts(facts: GroupFacts) -> Iterator[Finding]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        told = facts.log.timeouts.get(member.member_id) if facts.log else None
        if told and told.session is not None and told.rebalance is not None:
            kinds[f"session {told.session:,} ms, rebalance {told.rebalance:,} ms"].append(member.member_id)
    if len(kinds) == 1:
        (words,) = kinds
        yield info(
            "timeouts",
            f"time-outs are {words}: a member that dies keeps its partitions for that time, and a rebalance waits that "
            "long for members to rejoin",
        )
    elif kinds:
        ordered = sorted(kinds, key=lambda words: (-len(kinds[words]), words))
        shares = some([f"{count(len(kinds[words]), 'member')}: {words}" for words in ordered])
        yield warning("timeouts", f"members have different time-outs; a rebalance waits for the longest: {shares}")
