"""``kgroups history publish``: the store's files as tables of other engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kgroups.cli.frame.lazy_command import Command
from kgroups.errors import UsageError
from kgroups.model.counts import count

from .options import need_pipeline, store_option

if TYPE_CHECKING:
    from ..publish.target import Target

_NAMESPACE = "kgroups"


class Property(click.ParamType[tuple[str, str]]):
    """A property as ``KEY=VALUE``."""

    name = "property"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, separator, text = value.partition("=")
        if not (key and separator):
            self.fail("must be KEY=VALUE, such as uri=http://localhost:8181", param, ctx)  # the value may be a secret
        return key, text


@click.command("publish", cls=Command)
@store_option
@click.option(
    "--iceberg",
    "catalog",
    metavar="CATALOG",
    help="Publish to an Iceberg catalog, by its name in ~/.pyiceberg.yaml or PYICEBERG_CATALOG__NAME__….",
)
@click.option(
    "--catalog-property",
    "properties",
    type=Property(),
    multiple=True,
    metavar="KEY=VALUE",
    help="Property of the Iceberg catalog, such as uri=… or warehouse=…. Repeatable. Put secrets into "
    "~/.pyiceberg.yaml.",
)
@click.option(
    "--namespace", metavar="NAME", help=f"Namespace of the tables in the Iceberg catalog.  [default: {_NAMESPACE}]"
)
@click.option("--delta", is_flag=True, help="Publish as Delta tables, in the table folders of the store.")
def publish(
    store: str, catalog: str | None, properties: tuple[tuple[str, str], ...], namespace: str | None, delta: bool
) -> int:
    """Register the store's files as Iceberg or Delta tables.

    Files are not copied. Repeat it after collect, compact, or expire: it adds new files to each table, and removes
    those that were replaced, in one commit. Requires pip install 'kgroups[iceberg]' or 'kgroups[delta]', but no Java.
    """
    if (catalog is not None) == delta:
        raise UsageError(
            "--iceberg and --delta are mutually exclusive" if delta else "use --iceberg CATALOG or --delta"
        )
    if delta and (properties or namespace):
        raise UsageError("--catalog-property and --namespace require --iceberg")
    need_pipeline("pyarrow", "numpy", "obstore")
    target: Target
    if catalog is not None:
        need_pipeline("pyiceberg", extra="iceberg")
        from ..publish.iceberg import IcebergTarget

        target = IcebergTarget(store, catalog, namespace or _NAMESPACE, dict(properties))
    else:
        need_pipeline("deltalake", extra="delta")
        from ..publish.delta import DeltaTarget

        target = DeltaTarget(store)
    from ..publish.run import publish as run

    done = run(store, target)
    changes = f"{count(done.added, 'file')} added, {done.removed} removed" if any(done[1:]) else "nothing has changed"
    click.echo(f"{count(done.tables, 'table')} published: {changes}", err=True)
    return 0
