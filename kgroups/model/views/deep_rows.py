"""Rows of ``describe --deep``: those of the views, each with what the log tells behind it. Times are ISO 8601, UTC."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..group_log import DeepAnswer, expires_at
from ..groups import Group
from ..lag import RECREATED
from ..moments import moment_text
from .member_rows import MemberRow, StateRow
from .offset_row import OffsetRow

_NO_IDS: Mapping[str, int] = MappingProxyType({})


def deep_state_row(row: StateRow, answer: DeepAnswer) -> tuple[Any, ...]:
    """The row; generation, leader, state since, last rebalance."""
    log = answer.of(row.group)
    return (*row, log.generation, log.leader, _moment(log.state_since), _moment(log.rebalanced))


def deep_member_row(row: MemberRow, answer: DeepAnswer) -> tuple[Any, ...]:
    """The row; whether it leads, session timeout, rebalance timeout, last rebalance."""
    log = answer.of(row.group)
    session, rebalance = log.timeouts.get(row.consumer_id or "", (None, None))
    leads = None if log.leader is None else log.leader == row.consumer_id
    return (*row, leads, session, rebalance, _moment(log.rebalanced))


def deep_offset_row(
    row: OffsetRow, group: Group, answer: DeepAnswer, topic_ids: Mapping[str, int] = _NO_IDS
) -> tuple[Any, ...]:
    """The row; committed at, expires at. The record names the ID of the topic (Kafka 4.1): another one than it has now
    belongs to a topic that was deleted since."""
    log = answer.of(row.group)
    commit = None if row.topic is None or row.partition is None else log.commits.get((row.topic, row.partition))
    if commit is None or row.current_offset is None:
        return (*row, None, None)
    current = topic_ids.get(row.topic or "")
    if commit.topic_id and current and commit.topic_id != current:
        row = row._replace(lag=None, note=RECREATED)
    return (*row, _moment(commit.committed), _moment(expires_at(group, commit, log, answer.retention)))


def _moment(ms: int | None) -> str | None:
    return None if ms is None else moment_text(ms)
