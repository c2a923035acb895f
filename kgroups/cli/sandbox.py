"""``kgroups sandbox``: a real Kafka on this machine, to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kgroups.sandbox.cluster import Sandbox, Status
    from kgroups.sandbox.kinds import KindGroup
    from kgroups.sandbox.seed_data import KnownGroup

_NAME_HELP = "Its name; several may run side by side."


def _progress(line: str) -> None:
    click.echo(line, err=True)


@click.group("sandbox")
def sandbox() -> None:
    """Run a real Kafka on this machine, to try things on."""


@sandbox.command("up")
@click.option("--brokers", type=click.IntRange(1, 3), default=1, show_default=True, help="How many brokers.")
@click.option("--version", "kafka", metavar="VERSION", help="Version of Kafka.  [default: 4.3.1]")
@click.option("--name", default="default", show_default=True, help=_NAME_HELP)
@click.option("--security", is_flag=True, help="With TLS, SASL and ACLs, and a client.properties for each way in.")
def up(brokers: int, kafka: str | None, name: str, security: bool) -> None:
    """Start brokers on ports of this machine.

    The first start of a version fetches its jars, by Maven or by PySpark's Ivy.
    """
    from kgroups.sandbox import DEFAULT_VERSION, Sandbox

    version = kafka or DEFAULT_VERSION
    if security:
        started = _up_secure(version, brokers, name)
    else:
        started = Sandbox.up(version, brokers, name=name, progress=_progress)
    click.echo(f"Kafka {started.version.name} is up at {started.bootstrap}. To point kgroups at it:", err=True)
    click.echo(f"export KGROUPS_BOOTSTRAP_SERVER={started.bootstrap}")


def _up_secure(version: str, brokers: int, name: str) -> Sandbox:
    from kgroups.errors import SandboxError
    from kgroups.sandbox.security import need_kerberos, up

    try:
        need_kerberos()
    except SandboxError as error:
        _progress(f"kgroups: note: without GSSAPI: {error}")
        kerberos = False
    else:
        kerberos = True
    secure = up(version, brokers, name=name, kerberos=kerberos, progress=_progress)
    _progress("The ways in, for --command-config; on the address below nobody logs in, and everything is allowed:")
    for way in secure.ways:
        _progress(f"  {secure.file(way)}")
    if secure.kerberos:
        click.echo(f"export KRB5_CONFIG={secure.kerberos.configuration}")
    return secure.sandbox


@sandbox.command("down")
@click.option("--name", default="default", show_default=True, help="Which one.")
@click.option("--all", "every", is_flag=True, help="All of this user's.")
def down(name: str, every: bool) -> None:
    """Stop its processes and delete its data."""
    from kgroups.sandbox import Sandbox

    for each in Sandbox.names() if every else [name]:
        Sandbox.load(each).down()
        _progress(f"sandbox {each} is down")


@sandbox.command("status")
@click.option("--name", help="This sandbox only.")
def status(name: str | None) -> None:
    """Show what runs, under which name, at which address."""
    from kgroups.sandbox import Sandbox

    names = Sandbox.names() if name is None else [name]
    if not names:
        _progress("no sandbox is up")
    for name in names:
        click.echo(_described(Sandbox.load(name).status()))


@sandbox.command("seed")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["share", "streams", "connect"]),
    help="Groups of this kind instead, played by Kafka's own programs; may be given more than once.",
)
@click.option("--groups", type=click.IntRange(1, 99_999), metavar="N", help="Make so many groups.")
@click.option("--partitions", type=click.IntRange(1, 1_000), metavar="P", help="Each commits on so many.  [default: 9]")
@click.option("--topics", type=click.IntRange(1, 1_000), metavar="T", help="They share so many topics.  [default: 10]")
@click.option(
    "--stable",
    type=click.FloatRange(0, 1),
    metavar="FRACTION",
    help="This part of them has a member; the others are empty.  [default: 0.5]",
)
@click.option("--name", default="default", show_default=True, help="Which sandbox.")
def seed(name: str, kinds: tuple[str, ...], groups: int | None, **shape: Any) -> None:
    """Make groups to look at; their members stay until down.

    Without options: consumer groups in every state, small, each known by what it shows. With --kind: share groups,
    Kafka Streams (needs a JDK), Connect workers, beside what there is. With --groups: thousands of consumer groups.
    """
    from kgroups.sandbox import Sandbox

    given = {key: value for key, value in shape.items() if value is not None}
    if kinds:
        if groups is not None or given:
            raise UsageError(f"--{next(iter(given), 'groups')} does not go with --kind")
        _seed_kinds(name, kinds)
    elif groups is not None:
        from kgroups.sandbox.load import Load, seed_load

        seed_load(Sandbox.load(name), Load(groups, **{"partitions": 9} | given), _progress)
    elif given:
        raise UsageError(f"--{next(iter(given))} goes with --groups")
    else:
        _seed_world(name)


def _seed_kinds(name: str, kinds: tuple[str, ...]) -> None:
    from kgroups.sandbox import Sandbox
    from kgroups.sandbox.kinds import KINDS, seed_kinds

    seed_kinds(Sandbox.load(name), tuple(dict.fromkeys(kinds)), _progress)
    _say_what_they_show(group for kind in kinds for group in KINDS[kind].groups)


def _seed_world(name: str) -> None:
    from kgroups.sandbox import Sandbox
    from kgroups.sandbox.seed import seed_world
    from kgroups.sandbox.seed_data import known_groups, lacking_groups

    found = Sandbox.load(name)
    seed_world(found, _progress)
    _say_what_they_show(known_groups(found.version))
    for group, reason in lacking_groups(found.version).items():
        _progress(f"{group} is not there: {reason}")


def _say_what_they_show(groups: Iterable[KnownGroup | KindGroup]) -> None:
    from kgroups.render.cells import escape

    rows = [("GROUP", "STATE", "MEMBERS", "WHAT IT SHOWS")]
    rows += [(escape(group.name), group.state, str(group.members), group.about) for group in groups]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _described(status: Status) -> str:
    state = status.state
    lines = [f"{state.name}: Kafka {state.version} at {state.bootstrap}"]
    lines += [
        f"  broker {broker.id}  {broker.host}:{broker.port}  pid {broker.pid}  {status.brokers[broker.id]}"
        for broker in state.brokers
    ]
    if state.zookeeper:
        lines.append(f"  zookeeper  pid {state.zookeeper_pid}  {status.zookeeper}")
    lines += [f"  {helper.role}  pid {helper.pid}  {status.helpers[helper.pid]}" for helper in state.helpers]
    return "\n".join(lines)
