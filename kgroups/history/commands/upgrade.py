"""Convert a store of an older version in place.

Decodes the stored records again where this version decodes them otherwise, and prepares the store for fast
queries, as materialize does. An upgrade that was killed can be repeated. Stop collectors first.
"""

from __future__ import annotations

from kgroups.cli.frame.command import Command

from ..run.options import need_pipeline, store_option

command = Command(
    "upgrade",
    __doc__,
    body="kgroups.history.run.upkeep:upgrade",
    check=need_pipeline,
    options=(store_option,),
    examples=(
        ("Convert a store in place", "kgroups history upgrade --store history"),
        ("Test it afterwards", "kgroups history test --store history --store-only"),
    ),
)
