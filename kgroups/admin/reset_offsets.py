"""Moves the offsets of groups: the plan, a second look right before, and the writing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kgroups.model.acts import AppliedOffset
from kgroups.model.outcome import Outcome
from kgroups.model.reset import PlannedOffset, Scenario
from kgroups.model.topic_scope import TopicScope
from kgroups.net.cluster import Cluster

from .select_groups import Selection


class ResetRequest(NamedTuple):
    """Which groups, where to, and on which partitions; ``topics`` of ``None``: all that a group has committed, or that
    the plan or the other group names."""

    selection: Selection
    scenario: Scenario
    topics: TopicScope | None = None


async def plan_reset(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """What would be written, sorted by group, topic, partition. Nothing is.

    A group with members is a failure (NON_EMPTY_GROUP, its state in the message), and so is a partition that cannot be
    planned; the others are planned. A named group that does not exist is planned too: to commit makes it.

    :raises UsageError: when ``topics`` or a plan names a topic or partition that does not exist.
    """
    raise NotImplementedError


async def still_true(cluster: Cluster, planned: Iterable[PlannedOffset]) -> Outcome[PlannedOffset]:
    """The plan without the groups that have members by now, or other commits; these are failures. To be asked right
    before :func:`apply_offsets`."""
    raise NotImplementedError


async def apply_offsets(cluster: Cluster, planned: Iterable[PlannedOffset]) -> Outcome[AppliedOffset]:
    """Writes the plan; one item for each planned partition, sorted, and each failure once.

    The broker refuses a group that has members at that moment (UNKNOWN_MEMBER_ID), and writes nothing of it.
    """
    raise NotImplementedError
