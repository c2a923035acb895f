"""Views of several clusters: the columns of one cluster, after a column with the name of the cluster."""

from __future__ import annotations

from operator import itemgetter

from .views import Column, View

_MOST = 1_000
"""More than a row has fields."""


def with_cluster(view: View) -> View:
    """Return the view for rows that have the name of the cluster before their first field."""
    columns = tuple(
        column._replace(value=itemgetter(column.value(range(_MOST)) + 1))  # the value of a position is the position
        for column in view.columns
    )
    return view._replace(
        columns=(Column("CLUSTER", "cluster", value=itemgetter(0)), *columns),
        sort_key=lambda row: (row[0], view.sort_key(row[1:])),
    )
