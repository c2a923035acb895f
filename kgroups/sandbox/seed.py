"""Create the known groups in a sandbox, and return when each is as :mod:`.seed_data` defines it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.groups import GroupType
from kgroups.model.offsets import Isolation
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster

from .cluster import Sandbox
from .coordinator_client import CoordinatorClient
from .expected_state import unmet_expectations
from .heartbeater import CLIENT_ID, start_heartbeater
from .librdkafka_members import start_librdkafka_members
from .member import Member, consumer, join
from .seed_data import (
    DELETED_TOPIC,
    LOG_STARTS,
    OPAQUE_ASSIGNMENT,
    OPAQUE_METADATA,
    RECORDS,
    KnownGroup,
    Player,
    known_groups,
)
from .seed_marker import seed_once
from .topics import delete_records, delete_topic, make_topics
from .wire.offset_commit import OffsetCommit

TIMEOUT: Final = 300.0
_ROLE: Final = "known"
_POLL: Final = 0.25

_STICKY: Final = "org.apache.kafka.clients.consumer.StickyAssignor"


def seed_known_groups(
    sandbox: Sandbox, progress: Callable[[str], None] = lambda line: None, *, timeout: float = TIMEOUT
) -> None:
    """Create the known groups, once; helper processes keep them until the sandbox is stopped.

    :raises SandboxError: when they are not ready in ``timeout`` seconds; the message contains what is missing.
    """
    groups = known_groups(sandbox.version)

    def make() -> None:
        until = time.monotonic() + timeout
        _make(sandbox, groups, progress)
        progress(f"waiting for {len(groups)} groups to become stable")
        asyncio.run(_wait(sandbox, groups, until))

    try:
        if not seed_once(sandbox, _ROLE, [group.name for group in groups], make):
            progress(f"sandbox {sandbox.name} already has the known groups")
    except SandboxError:
        raise
    except KgroupsError as error:
        raise SandboxError(f"the known groups could not be created: {error}") from None


def _make(sandbox: Sandbox, groups: tuple[KnownGroup, ...], progress: Callable[[str], None]) -> None:
    make_topics(_settings(sandbox.bootstrap), RECORDS)
    progress(f"{len(RECORDS)} topics have records")
    for group in groups:
        if group.player == Player.JAVA:
            _start_java(sandbox, group)
    start_librdkafka_members(sandbox)
    start_heartbeater(sandbox, "heartbeater", asyncio.run(_make_groups(sandbox.bootstrap, groups)))
    delete_records(sandbox.bootstrap, LOG_STARTS)
    delete_topic(sandbox.bootstrap, DELETED_TOPIC)


def _start_java(sandbox: Sandbox, group: KnownGroup) -> None:
    if group.type == GroupType.CONSUMER:
        protocol = ["group.protocol=consumer"]
    else:  # the default of old consumers, 10 s, is too short for a busy machine
        protocol = [f"partition.assignment.strategy={_STICKY}", "session.timeout.ms=45000"]
    for number in range(group.members):
        name = f"{group.name}-{number}"
        properties = (
            *protocol,
            f"client.id={name}",
            "auto.commit.interval.ms=1500",
            "heartbeat.interval.ms=1500",
            "fetch.max.wait.ms=2500",
        )
        sandbox.start_java(
            name,
            sandbox.version.console_consumer,
            *("--bootstrap-server", sandbox.bootstrap, "--topic", *group.topics, "--group", group.name),
            "--from-beginning",
            *(word for each in properties for word in ("--consumer-property", each)),
        )


async def _make_groups(bootstrap: str, groups: tuple[KnownGroup, ...]) -> list[Member]:
    """Create the groups without members and the groups of kgroups' own members; return the latter for heartbeats."""
    ours = [group for group in groups if group.player in (Player.WIRE, Player.NOBODY)]
    cluster, _ = await Cluster.connect(_settings(bootstrap))
    async with cluster:
        route = await CoordinatorClient.to(cluster, [group.name for group in ours])
        made = await asyncio.gather(*(_make_group(route, group) for group in ours))
    return [member for member in made if member]


async def _make_group(route: CoordinatorClient, group: KnownGroup) -> Member | None:
    member = None
    commit = OffsetCommit(group.name, group.committed)
    if group.player == Player.WIRE:
        member = await join(route, _member(group))
        commit = commit._replace(member_id=member.member_id, generation=member.generation)
    if group.committed and (error := await route.call(group.name, commit)):
        raise SandboxError(f"group {group.name}: OffsetCommit: {error.name}")
    return member


def _member(group: KnownGroup) -> Member:
    if group.topics:
        return consumer(group.name, {topic: len(RECORDS[topic]) for topic in group.topics})
    return Member(group.name, group.protocol_type, group.protocol, OPAQUE_METADATA, OPAQUE_ASSIGNMENT)


async def _wait(sandbox: Sandbox, groups: tuple[KnownGroup, ...], until: float) -> None:
    while True:
        missing = unmet_expectations(groups, await _describe(sandbox.bootstrap, groups))
        if not missing:
            return
        sandbox.check_helpers()
        if time.monotonic() > until:
            raise SandboxError(f"the known groups are not ready: {'; '.join(missing)}; see {sandbox.folder}/logs")
        await asyncio.sleep(_POLL)


async def _describe(bootstrap: str, groups: tuple[KnownGroup, ...]) -> dict[str, GroupOffsets]:
    names = tuple(group.name for group in groups)
    admin = await WireClient.connect(_settings(bootstrap))
    try:
        answer = await admin.describe_offsets(Selection(names), isolation=Isolation.READ_UNCOMMITTED)
    finally:
        await admin.close()
    return {item.group.group: item for item in answer.items}


def _settings(bootstrap: str) -> ClientSettings:
    return ClientSettings(parse_bootstrap(bootstrap), timeout=TIMEOUT, broker_timeout=60, client_id=CLIENT_ID)
