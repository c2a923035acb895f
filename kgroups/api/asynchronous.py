"""The questions and acts, awaited."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from kgroups.admin.list_groups import ListFilter
from kgroups.admin.open import open_admin
from kgroups.admin.port import GroupAdmin
from kgroups.admin.reset_plan import ResetRequest
from kgroups.admin.select_groups import Selection
from kgroups.admin.still_committing import WINDOW, Committing, committed_of, still_committing
from kgroups.config.load import Flags, load_settings
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.health.sampling import Sampling
from kgroups.model.offsets import Isolation
from kgroups.model.operations.reset import PlannedOffset, Scenario
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.lag_rows import LagRow
from kgroups.model.views.lag_summary import shares
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.offsets import offset_rows

from . import arguments

T = TypeVar("T")

_LOG = logging.getLogger("kgroups")


class AsyncCluster:
    """A cluster, by where it is. It connects for each question; there is nothing to close.

    Answers are :class:`kgroups.model.outcome.Outcome`: ``items`` that came back, ``failures`` by group, topic or
    broker, and ``notices``. Only what concerns the whole answer is raised, as a :class:`kgroups.errors.KgroupsError`.
    """

    def __init__(
        self,
        bootstrap: str | None = None,
        *,
        command_config: str | os.PathLike[str] | None = None,
        properties: Mapping[str, str] | None = None,
        profile: str | None = None,
        timeout: float | None = None,
        broker_timeout: float | None = None,
        transport: str | None = None,
        config_providers: bool | None = None,
        max_requests_per_second: float | None = None,
    ) -> None:
        """What is not given is looked for as the commands do: in the environment, in the profile, in the file.

        :param bootstrap: ``host:port,host:port``.
        :param command_config: a Java ``client.properties``, or librdkafka's.
        :param properties: settings as in such a file, over it.
        :param timeout: seconds for the whole of each question; 30 by default.
        :param broker_timeout: of these, seconds that one broker may cost; 10 by default.
        :param transport: ``wire`` or ``librdkafka``.
        :param config_providers: whether ``${env:NAME}``, ``${file:PATH:KEY}``, and ``${directory:PATH:FILE}`` are
            resolved and a token may come from a ``file:`` URL. Default: in files, but not in ``properties``, because
            whoever writes those could read the files and variables of this machine. ``False``: nowhere.
        :param max_requests_per_second: maximum rate of requests to all brokers together; unlimited by default.
        :raises UsageError: when nobody says where the cluster is, or something cannot be right.
        :raises ConfigError: for a file or profile that cannot be right.
        """
        flags = Flags(
            arguments.text("bootstrap", bootstrap),
            None if command_config is None else os.fspath(command_config),
            (),
            arguments.text("profile", profile),
            arguments.seconds("timeout", timeout),
            arguments.seconds("broker_timeout", broker_timeout),
            arguments.transport(transport),
            tuple((key, str(value)) for key, value in (properties or {}).items()),
            config_providers,
            arguments.rate(max_requests_per_second),
        )
        loaded = load_settings(flags, os.environ)
        self.settings = loaded.settings
        for remark in loaded.remarks:
            _LOG.warning(remark)

    async def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[ListedGroup]:
        """The groups there are, of every kind, sorted by name; with states or types, those that are in one of them."""
        wanted = ListFilter(arguments.states(states), arguments.types(types), with_states=True, with_types=True)
        return await self._ask(lambda admin: admin.list_groups(wanted))

    async def describe(
        self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False
    ) -> Outcome[Group]:
        """State and members of these groups: by name, those that match ``regex`` or use ``topics``, or all."""
        selection = arguments.selection(groups, regex, topics, all_groups)
        return await self._ask(lambda admin: admin.describe(selection))

    async def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
    ) -> Outcome[OffsetRow]:
        """One row for each partition of each group: committed offset, both ends of the log, lag, who holds it."""
        selection, level = arguments.selection(groups, regex, topics, all_groups), _level(read_committed)
        outcome = await self._ask(lambda admin: admin.describe_offsets(selection, isolation=level))
        return outcome.with_items(row for item in outcome.items for row in offset_rows(item))

    async def lag(
        self,
        *groups: str,
        by: str = "group",
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
    ) -> Outcome[LagRow]:
        """How far behind, summed up by ``group``, ``topic``, ``partition`` or ``member``."""
        selection = arguments.selection(groups, regex, topics, all_groups)
        level, split = _level(read_committed), arguments.split(by)
        outcome = await self._ask(lambda admin: admin.describe_offsets(selection, isolation=level, whole_topics=True))
        return outcome.with_items(share.row() for item in outcome.items for share in shares(item, split))

    async def check(
        self,
        *groups: str,
        limits: Limits,
        regex: str | None = None,
        window: float = 30.0,
        samples: int = 3,
        all_groups: bool = False,
    ) -> Report:
        """Whether groups are as they should be.

        :param window: seconds over which a trend is looked at, where ``limits`` has one; it takes as long.
        :param samples: how often in that time, at least twice.
        """
        from kgroups.admin.observe import observe

        selection = arguments.selection(groups, regex, (), all_groups)
        sampling = Sampling(arguments.limits(limits), (), window, samples)
        for wanted in sampling.wanted():
            await asyncio.sleep(wanted.pause)
            look = partial(
                observe,
                selection=selection,
                isolation=Isolation.READ_UNCOMMITTED,
                with_ages=wanted.with_ages,
                with_commit_times=wanted.with_commit_times,
                with_outsiders=wanted.with_outsiders,
            )
            sampling.add(await self._ask(look))
        return sampling.report(int(time.time() * 1000))

    async def plan_reset(
        self,
        *groups: str,
        to: Scenario,
        topics: Iterable[str] | None = None,
        regex: str | None = None,
        all_groups: bool = False,
        create_group: bool = False,
    ) -> Outcome[PlannedOffset]:
        """Where offsets would go. Nothing is changed.

        :param to: one of the scenarios of :mod:`kgroups.model.operations.reset`.
        :param topics: ``orders`` or ``orders:0,2-5``; ``None``: all that the group has committed.
        :param create_group: whether named groups that do not exist are planned; otherwise each is a failure.
        """
        selection = arguments.selection(groups, regex, (), all_groups)
        request = ResetRequest(selection, arguments.scenario(to), arguments.scope(topics), create=create_group)
        return await self._ask(lambda admin: admin.plan_reset(request))

    async def apply(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        """Moves offsets as a plan says, where the groups are still as it found them; tells what became of each.

        A group for which a client that is not a member still commits is a failure, as for ``kgroups reset-offsets``;
        to find out may take some seconds, which do not count toward ``timeout``.

        :param plan: the items of :meth:`plan_reset`, or some of them.
        :param force: change such groups, too, and groups whose offsets have changed since they were planned.
        :param commit_window: seconds of the commit log that are read for it.
        :raises UsageError: when it is something else, such as the whole outcome.
        """
        plan = arguments.plan(plan)
        window = arguments.seconds("commit_window", commit_window)

        async def act(admin: GroupAdmin) -> Outcome[AppliedOffset]:
            told = Committing() if force else await still_committing(admin, committed_of(plan), window=window)
            kept = [entry for entry in plan if entry.group_id not in told.found]
            true = await admin.still_true(kept, force=force)
            done = await admin.apply_offsets(true.items)
            return done.with_failures((*told.failures("force=True"), *true.failures), (*told.notices, *true.notices))

        return await self._ask(act)

    async def delete(self, *groups: str, force: bool = False, commit_window: float = WINDOW) -> Outcome[DeletedGroup]:
        """Deletes groups that have no members, with their offsets. There is no way back.

        A group for which a client that is not a member still commits is a failure: see :meth:`apply`.

        :raises UsageError: when no group is named.
        """
        names = arguments.selection(groups, None, (), all_groups=False).names
        window = arguments.seconds("commit_window", commit_window)

        async def act(admin: GroupAdmin) -> Outcome[DeletedGroup]:
            told = Committing()
            if not force:
                planned = await admin.plan_delete(Selection(names))
                committed = {each.group.group_id: each.commits for each in planned.items}
                told = await still_committing(admin, committed, window=window)
            done = await admin.delete_groups([name for name in names if name not in told.found])
            failures = told.failures("force=True")
            spared = [DeletedGroup(failure.name, Result.FAILED, failure) for failure in failures]
            items = sorted((*done.items, *spared), key=lambda each: each.group_id)
            return done.with_items(items).with_failures(failures, told.notices)

        return await self._ask(act)

    async def _ask(self, question: Callable[[GroupAdmin], Awaitable[T]]) -> T:
        admin, _ = await open_admin(self.settings, tell=_LOG.warning)
        try:
            return await question(admin)
        finally:
            await admin.close()


def _level(read_committed: bool) -> Isolation:
    return Isolation.READ_COMMITTED if read_committed else Isolation.READ_UNCOMMITTED
