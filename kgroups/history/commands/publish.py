"""Register the store's files as Iceberg or Delta tables.

Files are not copied. Repeat it after collect, compact, or expire: it adds new files to each table, and removes
those that were replaced, in one commit. Requires pip install 'kgroups[iceberg]' or 'kgroups[delta]', but no Java.
"""

from __future__ import annotations

from functools import partial

import click

from kgroups.cli.frame.command import Command

from ..run.options import need_pipeline, store_option

NAMESPACE = "kgroups"
"""The default namespace of the tables in a catalog of Iceberg."""


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


command = Command(
    "publish",
    __doc__,
    body="kgroups.history.run.publish:publish",
    check=partial(need_pipeline, "pyarrow", "numpy", "obstore"),
    options=(
        store_option,
        click.option(
            "--iceberg",
            "catalog",
            metavar="CATALOG",
            help="Publish to an Iceberg catalog, by its name in ~/.pyiceberg.yaml or PYICEBERG_CATALOG__NAME__….",
        ),
        click.option(
            "--catalog-property",
            "properties",
            type=Property(),
            multiple=True,
            metavar="KEY=VALUE",
            help="Property of the Iceberg catalog, such as uri=… or warehouse=…. Repeatable. Put secrets into "
            "~/.pyiceberg.yaml.",
        ),
        click.option(
            "--namespace",
            metavar="NAME",
            help=f"Namespace of the tables in the Iceberg catalog.  [default: {NAMESPACE}]",
        ),
        click.option("--delta", is_flag=True, help="Publish as Delta tables, in the table folders of the store."),
    ),
    examples=(
        ("Register the tables in a catalog of Iceberg", "kgroups history publish --store history --iceberg catalog"),
        ("Write the logs of Delta tables", "kgroups history publish --store history --delta"),
    ),
)
