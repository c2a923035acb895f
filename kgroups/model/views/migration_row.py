"""Rows of ``list --migration``."""

from __future__ import annotations

from typing import NamedTuple

from ..cluster import Node
from ..groups import CONSUMER_PROTOCOL_TYPE
from ..listed import ValueList
from ..migration import Judgment, Migration, MigrationFacts, Verdict


class MigrationRow(NamedTuple):
    """One group. ``upgraded``: the members with the consumer protocol, ``None`` unless it is a consumer group."""

    group: str
    type: str | None
    upgrade: str
    rollback: str
    state: str
    members: int | None
    upgraded: int | None
    protocol_type: str
    assignor: str | None
    policy: str | None
    coordinator: Node
    upgrade_rules: ValueList
    rollback_rules: ValueList
    reason: str | None


def migration_row(facts: MigrationFacts, migration: Migration) -> MigrationRow:
    group = facts.group
    return MigrationRow(
        group=group.group,
        type=group.type,
        upgrade=migration.upgrade.verdict.value,
        rollback=migration.rollback.verdict.value,
        state=group.state,
        members=None if group.members is None else len(group.members),
        upgraded=migration.progress and migration.progress.upgraded,
        protocol_type=group.protocol_type,
        assignor=group.protocol or None,
        policy=facts.broker.policy,
        coordinator=group.coordinator,
        upgrade_rules=_rules(migration.upgrade),
        rollback_rules=_rules(migration.rollback),
        reason=_reason(facts, migration),
    )


def _rules(judgment: Judgment) -> ValueList:
    return ValueList(each.rule.value for each in judgment.blockers)


def _reason(facts: MigrationFacts, migration: Migration) -> str | None:
    """Return in a few words what blocks each direction, and how far a migration is."""
    upgrade, rollback, progress = migration.upgrade, migration.rollback, migration.progress
    if upgrade.verdict is Verdict.NOT_APPLICABLE:
        group = facts.group
        foreign = group.protocol_type not in ("", CONSUMER_PROTOCOL_TYPE)
        return f"protocol type {group.protocol_type}" if foreign else f"{(group.type or '').lower()} group"
    parts = []
    if progress and progress.classic:
        parts.append(f"{progress.upgraded:,} of {progress.members:,} members upgraded")
    if upgrade.blockers:
        parts.append(f"{_rules(upgrade)}")
    if rollback.blockers and _rules(rollback) != _rules(upgrade):
        parts.append(f"rollback: {_rules(rollback)}")
    if facts.rolls_back_only_empty and not rollback.blockers:
        parts.append(f"rollback: only while it is empty (policy {facts.broker.policy or 'unknown'})")
    return "; ".join(parts) or None
