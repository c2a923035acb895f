"""The view of ``list --migration``."""

from __future__ import annotations

from kgroups.model.views.migration_row import MigrationRow

from . import columns
from .views import Align, Column, Tier, View, columns_of

_B, _W = Tier.BASE, Tier.WIDE
_VERDICTS = "ready, ready-if, blocked, unknown, done, or not-applicable"

MIGRATION = View(
    "list-migration",
    "Migration of groups",
    columns_of(
        MigrationRow,
        columns.GROUP,
        columns.TYPE.at(_B),
        Column("UPGRADE", "upgrade", f"Whether brokers convert it to the consumer protocol: {_VERDICTS}."),
        Column("ROLLBACK", "rollback", f"Whether brokers convert it back to the classic protocol: {_VERDICTS}."),
        columns.STATE.at(_W),
        columns.MEMBERS.at(_W),
        Column(
            "#UPGRADED",
            "upgraded",
            "Members with the consumer protocol. Null: it is not a consumer group with members.",
            Align.RIGHT,
            _W,
        ),
        columns.PROTOCOL_TYPE,
        Column("ASSIGNOR", "assignor", "Assignor in use. Null: none.", tier=_W),
        Column("POLICY", "policy", "group.consumer.migration.policy of its coordinator. Null: not reported.", tier=_W),
        columns.COORDINATOR.at(_W),
        Column("UPGRADE-RULES", "upgrade_rules", "Rules that block the upgrade, or make it unknown.", tier=_W),
        Column("ROLLBACK-RULES", "rollback_rules", "Rules that block the rollback, or make it unknown.", tier=_W),
        Column("REASON", "reason", "The rules that block it, in words. Null: nothing does."),
    ),
)
