"""Describe share groups (KIP-932): ShareGroupDescribe, and DescribeShareGroupOffsets for their start offsets."""

from __future__ import annotations

from functools import partial

from kgroups.model.groups import SHARE_PROTOCOL_TYPE, GroupType
from kgroups.protocol.apis import describe_share_group_offsets, share_group_describe

from ...routing.query_coordinators import GroupQuery
from .describer import Describer, group_with_epochs

DESCRIBER = Describer(
    GroupQuery("share groups", share_group_describe.API, share_group_describe.ShareGroupDescribe),
    partial(group_with_epochs, GroupType.SHARE, SHARE_PROTOCOL_TYPE),
    since="4.1",
)

STARTS = GroupQuery(
    "share groups' offsets",
    describe_share_group_offsets.API,
    describe_share_group_offsets.DescribeShareGroupOffsets,
)
