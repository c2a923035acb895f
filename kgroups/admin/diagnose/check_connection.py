"""Test the connection to each server step by step, and report each step, for ``kgroups config check``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from shlex import quote

from kgroups.config.security import Password
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.connection_check import CheckRow, Result
from kgroups.model.counts import count
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_GROUPS_NOTICE, Acl
from kgroups.net.connection import Observer
from kgroups.net.pool import DIALS
from kgroups.net.probe import Prober, StepResult
from kgroups.protocol.apis.metadata import ClusterMetadata

from ..query.select_groups import Selection
from ..wire import WireClient
from . import hints
from .hints import Server

SAMPLE = 20
"""Groups that are described to find out whether they can be."""

CLUSTER = "cluster"


async def check_connection(
    settings: ClientSettings, observer: Observer | None = None
) -> tuple[Outcome[CheckRow], str | None]:
    """Test each bootstrap server, then each broker advertised at another address, then the principal's permissions.

    :returns: the rows, of which each failed step is also a failure, and the cluster ID.
    :raises ConfigError: if the settings turn out to be invalid.
    """
    prober = Prober(settings, observer)
    first = [Server(host, port, _address(host, port)) for host, port in settings.bootstrap]
    probed = await _probe_all(prober, first)
    metadata = next((steps[-1].found for _, steps in probed if isinstance(steps[-1].found, ClusterMetadata)), None)
    rows = [row for server, steps in probed for row in _rows(settings, server, steps)]
    if metadata is None:
        rows.append(CheckRow(CLUSTER, "rights", Result.NOT_TRIED, None, "no server described the cluster"))
        return _outcome(rows), None
    reached = {(server.host, server.port) for server, steps in probed if steps[-1].found}
    others = [
        Server(node.host, node.port, str(node), advertised=node)
        for node in metadata.nodes
        if (node.host, node.port) not in {(server.host, server.port) for server in first}
    ]
    via = next(server.name for server in first if (server.host, server.port) in reached)
    for server, steps in await _probe_all(prober, others):
        rows += _rows(settings, server._replace(via=via), steps)
    rows += [row async for row in _rights(settings, metadata, observer)]
    return _outcome(rows), metadata.cluster_id


async def _probe_all(prober: Prober, servers: Sequence[Server]) -> list[tuple[Server, list[StepResult]]]:
    """Probe the first server alone, so that rejected credentials go to no other; then the others at the same time."""
    if not servers:
        return []
    head, *rest = servers
    found = [(head, await prober.probe(head.host, head.port, head.name))]
    slots = asyncio.Semaphore(DIALS)

    async def probe(server: Server) -> list[StepResult]:
        async with slots:
            return await prober.probe(server.host, server.port, server.name)

    steps = await asyncio.gather(*map(probe, rest))
    return [*found, *zip(rest, steps, strict=True)]


def _rows(settings: ClientSettings, server: Server, steps: Iterable[StepResult]) -> Iterator[CheckRow]:
    for result in steps:
        step, found = result.step, result.found
        ms = None if result.seconds is None else round(1000 * result.seconds)
        if not result.tried:
            yield CheckRow(server.name, step, Result.NOT_TRIED, None, None)
        elif result.error is not None:
            text, fix = hints.diagnose(settings, server, result.step, result.error)
            whole = text + hints.describe_chain(result.shown)
            yield CheckRow(server.name, step, Result.FAILED, ms, whole, fix, brief=text, reason=result.error.reason)
        else:
            detail, warning = hints.describe_step(settings, step, found)
            yield CheckRow(server.name, step, Result.WARNING if warning else Result.OK, ms, detail, warning)


async def _rights(
    settings: ClientSettings, metadata: ClusterMetadata, observer: Observer | None
) -> AsyncIterator[CheckRow]:
    """Test what the principal may see: the cluster, its groups, and the members, commits, and topics of some groups."""
    yield _on_cluster(settings, metadata)
    try:
        admin = await WireClient.connect(settings, observer)
    except KgroupsError as error:
        fix = "see the failed steps above"
        yield CheckRow(CLUSTER, "groups", Result.FAILED, None, str(error), fix, reason=error.reason)
        return
    try:
        listed = await admin.list_selected(Selection())
        groups = [group.group for group in listed.items]
        yield _summary(settings, "groups", f"{count(len(groups), 'group')} listed", listed.failures)
        if groups:
            some = Selection(tuple(groups[:SAMPLE]))
            described = await admin.describe_offsets(some, isolation=Isolation.READ_UNCOMMITTED)
            unsupported = Reason.VERSION_UNSUPPORTED
            denied = [each for each in described.failures if each.acl or each.reason == unsupported]
            detail = f"{len(described.items)} of {count(len(some.names), 'checked group')} can be described"
            yield _summary(settings, "describe", detail, denied)
    except KgroupsError as error:
        yield CheckRow(CLUSTER, "groups", Result.FAILED, None, str(error), error.hint, reason=error.reason)
    finally:
        await admin.close()


def _on_cluster(settings: ClientSettings, metadata: ClusterMetadata) -> CheckRow:
    if metadata.operations is None:
        return CheckRow(
            CLUSTER, "rights", Result.OK, None, "brokers before Kafka 2.3 do not report authorized operations"
        )
    if "DESCRIBE" in metadata.operations:
        detail = f"on the cluster: {', '.join(sorted(metadata.operations))}"
        return CheckRow(CLUSTER, "rights", Result.OK, None, detail)
    return CheckRow(
        CLUSTER, "rights", Result.WARNING, None, OMITTED_GROUPS_NOTICE, _grant(settings, [DESCRIBE_CLUSTER])
    )


def _summary(settings: ClientSettings, step: str, detail: str, failures: Iterable[Failure]) -> CheckRow:
    """Return the row of one query: a warning with the missing ACLs, if any."""
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
    """Return the command of Kafka's tool that adds the first of these ACLs."""
    sasl = settings.security.sasl if settings.security else None
    user = sasl.credentials.username if sasl and isinstance(sasl.credentials, Password) else None
    principal = quote(f"User:{user}") if user else "User:<principal>"
    acl = acls[0]
    on = (
        "--cluster"
        if acl == DESCRIBE_CLUSTER
        else f"--{acl.resource.lower()} {quote(acl.name) if acl.name else '<name>'}"
    )
    command = f"kafka-acls.sh --add --allow-principal {principal} --operation {acl.operation.title()} {on}"
    return f"to grant access: {command}" + (", and so on" if len(acls) > 1 else "")


def _outcome(rows: Iterable[CheckRow]) -> Outcome[CheckRow]:
    kept = tuple(rows)
    return Outcome(kept, tuple(_failure(row) for row in kept if row.result == Result.FAILED))


def _failure(row: CheckRow) -> Failure:
    scope = Scope.CLUSTER if row.where == CLUSTER else Scope.BROKER
    name = "" if scope is Scope.CLUSTER else row.where
    return Failure(scope, name, f"{row.step}: {row.brief or row.detail}", reason=row.reason, hint=row.fix)


def _address(host: str, port: int) -> str:
    return Node(-1, host, port).address
