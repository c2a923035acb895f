"""``kgroups profile``: the profiles of the configuration file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.config.effective import shown
from kgroups.config.flags import PROFILE_ENV, Flags
from kgroups.config.other_tools import default_file, read_clusters
from kgroups.config.profile_edits import (
    REFERENCES,
    Table,
    add_profiles,
    clear_text_secrets,
    remove_profile,
    rename_profile,
    set_default,
)
from kgroups.config.profiles import Profiles, config_file, missing_profile, read_profiles
from kgroups.config.settings import parse_bootstrap
from kgroups.config.settings_reader import is_secret
from kgroups.errors import UsageError
from kgroups.model.outcome import Outcome
from kgroups.render.check_view import CHECKED_PROFILES, PROFILE, PROFILES
from kgroups.render.views import View

from .frame.exit_status import is_quiet, print_to_stderr
from .frame.fleet import fleet_of
from .frame.output import Shape, show


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


def add(new: str, as_default: bool, allow_clear_text: bool, flags: Flags) -> int:
    """Run ``kgroups profile add``; return the exit code."""
    table = _table(flags)
    secrets = clear_text_secrets(table)
    if secrets and not allow_clear_text:
        raise UsageError(
            f"-X {', '.join(secrets)}: not stored: the value is a secret in clear text",
            hint=f"use {REFERENCES}; or add --allow-clear-text",
        )
    profiles = _profiles()
    add_profiles(profiles, {new: table}, default=new if as_default else None)
    print_to_stderr(f"profile {new} is in {profiles.file}")
    _warn_of_clear_text(profiles, {new: table})
    return 0


def remove(name: str) -> int:
    """Run ``kgroups profile remove``; return the exit code."""
    profiles = _profiles_with(name, "profile remove")
    remove_profile(profiles, name)
    print_to_stderr(f"profile {name} is removed from {profiles.file}")
    if profiles.default == name:
        print_to_stderr("kgroups: note: it was the default; there is no default profile now")
    return 0


def rename(old: str, new: str) -> int:
    """Run ``kgroups profile rename``; return the exit code."""
    profiles = _profiles_with(old, "profile rename")
    rename_profile(profiles, old, new)
    print_to_stderr(f"profile {old} is now {new}")
    return 0


def import_profiles(tool: str, file: Path | None, only: tuple[str, ...]) -> int:
    """Run ``kgroups profile import``; return the exit code."""
    source = file or default_file(tool, os.environ)
    clusters = read_clusters(tool, source)
    found = [each for each in clusters.found if not only or each.name in only]
    if missing := sorted({*only} - {each.name for each in found}):
        raise UsageError(f"--only: {source} has no cluster {', '.join(map(repr, missing))}")
    if not found:
        raise UsageError(f"{source} has no clusters")
    profiles = _profiles()
    tables = {each.name: each.table for each in found}
    add_profiles(profiles, tables)
    for each in found:
        print_to_stderr(f"profile {each.name} is in {profiles.file}")
        for remark in each.remarks:
            print_to_stderr(f"kgroups: note: profile {each.name}: {remark}")
    if clusters.unread:
        print_to_stderr(f"kgroups: note: not imported: {', '.join(clusters.unread)}")
    _warn_of_clear_text(profiles, tables)
    return 0


def _table(flags: Flags) -> Table:
    """Return the options as a profile.

    :raises UsageError: if they name no cluster, or one is invalid.
    """
    if not (flags.bootstrap or flags.command_config):
        raise UsageError("profile add requires --bootstrap-server or --command-config")
    if flags.bootstrap:
        parse_bootstrap(flags.bootstrap, "--bootstrap-server")
    if flags.command_config and not Path(flags.command_config).is_file():
        raise UsageError(f"--command-config: there is no file {flags.command_config}")
    values = {
        "bootstrap": flags.bootstrap,
        "command-config": flags.command_config and str(Path(flags.command_config).absolute()),
        "timeout": flags.timeout and f"{flags.timeout:.15g}s",
        "broker-timeout": flags.broker_timeout and f"{flags.broker_timeout:.15g}s",
        "transport": flags.transport,
        "max-requests-per-second": flags.max_requests_per_second and f"{flags.max_requests_per_second:.15g}",
    }
    return {
        **{key: value for key, value in values.items() if value},
        "properties": dict(map(_property, flags.overrides)),
    }


def _property(override: str) -> tuple[str, str]:
    """Return the key and value of ``-X``; a file becomes a reference to it, and is not copied."""
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise UsageError("-X must be KEY=VALUE, such as -X security.protocol=SSL")
    if value.startswith("@@"):
        value = value[1:]
    elif value.startswith("@"):
        value = f"${{file:{Path(value[1:]).absolute()}}}"
    return key.strip(), value


def _profiles() -> Profiles:
    """Return the profiles of the file; none if it does not exist yet."""
    file = config_file(os.environ)
    return read_profiles(os.environ) if file.exists() else Profiles(file)


def _profiles_with(name: str, command: str) -> Profiles:
    profiles = read_profiles(os.environ)
    if name not in profiles.tables:
        raise missing_profile(profiles, name, command)
    return profiles


def _warn_of_clear_text(profiles: Profiles, tables: Mapping[str, Table]) -> None:
    for name, table in tables.items():
        if secrets := clear_text_secrets(table):
            print_to_stderr(
                f"kgroups: warning: profile {name}: {', '.join(secrets)} is stored in CLEAR TEXT in {profiles.file} "
                f"(mode 600); replace it with {REFERENCES}"
            )


def use(name: str) -> int:
    """Run ``kgroups profile use``; return the exit code."""
    profiles = read_profiles(os.environ)
    profiles.profile(name, "profile use")
    set_default(profiles, name)
    print_to_stderr(f"{name} is now the default profile")
    return 0
