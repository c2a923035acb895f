"""What a view is, and those of list and describe as data: columns with the Java tool's headers, and their order.

A column's key is the field of its row: the name in JSON, in CSV, in ``--columns`` and in ``--sort``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from operator import itemgetter
from typing import Any, NamedTuple

from kgroups.model.assignment import Raw
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.offset_row import OffsetRow

Row = tuple[object, ...]


class Tier(IntEnum):
    """How much a text table shows; each tier also shows those before it.

    What is ``ASKED`` for, by an option of its own or by name, costs requests: no tier shows it by itself. What is
    ``RARE`` only groups of some kind have: it is shown where it has values.
    """

    BASE = 0
    VERBOSE = 1
    WIDE = 2
    RARE = 3
    ASKED = 4


class Align(Enum):
    LEFT = "left"
    RIGHT = "right"


class Sooner(NamedTuple):
    """A column that already appears at ``tier`` when its values pass ``when``."""

    tier: Tier
    when: Callable[[Iterable[object]], bool]


class Column(NamedTuple):
    """One column. ``value`` takes the row's field as it is, hashable; how it looks is the writer's matter.

    It takes by place, so that it takes a whole column of rows laid on their side.
    """

    header: str
    key: str
    value: Callable[[Any], Any]
    align: Align = Align.LEFT
    tier: Tier = Tier.BASE
    sooner: Sooner | None = None


class View(NamedTuple):
    """A kind of table. Where ``bare_alone``, its only column is written in plain text without a header.

    ``sort_key`` orders by group alone: within a group the rows come sorted by the model, and the sort is stable.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    sort_key: Callable[[Any], Any] = itemgetter(0)
    bare_alone: bool = False


def some_value(values: Iterable[object]) -> bool:
    return bool(set(values) - {None})


def some_true(values: Iterable[object]) -> bool:
    return any(value is True for value in values)


def some_raw(values: Iterable[object]) -> bool:
    return any(isinstance(value, Raw) for value in values)


def both_true_and_false(values: Iterable[object]) -> bool:
    return {True, False} <= set(values)


Spec = tuple[str, str, Align, Tier, Sooner | None]
"""A column before it knows its row: header, key, alignment, tier, and when it comes sooner."""


def columns_of(row: type[Any], *specs: Spec) -> tuple[Column, ...]:
    """The columns of a view on such rows, which are named tuples."""
    # itemgetter by position: the writers map it over a hundred thousand rows without entering Python.
    return tuple(
        Column(header, key, itemgetter(row._fields.index(key)), align, tier, sooner)
        for header, key, align, tier, sooner in specs
    )


def view_of(name: str, columns: Iterable[tuple[str, bool]]) -> View:
    """A view of rows that come in the order they are to be shown in: (key, whether it is aligned to the right)."""
    made = tuple(
        Column(key.upper().replace("_", "-"), key, itemgetter(at), Align.RIGHT if right else Align.LEFT)
        for at, (key, right) in enumerate(columns)
    )
    return View(name, name, made, sort_key=lambda row: 0)


_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE
_RARE_BASE, _RARE_VERBOSE = (Tier.RARE, Sooner(_B, some_value)), (Tier.RARE, Sooner(_V, some_value))

LIST = View(
    "list",
    "Groups",
    columns_of(
        ListRow,
        ("GROUP", "group", _L, _B, None),
        ("TYPE", "type", _L, _W, None),
        ("PROTOCOL-TYPE", "protocol_type", _L, _W, None),
        ("STATE", "state", _L, _W, None),
        ("COORDINATOR (ID)", "coordinator", _L, _W, None),
    ),
    bare_alone=True,
)

OFFSETS = View(
    "offsets",
    "Committed offsets of groups",
    columns_of(
        OffsetRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _B, None),
        ("PARTITION", "partition", _R, _B, None),
        ("LEADER-EPOCH", "leader_epoch", _R, _V, None),
        ("CURRENT-OFFSET", "current_offset", _R, _B, None),
        ("START-OFFSET", "start_offset", _R, _W, Sooner(_B, some_value)),
        ("LOG-START-OFFSET", "log_start_offset", _R, _W, None),
        ("LOG-END-OFFSET", "log_end_offset", _R, _B, None),
        ("LAG", "lag", _R, _B, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("HOST", "host", _L, _B, None),
        ("CLIENT-ID", "client_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, None),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
        ("TOPIC-ROLE", "topic_role", _L, *_RARE_VERBOSE),
    ),
)
