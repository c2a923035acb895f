"""Fetch the settings of groups from their coordinators, which apply them (KIP-848, Kafka 4.0)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kgroups.errors import Reason
from kgroups.model.cluster import Node
from kgroups.model.effective_setting import Effective
from kgroups.model.groups import Group, GroupId
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.settings.setting import GROUP, ORIGINS, GroupSettings, Setting, Value
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.describe_configs import API, DescribeGroupConfigs, Entry, Synonym
from kgroups.protocol.error_codes import Code

from ..routing.query_coordinators import GroupQuery, query_coordinators
from .select_groups import Selection, note_missing_groups, resolve

GROUPS_PER_REQUEST = 500
_NO_SUCH_CONFIGS = frozenset(
    int(code) for code in (Code.invalid_request, Code.unsupported_version, Code.invalid_config)
)
"""Errors of brokers without configurations of groups."""

TOO_OLD = "brokers before Kafka 4.0 have no settings of groups"

GroupConfigs = dict[GroupId, Mapping[str, str | None]]

_READ: GroupQuery[tuple[Entry, ...]] = GroupQuery(
    "settings of groups", API, DescribeGroupConfigs, chunk=GROUPS_PER_REQUEST
)


async def fetch_group_configs(cluster: Cluster, groups: Iterable[Group]) -> tuple[GroupConfigs, tuple[Failure, ...]]:
    """Return the values that were set for each group, and the failures of the other groups.

    Of brokers before Kafka 4.0, which have no such configuration, every group has none.
    """
    settings = await fetch_settings(cluster, {group.group: group.coordinator for group in groups})
    found: GroupConfigs = {each.group: each.overrides for each in settings.items}
    found.update({failure.name: {} for failure in settings.failures if failure.code in _NO_SUCH_CONFIGS})
    return found, tuple(
        failure._replace(message=f"its dynamic configuration is unknown: {failure.message}")
        for failure in settings.failures
        if failure.name not in found
    )


async def describe_settings(cluster: Cluster, selection: Selection) -> Outcome[GroupSettings]:
    """Return the settings of the selected groups, sorted by group, and a notice if groups may be missing."""
    return await note_missing_groups(cluster, selection, await read_settings(cluster, selection))


async def read_settings(cluster: Cluster, selection: Selection) -> Outcome[GroupSettings]:
    """Return the settings of the selected groups, sorted by group. Groups selected by name need not exist."""
    selected = await resolve(cluster, selection)
    where: dict[GroupId, Node | None] = {group.group: group.coordinator for group in selected.listed}
    found = await fetch_settings(cluster, {**selected.named, **where})
    unmatched = selection.unmatched(group.group for group in selected.listed)
    return found.with_failures((*selected.failures, *unmatched), selected.notices)


async def fetch_effective(
    cluster: Cluster, groups: Iterable[Group], names: Collection[str]
) -> dict[GroupId, dict[str, Effective]]:
    """Return the values of these settings that are in effect for each group. Errors are in the values, not raised."""
    found = await fetch_settings(cluster, {group.group: group.coordinator for group in groups})
    effective = {each.group: {name: each.effective(name) for name in names} for each in found.items}
    for failure in found.failures:
        effective[failure.name] = {name: Effective(name, unknown=failure.message) for name in names}
    return effective


async def fetch_settings(cluster: Cluster, where: Mapping[GroupId, Node | None]) -> Outcome[GroupSettings]:
    """Return the settings of groups, sorted by group.

    :param where: group -> its coordinator; ``None`` means to look it up.
    """
    if not where:
        return Outcome()
    results = await query_coordinators(cluster, _READ, where)
    items = [GroupSettings(name, _settings(entries)) for name, (_, entries) in sorted(results.found.items())]
    return Outcome(tuple(items), tuple(_explained(failure) for _, failure in sorted(results.failed.items())))


def _explained(failure: Failure) -> Failure:
    if failure.code not in _NO_SUCH_CONFIGS:
        return failure
    return failure._replace(message=TOO_OLD, reason=Reason.VERSION_UNSUPPORTED)


def _settings(entries: Iterable[Entry]) -> tuple[Setting, ...]:
    return tuple(sorted(map(_setting, entries)))


def _setting(entry: Entry) -> Setting:
    value = _value(entry)
    if value.origin != GROUP:
        return Setting(entry.name, value, value)
    rest = [each for each in map(_value, entry.synonyms) if each.origin != GROUP]
    return Setting(entry.name, value, rest[0] if rest else Value(None, None))


def _value(entry: Entry | Synonym) -> Value:
    return Value(entry.value, ORIGINS.get(entry.source, f"unknown ({entry.source})"))
