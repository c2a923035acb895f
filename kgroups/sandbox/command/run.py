"""``kgroups sandbox``: a local Kafka cluster for experiments."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from typing import Any

import click

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.known_values import beginning
from kgroups.errors import SandboxError, UsageError
from kgroups.render.cells import escape
from kgroups.render.wrapping import write_wrapped

from .. import DEFAULT_VERSION, VERSIONS, Sandbox
from ..cluster import Status
from ..kinds import KINDS, KindGroup, seed_kinds
from ..load import Load, seed_load
from ..security import kerberos_configuration, need_kerberos
from ..security import up as up_secure
from ..security.users import AWKWARD, OPERATOR
from ..seed import seed_known_groups
from ..seed_data import KnownGroup, known_groups, lacking_groups


def _progress(line: str) -> None:
    if not is_quiet():
        print_to_stderr(line)


def up(brokers: int, kafka: str | None, name: str, security: bool, users: tuple[str, ...]) -> None:
    """Run ``kgroups sandbox up``."""
    version = kafka or DEFAULT_VERSION
    _check_users(users, security=security)
    if security:
        started = _up_secure(version, brokers, name, users)
    else:
        started = Sandbox.up(version, brokers, name=name, progress=_progress)
    _progress(f"Kafka {started.version.name} is up at {started.bootstrap}")
    if sys.stdout.isatty():
        _progress("To use it with kgroups, run these lines, in other shells too (kgroups sandbox env prints them):")
    else:
        _progress(f'To use it in other shells: eval "$(kgroups sandbox env{_name_option(name)})"')
    _print_exports(started)


def _check_users(users: tuple[str, ...], *, security: bool) -> None:
    if users and not security:
        raise UsageError("--user requires --security")
    for user in users:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", user):
            raise UsageError(f"--user: {user!r} is not a valid user name; use lowercase letters, digits, and -")
        if user in (OPERATOR, AWKWARD):
            raise UsageError(f"--user: {user} is a user of every secure sandbox, with all permissions")


def _name_option(name: str) -> str:
    return "" if name == "default" else f" --name {name}"


def _print_exports(started: Sandbox) -> None:
    """Print the lines that let a shell use a sandbox; also its Kerberos realm, if it has one."""
    if realm := kerberos_configuration(started.folder):
        click.echo(f"export KRB5_CONFIG={shlex.quote(str(realm))}")
    click.echo(f"export KGROUPS_BOOTSTRAP_SERVER={started.bootstrap}")


def env(name: str) -> None:
    """Run ``kgroups sandbox env``."""
    _print_exports(Sandbox.load(name))


def _up_secure(version: str, brokers: int, name: str, users: tuple[str, ...]) -> Sandbox:
    try:
        need_kerberos()
    except SandboxError as error:
        _progress(f"kgroups: note: without GSSAPI: {error}")
        kerberos = False
    else:
        kerberos = True
    secure = up_secure(version, brokers, name=name, users=users, kerberos=kerberos, progress=_progress)
    _progress(
        f"{secure.sandbox.bootstrap} requires no authentication and has no ACLs. For the others, --command-config:"
    )
    for method in secure.ways:
        _progress(f"  {secure.file(method)}")
    for user in users:
        _progress(f"  {secure.user_file(user)} (without permissions)")
    return secure.sandbox


def down(name: str, every: bool) -> None:
    """Run ``kgroups sandbox down``."""
    for each in Sandbox.names() if every else [name]:
        try:
            found = Sandbox.load(each)
        except UsageError as error:
            error.hint = None  # which says how to start it
            raise
        found.down()
        _progress(f"sandbox {each} is down")


def status(name: str | None) -> None:
    """Run ``kgroups sandbox status``."""
    names = Sandbox.names() if name is None else [name]
    if not names:
        _progress("no sandbox is running")
    for name in names:
        _print_status(Sandbox.load(name).status())


def seed(name: str, kinds: tuple[str, ...], groups: int | None, **shape: Any) -> None:
    """Run ``kgroups sandbox seed``."""
    given = {key: value for key, value in shape.items() if value is not None}
    if kinds:
        if groups is not None or given:
            raise UsageError(f"--{next(iter(given), 'groups')} cannot be combined with --kind")
        _seed_kinds(name, kinds)
    elif groups is not None:
        seed_load(Sandbox.load(name), Load(groups, **{"partitions": 9} | given), _progress)
    elif given:
        raise UsageError(f"--{next(iter(given))} requires --groups")
    else:
        _seed_known_groups(name)


def _seed_kinds(name: str, kinds: tuple[str, ...]) -> None:
    seed_kinds(Sandbox.load(name), tuple(dict.fromkeys(kinds)), _progress)
    _print_groups(group for kind in kinds for group in KINDS[kind].groups)


def _seed_known_groups(name: str) -> None:
    loaded = Sandbox.load(name)
    seed_known_groups(loaded, _progress)
    _print_groups(known_groups(loaded.version))
    for group, reason in lacking_groups(loaded.version).items():
        _progress(f"{group} is not available: {reason}")


def _print_groups(groups: Iterable[KnownGroup | KindGroup]) -> None:
    rows = [("GROUP", "STATE", "MEMBERS", "WHAT IT SHOWS")]
    rows += [(escape(group.name), group.state, str(group.members), group.about) for group in groups]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for *cells, about in rows:
        first = "".join(f"{cell:{width}}  " for cell, width in zip(cells, widths, strict=False))
        write_wrapped(sys.stdout, about, first=first, indent=len(first))


def _print_status(status: Status) -> None:
    state = status.state
    write_wrapped(sys.stdout, f"{state.name}: Kafka {state.version} at {state.bootstrap}")
    lines = [
        f"  broker {broker.id}  {broker.host}:{broker.port}  pid {broker.pid}  {status.brokers[broker.id]}"
        for broker in state.brokers
    ]
    if state.zookeeper:
        lines.append(f"  zookeeper  pid {state.zookeeper_pid}  {status.zookeeper}")
    lines += [f"  {helper.role}  pid {helper.pid}  {status.helpers[helper.pid]}" for helper in state.helpers]
    click.echo("\n".join(lines))


def complete_name(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the names of the running sandboxes."""
    return beginning(Sandbox.names(), prefix)


def complete_version(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the versions of Kafka that a sandbox can run."""
    return beginning(VERSIONS, prefix)
