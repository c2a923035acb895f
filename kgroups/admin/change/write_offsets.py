"""Writes a plan of offsets, to each group as its kind wants it: see :mod:`.writers`.

Over the wire, and not by librdkafka, which is as quick, because a half-done change is what must be told truthfully:
librdkafka does not say whether a request that it gave up on was sent, and aborts the process when the answer comes late
(its issue 4605); nor can it take a commit away, without which there is no undo.
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
    """Writes the plan; one item for each planned partition, sorted, and each failure once.

    :param journal: learns each result as it arrives, and can stop the writing.
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
