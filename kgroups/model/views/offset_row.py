"""A row of the offsets view, and what it is built from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

from ..groups import Group
from ..offsets import GroupCommits, Logs

_Text = str | None
_Number = int | None


class OffsetRow(NamedTuple):
    """One partition of one group of ``describe --offsets``, or a member that holds none.

    Of a share group, whose members have partitions in common, no row names a member.
    """

    group: str
    topic: str | None = None
    partition: int | None = None
    leader_epoch: int | None = None
    current_offset: int | None = None
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None
    consumer_id: str | None = None
    host: str | None = None
    client_id: str | None = None
    group_instance_id: str | None = None
    note: str | None = None
    start_offset: int | None = None
    """Of a share group, instead of a commit."""
    topic_role: str | None = None
    """Of a streams group: what the topic is to its application."""


OffsetFields = tuple[
    str, _Text, _Number, _Number, _Number, _Number, _Number, _Number, _Text, _Text, _Text, _Text, _Text, _Number, _Text
]
"""The types of the fields of an :class:`OffsetRow`, in order."""

offset_row = cast(Callable[[OffsetFields], OffsetRow], partial(tuple.__new__, OffsetRow))
"""Make a row of all its fields. Half the time of the class: a million rows pass here."""


class GroupOffsets(NamedTuple):
    """A described group beside its commits; ``logs`` is shared by all the groups of one answer.

    With ``topics`` given, the view shows what concerns these topics and nothing else.
    """

    group: Group
    commits: GroupCommits
    logs: Logs
    topics: frozenset[str] = frozenset()
