"""Wait until groups have no members, before they are changed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kgroups.errors import KgroupsError, UsageError
from kgroups.model.outcome import Failure, Outcome
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code

from .routing.backoff import pause

P = TypeVar("P")

EVERY = 0.25
"""Seconds between two plans."""

_HELD_BY_MEMBERS = (Code.non_empty_group, Code.group_subscribed_to_topic)


async def wait_until_empty(
    cluster: Cluster,
    make: Callable[[], Awaitable[Outcome[P]]],
    seconds: float,
    tell: Callable[[str], None],
    where: str = "",
) -> Outcome[P]:
    """Repeat the plan until no group is left out because of its members.

    The time does not count toward ``--timeout``. If it is not enough, the plan is empty.

    :param make: makes the plan.
    :param seconds: the time to wait.
    :param tell: is called with a notice if it waits.
    :param where: names the cluster in messages, if there are two.
    """
    began = time.monotonic()
    waited = False
    while True:
        round_began = time.monotonic()
        try:
            planned = await make()
            held = [failure for failure in planned.failures if failure.code in _HELD_BY_MEMBERS]
        except UsageError:
            raise
        except KgroupsError:
            if time.monotonic() - began >= seconds:
                raise
            held = None
        if held is not None and not held:
            return planned
        left = seconds - (time.monotonic() - began)
        if left <= 0 and held is not None:
            notice = f"--when-empty: the members{where} did not leave within {seconds:g} s; no group was changed"
            return planned.with_items(()).with_failures((), (notice,))
        if held and not waited:
            waited = True
            tell(f"waiting for up to {seconds:g} s until the members{where} have left: {_names(held)}")
        await pause(cluster, max(0.0, min(EVERY, left)), time.monotonic() - round_began)


def _names(held: list[Failure]) -> str:
    names = list(dict.fromkeys(failure.name for failure in held))
    more = f", and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
