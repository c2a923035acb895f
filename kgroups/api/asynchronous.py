"""The Python API for programs with an event loop."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from kgroups.admin.change.apply.delete_in_chunks import delete_in_chunks
from kgroups.admin.change.apply.write_in_chunks import write_in_chunks
from kgroups.admin.change.plan.hidden_offsets import hidden_offsets
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.client import Client, Cluster
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.still_committing import WINDOW, Committing, committed_of, in_transactions, still_committing
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.errors import UsageError
from kgroups.model import outcome as model
from kgroups.model.groups import GroupType
from kgroups.model.operations.reset import PlannedOffset, Scenario
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.outcome import Result
from kgroups.model.settings.change import AppliedSetting
from kgroups.model.snapshot.rows import SnapshotRow, snapshot_row

from . import arguments
from .arguments import GroupFilters
from .items import PlannedDeletion
from .outcome import Outcome, PartialFailure, summary
from .session import Session
from .settings import SettingsMethods
from .undo import SettingsChange, UndoMemory, deletion_change, offsets_change

T = TypeVar("T")

_LOG = logging.getLogger("kgroups")


class AsyncCluster(SettingsMethods):
    """A Kafka cluster, for programs with an event loop.

    Connection settings that are not given come from the same places as those of the commands: environment variables,
    the profile, the configuration file. Each call opens connections and closes them; inside ``async with`` they are
    kept for the next call. Each call has ``timeout`` for itself.

    Every method returns an :class:`kgroups.Outcome`, whose ``failures`` name everything that is missing from its
    items. Exceptions are for calls without any result, and all of them are :class:`kgroups.KgroupsError`.

    Args:
        bootstrap: Bootstrap servers, ``host:port,host:port``.
        command_config: Path of a Java ``client.properties`` file, or of one for librdkafka.
        properties: Client properties that override those of the file.
        profile: Name of a profile of the configuration file.
        timeout: Seconds for one call. Default: 30.
        broker_timeout: Seconds to wait for one broker that does not respond. Default: 10.
        transport: ``wire`` (default) or ``librdkafka``.
        config_providers: Whether ``${env:NAME}``, ``${file:PATH:KEY}``, and ``${directory:PATH:FILE}`` are resolved,
            and a token may come from a ``file:`` URL. Default: in files, but not in ``properties``, because whoever
            writes those could read the files and variables of this machine.
        max_requests_per_second: Maximum rate of requests to all brokers together. Default: unlimited.

    Raises:
        UsageError: If an argument is invalid, or there are no bootstrap servers.
        ConfigError: If a file or profile is invalid.

    Example:
        >>> async with AsyncCluster("localhost:9092") as cluster:
        ...     for row in await cluster.lag("orders"):
        ...         print(row.group, row.total_lag)
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
        flags = Flags(
            arguments.text("bootstrap", bootstrap),
            arguments.path("command_config", command_config),
            (),
            arguments.text("profile", profile),
            arguments.seconds("timeout", timeout),
            arguments.seconds("broker_timeout", broker_timeout),
            arguments.transport(transport),
            arguments.properties(properties),
            None if config_providers is None else arguments.flag("config_providers", config_providers),
            arguments.rate(max_requests_per_second),
        )
        loaded = load_settings(flags, os.environ)
        self.settings = loaded.settings
        self._session = Session(self.settings)
        for remark in loaded.warnings:
            _LOG.warning(remark)

    async def __aenter__(self) -> Self:
        self._session.keep()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def plan_reset(
        self,
        *groups: str,
        to: Scenario,
        topics: Iterable[str] | None = None,
        regex: str | None = None,
        all_groups: bool = False,
        create_group: bool = False,
    ) -> Outcome[PlannedOffset]:
        """Plan a reset of committed offsets. Nothing is changed.

        Args:
            *groups: Group IDs.
            to: The new offsets: ToEarliest, ToLatest, ToCurrent, ToOffset, ShiftBy, ToTime, ToGroup, or FromPlan.
            topics: ``orders`` or ``orders:0,2-5``. Default: every partition with a committed offset.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups.
            create_group: Plan groups that do not exist, too. Otherwise each of them is a failure.

        Returns:
            One item for each partition, with ``old``, ``new``, and ``note``. Groups with members are failures.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_reset("orders", to=ToEarliest(), topics=["orders:0"])
            >>> [(each.topic, each.partition, each.old, each.new) for each in plan]
        """
        selection = arguments.selection(groups, regex, (), all_groups)
        create = arguments.flag("create_group", create_group)
        request = ResetRequest(selection, arguments.scenario(to), arguments.scope(topics), create=create)
        return Outcome.of(await self._change(lambda cluster: plan_reset(cluster, request)))

    async def apply(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        """Write the offsets of a plan.

        Each group is checked again right before it is written: if it has members, if its offsets or topics have
        changed, or if a client that is not a member still commits for it, it is a failure and remains as it is. That
        check takes at most ``commit_window``, in addition to ``timeout``.

        Args:
            plan: Items of :meth:`plan_reset`, or some of them.
            force: Also write groups for which such a client commits, or whose offsets have changed.
            commit_window: Seconds of the commit log that are read for that check.

        Returns:
            One item for each offset, with ``result``: applied, failed, or unknown. Pass the outcome to :meth:`undo`
            to restore the old offsets.

        Raises:
            UsageError: If an argument is invalid, such as an outcome instead of its items.
            KgroupsError: If no broker responds.

        Example:
            >>> done = await cluster.apply(plan.items)
            >>> done.raise_for_failures()
        """
        entries = arguments.plan(plan, PlannedOffset)
        arguments.flag("force", force)
        window = arguments.seconds("commit_window", commit_window)
        return await self._change(lambda cluster: _write(cluster, entries, force=force, window=window))

    async def plan_delete_offsets(
        self,
        *groups: str,
        topics: Iterable[str],
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[PlannedOffset]:
        """Plan the deletion of committed offsets. Nothing is changed.

        Args:
            *groups: Group IDs.
            topics: ``orders`` or ``orders:0,2-5``.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups.

        Returns:
            One item for each committed offset to delete. A topic that a member is subscribed to is a failure.

        Raises:
            UsageError: If no groups or topics are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_delete_offsets("orders", topics=["old-topic"])
        """
        selection = arguments.selection(groups, regex, (), all_groups)
        scope = arguments.scope(topics)
        if scope is None:
            raise UsageError("topics must be a list of str, not None")
        return Outcome.of(await self._change(lambda cluster: plan_delete_offsets(cluster, selection, scope)))

    async def delete_offsets(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        """Delete the committed offsets of a plan. Requires Kafka 2.4.

        Each group is checked again right before its offsets are deleted, as in :meth:`apply`, but it may have members
        that are not subscribed to the topic.

        Args:
            plan: Items of :meth:`plan_delete_offsets`, or some of them.
            force: Also change groups for which a client that is not a member commits, or whose offsets have changed.
            commit_window: Seconds of the commit log that are read for that check.

        Returns:
            One item for each offset, with ``result``: applied, failed, or unknown. Pass the outcome to :meth:`undo`
            to restore the offsets.

        Raises:
            UsageError: If an argument is invalid, or an item is not a deletion.
            KgroupsError: If no broker responds.

        Example:
            >>> done = await cluster.delete_offsets(plan.items)
        """
        entries = arguments.plan(plan, PlannedOffset)
        arguments.flag("force", force)
        window = arguments.seconds("commit_window", commit_window)
        if any(entry.after is not None for entry in entries):
            raise UsageError("delete_offsets takes the items of plan_delete_offsets; pass those of plan_reset to apply")
        return await self._change(lambda cluster: _write(cluster, entries, force=force, window=window, deletion=True))

    async def plan_delete(
        self, *groups: str, regex: str | None = None, all_groups: bool = False
    ) -> Outcome[PlannedDeletion]:
        """Plan the deletion of groups. Nothing is changed.

        Args:
            *groups: Group IDs.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups.

        Returns:
            One item for each group, with ``group`` and ``commits``. Groups with members are failures.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_delete(regex="test-.*")
            >>> [(each.group, len(each.commits)) for each in plan]
        """
        selection = arguments.selection(groups, regex, (), all_groups)
        planned = await self._change(lambda cluster: plan_delete(cluster, selection))
        return Outcome.of(planned.with_items(map(PlannedDeletion, planned.items)))

    async def delete(
        self,
        *groups: str | PlannedDeletion,
        force: bool = False,
        commit_window: float = WINDOW,
        including_hidden_offsets: bool = False,
    ) -> Outcome[DeletedGroup]:
        """Delete groups without members, with their committed offsets.

        A group for which a client that is not a member still commits is a failure: see :meth:`apply`.

        Args:
            *groups: Group IDs, or items of :meth:`plan_delete`: of those, groups whose offsets have changed are
                failures.
            force: Also delete groups for which such a client commits, or whose offsets have changed.
            commit_window: Seconds of the commit log that are read for that check.
            including_hidden_offsets: Also delete groups with committed offsets that ACLs hide, or may hide, on topics
                without permission DESCRIBE. :meth:`undo` does not restore those.

        Returns:
            One item for each group, with ``result``: applied, failed, or unknown. Pass the outcome to :meth:`undo` to
            restore the offsets, which creates the groups again.

        Raises:
            UsageError: If no group is given, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> done = await cluster.delete(*plan)
        """
        plans = {each.group: each for each in groups if isinstance(each, PlannedDeletion)}
        named = [each.group if isinstance(each, PlannedDeletion) else each for each in groups]
        names = arguments.selection(named, None, (), all_groups=False).names
        arguments.flag("force", force)
        window = arguments.seconds("commit_window", commit_window)
        hidden = arguments.flag("including_hidden_offsets", including_hidden_offsets)
        way = None if hidden else "including_hidden_offsets=True"
        return await self._change(lambda cluster: _delete(cluster, names, plans, force=force, window=window, way=way))

    @overload
    async def undo(
        self, change: Outcome[AppliedSetting], *, commit_window: float = WINDOW
    ) -> Outcome[AppliedSetting]: ...

    @overload
    async def undo(
        self,
        change: Outcome[AppliedOffset] | Outcome[DeletedGroup],
        *,
        partial: bool = False,
        commit_window: float = WINDOW,
    ) -> Outcome[AppliedOffset]: ...

    async def undo(self, change: Outcome[Any], *, partial: bool = False, commit_window: float = WINDOW) -> Outcome[Any]:
        """Restore the committed offsets, or the settings, from before a change.

        An offset that another client has committed since is a failure, and so is one of a topic that was deleted and
        recreated. The check for clients that still commit is that of :meth:`apply`. A setting that has changed since is
        a failure.

        Args:
            change: The outcome of :meth:`apply`, :meth:`delete_offsets`, :meth:`delete`, or :meth:`alter_settings`.
            partial: Also restore a part of a group's offsets. Otherwise, if one fails, none of them is restored.
            commit_window: Seconds of the commit log that are read for that check.

        Returns:
            One item for each restored offset or setting, with ``result``: applied, failed, or unknown.

        Raises:
            UsageError: If the argument is not such an outcome, or it belongs to another cluster.
            KgroupsError: If no broker responds.

        Example:
            >>> done = await cluster.apply(plan.items)
            >>> restored = await cluster.undo(done)
        """
        done = arguments.change(change)
        if isinstance(done, SettingsChange):
            return await self._undo_settings(done.restored())
        scenario = done.scenario()
        names = tuple(dict.fromkeys(group for group, _, _ in scenario.moves))
        window = arguments.seconds("commit_window", commit_window)
        partly = arguments.flag("partial", partial)

        async def act(cluster: Cluster) -> Outcome[AppliedOffset]:
            planned = await plan_reset(cluster, ResetRequest(Selection(names), scenario, partial=partly))
            return await _write(cluster, planned.items, force=False, window=window, earlier=planned)

        return await self._change(act) if names else Outcome()

    async def save_snapshot(
        self,
        file: str | os.PathLike[str],
        *groups: str,
        topics: Iterable[str] = (),
        regex: str | None = None,
        all_groups: bool = False,
        records: bool = False,
        overwrite: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Outcome[SnapshotRow]:
        """Save the state of groups in a file, as ``kgroups snapshot save`` does.

        Args:
            file: Path of the file.
            *groups: Group IDs. Default: all groups.
            topics: Select groups that use these topics, and save only their offsets on them.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups, as without any of these.
            records: Also save the timestamp and checksum of the first record at each committed offset.
            overwrite: Replace the file if it exists.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            One item: what the file contains. What could not be read is a failure, and recorded in the file.

        Raises:
            UsageError: If none of the selected groups is found, or the file exists.
            PartialFailure: If no group could be read; nothing is saved.
            ConfigError: If the file cannot be written.
            KgroupsError: If no broker responds.

        Example:
            >>> saved = await cluster.save_snapshot("monday.snapshot")
            >>> saved.raise_for_failures()
        """
        from kgroups.admin.snapshot.file import check_writable, write_snapshot
        from kgroups.admin.snapshot.take import take_snapshot
        from kgroups.model.operations.origin import Source

        given = arguments.filters(filters)
        selection = arguments.selection(groups, regex, topics, all_groups, given, all_by_default=True)
        path = arguments.file(file)
        check_writable(path, overwrite=arguments.flag("overwrite", overwrite))
        arguments.flag("records", records)
        source = Source().stamped(self.settings.bootstrap_servers)
        taken = await self._ask(lambda admin: take_snapshot(admin, selection, source, records=records))
        (found,) = taken.items
        if not found.groups and any(each.error != model.NOT_FOUND for each in taken.failures):
            raise PartialFailure(f"{path}: nothing was saved: {summary(taken.failures)}", taken.failures)
        if not found.groups and not all_groups and (groups or regex is not None or selection.topics or given):
            raise UsageError(f"no group was found, and nothing was saved: {path}")
        write_snapshot(path, found)
        return Outcome.of(taken.with_items((snapshot_row(found),)))

    async def plan_restore(
        self,
        file: str | os.PathLike[str],
        *groups: str,
        topics: Iterable[str] | None = None,
        create_group: bool = False,
        exact: bool = False,
    ) -> Outcome[PlannedOffset]:
        """Plan the restore of committed offsets from a snapshot. Nothing is changed; :meth:`apply` writes the plan.

        Args:
            file: Path of the file.
            *groups: Group IDs. Default: all groups in the file.
            topics: ``orders`` or ``orders:0,2-5``. Default: every partition in the file.
            create_group: Plan groups that do not exist any more, too. Otherwise each of them is a failure.
            exact: Also plan the deletion of committed offsets that are not in the file.

        Returns:
            One item for each partition that differs. Groups with members and recreated topics are failures.

        Raises:
            UsageError: If the file is not a complete snapshot of this cluster, or lacks a group.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_restore("monday.snapshot", "orders")
            >>> [(each.topic, each.partition, each.old, each.new) for each in plan]
        """
        from kgroups.admin.snapshot.restore import plan_restore

        scope = arguments.scope(topics)
        create, exact = arguments.flag("create_group", create_group), arguments.flag("exact", exact)
        request = arguments.restore(file, groups)._replace(topics=scope, create=create, exact=exact)
        return Outcome.of(await self._change(lambda cluster: plan_restore(cluster, request)))

    async def _ask(self, question: Callable[[Client], Awaitable[T]]) -> T:
        async with self._session.admin() as admin:
            return await question(admin)


async def _write(
    cluster: Cluster,
    plan: Sequence[PlannedOffset],
    *,
    force: bool,
    window: float,
    deletion: bool = False,
    earlier: model.Outcome[Any] | None = None,
) -> Outcome[AppliedOffset]:
    """Write the offsets of groups that are still as planned, and for which no other client commits."""
    members: list[str] = []
    if deletion and plan and not force:
        names = tuple(sorted({entry.group for entry in plan}))
        members = [group.group for group in (await describe(cluster, Selection(names))).items if group.members]
    committing = Committing()
    if not force:
        committing = await still_committing(cluster, committed_of(plan, members), window=window)
        committing = committing._replace(found={**committing.found, **in_transactions(plan)})
    kept = [entry for entry in plan if entry.group not in committing.found]
    undo = UndoMemory(cluster)
    done = await write_in_chunks(cluster, kept, undo, force=force, with_members=deletion)
    applied = tuple(each for each in done.items if not each.left_alone)
    written = model.Outcome(
        applied, (*done.failures, *committing.failures("force=True")), (*committing.notices, *done.notices)
    )
    return Outcome.of(written.after(earlier) if earlier else written, offsets_change(undo.source, applied))


async def _delete(
    cluster: Cluster,
    names: Sequence[str],
    plans: Mapping[str, PlannedDeletion],
    *,
    force: bool,
    window: float,
    way: str | None,
) -> Outcome[DeletedGroup]:
    """Delete groups that are still as planned, for which no other client commits, and with no hidden offsets.

    :param way: how to delete groups with hidden offsets; ``None``: they are deleted.
    """
    now = await plan_delete(cluster, Selection(tuple(names)))
    current = {each.group.group: each for each in now.items}
    committing, hidden = Committing(), dict[str, model.Failure]()
    if way:
        keep = (each for each in now.items if each.group.type not in GroupType.WITHOUT_COMMITS)
        seen = {each.group.group: each.commits for each in keep}
        hidden.update(await hidden_offsets(cluster, seen, way))
    if not force:
        committed = {name: each.commits for name, each in current.items() if name not in hidden}
        committing = await still_committing(cluster, committed, window=window)
        pending = in_transactions(entry for each in current.values() for entry in each.as_plan())
        committing = committing._replace(found={**committing.found, **pending})
    failures = [*committing.failures("force=True"), *hidden.values()]
    failures += [failure for failure in now.failures if failure.name in names and failure.name not in current]
    left_alone = {failure.name for failure in failures}
    planned = [
        plans[name].planned if name in plans and not force else current[name]
        for name in names
        if name in current and name not in left_alone
    ]
    undo = UndoMemory(cluster)
    done = await delete_in_chunks(cluster, planned, undo, force=force)
    items = sorted(
        (*done.items, *(DeletedGroup(failure.name, Result.FAILED, failure) for failure in failures)),
        key=lambda each: each.group,
    )
    whole = done.with_items(items).with_failures(failures, committing.notices)
    return Outcome.of(whole, deletion_change(undo, now.items, items))
