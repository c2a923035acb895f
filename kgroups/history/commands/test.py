"""Test whether the store is correct and complete.

Tests that the files are those of the manifest; that each record is stored once, in a range that was read; and that
decoded rows and records belong together. Then compares the latest offsets with the cluster: what groups committed
after the last collect is read from the log. Nothing is changed.

Exit codes: 0 all checks are ok; 1 a check failed; 3 no check failed, but the result of one is unknown.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import ENDED, EXIT_CODES, Command, Shown
from kgroups.cli.frame.options import deferred_connection_options, output_options

from ..run.options import cluster_option, need_queries, store_option

command = Command(
    "test",
    __doc__,
    body="kgroups.history.run.upkeep:test",
    check=need_queries,
    options=(
        store_option,
        cluster_option,
        click.option("--store-only", is_flag=True, help="Do not compare the store with the cluster."),
        output_options,
        deferred_connection_options,
    ),
    examples=(
        ("Test a store, and compare it with the cluster", "kgroups history test --store history"),
        ("Test a store without a cluster", "kgroups history test --store history --store-only"),
    ),
    exits=(
        ("0", "All checks are ok."),
        ("1", "A check failed, or no check was possible."),
        EXIT_CODES[2],
        ("3", "No check failed, but the result of one is unknown."),
        *ENDED,
    ),
    views=(Shown("kgroups.history.run.schema:VERIFIED"),),
)
