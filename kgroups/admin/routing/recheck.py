"""Check groups again right before the request that changes them, and after each wait.

Groups are checked in small batches while requests of others are in flight, so that each check is recent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain, islice

from kgroups.errors import KgroupsError, NotAsPlanned
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Scope

VALID = 0.5
"""Seconds for which a check is recent."""
AT_ONCE = 250
"""Groups that are checked together, in the order of their requests."""

Fresh = dict[GroupId, float]
"""Until when the check of a group is recent, by :func:`time.monotonic`."""

Check = Callable[[Sequence[GroupId]], Awaitable[Mapping[GroupId, Failure]]]
"""Returns why groups must not be changed."""


class Recheck:
    """The checks of the groups of one change."""

    def __init__(self, check: Check, groups: Iterable[GroupId], fresh: Fresh | None = None) -> None:
        """Create the checks of some groups.

        :param fresh: groups that were checked a moment ago; those to check here are taken from it.
        """
        self._check = check
        self._unsent = dict.fromkeys(groups)
        fresh = fresh or {}
        self._valid_until = {group: fresh.pop(group) for group in self._unsent if group in fresh}
        self._waiting: dict[GroupId, None] = {}
        self._lock = asyncio.Lock()
        self.refused: dict[GroupId, Failure] = {}

    async def took_time(self, groups: Sequence[GroupId]) -> bool:
        """Check groups unless they were checked a moment ago and not sent since; return whether that took time.

        :raises NotAsPlanned: if some of them must not be changed.
        """
        for group in groups:
            if group not in self._unsent:  # it waits for a second request: another coordinator, or connection
                self._valid_until.pop(group, None)
                self._unsent[group] = None
        stale = self._stale(groups)
        if stale:
            self._waiting.update(dict.fromkeys(stale))
            async with self._lock:
                await asyncio.sleep(0)  # the other requests in flight join this batch
                if again := self._stale(groups):
                    await self._run(again)
        failures = {group: self.refused[group] for group in groups if group in self.refused}
        if failures:
            raise NotAsPlanned(failures)
        if not stale:
            for group in groups:
                self._unsent.pop(group, None)
        return bool(stale)

    def _stale(self, groups: Iterable[GroupId]) -> list[GroupId]:
        now = time.monotonic()
        return [group for group in groups if self._valid_until.get(group, 0.0) <= now and group not in self.refused]

    async def _run(self, first: Sequence[GroupId]) -> None:
        others = self._stale(chain(self._waiting, self._unsent))
        batch = list(dict.fromkeys(islice(chain(first, others), max(len(first), AT_ONCE))))
        began = time.monotonic()
        try:
            failures = await self._check(batch)
        except KgroupsError as error:
            failures = {group: _unchecked(group, error) for group in batch}
        until = valid_until(began)
        for group in batch:
            self._waiting.pop(group, None)
            if group in failures:
                self.refused[group] = failures[group]
            else:
                self._valid_until[group] = until


def valid_until(began: float) -> float:
    """Return until when a check that ends now is recent.

    A check that waits for its turn (--max-requests-per-second, quotas) must not expire before the next turn.
    """
    now = time.monotonic()
    return now + max(VALID, 2 * (now - began))


def _unchecked(group: GroupId, error: KgroupsError) -> Failure:
    message = f"not changed: the check before the change failed: {error}"
    return Failure.of(error, Scope.GROUP, group)._replace(message=message)
