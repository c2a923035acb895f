"""Which filters are handed on to the cluster, and what they leave over of the list. Pure.

Rule: a filter never changes an answer, only what is asked for it. Names and topics are decided here for good. What the
list told of kind and state may be unknown (old brokers), or other by the time a group is described: such filters spare
questions, and Spark applies them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql.datasource import EqualTo, Filter, In, StringStartsWith

from kgroups.model.groups import ListedGroup

from ..tables import Table
from .rows import kind_of
from .tables import ASSIGNMENTS, GROUPS, MEMBERS, OFFSETS

GROUP, TOPIC, KIND, STATE = "group", "topic", "kind", "state"

PUSHED: dict[str, frozenset[str]] = {
    GROUPS.name: frozenset({GROUP, KIND, STATE}),
    MEMBERS.name: frozenset({GROUP, KIND}),
    ASSIGNMENTS.name: frozenset({GROUP, TOPIC}),
    OFFSETS.name: frozenset({GROUP, TOPIC}),
}
"""Columns by which a table can be narrowed before it is asked for."""

_DECIDED = frozenset({GROUP, TOPIC})
"""Columns whose filters Spark need not apply again."""


@dataclass(frozen=True)
class Wanted:
    """What is left over. ``values``: of a column, those that pass; a column that is not in it passes with any."""

    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()
    """With all of which a group's name begins."""

    @property
    def topics(self) -> frozenset[str]:
        """The topics that rows are wanted on; empty for any. Where none passes, no group is kept."""
        return self.values.get(TOPIC, frozenset())

    def keeps(self, listed: ListedGroup) -> bool:
        """Whether a listed group may have rows; one whose kind or state nobody told may."""
        told = {GROUP: listed.group_id, KIND: kind_of(listed.type), STATE: listed.state}
        return (
            all(
                told[column] is None or told[column] in values
                for column, values in self.values.items()
                if column in told
            )
            and self.values.get(TOPIC) != frozenset()
            and all(map(listed.group_id.startswith, self.prefixes))
        )


def narrow(table: Table, filters: Iterable[Filter]) -> tuple[Wanted, list[Filter]]:
    """What is wanted of a table, and the filters that Spark has still to apply. All of them hold together."""
    passing: dict[str, frozenset[str]] = {}
    prefixes: list[str] = []
    rest: list[Filter] = []
    for each in filters:
        column = _column(each)
        if column not in PUSHED.get(table.name, ()):
            rest.append(each)
        elif isinstance(each, StringStartsWith) and column == GROUP:
            prefixes.append(each.value)
        elif isinstance(each, EqualTo | In) and (values := _texts(each)) is not None:
            passing[column] = values & passing.get(column, values)
            if column not in _DECIDED:
                rest.append(each)
        else:
            rest.append(each)
    return Wanted(passing, tuple(prefixes)), rest


def _column(each: Filter) -> str:
    attribute: Sequence[str] = getattr(each, "attribute", ())
    return attribute[0] if len(attribute) == 1 else ""


def _texts(each: EqualTo | In) -> frozenset[str] | None:
    """The values that pass; null among them passes nothing. ``None``: not texts, and not for us to compare."""
    values = each.value if isinstance(each, In) else (each.value,)
    texts = [value for value in values if value is not None]
    return frozenset(texts) if all(isinstance(text, str) for text in texts) else None
