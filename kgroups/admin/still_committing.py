"""Find groups for which a client that is not a member still commits: see :mod:`kgroups.model.operations.committing`.

Where ``__consumer_offsets`` can be read, the records decide for how long a group is watched, which mostly is not at
all. Where it cannot, the committed offsets are compared at two times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kgroups.model.counts import count
from kgroups.model.groups import GroupId, GroupType
from kgroups.model.offsets import Commit
from kgroups.model.operations.committing import WHO, Pair, RecentCommits, Rhythm, moved_words, rhythm_of, rhythm_words
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Failure, Scope

from .port import GroupAdmin

WINDOW = 90.0
"""Seconds of the log that are looked at by default: consumers that commit every 45 s are found."""
SAMPLE = 6.0
"""Seconds between two samples: more than the five after which consumers commit by default."""
MOMENT = 2.0
"""Seconds for which it waits without a word."""
STEP = 0.5
"""Seconds between two readings of the log while a group is watched."""

Committed = Mapping[GroupId, Mapping[Pair, Commit | None]]


class Committing(NamedTuple):
    """Groups for which a client that is not a member commits.

    ``found``: group -> what was seen while it was watched. ``perhaps``: group -> what its records show, where it was
    not watched. ``notices``: what could not be checked. ``unread``: group -> why its records could not be read.
    """

    found: Mapping[GroupId, str] = {}
    perhaps: Mapping[GroupId, str] = {}
    notices: tuple[str, ...] = ()
    unread: Mapping[GroupId, str] = {}

    def failures(self, way: str) -> list[Failure]:
        """One for each group of ``found``.

        :param way: how to change it all the same: a flag or an argument.
        """
        return [
            Failure(Scope.GROUP, name, f"{words}; stop it first, or add {way}") for name, words in self.found.items()
        ]


def committed_of(planned: Iterable[PlannedOffset], members: Iterable[GroupId] = ()) -> Committed:
    """Return what the groups of planned offsets have committed.

    :param members: groups that have members: these commit, and are left out, as share groups are.
    """
    apart = frozenset(members)
    committed: dict[GroupId, dict[Pair, Commit | None]] = {}
    for entry in planned:
        if entry.kind not in GroupType.WITHOUT_COMMITS and entry.group_id not in apart:
            committed.setdefault(entry.group_id, {})[entry.topic, entry.partition] = entry.before
    return committed


async def still_committing(
    admin: GroupAdmin,
    committed: Committed,
    *,
    window: float = WINDOW,
    watch: bool = True,
    sample: bool = True,
    tell: Callable[[str], None] = lambda text: None,
) -> Committing:
    """Check groups without members. ``--timeout`` bounds what brokers take; the time that it waits is added to it.

    It waits for the next commit of a rhythm, of which the gaps are at most half of the window: no longer than the
    window, from 2 seconds on.

    :param committed: the groups, and what each had committed when it was planned.
    :param window: seconds of the log that are read.
    :param sample: whether groups whose log cannot be read are looked at twice.
    :param watch: whether to wait where that is needed; else the records alone are looked at.
    :param tell: told for how long it waits, if that is longer than a moment.
    """
    if not committed:
        return Committing()
    began, now = time.monotonic(), _now()
    recent = await admin.recent_commits(tuple(committed), int(now - window * 1000))
    rhythms = {
        group: rhythm
        for group, made in sorted(recent.made.items())
        if (rhythm := rhythm_of(made, now, window)) is not None
    }
    wait = min(SAMPLE, window)
    sample = sample and watch
    notices = (*_unread_notices(recent, wait if sample else None), *_cut_notices(recent, now, window))
    if not watch:
        return Committing(
            {}, {group: rhythm_words(rhythm, now) for group, rhythm in rhythms.items()}, notices, recent.unread
        )
    unread = {group: committed[group] for group in recent.unread if sample}
    longest = max([wait] * bool(unread) + [rhythm.wait(now) for rhythm in rhythms.values()], default=0)
    if longest > MOMENT:
        groups = count(len(unread) + len(rhythms), "group")
        tell(f"watching {groups} for up to {longest:.0f} s: clients that are not members may still commit")
    watched, moved = await asyncio.gather(_watched(admin, rhythms, recent), _moved(admin, unread, wait, began))
    return Committing(dict(sorted({**watched, **moved}.items())), {}, notices, recent.unread)


async def _watched(admin: GroupAdmin, rhythms: Mapping[GroupId, Rhythm], recent: RecentCommits) -> dict[GroupId, str]:
    """Wait for the next commit of each group, until it is overdue."""
    found: dict[GroupId, str] = {}
    began, now = time.monotonic(), _now()
    pending = {group: rhythm.wait(now) for group, rhythm in rhythms.items()}
    since = min((rhythm.last for rhythm in rhythms.values()), default=now)
    while pending:
        await admin.pause(min(STEP, max(0.05, max(pending.values()) - (time.monotonic() - began))))
        passed = time.monotonic() - began
        fresh = await admin.recent_commits(tuple(pending), since)
        for group in list(pending):
            if new := _new_commit(rhythms[group], recent, fresh, group):
                pair, before, after = new
                found[group] = moved_words(pair, before, after, time.monotonic() - began)
                del pending[group]
            elif group in fresh.unread:  # it lived when it was last seen
                found[group] = f"{WHO}: {rhythm_words(rhythms[group], _now())}"
                del pending[group]
            elif passed >= pending[group]:
                del pending[group]
    return found


def _new_commit(
    rhythm: Rhythm, recent: RecentCommits, fresh: RecentCommits, group: GroupId
) -> tuple[Pair, int, int] | None:
    """The first commit that was not there when the group was first looked at."""
    known = recent.made.get(group, {})
    latest = max((made[-1][0] for made in known.values() if made), default=rhythm.last)
    for pair, made in fresh.made.get(group, {}).items():
        time_, offset = made[-1]
        if time_ > latest:
            before = known.get(pair)
            return pair, before[-1][1] if before else offset, offset
    return None


async def _moved(admin: GroupAdmin, unread: Committed, wait: float, began: float) -> dict[GroupId, str]:
    """Compare what groups have committed with what they had when they were planned."""
    if not unread:
        return {}
    await admin.pause(wait)
    now = await admin.committed(tuple(unread))
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
    why = next(iter(recent.unread.values()))
    groups = count(len(recent.unread), "group")
    if wait is None:
        return [f"{groups}: not checked whether clients that are not members still commit: {why}"]
    return [
        f"{groups}: committed offsets were only compared twice, {wait:g} s apart: {why}; clients that are not members "
        "and commit less often, or the same offset again, are not detected"
    ]


def _cut_notices(recent: RecentCommits, now: int, window: float) -> list[str]:
    if not recent.since:
        return []
    seconds = max(0.0, (now - max(recent.since.values())) / 1000)
    groups = count(len(recent.since), "group")
    return [
        f"{groups}: only the last {seconds:.0f} s of {window:g} s of commits were read, the log is too busy; "
        f"clients that are not members and commit less often than every {seconds / 2:.0f} s are not detected"
    ]


def _now() -> int:
    return time.time_ns() // 1_000_000
