"""The view of ``kgroups owners``."""

from __future__ import annotations

from kgroups.model.views.owner_rows import OwnerRow

from . import columns
from .views import Tier, View, columns_of

OWNERS = View(
    "owners",
    "Owners of partitions",
    columns_of(
        OwnerRow,
        columns.TOPIC._replace(doc="Topic. Null: a member without partitions, or a group that cannot be described."),
        columns.PARTITION._replace(
            doc="Partition. Null: a member without partitions, or a group that cannot be described."
        ),
        columns.GROUP._replace(doc="Group ID. Null: no group reads the partition."),
        columns.TYPE,
        columns.STATE.at(Tier.WIDE),
        columns.CONSUMER_ID,
        columns.HOST,
        columns.CLIENT_ID,
        columns.GROUP_INSTANCE_ID,
        columns.CURRENT_OFFSET._replace(
            doc="Committed offset, or start offset of a share group. Null: none, or unknown."
        ),
        columns.LAG,
        columns.NOTE,
    ),
    sort_key=lambda row: (row[0] is None, row[0] or "", -1 if row[1] is None else row[1], row[2] or "", row[5] or ""),
    drops=("group_instance_id", "current_offset", "consumer_id", "lag", "host"),
)
