"""Write planned offsets, each group's as its type requires: see :mod:`.writers`.

Each group is checked again right before its request, and after each wait. Another client can still commit between the
check and the write: the log of the group shows that afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from kgroups.model.groups import GroupType
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from ...routing.recheck import Fresh, valid_until
from .commit_log import CommitLog
from .revalidate import revalidate_offsets
from .verify_offsets import amend_after, verified_offsets
from .writers import writer_of
from .writers.ledger import Ledger, WriteJournal

Amend = Callable[[Sequence[PlannedOffset]], None]


class Checker:
    """The checks of planned offsets right before they are written."""

    def __init__(self, cluster: Cluster, *, with_members: bool = False, force: bool = False) -> None:
        """Create the checks of one change.

        :param with_members: whether groups that have members pass.
        :param force: whether groups pass whose offsets have changed, or with open transactions.
        """
        self._cluster = cluster
        self.log = CommitLog(cluster)
        self.fresh: Fresh = {}
        self.force = force
        self._with_members = with_members

    async def check(self, part: Sequence[PlannedOffset]) -> Outcome[PlannedOffset]:
        """Return planned offsets as they can be written now, and why other groups must be left alone."""
        await self.log.mark(entry for entry in part if entry.kind not in GroupType.WITHOUT_COMMITS)
        return await revalidate_offsets(self._cluster, part, with_members=self._with_members, force=self.force)

    async def check_first(self, part: Sequence[PlannedOffset]) -> Outcome[PlannedOffset]:
        """Check all planned offsets of some groups; for a moment, this counts as the check before the first request."""
        began = time.monotonic()
        checked = await self.check(part)
        self.fresh.update(dict.fromkeys((entry.group for entry in checked.items), valid_until(began)))
        return checked


async def apply_offsets(
    cluster: Cluster,
    planned: Iterable[PlannedOffset],
    journal: WriteJournal | None = None,
    *,
    checker: Checker | None = None,
    amend: Amend = lambda entries: None,
) -> Outcome[AppliedOffset]:
    """Write planned offsets; one item for each planned partition, sorted, and each failure once.

    A group that is not as planned is left alone. Offsets that another client has committed at the same time are named.

    :param journal: receives each result as it arrives, and can stop the writing.
    :param checker: checks the groups; may have checked some a moment ago.
    :param amend: receives planned offsets whose old offset is another than planned, before the group is written if it
        is known by then.
    """
    entries = sorted(planned, key=lambda entry: entry.key)
    checks = checker or Checker(cluster)
    before = {entry.key: entry.before for entry in entries} if checks.force else {}

    async def check(part: Sequence[PlannedOffset]) -> Outcome[PlannedOffset]:
        checked = await checks.check(part)
        if checks.force and (changed := [entry for entry in checked.items if entry.before != before[entry.key]]):
            amend(changed)
        return checked

    ledger = Ledger(journal, check, checks.fresh)
    kinds: dict[str | None, list[PlannedOffset]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    for kind, part in kinds.items():
        await writer_of(kind)(cluster, ledger, part)
    applied = [ledger.entered(entry) for entry in entries]
    ledger.journal.enter({each.planned.key: each for each in applied})
    verified = await verified_offsets(cluster, checks.log, applied)
    replaced = [
        now.planned
        for was, now in zip(applied, verified.items, strict=True)
        if now is not was and now.planned.before != was.planned.before
    ]
    return verified.with_failures(amend_after(amend, replaced))
