"""What is checked before groups are changed: that nobody commits any more; and waiting for members to leave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

from .confirmation import Confirmation
from .options import Duration, grouped_options

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.still_committing import Committed
    from kgroups.model.groups import GroupId
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.outcome import Outcome

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P")

_WINDOW = 90.0

_OPTIONS = (
    click.option(
        "--force",
        is_flag=True,
        help="Also change groups for which a client that is not a member still commits, such as a consumer that uses "
        "assign(), or Flink.",
    ),
    click.option(
        "--commit-window",
        type=Duration(),
        help="Search this much of the commit log for such commits; finds clients that commit at least twice in "
        "that time. Waiting for their next commit takes at most this long, in addition to --timeout.  "
        "[default: 90s]",
    ),
    click.option(
        "--when-empty",
        type=Duration(),
        help="Wait for at most this long until all members of all groups have left, then apply the changes at "
        "once. If they do not leave, or return first, nothing is changed.",
    ),
)


class Safety(NamedTuple):
    """What the flags say. ``window`` is in seconds."""

    force: bool = False
    window: float = _WINDOW
    when_empty: float | None = None

    def check(self, confirmation: Confirmation) -> None:
        """:raises UsageError: if it would have to wait, and then to ask."""
        if self.when_empty is not None and not (confirmation.execute and confirmation.yes):
            raise UsageError(
                "--when-empty requires --execute --yes: it applies the changes as soon as the members have left"
            )

    @property
    def together(self) -> bool:
        """Whether all groups are changed, or none."""
        return self.when_empty is not None

    async def plan(self, admin: GroupAdmin, make: Callable[[], Awaitable[Outcome[P]]]) -> Outcome[P]:
        """Return the plan; with ``--when-empty`` the first one that finds no members, or one that changes nothing."""
        if self.when_empty is None:
            return await make()
        from kgroups.admin.wait_until_empty import wait_until_empty

        return await wait_until_empty(admin, make, self.when_empty, _note)

    async def screen(
        self,
        admin: GroupAdmin,
        planned: Outcome[P],
        committed: Committed,
        group_of: Callable[[P], GroupId],
        *,
        execute: bool,
    ) -> Outcome[P]:
        """Return the plan without the groups for which somebody still commits; each of these is a failure.

        :param committed: what the planned groups without members have committed.
        :param execute: whether the plan is executed; for a dry run nobody has to wait for a second sample.
        """
        if not committed:
            return planned
        from kgroups.admin.still_committing import still_committing

        watch = execute and not self.force
        sample = self.when_empty is None  # else their members have left right now, and nobody is to wait any longer
        told = await still_committing(admin, committed, window=self.window, watch=watch, sample=sample, tell=_note)
        perhaps = (
            "changed anyway (--force)" if self.force and execute else ("--execute checks whether the commits continue")
        )
        remarks = [f"group '{name}': not by a member: {words}; {perhaps}" for name, words in told.perhaps.items()]
        kept = (item for item in planned.items if group_of(item) not in told.found)
        return planned.with_items(kept).with_failures(
            told.failures("--force"), (*remarks, *(() if self.force else told.notices))
        )

    async def screen_offsets(
        self,
        admin: GroupAdmin,
        planned: Outcome[PlannedOffset],
        *,
        execute: bool,
        members: Iterable[GroupId] = (),
    ) -> Outcome[PlannedOffset]:
        """The same of planned offsets.

        :param members: groups that have members: these commit, and are not checked.
        """
        from kgroups.admin.still_committing import committed_of

        committed = committed_of(planned.items, members)
        return await self.screen(admin, planned, committed, lambda entry: entry.group_id, execute=execute)


def _note(text: str) -> None:
    from .progress import wipe

    wipe()
    click.echo(f"kgroups: note: {text}", err=True)


def safety_options(command: F) -> F:
    """The command gets ``safety``, a :class:`Safety`."""
    return grouped_options(command, _OPTIONS, "safety", _safety)


def _safety(force: bool, commit_window: float | None, when_empty: float | None) -> Safety:
    return Safety(force, _WINDOW if commit_window is None else commit_window, when_empty)
