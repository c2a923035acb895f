"""``kgroups history compact``, ``expire``, ``materialize``, and ``upgrade``: maintenance of the store."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from kgroups.errors import UsageError
from kgroups.model.counts import count

from ..jobs.verify import is_decoded_by_this_version
from ..load.store import Store
from ..load.upgrade import upgrade as upgrade_store
from ..upkeep.automatic import merge_many
from ..upkeep.compact import compact as compact_store
from ..upkeep.decode_again import decode_again
from ..upkeep.expire import expire as expire_store
from ..upkeep.materialize import materialize as materialize_store


def compact(store: str, cluster: str | None) -> int:
    """Run ``kgroups history compact``; return the exit code."""
    opened = Store(store, cluster)
    merged = compact_store(opened)
    click.echo(f"{count(merged, 'entry', 'entries')} merged into one" if merged else "nothing to merge", err=True)
    if orphans := opened.delete_orphans():
        click.echo(f"{count(orphans, 'file')} of interrupted processes deleted", err=True)
    return 0


def expire(store: str, cluster: str | None, older_than: datetime) -> int:
    """Run ``kgroups history expire``; return the exit code."""
    if older_than > datetime.now(UTC):
        raise UsageError(
            f"--older-than {older_than:%Y-%m-%dT%H:%M:%SZ}: this is in the future, and would delete all history"
        )

    merged = expire_store(Store(store, cluster), older_than)
    click.echo(
        f"{count(merged, 'entry', 'entries')} rewritten without what is older than {older_than:%Y-%m-%dT%H:%M:%SZ}",
        err=True,
    )
    return 0


def materialize(store: str, cluster: str | None) -> int:
    """Run ``kgroups history materialize``; return the exit code."""
    opened = Store(store, cluster)
    merge_many(opened)
    added = materialize_store(opened)
    click.echo(f"{count(added, 'commit')} materialized" if added else "nothing to materialize", err=True)
    return 0


def upgrade(store: str) -> int:
    """Run ``kgroups history upgrade``; return the exit code."""
    records = upgrade_store(Store(store))
    click.echo("the store has the current format" if records < 0 else f"{count(records, 'record')} converted", err=True)
    for cluster in Store(store).clusters():
        opened = Store(store, cluster)
        if is_decoded_by_this_version(opened):
            click.echo(f"cluster {cluster}: the tables are those of this version", err=True)
        else:
            click.echo(f"cluster {cluster}: {count(decode_again(opened), 'record')} decoded again", err=True)
        merge_many(opened)
        materialize_store(opened)
    return 0
