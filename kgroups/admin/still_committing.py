"""Find groups for which a client that is not a member still commits: see :mod:`kgroups.model.operations.committing`.

If ``__consumer_offsets`` can be read, its records determine how long a group is watched, usually not at all. If not,
the committed offsets at two points in time are compared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.counts import count
from kgroups.model.groups import GroupId, GroupType
from kgroups.model.offsets import Commit
from kgroups.model.operations.committing import (
    WHO,
    Pair,
    RecentCommits,
    Rhythm,
    moved_words,
    pending_words,
    rhythm_of,
    rhythm_words,
)
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster

from .change.plan.lookups import committed_now
from .offsets_topic.recent_commits import recent_commits
from .routing.backoff import pause

WINDOW = 90.0
"""Default seconds of the log to read: consumers that commit every 45 s are found."""
SAMPLE = 6.0
"""Seconds between two samples: more than the default commit interval of consumers, 5 s."""
MOMENT = 2.0
"""Seconds that it waits without a notice."""
STEP = 0.5
"""Seconds between two reads of the log while a group is watched."""

Committed = Mapping[GroupId, Mapping[Pair, Commit | None]]


class Committing(NamedTuple):
    """Groups for which a client that is not a member commits.

    ``found``: group -> the commit seen while it was watched, or in an open transaction. ``perhaps``: group -> what its
    records show, if it was not watched. ``notices``: what could not be checked. ``unread``: group -> why its records
    could not be read.
    """

    found: Mapping[GroupId, str] = {}
    perhaps: Mapping[GroupId, str] = {}
    notices: tuple[str, ...] = ()
    unread: Mapping[GroupId, str] = {}

    def failures(self, way: str) -> list[Failure]:
        """Return a failure for each group of ``found``.

        :param way: the flag or argument that changes such groups nevertheless.
        """
        return [
            Failure(Scope.GROUP, name, f"{words}; stop it first, or add {way}", reason=Reason.STILL_COMMITTING)
            for name, words in self.found.items()
        ]


def committed_of(planned: Iterable[PlannedOffset], members: Iterable[GroupId] = ()) -> Committed:
    """Return the committed offsets of the groups in a plan.

    :param members: groups that have members: they commit, and are left out, as share groups are.
    """
    excluded = frozenset(members)
    committed: dict[GroupId, dict[Pair, Commit | None]] = {}
    for entry in planned:
        if entry.kind not in GroupType.WITHOUT_COMMITS and entry.group not in excluded:
            committed.setdefault(entry.group, {})[entry.topic, entry.partition] = entry.before
    return committed


def in_transactions(planned: Iterable[PlannedOffset]) -> dict[GroupId, str]:
    """Return the groups with offsets in open transactions, which a client has sent, and the evidence."""
    pending: dict[GroupId, list[Pair]] = {}
    for entry in planned:
        if entry.pending:
            pending.setdefault(entry.group, []).append((entry.topic, entry.partition))
    return {group: pending_words(pairs) for group, pairs in pending.items()}


async def still_committing(
    cluster: Cluster,
    committed: Committed,
    *,
    window: float = WINDOW,
    watch: bool = True,
    sample: bool = True,
    tell: Callable[[str], None] = lambda text: None,
) -> Committing:
    """Check whether groups without members get commits.

    It waits for the next commit of a regular series whose gaps are at most half of the window: 2 seconds or more, but
    no longer than the window. The waiting time extends ``--timeout``.

    :param committed: the groups, and the committed offsets of each when the plan was made.
    :param window: seconds of the log to read.
    :param watch: whether to wait if necessary; otherwise only the records are checked.
    :param sample: whether to sample groups twice whose log cannot be read.
    :param tell: is called with a notice if it waits longer than :data:`MOMENT`.
    """
    if not committed:
        return Committing()
    began, now = time.monotonic(), _now()
    recent = await recent_commits(cluster, tuple(committed), int(now - window * 1000), known=cluster.topics)
    rhythms = {
        group: rhythm
        for group, made in sorted(recent.made.items())
        if group not in recent.pending and (rhythm := rhythm_of(made, now, window)) is not None
    }
    held = {group: pending_words(pairs) for group, pairs in sorted(recent.pending.items())}
    wait = min(SAMPLE, window)
    sample = sample and watch
    notices = (*_unread_notices(recent, wait if sample else None), *_cut_notices(recent, now, window))
    if not watch:
        seen = {group: rhythm_words(rhythm, now) for group, rhythm in rhythms.items()}
        return Committing(held, seen, notices, recent.unread)
    unread = {group: committed[group] for group in recent.unread if sample}
    longest = max([wait] * bool(unread) + [rhythm.wait(now) for rhythm in rhythms.values()], default=0)
    if longest > MOMENT:
        groups = count(len(unread) + len(rhythms), "group")
        tell(f"watching {groups} for up to {longest:.0f} s: clients that are not members may still commit")
    watched, moved = await asyncio.gather(_watched(cluster, rhythms, recent), _moved(cluster, unread, wait, began))
    return Committing(dict(sorted({**watched, **moved, **held}.items())), {}, notices, recent.unread)


async def _watched(cluster: Cluster, rhythms: Mapping[GroupId, Rhythm], recent: RecentCommits) -> dict[GroupId, str]:
    """Wait for the next commit of each group, until it is overdue; return the groups that got one."""
    found: dict[GroupId, str] = {}
    began, now = time.monotonic(), _now()
    pending = {group: rhythm.wait(now) for group, rhythm in rhythms.items()}
    since = min((rhythm.last for rhythm in rhythms.values()), default=now)
    while pending:
        await pause(cluster, min(STEP, max(0.05, max(pending.values()) - (time.monotonic() - began))))
        passed = time.monotonic() - began
        fresh = await recent_commits(cluster, tuple(pending), since)
        for group in list(pending):
            if new := _new_commit(rhythms[group], recent, fresh, group):
                pair, before, after = new
                found[group] = moved_words(pair, before, after, time.monotonic() - began)
                del pending[group]
            elif group in fresh.unread:  # a client committed when it was last read
                found[group] = f"{WHO}: {rhythm_words(rhythms[group], _now())}"
                del pending[group]
            elif passed >= pending[group]:
                del pending[group]
    return found


def _new_commit(
    rhythm: Rhythm, recent: RecentCommits, fresh: RecentCommits, group: GroupId
) -> tuple[Pair, int, int] | None:
    """Return the first commit that was not in the first read: its partition, and the offsets before and after."""
    known = recent.made.get(group, {})
    latest = max((made[-1][0] for made in known.values() if made), default=rhythm.last)
    for pair, made in fresh.made.get(group, {}).items():
        time_, offset = made[-1]
        if time_ > latest:
            before = known.get(pair)
            return pair, before[-1][1] if before else offset, offset
    return None


async def _moved(cluster: Cluster, unread: Committed, wait: float, began: float) -> dict[GroupId, str]:
    """Return the groups whose committed offsets differ from those when the plan was made."""
    if not unread:
        return {}
    await pause(cluster, wait)
    now = await committed_now(cluster, unread)
    found: dict[GroupId, str] = {}
    for group, before in unread.items():
        for pair, commit in before.items():
            after = now.get(group, before).get(pair)
            if after != commit:
                old, new = (each.offset if each else None for each in (commit, after))
                found[group] = moved_words(pair, old, new, time.monotonic() - began)
                break
    return found


def _unread_notices(recent: RecentCommits, wait: float | None) -> list[str]:
    if not recent.unread:
        return []
    reason = next(iter(recent.unread.values()))
    groups = count(len(recent.unread), "group")
    if wait is None:
        return [f"{groups}: could not check whether clients that are not members still commit: {reason}"]
    return [
        f"{groups}: committed offsets were only compared twice, {wait:g} s apart: {reason}; clients that are not "
        "members and commit less often, or the same offset again, are not detected"
    ]


def _cut_notices(recent: RecentCommits, now: int, window: float) -> list[str]:
    if not recent.since:
        return []
    seconds = max(0.0, (now - max(recent.since.values())) / 1000)
    groups = count(len(recent.since), "group")
    return [
        f"{groups}: only the last {seconds:.0f} s of {window:g} s of commits were read, because the log has too many "
        f"records; clients that are not members and commit less often than every {seconds / 2:.0f} s are not detected"
    ]


def _now() -> int:
    return time.time_ns() // 1_000_000
