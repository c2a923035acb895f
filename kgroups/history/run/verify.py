"""``kgroups history test``."""

from __future__ import annotations

import sys
from collections.abc import Callable

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.output import Shape
from kgroups.model.outcome import Outcome
from kgroups.render.output import write_outcome

from ..jobs.verify import verify
from ..load.store import Store
from ..verify.result import exit_code
from .views import VERIFIED


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
