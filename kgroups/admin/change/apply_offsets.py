"""Write planned offsets, each group's as its type requires: see :mod:`.writers`.

Over the wire, not by librdkafka, which is as fast: librdkafka does not report whether a request that it gave up on was
sent, aborts the process if the response arrives late (its issue 4605), and cannot delete a committed offset.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from .writers import writer_of
from .writers.ledger import Ledger, WriteJournal


async def apply_offsets(
    cluster: Cluster, planned: Iterable[PlannedOffset], journal: WriteJournal | None = None
) -> Outcome[AppliedOffset]:
    """Write planned offsets; one item for each planned partition, sorted, and each failure once.

    :param journal: receives each result as it arrives, and can stop the writing.
    """
    entries = sorted(planned, key=lambda entry: entry.key)
    ledger = Ledger(journal)
    kinds: dict[str | None, list[PlannedOffset]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    for kind, part in kinds.items():
        await writer_of(kind)(cluster, ledger, part)
    applied = tuple(map(ledger.entered, entries))
    ledger.journal.enter({each.planned.key: each for each in applied})
    return Outcome(applied, tuple(dict.fromkeys(each.failure for each in applied if each.failure)))
