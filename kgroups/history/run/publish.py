"""``kgroups history publish``: the store's files as tables of other engines."""

from __future__ import annotations

from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.errors import UsageError
from kgroups.model.counts import count

from ..commands.publish import NAMESPACE
from ..publish.run import publish as run
from ..publish.target import Target
from .options import need_pipeline


def publish(
    store: str, catalog: str | None, properties: tuple[tuple[str, str], ...], namespace: str | None, delta: bool
) -> int:
    """Run ``kgroups history publish``; return the exit code."""
    if (catalog is not None) == delta:
        raise UsageError(
            "--iceberg and --delta are mutually exclusive" if delta else "use --iceberg CATALOG or --delta"
        )
    if delta and (properties or namespace):
        raise UsageError("--catalog-property and --namespace require --iceberg")
    target: Target
    if catalog is not None:
        need_pipeline("pyiceberg", extra="iceberg")
        from ..publish.iceberg import IcebergTarget

        target = IcebergTarget(store, catalog, namespace or NAMESPACE, dict(properties))
    else:
        need_pipeline("deltalake", extra="delta")
        from ..publish.delta import DeltaTarget

        target = DeltaTarget(store)

    done = run(store, target)
    changes = f"{count(done.added, 'file')} added, {done.removed} removed" if any(done[1:]) else "nothing has changed"
    print_to_stderr(f"{count(done.tables, 'table')} published: {changes}")
    return 0
