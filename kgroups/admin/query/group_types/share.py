"""Describe share groups (KIP-932): ShareGroupDescribe, and DescribeShareGroupOffsets for their start offsets."""

from __future__ import annotations

from kgroups.model.cluster import Node
from kgroups.model.groups import SHARE_PROTOCOL_TYPE, Group, GroupId, GroupType
from kgroups.protocol.apis import describe_share_group_offsets, share_group_describe
from kgroups.protocol.apis.share_group_describe import ShareGroup

from ...routing.query_coordinators import GroupQuery
from .describer import Describer


def _share(name: GroupId, node: Node, group: ShareGroup) -> Group:
    return Group(
        group_id=name,
        type=GroupType.SHARE,
        state=group.state,
        protocol_type=SHARE_PROTOCOL_TYPE,
        protocol=group.assignor,
        coordinator=node,
        members=group.members,
        group_epoch=group.group_epoch,
        target_assignment_epoch=group.assignment_epoch,
    )


DESCRIBER = Describer(
    GroupQuery("share groups", share_group_describe.API, share_group_describe.ShareGroupDescribe), _share, since="4.1"
)

STARTS = GroupQuery(
    "share groups' offsets",
    describe_share_group_offsets.API,
    describe_share_group_offsets.DescribeShareGroupOffsets,
)
