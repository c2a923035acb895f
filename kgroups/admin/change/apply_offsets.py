"""Write planned offsets, each group's as its type requires: see :mod:`.writers`.

Each group is checked again right before its request, and after each wait. Another client can still commit between the
check and the write: the log of the group shows that afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kgroups.model.groups import GroupType
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from .commit_log import CommitLog
from .lookups import WireLookups
from .revalidate import revalidate_offsets
from .verify_offsets import verified_offsets
from .writers import writer_of
from .writers.ledger import Ledger, WriteJournal

Amend = Callable[[Sequence[PlannedOffset]], None]


async def apply_offsets(
    cluster: Cluster,
    planned: Iterable[PlannedOffset],
    journal: WriteJournal | None = None,
    *,
    with_members: bool = False,
    force: bool = False,
    amend: Amend = lambda entries: None,
) -> Outcome[AppliedOffset]:
    """Write planned offsets; one item for each planned partition, sorted, and each failure once.

    A group that is not as planned is left alone. Offsets that another client has committed at the same time are named.

    :param journal: receives each result as it arrives, and can stop the writing.
    :param with_members: also write groups that have members.
    :param force: also write groups whose offsets have changed, or with open transactions.
    :param amend: receives planned offsets whose old offset is another than planned, before the group is written if it
        is known by then.
    """
    entries = sorted(planned, key=lambda entry: entry.key)
    lookups, log = WireLookups(cluster), CommitLog(cluster)
    before = {entry.key: entry.before for entry in entries} if force else {}

    async def check(part: Sequence[PlannedOffset]) -> Outcome[PlannedOffset]:
        await log.mark(entry for entry in part if entry.kind not in GroupType.WITHOUT_COMMITS)
        checked = await revalidate_offsets(lookups, part, with_members=with_members, force=force)
        if force and (changed := [entry for entry in checked.items if entry.before != before[entry.key]]):
            amend(changed)
        return checked

    ledger = Ledger(journal, check)
    kinds: dict[str | None, list[PlannedOffset]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    for kind, part in kinds.items():
        await writer_of(kind)(cluster, ledger, part)
    applied = [ledger.entered(entry) for entry in entries]
    ledger.journal.enter({each.planned.key: each for each in applied})
    verified = await verified_offsets(lookups, log, applied)
    if replaced := [
        now.planned
        for was, now in zip(applied, verified.items, strict=True)
        if now is not was and now.planned.before != was.planned.before
    ]:
        amend(replaced)
    return verified
