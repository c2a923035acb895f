"""``kgroups history compact``, ``expire``, ``materialize``, ``test``, and ``upgrade``: maintenance of the store."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime

from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.output import Shape
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.outcome import Outcome
from kgroups.render.output import write_outcome

from ..jobs.verify import is_decoded_by_this_version, verify
from ..load.store import Store
from ..load.upgrade import upgrade as upgrade_store
from ..upkeep.automatic import merge_many
from ..upkeep.compact import compact as compact_store
from ..upkeep.decode_again import decode_again
from ..upkeep.expire import expire as expire_store
from ..upkeep.materialize import materialize as materialize_store
from ..verify.result import exit_code
from .engine import Engine, elsewhere_of
from .schema import VERIFIED


def compact(store: str, cluster: str | None, engine: Engine, runs_on: str | None) -> int:
    """Run ``kgroups history compact``; return the exit code."""
    opened = Store(store, cluster)
    merged = compact_store(opened, elsewhere=elsewhere_of(engine, runs_on, opened))
    print_to_stderr(f"{count(merged, 'entry', 'entries')} merged into one" if merged else "nothing to merge")
    if orphans := opened.delete_orphans():
        print_to_stderr(f"{count(orphans, 'file')} of interrupted processes deleted")
    return 0


def expire(store: str, cluster: str | None, older_than: datetime, engine: Engine, runs_on: str | None) -> int:
    """Run ``kgroups history expire``; return the exit code."""
    if older_than > datetime.now(UTC):
        raise UsageError(
            f"--older-than {older_than:%Y-%m-%dT%H:%M:%SZ}: this is in the future, and would delete all history"
        )

    opened = Store(store, cluster)
    merged = expire_store(opened, older_than, elsewhere=elsewhere_of(engine, runs_on, opened))
    print_to_stderr(
        f"{count(merged, 'entry', 'entries')} rewritten without what is older than {older_than:%Y-%m-%dT%H:%M:%SZ}",
    )
    return 0


def materialize(store: str, cluster: str | None, engine: Engine, runs_on: str | None) -> int:
    """Run ``kgroups history materialize``; return the exit code."""
    opened = Store(store, cluster)
    elsewhere = elsewhere_of(engine, runs_on, opened)
    merge_many(opened, elsewhere=elsewhere)
    added = materialize_store(opened, elsewhere=elsewhere)
    print_to_stderr(f"{count(added, 'commit')} materialized" if added else "nothing to materialize")
    return 0


def upgrade(store: str) -> int:
    """Run ``kgroups history upgrade``; return the exit code."""
    records = upgrade_store(Store(store))
    print_to_stderr("the store has the current format" if records < 0 else f"{count(records, 'record')} converted")
    for cluster in Store(store).clusters():
        opened = Store(store, cluster)
        if is_decoded_by_this_version(opened):
            print_to_stderr(f"cluster {cluster}: the tables are those of this version")
        else:
            print_to_stderr(f"cluster {cluster}: {count(decode_again(opened), 'record')} decoded again")
        merge_many(opened)
        materialize_store(opened)
    return 0


def test(
    connection: Callable[[], ConnectionOptions], shape: Shape, store: str, cluster: str | None, store_only: bool
) -> int:
    """Run ``kgroups history test``; return the exit code."""
    shape.check(VERIFIED)
    settings = None if store_only else connection().settings
    history = Store(store, cluster)
    checks = tuple(verify(history, settings))
    write_outcome(
        Outcome(checks),
        VERIFIED,
        fmt=shape.format,
        stream=sys.stdout,
        columns=shape.columns,
        sort=shape.sort,
        headers=not shape.no_headers,
        cluster_id=history.identity().cluster_id,
    )
    return exit_code(checks)
