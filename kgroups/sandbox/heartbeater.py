"""Keep existing members alive with heartbeats: ``python -m kgroups.sandbox.heartbeater BOOTSTRAP ROSTER``.

A roster is a file with one member per line. It is in the sandbox's folder, which identifies the process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out

from .cluster import Sandbox
from .coordinator_client import CoordinatorClient
from .member import SESSION, Member, beat

PAUSE: Final = SESSION.total_seconds() / 6
"""Seconds between two rounds of heartbeats: five can fail before a member's session expires."""

RETRY: Final = 5.0
"""Seconds before the next round, after one in which a heartbeat failed."""

_SHOWN: Final = 3

CLIENT_ID: Final = "kgroups-sandbox"


def start_heartbeater(sandbox: Sandbox, role: str, members: Iterable[Member]) -> int:
    """Start a helper process of the sandbox that keeps these members alive, and return its PID."""
    roster = sandbox.folder / f"{role}.roster"
    write_roster(roster, members)
    program = [sys.executable, "-m", "kgroups.sandbox.heartbeater"]
    return sandbox.start_helper(role, [*program, sandbox.bootstrap, str(roster)])


def write_roster(path: Path, members: Iterable[Member]) -> None:
    lines = (
        json.dumps(member._asdict() | {"metadata": member.metadata.hex(), "assignment": member.assignment.hex()}) + "\n"
        for member in members
    )
    path.write_text("".join(lines))


def read_roster(path: Path) -> list[Member]:
    return [_member(line) for line in path.read_text().splitlines()]


def _member(line: str) -> Member:
    fields = json.loads(line)
    for name in ("metadata", "assignment"):
        fields[name] = bytes.fromhex(fields[name])
    return Member(**fields)


async def keep(bootstrap: str, members: list[Member]) -> None:
    """Send heartbeats until the process is stopped; retry failed ones in the next round, with new connections."""
    await asyncio.sleep(PAUSE)  # they have just joined
    while True:
        members, errors = await beat_round(bootstrap, members)
        for error in sorted(errors)[:_SHOWN]:
            print(time.strftime("%H:%M:%S"), f"{len(errors)} errors; one:", error, flush=True)
        await asyncio.sleep(RETRY if errors else PAUSE)


async def beat_round(bootstrap: str, members: list[Member]) -> tuple[list[Member], set[str]]:
    """Send one heartbeat per member; return the members after it, and the distinct errors."""
    settings = ClientSettings(
        parse_bootstrap(bootstrap), timeout=SESSION.total_seconds() / 2, broker_timeout=60, client_id=CLIENT_ID
    )
    try:
        cluster, _ = await Cluster.connect(settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, [member.group for member in members])
            kept = await fan_out((member, beat(route, member)) for member in members)
    except KgroupsError as error:
        return members, {str(error)}
    after = [member if isinstance(result, KgroupsError) else result for member, result in kept]
    return after, {str(result) for _, result in kept if isinstance(result, KgroupsError)}


if __name__ == "__main__":
    asyncio.run(keep(sys.argv[1], read_roster(Path(sys.argv[2]))))
