"""The views of offsets on two clusters."""

from __future__ import annotations

from kgroups.model.translation.parity import Compared, Verdict
from kgroups.model.views.translation_rows import IMPOSSIBLE, TranslateRow

from . import columns
from .act_views import RESULT_COLUMNS
from .color import severity_style
from .views import Align, Column, Tier, View, columns_of

_L, _R = Align.LEFT, Align.RIGHT


def _method_style(method: str) -> str:
    return "red" if method == IMPOSSIBLE else ""


_STYLES = {verdict.value: severity_style(verdict.severity) for verdict in Verdict}


def _verdict_style(verdict: str) -> str:
    return _STYLES.get(verdict, "")


def _plain(_: object) -> str:
    return ""


NOTE = columns.NOTE._replace(doc="What proves the offset, or why nothing does. Null: nothing to add.", style=_plain)

TRANSLATE = View(
    "translate",
    "Offsets on another cluster",
    columns_of(
        TranslateRow,
        columns.GROUP,
        columns.TOPIC,
        columns.PARTITION,
        Column("SOURCE-OFFSET", "source_offset", "Committed offset on the cluster of --from.", _R),
        Column("TARGET-TOPIC", "target_topic", "Name of the topic on the cluster of --to.", _L, Tier.WIDE),
        Column(
            "OLD-OFFSET", "old_offset", "Committed offset on the cluster of --to before the change. Null: none.", _R
        ),
        Column("NEW-OFFSET", "new_offset", "Offset there at which the group continues. Null: see METHOD.", _R),
        Column(
            "METHOD",
            "method",
            "What proves it: identical, record, header, sync, end, or time; impossible: nothing does.",
            _L,
            style=_method_style,
        ),
        Column(
            "READ-AGAIN",
            "read_again",
            "How many records before the first unread one are read again, at most. Null: unknown, as where read ones "
            "were copied again after it.",
            _R,
        ),
        Column(
            "OTHERS",
            "others",
            "How many records before NEW-OFFSET were seen that others wrote: the group skips them. Null: see METHOD.",
            _R,
            Tier.WIDE,
        ),
        NOTE,
        *RESULT_COLUMNS,
    ),
    drops=("target_topic", "others"),
)

PARITY = View(
    "parity",
    "Next records on two clusters",
    columns_of(
        Compared,
        columns.GROUP,
        columns.TOPIC,
        columns.PARTITION,
        Column("A-OFFSET", "source_offset", "Committed offset on A. Null: none.", _R),
        Column("B-TOPIC", "target_topic", "Name of the topic on B.", _L, Tier.WIDE),
        Column("B-OFFSET", "target_offset", "Committed offset on B. Null: none.", _R),
        Column("EXPECTED", "expected", "Offset on B at which the group reads the same record next. Null: unknown.", _R),
        Column(
            "VERDICT",
            "verdict",
            "same; behind: records are read again; ahead: records are lost; unknown: see NOTE.",
            _L,
            style=_verdict_style,
        ),
        Column(
            "RECORDS",
            "records",
            "How many records it is behind or ahead, from the nearest offset that may be right. Null: unknown.",
            _R,
        ),
        NOTE,
    ),
    drops=("target_topic",),
)
