"""Describe classic groups (DescribeGroups) and consumer groups (ConsumerGroupDescribe, KIP-848), and their commits."""

from __future__ import annotations

from functools import partial

from kgroups.model.cluster import Node
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupType
from kgroups.protocol.apis import consumer_group_describe, describe_groups, offset_fetch
from kgroups.protocol.apis.describe_groups import ClassicGroup

from ...routing.query_coordinators import GroupQuery
from .describer import Describer, group_with_epochs

COMMITS = GroupQuery("offsets", offset_fetch.API, offset_fetch.OffsetFetch, offset_fetch.BATCHED)
"""The commits as they are now; a second request, so that it keeps no responses."""

STABLE_COMMITS = GroupQuery(
    "offsets",
    offset_fetch.API,
    partial(offset_fetch.OffsetFetch, stable=True),
    offset_fetch.BATCHED,
    repeats=True,
    instead=offset_fetch.OffsetFetch,
)
"""The commits, without those that open transactions are going to replace.

Since Kafka 4.0, coordinators wait until replicas have earlier writes to the group; if one does not respond, commits
that nothing can delay are requested instead. Whether transactions are open is unknown then.
"""


def _classic(name: GroupId, node: Node, group: ClassicGroup) -> Group:
    return Group(name, GroupType.CLASSIC, group.state, group.protocol_type, group.protocol, node, group.members)


CLASSIC = Describer(
    GroupQuery("classic groups", describe_groups.API, describe_groups.DescribeGroups, repeats=True),
    _classic,
    since="0.9",
)
CONSUMER = Describer(
    GroupQuery(
        "consumer groups", consumer_group_describe.API, consumer_group_describe.ConsumerGroupDescribe, repeats=True
    ),
    partial(group_with_epochs, GroupType.CONSUMER, CONSUMER_PROTOCOL_TYPE),
    since="3.7",
)
