"""``kgroups history land``."""

from __future__ import annotations

import click

from ..hosts import GivenHosts
from ..jobs.land import land as run
from ..load.store import Store
from .engine import Engine


def land(path: str, engine: Engine, hosts: GivenHosts, store: str, cluster: str | None) -> int:
    """Run ``kgroups history land``; return the exit code."""
    records = run(engine.open(), Store(store, cluster), path, hosts)
    click.echo(f"{records:,} new records", err=True)
    return 0
