"""``kgroups history test``."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import ConnectionOptions, deferred_connection_options, output_options
from kgroups.cli.frame.run_query import Shape

from .options import cluster_option, need_pipeline, store_option


@click.command("test", cls=Command)
@store_option
@cluster_option
@click.option("--store-only", is_flag=True, help="Do not compare the store with the cluster.")
@output_options
@deferred_connection_options
def test(
    connection: Callable[[], ConnectionOptions], shape: Shape, store: str, cluster: str | None, store_only: bool
) -> int:
    """Test whether the store is correct and complete.

    Tests that the files are those of the manifest; that each record is stored once, in a range that was read; and that
    decoded rows and records belong together. Then compares the latest offsets with the cluster: what groups committed
    after the last collect is read from the log. Nothing is changed.

    Exit codes: 0 all checks are ok; 1 a check failed; 3 no check failed, but the result of one is unknown.
    """
    need_pipeline("duckdb", "pyarrow", "numpy", "obstore")
    from kgroups.model.outcome import Outcome
    from kgroups.render.output import write_outcome
    from kgroups.render.views import view_of

    from ..jobs.verify import verify
    from ..load.store import Store
    from ..verify.result import Check, exit_code

    view = view_of("history-test", [(name, name in ("checked", "failed")) for name in Check._fields])
    shape.check(view)
    settings = None if store_only else connection().settings
    history = Store(store, cluster)
    checks = tuple(verify(history, settings))
    write_outcome(
        Outcome(checks),
        view,
        fmt=shape.format,
        stream=sys.stdout,
        columns=shape.columns,
        sort=shape.sort,
        headers=not shape.no_headers,
        cluster_id=history.identity().cluster_id,
    )
    return exit_code(checks)
