"""``kgroups snapshot show``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from kgroups.admin.snapshot.file import read_snapshot
from kgroups.admin.snapshot.take import missing_topic
from kgroups.model.outcome import Outcome
from kgroups.model.snapshot.rows import config_rows, snapshot_row
from kgroups.model.views.member_rows import member_rows
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.summary_row import summary_row
from kgroups.render.member_views import MEMBERS
from kgroups.render.offset_view import OFFSETS
from kgroups.render.snapshot_views import CONFIGS, SNAPSHOT
from kgroups.render.summary_view import SUMMARY

from ..frame.options import check_exclusive
from ..frame.output import Shape, show


def show_snapshot(shape: Shape, file: Path, groups: bool, offsets: bool, members: bool, configs: bool) -> int:
    """Run ``kgroups snapshot show``; return the exit code."""
    check_exclusive(groups=groups, offsets=offsets, members=members, configs=configs)
    view = SUMMARY if groups else OFFSETS if offsets else MEMBERS if members else CONFIGS if configs else SNAPSHOT
    shape.check(view)
    found = read_snapshot(file)
    rows: Iterable[Any]
    if groups:
        rows = map(summary_row, found.groups)
    elif offsets:
        rows = chain.from_iterable(map(offset_rows, found.groups))
    elif members:
        rows = chain.from_iterable(member_rows(each.group) for each in found.groups)
    else:
        rows = config_rows(found) if configs else (snapshot_row(found),)
    notices = [missing_topic(topic) for topic in sorted(found.missing_topics)]
    if found.failures:
        notices.append(f"{file} is partial: what follows could not be read when it was saved")
    return show(Outcome(tuple(rows), found.failures, tuple(notices)), found.source.cluster_id, shape, view)
