"""Show who reads partitions: groups, members, and hosts.

Shows each partition with the groups that have an assignment or a committed offset on it, and the member that owns it.
NOTE shows that there is no member, that no group reads the partition, or what is unknown. Kafka does not record which
client committed an offset. With --host or --client-id, shows only partitions that such members own.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import complete_topic, owner_options
from ..frame.options import fleet_options, output_options

command = Command(
    "owners",
    __doc__,
    body="kgroups.cli.owners:owners",
    options=(
        click.argument("topics", nargs=-1, metavar="[TOPIC[:PARTITIONS]]...", shell_complete=complete_topic),
        owner_options,
        output_options,
        fleet_options,
    ),
    examples=(
        ("Show who reads a partition", "kgroups owners orders:3"),
        ("Show who reads a topic, in one group", "kgroups owners orders --group billing"),
        ("Show what runs on a host", "kgroups owners --host 10.0.4.17"),
    ),
    views=(Shown("kgroups.render.owner_view:OWNERS"),),
    page="list-and-describe.md",
)
