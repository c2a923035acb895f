"""``--list`` and ``--describe`` of Kafka's tools, and the groups that each tool knows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final, NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.query.list_groups import CONSUMERS, SHARERS, STREAMERS, ListFilter
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.query.topology_nodes import describe_nodes
from kgroups.cli.frame.selected_groups import check_name
from kgroups.model.groups import CONSUMER_GROUPS, Group, GroupState, GroupType, ListedGroup
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Outcome

from .joptsimple import ParsedOptions
from .releases import release
from .rules import canonical_values, group_type_of
from .run import query_and_write
from .sentences import escape_for, not_a_consumer_group, other_type
from .text.lists import groups_text, list_text, short_list_text
from .text.streams import has_nodes


class Groups(NamedTuple):
    """The groups of a tool."""

    among: ListFilter
    states: tuple[str, ...]
    """The states that ``--state`` accepts."""
    rejection: Callable[[Group], Failure | None]
    """Return the failure of a group of another type, which was selected by name."""

    def selection(self, parsed: ParsedOptions) -> Selection:
        """Return the named groups, or with ``--all-groups`` all groups of the tool.

        :raises UsageError: if a name is invalid.
        """
        return Selection(group_names(parsed), everything="all-groups" in parsed, among=self.among)

    def only(self, outcome: Outcome[Any]) -> Outcome[Any]:
        """Return the items that are, or describe, groups of the tool; the others are failures."""
        kept, failures = [], []
        for item in outcome.items:
            rejected = self.rejection(_group_of(item))
            if rejected is None:
                kept.append(item)
            else:
                failures.append(rejected)
        return outcome.with_items(kept).with_failures(failures)


def _reject_others(group: Group) -> Failure | None:
    return None if group.protocol_type in CONSUMER_GROUPS else not_a_consumer_group(group)


def _reject_types(name: str, group_type: str, group: Group) -> Failure | None:
    return None if group.type == group_type else other_type(name, group.group)


TOOLS: Final[Mapping[str, Groups]] = {
    "consumer": Groups(CONSUMERS, GroupState.OF_CONSUMERS, _reject_others),
    "share": Groups(SHARERS, GroupState.OF_SHARERS, partial(_reject_types, "share", GroupType.SHARE)),
    "streams": Groups(STREAMERS, GroupState.OF_STREAMS, partial(_reject_types, "streams", GroupType.STREAMS)),
}


def group_names(parsed: ParsedOptions) -> tuple[str, ...]:
    """Return the named groups.

    :raises UsageError: if a name is invalid.
    """
    names = tuple(dict.fromkeys(parsed.all("group")))
    for name in names:
        check_name(name)
    return names


def list_groups(parsed: ParsedOptions) -> int:
    """List groups; only those of kafka-consumer-groups have several types."""
    groups, states, types = TOOLS[parsed.kind], "state" in parsed, "type" in parsed
    among = groups.among._replace(
        states=canonical_values(parsed, "state", ("state", "states"), groups.states), with_states=states
    )
    text = partial(short_list_text, states=states)
    if parsed.kind == "consumer":
        known = canonical_values(parsed, "type", ("types", "types"), GroupType.OF_CONSUMERS)
        among = among._replace(types=known, with_types=types)
        text = partial(list_text, types=types, states=states)

    async def query(admin: Client) -> Outcome[Any]:
        return await admin.list_selected(Selection(among=among))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(text(outcome.items, show=escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def describe(parsed: ParsedOptions) -> int:
    """Describe groups; a remark about a group is for stderr, before its table."""
    groups, text = TOOLS[parsed.kind], import_module(f"kgroups.dropins.text.{parsed.kind}")
    selection = groups.selection(parsed)
    view = next((view for view in ("members", "state", "topology") if view in parsed), "offsets")
    lines = getattr(text, f"{view}_text")
    if (parsed.kind, view) == ("streams", "state"):
        lines = partial(lines, assignor=release().streams_assignor)
    has_remarks = parsed.kind == "consumer" or (parsed.kind == "share" and view != "offsets")

    async def query(admin: Client) -> Outcome[Any]:
        if view == "offsets":
            return groups.only(await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED))
        described = groups.only(await admin.describe(selection))
        if view != "topology" or admin.cluster is None:
            return described
        return (await describe_nodes(admin.cluster, described.items)).after(described)

    def write(outcome: Outcome[Any]) -> None:
        for item in outcome.items:
            if has_remarks and (remark := text.remark(_group_of(item), escape_for(sys.stderr))):
                print(f"\n{remark}", file=sys.stderr)
            sys.stdout.writelines(lines(item, verbose="verbose" in parsed, show=escape_for(sys.stdout)))

    def failed(outcome: Outcome[Any]) -> bool:
        return view == "topology" and any(not has_nodes(_group_of(item)) for item in outcome.items)

    return query_and_write(parsed, query, write, failed=failed)


def _group_of(item: Any) -> Group:
    group: Group = item if isinstance(item, Group) else item.group
    return group


def list_every_type(parsed: ParsedOptions) -> int:
    """Run ``kafka-groups --list``; return the exit code."""

    async def query(admin: Client) -> Outcome[Any]:
        listed = await admin.list_selected(Selection(among=ListFilter(with_types=True)))
        return listed.with_items(group for group in listed.items if matches(parsed, group))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(groups_text(outcome.items, escape_for(sys.stdout)))

    return query_and_write(parsed, query, write)


def matches(parsed: ParsedOptions, group: ListedGroup) -> bool:
    """Return whether a group passes the filters; a group whose type is not reported matches no type."""
    if "group-type" in parsed and group.type != group_type_of(parsed):
        return False
    if "protocol" in parsed:
        return group.protocol_type == parsed.one("protocol")
    if "consumer" in parsed:
        return group.protocol_type in CONSUMER_GROUPS or group.type == GroupType.CONSUMER
    if "share" in parsed:
        return group.type == GroupType.SHARE
    return "streams" not in parsed or group.type == GroupType.STREAMS
