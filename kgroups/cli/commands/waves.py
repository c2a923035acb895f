"""Show what must move together to another cluster.

Groups that read the same topic belong to one wave, and so do the topics that one group reads. A group reads the
topics that its members subscribe to or own partitions of, and those in which it has committed offsets. The topics
that a producer writes in transactions belong together, too, with the groups whose offsets it commits.

CUT is the topic, group, or producer without which a wave falls into most parts that have a topic; to see these
parts, use --ignore-topic, --ignore-group, or --ignore-producer. Topics without groups and transactions have no wave:
they can move at any time.

What producers write is read from __transaction_state, which requires READ on it. Compaction removes old transactions
from it. If something is not known, the waves may be too small: it is listed on standard error, and the exit code is 1.
Links that only follow from names of Kafka Streams are marked as inferred.
"""

from __future__ import annotations

import click

from ..frame.command import Command, OptionGroup, Shown
from ..frame.group_options import complete_group, complete_topic, wave_options
from ..frame.options import Duration, fleet_options, graph_output_options

_IGNORED = (
    click.option(
        "--ignore-topic",
        "ignored_topics",
        multiple=True,
        metavar="GLOB",
        help="Leave out topics of this name or glob: they join nothing. Repeatable.",
        shell_complete=complete_topic,
    ),
    click.option(
        "--ignore-group",
        "ignored_groups",
        multiple=True,
        metavar="GLOB",
        help="Leave out groups of this name or glob: they join nothing. Repeatable.",
        shell_complete=complete_group,
    ),
    click.option(
        "--ignore-producer",
        "ignored_producers",
        multiple=True,
        metavar="GLOB",
        help="Leave out producers whose transactional ID is this or matches this glob. Repeatable.",
    ),
)

_TRANSACTIONS = (
    click.option("--no-transactions", is_flag=True, help="Leave out transactional producers; read no logs."),
    click.option(
        "--log-mib",
        type=click.IntRange(1, 65_536),
        metavar="N",
        help="Read at most about N MiB of each partition of __transaction_state and __consumer_offsets.  [default: 8]",
    ),
    click.option(
        "--log-time", type=Duration(), help="Read each of these two topics for at most this long.  [default: 5s]"
    ),
)

command = Command(
    "waves",
    __doc__,
    body="kgroups.cli.waves:waves",
    options=(
        wave_options,
        OptionGroup("ignored", _IGNORED, "kgroups.admin.waves:Ignored"),
        OptionGroup("transactions", _TRANSACTIONS, "kgroups.cli.waves:limits"),
        click.option("--list", "listed", is_flag=True, help="Show a row for each group, topic, and producer."),
        click.option("--links", is_flag=True, help="Show a row for each link, and why it exists."),
        graph_output_options,
        fleet_options,
    ),
    examples=(
        ("Show what must move together with a group", "kgroups waves orders"),
        ("Show all waves without a topic that every group reads", "kgroups waves --ignore-topic audit"),
        ("Draw the waves with Graphviz", "kgroups waves -o dot | dot -Tsvg > waves.svg"),
    ),
    sections={
        "Selection": "--ignore-topic --ignore-group --ignore-producer --no-transactions --log-mib --log-time",
        "View": "--list --links",
    },
    views=(
        Shown("kgroups.render.wave_views:WAVES"),
        Shown("kgroups.render.wave_views:ITEMS", "--list"),
        Shown("kgroups.render.wave_views:LINKS", "--links"),
    ),
    page="move-groups.md",
)
