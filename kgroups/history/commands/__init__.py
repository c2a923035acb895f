"""Collect the history of groups, and query it.

Lag over time, rebalances, members that joined and left: from the records of __consumer_offsets.

Requires pip install 'kgroups[pipeline]'. Queries run on DuckDB, in this process. Large collections run on Spark, on
this machine by default (--master, --remote), which requires Java 17.
"""

from __future__ import annotations

from kgroups.cli.frame.command import CommandGroup
from kgroups.cli.frame.lazy_command import declared_in

command = CommandGroup("history", __doc__, declared_in(__name__, __path__), page="history.md")
