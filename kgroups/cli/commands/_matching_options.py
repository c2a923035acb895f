"""The options that say how the offsets of two clusters are matched."""

from __future__ import annotations

import click

from kgroups.model.translation.method import Method

from ..frame.command import OptionGroup
from ..frame.options import Duration

matching_options = OptionGroup(
    "matching",
    (
        click.option(
            "--topic-map",
            "topic_map",
            multiple=True,
            metavar="SOURCE=TARGET",
            help="The name of a copied topic; a * in both names stands for the same text, as in '*=west.*'. "
            "Repeatable.  [default: the same name, or that of MirrorMaker 2]",
        ),
        click.option(
            "--allow",
            type=click.Choice([each.value for each in Method]),
            default=Method.END.value,
            show_default=True,
            help="The weakest method to accept, in the order identical, record, header, sync, end, time.",
        ),
        click.option(
            "--method",
            "methods",
            type=click.Choice([each.value for each in Method]),
            multiple=True,
            help="Use only this method, whatever --allow is. Repeatable.",
        ),
        click.option(
            "--mm2",
            is_flag=True,
            help="Use the offset syncs and checkpoints of MirrorMaker 2, whose aliases are found from its topics.",
        ),
        click.option("--mm2-source", metavar="ALIAS", help="MirrorMaker 2's alias of the cluster with the groups."),
        click.option("--mm2-target", metavar="ALIAS", help="MirrorMaker 2's alias of the cluster with the copies."),
        click.option("--mm2-separator", metavar="TEXT", help="replication.policy.separator.  [default: .]"),
        click.option(
            "--mm2-policy",
            type=click.Choice(["default", "identity"]),
            help="Whether copies are named ALIAS.TOPIC or as the topic.  [default: as found]",
        ),
        click.option(
            "--mm2-syncs",
            type=click.Choice(["source", "target"]),
            help="The cluster with the offset syncs: offset-syncs.topic.location.  [default: as found]",
        ),
        click.option(
            "--including-streams",
            is_flag=True,
            help="Include Kafka Streams applications under the classic protocol, if all of their changelogs are copied "
            "to their ends, under the same names. Otherwise, these groups are left out, and are a failure.",
        ),
        click.option(
            "--header",
            metavar="NAME",
            help="The header in which the copier writes the offset of the source, as digits or 8 bytes.",
        ),
        click.option(
            "--max-mib",
            type=click.IntRange(1, 65_536),
            default=32,
            show_default=True,
            metavar="N",
            help="Read at most about N MiB for each offset.",
        ),
        click.option(
            "--max-seconds",
            type=Duration(),
            default="20s",
            show_default=True,
            help="Read for at most this long for each offset.",
        ),
    ),
    "kgroups.cli.change.matching:Matching",
)
