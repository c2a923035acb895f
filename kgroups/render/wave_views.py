"""The views of ``kgroups waves``."""

from __future__ import annotations

from kgroups.model.views.wave_rows import WaveItemRow, WaveLinkRow, WaveRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_above_zero, some_value

_R = Align.RIGHT
_W = Tier.WIDE
_IF_ANY = Sooner(Tier.BASE, some_above_zero)
_IF_NAMED = Sooner(Tier.BASE, some_value)

_WAVE = Column("WAVE", "wave", "Number of the wave, from 1; the largest comes first.", _R)
_KIND = Column("KIND", "kind", "group, topic, or producer.")
_NAME = Column("NAME", "name", "Group ID, topic, or transactional ID.")

WAVES = View(
    "waves",
    "Waves",
    columns_of(
        WaveRow,
        _WAVE,
        columns.GROUPS,
        Column("#TOPICS", "topics", "Number of topics.", _R),
        Column("#PRODUCERS", "producers", "Number of transactional producers.", _R, _W, _IF_ANY),
        Column(
            "CUT-KIND",
            "cut_kind",
            "topic, group, or producer: what the cut is. Null: without any one of them, no topics are separated.",
            tier=_W,
            sooner=_IF_NAMED,
        ),
        Column(
            "CUT",
            "cut",
            "The topic, group, or producer without which the wave falls into most parts. Null: as for cut_kind.",
            tier=_W,
            sooner=_IF_NAMED,
        ),
        Column(
            "CUT-PARTS",
            "cut_parts",
            "Number of these parts that have a topic, at least 2. Null: as for cut_kind.",
            _R,
            _W,
            _IF_ANY,
        ),
        Column("GROUP-NAMES", "group_names", "Group IDs, sorted."),
        Column("TOPIC-NAMES", "topic_names", "Topics, sorted."),
        Column("PRODUCER-NAMES", "producer_names", "Transactional IDs, sorted.", tier=_W),
        columns.NOTE,
    ),
    drops=("producer_names", "cut_kind", "note"),
)

ITEMS = View(
    "wave-items",
    "Groups, topics, and producers of waves",
    columns_of(
        WaveItemRow,
        _WAVE,
        _KIND,
        _NAME,
        Column("#LINKS", "links", "Number of the others that it is linked with.", _R),
        columns.NOTE,
    ),
)

LINKS = View(
    "wave-links",
    "Links of waves",
    columns_of(
        WaveLinkRow,
        _WAVE,
        _KIND._replace(doc="group or producer."),
        _NAME._replace(doc="Group ID or transactional ID."),
        Column("LINKED-KIND", "linked_kind", "topic or group."),
        Column("LINKED", "linked", "Topic or group ID."),
        Column(
            "WHY",
            "why",
            "What shows the link: subscribed, assigned, committed, transaction, internal, inferred (from the name).",
        ),
    ),
)
