"""``kgroups history compact``, ``expire``, ``materialize``, and ``upgrade``: maintenance of the store."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from kgroups.cli.frame.lazy_command import Command
from kgroups.errors import UsageError
from kgroups.model.counts import count

from .options import WITHOUT_SPARK, Ago, cluster_option, need_pipeline, store_option


@click.command("compact", cls=Command)
@store_option
@cluster_option
def compact(store: str, cluster: str | None) -> int:
    """Merge the store's small files.

    Queries and collectors can run at the same time. Files that a killed process left are deleted after a day.
    """
    need_pipeline(*WITHOUT_SPARK)
    from ..load.store import Store
    from ..upkeep.compact import compact as run

    opened = Store(store, cluster)
    merged = run(opened)
    click.echo(f"{count(merged, 'entry', 'entries')} merged into one" if merged else "nothing to merge", err=True)
    if orphans := opened.delete_orphans():
        click.echo(f"{count(orphans, 'file')} of interrupted processes deleted", err=True)
    return 0


@click.command("expire", cls=Command)
@store_option
@cluster_option
@click.option(
    "--older-than",
    type=Ago(),
    required=True,
    metavar="TIME",
    help="Delete records older than this: an age (30d), or a time in ISO 8601.",
)
def expire(store: str, cluster: str | None, older_than: datetime) -> int:
    """Delete old records from the store.

    What is still in effect is kept: each partition's last commit, each group's last state, and the last complete sweep
    of the cluster. Queries for later times have the same result as before.
    """
    if older_than > datetime.now(UTC):
        raise UsageError(
            f"--older-than {older_than:%Y-%m-%dT%H:%M:%SZ}: this is in the future, and would delete all history"
        )
    need_pipeline(*WITHOUT_SPARK)
    from ..load.store import Store
    from ..upkeep.expire import expire as run

    merged = run(Store(store, cluster), older_than)
    click.echo(
        f"{count(merged, 'entry', 'entries')} rewritten without what is older than {older_than:%Y-%m-%dT%H:%M:%SZ}",
        err=True,
    )
    return 0


@click.command("materialize", cls=Command)
@store_option
@cluster_option
def materialize(store: str, cluster: str | None) -> int:
    """Prepare the store for fast queries.

    collect does it automatically. Answers are the same without it, but queries then read all commits. Merges small
    files first if there are many entries.
    """
    need_pipeline(*WITHOUT_SPARK)
    from ..load.store import Store
    from ..upkeep.automatic import merge_many
    from ..upkeep.materialize import materialize as run

    opened = Store(store, cluster)
    merge_many(opened)
    added = run(opened)
    click.echo(f"{count(added, 'commit')} materialized" if added else "nothing to materialize", err=True)
    return 0


@click.command("upgrade", cls=Command)
@store_option
def upgrade(store: str) -> int:
    """Convert a store of an older version in place.

    Decodes the stored records again where this version decodes them otherwise, and prepares the store for fast
    queries, as materialize does. An upgrade that was killed can be repeated. Stop collectors first.
    """
    need_pipeline()
    from ..jobs.verify import is_decoded_by_this_version
    from ..load.store import Store
    from ..load.upgrade import upgrade as run
    from ..upkeep.automatic import merge_many
    from ..upkeep.decode_again import decode_again
    from ..upkeep.materialize import materialize

    records = run(Store(store))
    click.echo("the store has the current format" if records < 0 else f"{count(records, 'record')} converted", err=True)
    for cluster in Store(store).clusters():
        opened = Store(store, cluster)
        if is_decoded_by_this_version(opened):
            click.echo(f"cluster {cluster}: the tables are those of this version", err=True)
        else:
            click.echo(f"cluster {cluster}: {count(decode_again(opened), 'record')} decoded again", err=True)
        merge_many(opened)
        materialize(opened)
    return 0
