"""Merge the store's small files.

Queries and collectors can run at the same time. Files that a killed process left are deleted after a day.
"""

from __future__ import annotations

from kgroups.cli.frame.command import Command

from ..run.options import cluster_option, engine_options, need_queries, store_option, upkeep_engine_option

command = Command(
    "compact",
    __doc__,
    body="kgroups.history.run.upkeep:compact",
    check=need_queries,
    options=(
        store_option,
        cluster_option,
        upkeep_engine_option,
        engine_options,
    ),
    examples=(
        ("Merge small files", "kgroups history compact --store history"),
        ("Merge those of one cluster", "kgroups history compact --store history --cluster kJlQT0csR_e4EeMiXXuU4Q"),
        ("Merge them on a Spark cluster", "kgroups history compact --store s3://b/h --master spark://spark:7077"),
    ),
)
