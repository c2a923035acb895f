"""Times: since when a group is in its state, from its log if it was read, and the timeouts of its members.

Timeouts are in the log of classic groups, and in the settings of other groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kgroups.model.duration import Milliseconds
from kgroups.model.effective_setting import Effective, unknown_text
from kgroups.model.moments import moment_text

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, info, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    yield from _changes(facts)
    yield from _timeouts(facts)


def _changes(facts: GroupFacts) -> Iterator[Finding]:
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


def _timeouts(facts: GroupFacts) -> Iterator[Finding]:
    if facts.timeouts and facts.members:
        session, heartbeat = facts.timeouts
        yield info(
            "timeouts",
            f"a member that sends no heartbeat for {_time(session)} is removed ({session.name}); members send one at "
            f"intervals of {_time(heartbeat)} ({heartbeat.name}){unknown_text(session, heartbeat)}",
        )
    elif facts.log is not None:
        yield from _in_log(facts)


def _time(setting: Effective) -> str:
    return "an unknown time" if setting.number is None else str(Milliseconds(setting.number))


def _in_log(facts: GroupFacts) -> Iterator[Finding]:
    by_text: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        timeouts = facts.log.timeouts.get(member.member_id) if facts.log else None
        if timeouts and timeouts.session is not None and timeouts.rebalance is not None:
            by_text[f"session {timeouts.session:,} ms, rebalance {timeouts.rebalance:,} ms"].append(member.member_id)
    if len(by_text) == 1:
        (text,) = by_text
        yield info(
            "timeouts",
            f"timeouts are {text}: a failed member keeps its partitions until its session times out; a rebalance waits "
            "for members to rejoin until the rebalance timeout",
        )
    elif by_text:
        ordered = sorted(by_text, key=lambda text: (-len(by_text[text]), text))
        shares = some([f"{count(len(by_text[text]), 'member')}: {text}" for text in ordered])
        yield warning("timeouts", f"members have different timeouts; a rebalance waits for the longest: {shares}")
