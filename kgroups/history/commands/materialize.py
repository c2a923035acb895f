"""Prepare the store for fast queries.

collect does it automatically. Answers are the same without it, but queries then read all commits. Merges small
files first if there are many entries.
"""

from __future__ import annotations

from kgroups.cli.frame.command import Command

from ..run.options import cluster_option, engine_options, need_queries, store_option, upkeep_engine_option

command = Command(
    "materialize",
    __doc__,
    body="kgroups.history.run.upkeep:materialize",
    check=need_queries,
    options=(
        store_option,
        cluster_option,
        upkeep_engine_option,
        engine_options,
    ),
    examples=(
        ("Prepare a store", "kgroups history materialize --store history"),
        (
            "Prepare the data of one cluster",
            "kgroups history materialize --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
)
