"""Tries the way to each server, step by step, and says what each step tells: for ``kgroups config check``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from shlex import quote

from kgroups.config.security import Password
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.connection_check import CheckRow, Result
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_GROUPS_NOTICE, Acl
from kgroups.net.connection import Observer
from kgroups.net.pool import DIALS
from kgroups.net.probe import Prober, StepResult
from kgroups.protocol.apis.metadata import ClusterMetadata

from ..query.list_groups import EVERY_GROUP
from ..query.select_groups import Selection
from ..wire import WireAdmin
from . import hints
from .hints import Server

SAMPLE = 20
"""Groups that are described, to see whether they may be."""

CLUSTER = "cluster"


async def check_connection(
    settings: ClientSettings, observer: Observer | None = None
) -> tuple[Outcome[CheckRow], str | None]:
    """Each bootstrap server, then each broker that the cluster advertises elsewhere, then what we may see; and the
    cluster's id.

    A failed step is a row and a failure.

    :raises ConfigError: when the settings turn out to be impossible.
    """
    prober = Prober(settings, observer)
    first = [Server(host, port, _address(host, port)) for host, port in settings.bootstrap]
    answers = await _probed(prober, first)
    told = next((strides[-1].found for _, strides in answers if isinstance(strides[-1].found, ClusterMetadata)), None)
    rows = [row for server, strides in answers for row in _rows(settings, server, strides)]
    if told is None:
        rows.append(CheckRow(CLUSTER, "rights", Result.NOT_TRIED, None, "no server described the cluster"))
        return _outcome(rows), None
    reached = {(server.host, server.port) for server, strides in answers if strides[-1].found}
    others = [
        Server(node.host, node.port, str(node), advertised=node)
        for node in told.nodes
        if (node.host, node.port) not in {(server.host, server.port) for server in first}
    ]
    via = next(server.name for server in first if (server.host, server.port) in reached)
    for server, strides in await _probed(prober, others):
        rows += _rows(settings, server._replace(via=via), strides)
    rows += [row async for row in _rights(settings, told, observer)]
    return _outcome(rows), told.cluster_id


async def _probed(prober: Prober, servers: Sequence[Server]) -> list[tuple[Server, list[StepResult]]]:
    """The first alone: where it refuses our credentials, no other need see them. The others at once."""
    if not servers:
        return []
    head, *rest = servers
    found = [(head, await prober.probe(head.host, head.port, head.name))]
    gate = asyncio.Semaphore(DIALS)

    async def probe(server: Server) -> list[StepResult]:
        async with gate:
            return await prober.probe(server.host, server.port, server.name)

    strides = await asyncio.gather(*map(probe, rest))
    return [*found, *zip(rest, strides, strict=True)]


def _rows(settings: ClientSettings, server: Server, strides: Iterable[StepResult]) -> Iterator[CheckRow]:
    for stride in strides:
        step, found = stride.step, stride.found
        spent = None if stride.seconds is None else round(1000 * stride.seconds)
        if not stride.tried:
            yield CheckRow(server.name, step, Result.NOT_TRIED, None, None)
        elif stride.error is not None:
            text, fix = hints.diagnose(settings, server, stride.step, stride.error)
            whole = text + hints.describe_chain(stride.shown)
            yield CheckRow(server.name, step, Result.FAILED, spent, whole, fix, brief=text, reason=stride.error.reason)
        else:
            detail, warning = hints.describe_step(settings, step, found)
            yield CheckRow(server.name, step, Result.WARNING if warning else Result.OK, spent, detail, warning)


async def _rights(
    settings: ClientSettings, told: ClusterMetadata, observer: Observer | None
) -> AsyncIterator[CheckRow]:
    """What the principal may see: the cluster, its groups, and of some of them members, commits and topics."""
    yield _on_cluster(settings, told)
    try:
        admin = await WireAdmin.connect(settings, observer)
    except KgroupsError as error:
        fix = "see the failed steps above"
        yield CheckRow(CLUSTER, "groups", Result.FAILED, None, str(error), fix, reason=error.reason)
        return
    try:
        listed = await admin.list_groups(EVERY_GROUP)
        groups = [group.group_id for group in listed.items]
        yield _summed_up(settings, "groups", f"{len(groups):,} groups are listed", listed.failures)
        if groups:
            some = Selection(tuple(groups[:SAMPLE]))
            described = await admin.describe_offsets(some, isolation=Isolation.READ_UNCOMMITTED)
            refused = [failure for failure in described.failures if failure.acl]
            detail = f"{len(described.items)} of {len(some.names)} checked groups can be described"
            yield _summed_up(settings, "describe", detail, refused)
    except KgroupsError as error:
        yield CheckRow(CLUSTER, "groups", Result.FAILED, None, str(error), error.hint, reason=error.reason)
    finally:
        await admin.close()


def _on_cluster(settings: ClientSettings, told: ClusterMetadata) -> CheckRow:
    if told.operations is None:
        return CheckRow(
            CLUSTER, "rights", Result.OK, None, "brokers before Kafka 2.3 do not report authorized operations"
        )
    if "DESCRIBE" in told.operations:
        detail = f"on the cluster: {', '.join(sorted(told.operations))}"
        return CheckRow(CLUSTER, "rights", Result.OK, None, detail)
    return CheckRow(
        CLUSTER, "rights", Result.WARNING, None, OMITTED_GROUPS_NOTICE, _grant(settings, [DESCRIBE_CLUSTER])
    )


def _summed_up(settings: ClientSettings, step: str, detail: str, failures: Iterable[Failure]) -> CheckRow:
    """One row of a question; what was refused is a warning with the ACLs that would let it pass."""
    reasons = list(failures)
    if not reasons:
        return CheckRow(CLUSTER, step, Result.OK, None, detail)
    acls = list(dict.fromkeys(failure.acl for failure in reasons if failure.acl))
    if len(acls) < len({failure.name for failure in reasons}) and not acls:
        first = reasons[0]
        detail = f"{detail}; {first.name}: {first.message}"
        return CheckRow(CLUSTER, step, Result.FAILED, None, detail, first.hint, reason=first.reason)
    missing = ", ".join(map(str, acls[:3])) + (f", and {len(acls) - 3} more" if len(acls) > 3 else "")
    return CheckRow(CLUSTER, step, Result.WARNING, None, f"{detail}; missing: {missing}", _grant(settings, acls))


def _grant(settings: ClientSettings, acls: list[Acl]) -> str:
    """The words for Kafka's own tool that would add the first of these ACLs."""
    sasl = settings.security.sasl if settings.security else None
    who = sasl.credentials.username if sasl and isinstance(sasl.credentials, Password) else None
    whom = quote(f"User:{who}") if who else "User:<principal>"
    acl = acls[0]
    on = (
        "--cluster"
        if acl == DESCRIBE_CLUSTER
        else f"--{acl.resource.lower()} {quote(acl.name) if acl.name else '<name>'}"
    )
    words = f"kafka-acls.sh --add --allow-principal {whom} --operation {acl.operation.title()} {on}"
    return f"if it shall be seen: {words}" + (", and so on" if len(acls) > 1 else "")


def _outcome(rows: Iterable[CheckRow]) -> Outcome[CheckRow]:
    kept = tuple(rows)
    return Outcome(kept, tuple(_failure(row) for row in kept if row.result == Result.FAILED))


def _failure(row: CheckRow) -> Failure:
    scope = Scope.CLUSTER if row.where == CLUSTER else Scope.BROKER
    name = "" if scope is Scope.CLUSTER else row.where
    return Failure(scope, name, f"{row.step}: {row.brief or row.detail}", reason=row.reason, hint=row.fix)


def _address(host: str, port: int) -> str:
    return Node(-1, host, port).address
