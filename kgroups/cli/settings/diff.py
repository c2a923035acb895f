"""``kgroups settings diff``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.admin.query.group_configs import describe_settings
from kgroups.errors import EXIT_FAILED
from kgroups.model.counts import count, some
from kgroups.model.outcome import Outcome
from kgroups.model.settings.declared import drift, unknown_keys, unmatched
from kgroups.render.settings_views import DRIFT

from ..frame.options import ConnectionOptions
from ..frame.output import Shape, or_error_envelope, show
from ..frame.run_query import hinted, run_query
from ..frame.selected_groups import GroupOptions
from .file import groups_of, read_declared


def diff(connection: ConnectionOptions, shape: Shape, chosen: GroupOptions, from_file: Path, exact: bool) -> int:
    """Run ``kgroups settings diff``; return the exit code."""
    shape.check(DRIFT)
    declared = read_declared(from_file, exact=exact)
    selection = groups_of(declared, chosen)

    async def query(admin: Client) -> Outcome[Any]:
        found = await describe_settings(wire_of(admin, WireOnly.SETTINGS), selection)
        rows = tuple(chain.from_iterable(drift(each, declared) for each in found.items))
        failures = unknown_keys(found.items, declared)
        notices = []
        if others := unmatched(declared, [each.group_id for each in found.items]):
            notices.append(f"{from_file} has no table for {count(len(others), 'group')}: {some(others)}")
        if not (rows or failures or found.failures):
            compared = count(len(found.items) - len(others), "group")
            notices.append(f"the settings are as in {from_file}: {compared}")
        return found.with_items(rows).with_failures(failures, notices)

    run = hinted(query, selection)
    outcome, cluster_id = or_error_envelope(
        shape, DRIFT, lambda: run_query(connection.settings, run, debug=connection.debug)
    )
    code = show(outcome, cluster_id, shape, DRIFT)
    return max(code, EXIT_FAILED) if outcome.items else code
