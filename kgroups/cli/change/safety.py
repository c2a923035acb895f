"""Safety checks before groups are changed: no client still commits, and, on request, all members have left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from kgroups.admin.still_committing import Committed, Committing, committed_of, in_transactions, still_committing
from kgroups.admin.wait_until_empty import wait_until_empty
from kgroups.errors import UsageError
from kgroups.model.counts import SHOWN, count, some
from kgroups.model.groups import GroupId
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from ..frame.exit_status import is_quiet, print_to_stderr
from ..frame.options import ConnectionOptions
from ..frame.progress import wipe
from .confirmation import Confirmation

P = TypeVar("P")

_WINDOW = 90.0


class Safety(NamedTuple):
    """The safety options; ``window`` and ``when_empty`` are in seconds.

    ``execute``: whether the plan is executed; a dry run does not wait for a second sample.
    """

    force: bool = False
    window: float = _WINDOW
    when_empty: float | None = None
    execute: bool = False

    def of(self, confirmation: Confirmation, connection: ConnectionOptions) -> Safety:
        """Return the options for a run; ``--when-empty`` must not wait and then ask, or wait for another cluster.

        :raises UsageError: if it is given without ``--execute --yes``, or with ``--fleet``.
        """
        if self.when_empty is not None:
            connection.check_single("--when-empty", "it applies the changes as soon as the members have left")
        if self.when_empty is not None and not (confirmation.execute and confirmation.yes):
            raise UsageError(
                "--when-empty requires --execute --yes: it applies the changes as soon as the members have left"
            )
        return self._replace(execute=confirmation.execute)

    @property
    def together(self) -> bool:
        """Whether either all groups are changed or none."""
        return self.when_empty is not None

    async def plan(self, cluster: Cluster, make: Callable[[], Awaitable[Outcome[P]]], where: str = "") -> Outcome[P]:
        """Return the plan; with ``--when-empty``, the first plan without members, or an empty one if time runs out.

        :param where: names the cluster in messages, if there are two.
        """
        if self.when_empty is None:
            return await make()

        return await wait_until_empty(cluster, make, self.when_empty, _print_note, where)

    async def screen(
        self,
        cluster: Cluster,
        planned: Outcome[P],
        committed: Committed,
        group_of: Callable[[P], GroupId],
        pending: Mapping[GroupId, str],
    ) -> Outcome[P]:
        """Return the plan without the groups for which a client still commits; each of these is a failure.

        :param committed: the commits of the planned groups that have no members.
        :param pending: the groups with offsets in open transactions, and the evidence.
        """

        def without(planned: Outcome[P], found: Mapping[GroupId, str]) -> Outcome[P]:
            if self.force:
                return planned.with_failures((), _notes(found, "", "changed anyway (--force)"))
            kept = (item for item in planned.items if group_of(item) not in found)
            return planned.with_items(kept).with_failures(Committing(found).failures("--force"))

        if pending:
            planned = without(planned, pending)
            committed = {name: commits for name, commits in committed.items() if name not in pending}
        if not committed:
            return planned

        watch = self.execute and not self.force
        sample = self.when_empty is None  # otherwise the members have just left, and changes must not wait
        activity = await still_committing(
            cluster, committed, window=self.window, watch=watch, sample=sample, tell=_print_note
        )
        consequence = (
            "changed anyway (--force)"
            if self.force and self.execute
            else ("--execute checks whether the commits continue")
        )
        notices = _notes(activity.perhaps, "not by a member: ", consequence)
        return without(planned, activity.found).with_failures((), (*notices, *(() if self.force else activity.notices)))

    async def screen_offsets(
        self, cluster: Cluster, planned: Outcome[PlannedOffset], members: Iterable[GroupId] = ()
    ) -> Outcome[PlannedOffset]:
        """Return planned offsets without the groups for which a client still commits, as :meth:`screen` does.

        :param members: groups with members; these are expected to commit and are not checked.
        """
        committed, pending = committed_of(planned.items, members), in_transactions(planned.items)
        return await self.screen(cluster, planned, committed, lambda entry: entry.group, pending)


def _notes(found: Mapping[GroupId, str], who: str, consequence: str) -> list[str]:
    """Return a note for each group, or one for all if they are many."""
    if len(found) > SHOWN:
        which = some([f"group '{name}': {evidence}" for name, evidence in found.items()])
        return [f"{count(len(found), 'group')}: {who}{which}; {consequence}"]
    return [f"group '{name}': {who}{evidence}; {consequence}" for name, evidence in found.items()]


def _print_note(text: str) -> None:
    wipe()
    if not is_quiet():
        print_to_stderr(f"kgroups: note: {text}")


def safety_of(force: bool, commit_window: float | None, when_empty: float | None) -> Safety:
    """Return the safety options."""
    return Safety(force, _WINDOW if commit_window is None else commit_window, when_empty)
