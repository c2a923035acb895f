"""Facts from the group's log, if it was read: times of changes."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.moments import moment_text

from .facts import GroupFacts
from .findings import Finding, info


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.log is None:
        return
    log, group = facts.log, facts.group
    parts = []
    if log.generation is not None:
        parts.append(f"its generation is {log.generation:,}")
    if (since := log.since(group.state)) is not None:
        parts.append(f"its state is {group.state} since {moment_text(since)}")
    if log.rebalanced is not None and facts.members:
        parts.append(f"its assignment was last written at {moment_text(log.rebalanced)}")
    if parts:
        yield info("history", ", ".join(parts))
