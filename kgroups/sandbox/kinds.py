"""Create groups of further types with Kafka's programs: share consumers, Kafka Streams, and Connect workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.groups import Group, GroupId, GroupState
from kgroups.model.offsets import Isolation
from kgroups.model.views.lag_summary import By, shares

from .cluster import Sandbox
from .connect import start_connector, start_workers
from .heartbeater import CLIENT_ID
from .seed_marker import seed_once
from .share import Starts, start_share_consumers, start_share_groups
from .streams import start_streams
from .topics import make_topics
from .versions import DEFAULT_VERSION, KafkaVersion

TIMEOUT: Final = 120.0
_POLL: Final = 0.25

_PARCELS: Final[Mapping[str, Mapping[int, int]]] = {"parcels": {0: 60, 1: 40}}
_LETTERS: Final[Mapping[str, Mapping[int, int]]] = {"letters": {0: 20, 1: 30, 2: 40}}
_STARTS: Final[Mapping[GroupId, Starts]] = {
    "parcels-workers": {"parcels": {0: 0, 1: 0}},
    "parcels-audit": {"parcels": {0: 20, 1: 40}},
}


class KindGroup(NamedTuple):
    """The expected state of one group."""

    name: GroupId
    members: int
    about: str
    """A description for newcomers."""
    reads_all: bool = False
    """Its members are ready only after they have committed all records of all topics."""

    @property
    def state(self) -> str:
        return GroupState.STABLE if self.members else GroupState.EMPTY


class Kind(NamedTuple):
    """Groups that are created together."""

    groups: tuple[KindGroup, ...]
    records: Mapping[str, Mapping[int, int]]
    """Their topics: the number of records written to each partition."""
    start: Callable[[Sandbox], None]
    runs_on: Callable[[KafkaVersion], bool]


def _start_share(sandbox: Sandbox) -> None:
    start_share_groups(sandbox, _STARTS)
    group, _ = KINDS["share"].groups
    workers = {f"{group.name}-{number}": f"worker-{number}" for number in range(1, group.members + 1)}
    start_share_consumers(sandbox, group.name, "parcels", workers)


def _start_streams(sandbox: Sandbox) -> None:
    group, classic = (each.name for each in KINDS["streams"].groups)
    start_streams(sandbox, group, list(_LETTERS), instances=2, standby=1)
    start_streams(sandbox, classic, list(_LETTERS), protocol="classic", instances=2, standby=1)


def _start_connect(sandbox: Sandbox) -> None:
    (group,) = KINDS["connect"].groups
    # A worker whose session expires on a busy machine gets its work back after a second, not after five minutes.
    first, *_ = start_workers(sandbox, group.name, group.members, scheduled_rebalance_max_delay_ms="1000")
    start_connector(sandbox, first, "files", f"{group.name}-files")


KINDS: Final[Mapping[str, Kind]] = {
    "share": Kind(
        (
            KindGroup("parcels-workers", 2, "a share group (KIP-932): 2 of Java's console share consumers"),
            KindGroup("parcels-audit", 0, "a share group without members; 40 records behind on one partition"),
        ),
        _PARCELS,
        _start_share,
        lambda version: version.share_consumer is not None,
    ),
    "streams": Kind(
        (
            KindGroup(
                "counter", 2, "a streams group (KIP-1071): 2 instances of Kafka Streams, with standby tasks", True
            ),
            KindGroup("counter-classic", 2, "the same application with group.protocol=classic", True),
        ),
        _LETTERS,
        _start_streams,
        lambda version: version.streams is not None,
    ),
    "connect": Kind(
        (KindGroup("connect-a", 2, "a pair of Connect workers, and a connector that reads a file"),),
        {},
        _start_connect,
        lambda version: version.connect is not None,
    ),
}


def seed_kinds(
    sandbox: Sandbox,
    kinds: Sequence[str],
    progress: Callable[[str], None] = lambda line: None,
    *,
    timeout: float = TIMEOUT,
) -> None:
    """Create the groups of these :data:`KINDS`, each once; their members stay until the sandbox is stopped.

    :raises SandboxError: when the sandbox's version does not support such groups, their programs are not available
        (jars; for streams a JDK), or they are not ready in ``timeout`` seconds.
    """
    lacking = [kind for kind in kinds if not KINDS[kind].runs_on(sandbox.version)]
    if lacking:
        what = f"a sandbox of Kafka {sandbox.version.name} does not support {' and '.join(lacking)} groups"
        raise SandboxError(f"{what}; use {DEFAULT_VERSION}")
    until = time.monotonic() + timeout
    begun = [kind for kind in kinds if seed_once(sandbox, kind, [], partial(_make, sandbox, KINDS[kind]))]
    if have := [kind for kind in kinds if kind not in begun]:
        progress(f"sandbox {sandbox.name} already has the {' and '.join(have)} groups")
    wanted = {group.name: group for kind in kinds for group in KINDS[kind].groups}
    progress(f"waiting for {len(wanted)} groups to become stable")
    try:
        asyncio.run(_wait(sandbox, wanted, until))
    except SandboxError:
        raise
    except KgroupsError as error:
        raise SandboxError(f"the groups could not be described: {error}") from None


def _make(sandbox: Sandbox, kind: Kind) -> None:
    try:
        make_topics(_settings(sandbox.bootstrap), kind.records)
        kind.start(sandbox)
    except SandboxError:
        raise
    except KgroupsError as error:
        raise SandboxError(f"the groups could not be created: {error}") from None


async def _wait(sandbox: Sandbox, wanted: Mapping[GroupId, KindGroup], until: float) -> None:
    admin = await WireClient.connect(_settings(sandbox.bootstrap, max(TIMEOUT, until - time.monotonic())))
    try:
        while True:
            answer = await admin.describe(Selection(tuple(wanted)))
            found = {group.group: group for group in answer.items}
            missing = [name for name, group in wanted.items() if not _is_ready(found.get(name), group)]
            missing = missing or await _behind(admin, [group.name for group in wanted.values() if group.reads_all])
            if not missing:
                return
            sandbox.check_helpers()
            if time.monotonic() > until:
                raise SandboxError(f"not ready in time: {', '.join(missing)}; see {sandbox.folder}/logs")
            await asyncio.sleep(_POLL)
    finally:
        await admin.close()


def _is_ready(found: Group | None, wanted: KindGroup) -> bool:
    return found is not None and (found.state, len(found.members or ())) == (wanted.state, wanted.members)


async def _behind(admin: WireClient, groups: Sequence[GroupId]) -> list[GroupId]:
    if not groups:
        return []
    answer = await admin.describe_offsets(Selection(tuple(groups)), isolation=Isolation.READ_UNCOMMITTED)
    lags = {item.group.group: share.row().total_lag for item in answer.items for share in shares(item, By.GROUP)}
    return [group for group in groups if lags.get(group) != 0]


def _settings(bootstrap: str, timeout: float = TIMEOUT) -> ClientSettings:
    return ClientSettings(parse_bootstrap(bootstrap), client_id=CLIENT_ID, timeout=timeout, broker_timeout=60)
