"""``kgroups profile list`` and ``kgroups profile show``."""

from __future__ import annotations

import os
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.config.effective import shown
from kgroups.config.flags import PROFILE_ENV, Flags
from kgroups.config.profiles import read_profiles
from kgroups.config.settings_reader import is_secret
from kgroups.errors import UsageError
from kgroups.model.outcome import Outcome
from kgroups.render.check_view import CHECKED_PROFILES, PROFILE, PROFILES
from kgroups.render.views import View

from ..frame.exit_status import is_quiet, print_to_stderr
from ..frame.fleet import fleet_of
from ..frame.output import Shape, show


def list_profiles(shape: Shape, check: bool, timeout: float | None) -> int:
    """Run ``kgroups profile list``; return the exit code."""
    profiles = read_profiles(os.environ)
    if timeout is not None and not check:
        raise UsageError("--timeout requires --check")
    rows = []
    for name, table in profiles.tables.items():
        servers, file = table.get("bootstrap"), table.get("command-config")
        rows.append((name, name == profiles.default, servers and str(servers), file and str(file)))
    if not rows and not is_quiet():
        print_to_stderr(
            f"kgroups: note: there are no profiles in {profiles.file}; "
            "to add one: kgroups profile add NAME -b HOST:PORT"
        )
    if check and rows:
        return _show_checked(shape, sorted(rows), timeout)
    return _show(shape, PROFILES, sorted(rows))


def _show_checked(shape: Shape, rows: list[tuple[Any, ...]], timeout: float | None) -> int:
    async def query(admin: Client) -> Outcome[Any]:
        return await admin.list_selected(Selection())

    shape.check(CHECKED_PROFILES)
    _, fleet = fleet_of([name for name, *_ in rows], Flags(timeout=timeout), None)
    checked = []
    failures = []
    answers = fleet.answers(dict.fromkeys(fleet.names, query), debug=False)
    for (name, default, servers, _), answer in zip(rows, answers, strict=True):
        failed = answer.outcome.failures
        groups = None if failed else len(answer.outcome.items)
        checked.append((name, default, servers, answer.cluster_id, groups, "failed" if failed else "ok"))
        failures += [failure._replace(cluster=name) for failure in failed]
    return show(Outcome(tuple(checked), tuple(failures)), None, shape, CHECKED_PROFILES)


def show_profile(shape: Shape, name: str | None) -> int:
    """Run ``kgroups profile show``; return the exit code."""
    profiles = read_profiles(os.environ)
    asked_by = "profile show" if name else PROFILE_ENV if os.environ.get(PROFILE_ENV) else f"{profiles.file}: default"
    name = name or os.environ.get(PROFILE_ENV) or profiles.default
    if not name:
        raise UsageError(f"profile show: no profile given, and {profiles.file} names no default")
    found = profiles.profile(name, asked_by)
    table = profiles.tables[name]
    rows = []
    for setting in found.settings:
        value = str(table[setting.written]) if setting.written else setting.value
        rows.append((setting.name, shown(value, secret=is_secret(setting.key)), setting.origin))
    if found.command_config:
        line = profiles.line("profiles", name, "command-config")
        rows.insert(0, ("command-config", str(found.command_config), f"profile {name} ({profiles.file}, line {line})"))
    for remark in () if is_quiet() else found.warnings:
        print_to_stderr(f"kgroups: note: {remark}")
    return _show(shape, PROFILE, rows)


def _show(shape: Shape, view: View, rows: list[tuple[Any, ...]]) -> int:
    shape.check(view)
    return show(Outcome(tuple(rows)), None, shape, view)
