"""The settings of groups in the Python API."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from kgroups.admin.change.apply.alter_settings import alter_in_chunks, plan_settings
from kgroups.admin.client import Cluster, WireOnly, changing, wire_of
from kgroups.admin.query.group_configs import describe_settings
from kgroups.admin.query.select_groups import Selection
from kgroups.model import outcome as model
from kgroups.model.settings.change import AppliedSetting, PlannedSetting
from kgroups.model.settings.setting import SettingRow, setting_rows
from kgroups.model.settings.undo import Restored

from . import arguments
from .outcome import Outcome
from .queries import Queries
from .undo import SettingsChange, UndoMemory

T = TypeVar("T")


class SettingsMethods(Queries):
    """The methods of a cluster about the settings of its groups."""

    async def describe_settings(
        self,
        *groups: str,
        keys: Iterable[str] = (),
        overridden: bool = False,
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[SettingRow]:
        """Return the settings of groups, their dynamic configuration, and where they come from. Requires Kafka 4.0.

        Args:
            *groups: Group IDs. They need not exist: Kafka stores settings for any name.
            keys: Only these settings: names, or globs such as ``consumer.*``. Default: all.
            overridden: Only values that are set for a group.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups.

        Returns:
            One item for each setting of each group, with ``group``, ``key``, ``value``, and ``origin``, such as
            ``dynamic-group`` for a value that is set for the group; ``inherited`` is the value without it.

        Raises:
            UsageError: If no groups are selected, an argument is invalid, or the transport is librdkafka.
            KgroupsError: If no broker responds.

        Example:
            >>> rows = await cluster.describe_settings("orders", overridden=True)
            >>> {row.key: row.value for row in rows}
        """
        arguments.flag("overridden", overridden)
        selection, names = arguments.selection(groups, regex, (), all_groups), arguments.keys(keys)
        found = await self._ask(lambda admin: describe_settings(wire_of(admin, WireOnly.SETTINGS), selection))
        rows = (row for each in found.items for row in setting_rows(each, names, overridden=overridden))
        return Outcome.of(found.with_items(rows))

    async def plan_settings(
        self,
        *groups: str,
        values: Mapping[str, str | int | bool | None],
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[PlannedSetting]:
        """Plan a change of settings of groups. Nothing is changed; brokers check the values.

        Args:
            *groups: Group IDs. They need not exist.
            values: The value of each setting. With None, the group inherits it again; its name can then be a glob.
            regex: RE2 regular expression that whole group IDs must match.
            all_groups: Select all groups.

        Returns:
            One item for each value that changes, with ``group``, ``name``, and what is set for the group, ``old`` and
            ``new``; None: the group inherits the value. A group for which a broker rejects a value is a failure.

        Raises:
            UsageError: If no groups are selected, an argument is invalid, or the transport is librdkafka.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_settings("orders", values={"consumer.session.timeout.ms": 50000})
            >>> [(each.name, each.old, each.new) for each in plan]
        """
        selection, desired = arguments.selection(groups, regex, (), all_groups), arguments.desired_settings(values)
        return Outcome.of(await self._change(lambda cluster: plan_settings(cluster, selection, desired)))

    async def plan_restore_settings(
        self, file: str | os.PathLike[str], *groups: str, exact: bool = False
    ) -> Outcome[PlannedSetting]:
        """Plan the restore of settings from a snapshot. Nothing is changed; brokers check the values.

        Args:
            file: Path of the file.
            *groups: Group IDs. Default: all groups in the file.
            exact: Also plan to remove values that are not in the file.

        Returns:
            One item for each value that differs, as :meth:`plan_settings`. A group whose settings could not be read
            when the file was saved is a failure.

        Raises:
            UsageError: If the file is not a complete snapshot of this cluster, or lacks a group.
            KgroupsError: If no broker responds.

        Example:
            >>> plan = await cluster.plan_restore_settings("monday.snapshot", "orders")
            >>> [(each.name, each.old, each.new) for each in plan]
        """
        from kgroups.admin.snapshot.restore import plan_restore_settings

        request = arguments.restore(file, groups)._replace(exact=exact)
        return Outcome.of(await self._change(lambda cluster: plan_restore_settings(cluster, request)))

    async def alter_settings(self, plan: Sequence[PlannedSetting]) -> Outcome[AppliedSetting]:
        """Write the settings of a plan. Requires Kafka 4.0.

        Each group is checked again right before it is written: if a planned setting has changed, the group is a failure
        and remains as it is. Brokers change all settings of a group, or none, and apply them shortly after.

        Args:
            plan: Items of :meth:`plan_settings` or :meth:`plan_restore_settings`, or some of them.

        Returns:
            One item for each setting, with ``result``: applied, failed, or unknown. Pass the outcome to :meth:`undo`
            to restore the old settings.

        Raises:
            UsageError: If an argument is invalid, such as an outcome instead of its items, or the transport is
                librdkafka.
            KgroupsError: If no broker responds.

        Example:
            >>> done = await cluster.alter_settings(plan.items)
            >>> done.raise_for_failures()
        """
        entries = arguments.plan(plan, PlannedSetting)
        return await self._change(lambda cluster: _alter(cluster, model.Outcome(entries)))

    async def _undo_settings(self, restored: Restored) -> Outcome[AppliedSetting]:
        async def act(cluster: Cluster) -> Outcome[AppliedSetting]:
            restored.on(cluster.cluster_id)
            return await _alter(cluster, await plan_settings(cluster, Selection(restored.groups), restored))

        return await self._change(act) if restored.groups else Outcome()

    async def _change(self, question: Callable[[Cluster], Awaitable[T]]) -> T:
        """Return the answer of an admin that can change groups.

        :raises UsageError: if the transport only reads.
        """
        return await self._ask(changing(question))


async def _alter(cluster: Cluster, planned: model.Outcome[PlannedSetting]) -> Outcome[AppliedSetting]:
    """Write the settings of groups that are still as planned."""
    undo = UndoMemory(cluster)
    done = await alter_in_chunks(cluster, planned.items, undo)
    return Outcome.of(done.after(planned), SettingsChange(undo.source, done.items))
