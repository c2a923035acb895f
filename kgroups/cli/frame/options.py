"""Options of several commands: a command gets a group of options as one value."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from math import isfinite
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kgroups.config.flags import BOOTSTRAP_ENV, COMMAND_CONFIG_ENV, PROFILE_ENV, Flags
from kgroups.config.load import load_settings
from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.duration import parse_seconds

from .command import Decorator, OptionGroup
from .exit_status import is_quiet, print_to_stderr, set_debug
from .lazy_command import resolve

if TYPE_CHECKING:
    from kgroups.config.effective import EffectiveSetting

    from .run_query import SeveralClusters


class Duration(click.ParamType[float]):
    """Seconds, or a number with one of the units ms, s, m, h, d, w. Converts to seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        seconds = parse_seconds(str(value))
        if seconds is None:
            self.fail(f"{value!r} must be a positive duration such as 30, 500ms, 10s, or 2m", param, ctx)
        return seconds


class Number(click.FloatRange):
    """A number in a range; ``nan`` and ``inf`` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):  # nan is not below the minimum
            self.fail(f"{value!r} is not a valid number", param, ctx)
        return number


class ConnectionOptions(NamedTuple):
    """The connection options."""

    settings: ClientSettings
    debug: bool
    effective_settings: tuple[EffectiveSetting, ...] = ()
    """Every setting with its source; only of commands that show them."""
    as_words: Callable[[], tuple[str, ...]] = tuple
    """Returns the connection options as arguments of a suggested command, without secrets."""
    profile: str = ""
    """The profile of the only cluster, if one was selected."""
    fleet: SeveralClusters | None = None
    """Several clusters to query; ``settings`` then has no servers."""
    side: str = ""
    """What names the cluster on the command line, such as ``--from``, if the command is about two of them."""

    def check_single(self, option: str, reason: str) -> None:
        """Check that several clusters are not combined with an option for one.

        :raises UsageError: if they are.
        """
        if self.fleet:
            raise UsageError(f"{option} cannot be combined with --fleet: {reason}")

    def of(self, name: str) -> ConnectionOptions:
        """Return the options of one of several clusters; without several, the same options.

        :raises KgroupsError: if the settings of its profile are invalid.
        """
        if self.fleet is None:
            return self
        as_words = functools.partial(self.fleet.as_words, name)
        return ConnectionOptions(self.fleet.settings_of(name), self.debug, as_words=as_words, profile=name)

    def for_reading(self) -> ConnectionOptions:
        """Return the same options, for clients that cannot send a request that changes something."""
        fleet = self.fleet.for_reading() if self.fleet else None
        return self._replace(settings=self.settings._replace(read_only=True), fleet=fleet)

    @property
    def servers(self) -> str:
        """The bootstrap servers, or how many profiles there are."""
        return count(len(self.fleet.names), "profile") if self.fleet else self.settings.bootstrap_servers

    def cluster(self, cluster_id: str | None) -> str:
        """Return the cluster's name for messages: its ID and the bootstrap servers."""
        servers = self.settings.bootstrap_servers
        return f"cluster {cluster_id} ({servers})" if cluster_id else f"the cluster at {servers}"


Completer = Callable[[click.Context, click.Parameter, str], Any]


def completer(name: str) -> Completer:
    """Return a function that is imported when it completes a value.

    :param name: of a function of ``completion`` or ``known_values``, or a reference to one of a single command.
    """

    return functools.partial(_complete, name)


def _complete(name: str, context: click.Context, param: click.Parameter, prefix: str) -> Any:
    if ":" in name:
        return resolve(name)(context, param, prefix)
    from . import completion, known_values

    found: Completer = getattr(completion, name, None) or getattr(known_values, name)
    return found(context, param, prefix)


complete_profile = completer("profile_names")


def _profile_option(help: str) -> Decorator:
    return click.option(
        "--profile",
        "profiles",
        multiple=True,
        metavar="NAME",
        help=f"{help}  [env: {PROFILE_ENV}]",
        shell_complete=complete_profile,
    )


_PROFILE = _profile_option("Profile of the configuration file; see kgroups profile.")
_CLUSTER_TIMEOUT = click.option(
    "--cluster-timeout",
    type=Duration(),
    help="With several profiles: time limit for each cluster.  [default: --timeout]",
)
_PROFILES = (
    _profile_option(
        "Profile of the configuration file, glob, @TAG, or set of profiles: several clusters are queried at the same "
        "time. Repeatable."
    ),
    click.option("--all-profiles", is_flag=True, help="Query the clusters of all profiles."),
    _CLUSTER_TIMEOUT,
)
_CHANGED_PROFILES = (
    _profile_option(
        "Profile of the configuration file; with --fleet also a glob, @TAG, or set of profiles, and repeatable."
    ),
    click.option("--all-profiles", is_flag=True, help="With --fleet: change the clusters of all profiles."),
    click.option(
        "--fleet",
        "whole_fleet",
        is_flag=True,
        help="Change all clusters of the selected profiles: plan all, then change one after the other. If a plan is "
        "not complete, nothing is changed. The undo file of each cluster has its profile in the name.",
    ),
    _CLUSTER_TIMEOUT,
)


def _remember_debug(context: click.Context, _: click.Parameter, debug: bool) -> bool:
    if not context.resilient_parsing:
        set_debug(debug)
    return debug


_DEBUG = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    callback=_remember_debug,
    help="Log every request to stderr, and where the documentation explains an error.",
)

_TIMEOUT = click.option("--timeout", type=Duration(), help="Time limit for the whole command.  [default: 30s]")
_BROKER_TIMEOUT = click.option(
    "--broker-timeout",
    type=Duration(),
    help="Maximum wait for one unresponsive broker.  [default: 10s]",
)
_OVERRIDES = click.option(
    "-X",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override one property of that file; KEY=@FILE reads the value from a file. Repeatable.",
)
_MAX_REQUESTS = click.option(
    "--max-requests-per-second",
    type=Number(min=0.01),
    metavar="N",
    help="Maximum rate of requests to all brokers together.  [default: unlimited]",
)

CONNECTION = (
    click.option(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT[,...]",
        help=f"Bootstrap servers.  [env: {BOOTSTRAP_ENV}]",
    ),
    click.option(
        "--command-config",
        metavar="FILE",
        help=f"Client configuration file, for Java clients or librdkafka.  [env: {COMMAND_CONFIG_ENV}]",
        shell_complete=completer("files"),
    ),
    _OVERRIDES,
    _PROFILE,
    _TIMEOUT,
    _BROKER_TIMEOUT,
    click.option(
        "--transport",
        type=click.Choice([transport.value for transport in Transport]),
        help="wire: batches requests; librdkafka: one group per request.  [default: wire]",
    ),
    _MAX_REQUESTS,
    _DEBUG,
)


_POSITIONS = click.option(
    "--positions",
    multiple=True,
    metavar="spark:PATH[=NAME]",
    help="Also show the positions of a Spark query as a group, from its checkpoint: a folder, or an s3://, gs://, "
    "abfs://, or hdfs:// location. Default name: that of the folder. Repeatable.",
)


def _output_format(more: str = "", formats: str = "formats") -> Decorator:
    return click.option(
        "-o",
        "--output",
        metavar="FORMAT",
        default="auto",
        show_default=True,
        help=f"table, plain, json, jsonl, csv, markdown,{more} or one of tabulate's formats (grid, html, ...). "
        "auto: table on a terminal, plain in a pipe.",
        shell_complete=completer(formats),
    )


OUTPUT_FORMAT = _output_format()
_OUTPUT = (
    OUTPUT_FORMAT,
    click.option("-w", "--wide", is_flag=True, help="Show all columns."),
    click.option("--no-headers", is_flag=True, help="Omit the header row (table, plain, csv)."),
    click.option(
        "--columns", metavar="A,B,...", help="Columns to show, in this order.", shell_complete=completer("columns")
    ),
    click.option(
        "--sort",
        metavar="A,-B,...",
        help="Columns to sort by; - sorts descending.",
        shell_complete=completer("columns"),
    ),
)


GIVEN = "kgroups.connection"
"""Key of click's ``Context.meta``: the :class:`ConnectionOptions` of a command that another command runs."""


def _connection_options(
    *,
    explain: bool = False,
    deferred: bool = False,
    fleet: tuple[Decorator, ...] = (),
    more: tuple[Decorator, ...] = (),
) -> OptionGroup:
    """Return the connection options; the body gets ``connection``, a :class:`ConnectionOptions`.

    Invalid options raise :class:`UsageError` before the body of the command runs.

    :param explain: also pass the effective settings.
    :param deferred: pass a function that returns the :class:`ConnectionOptions`, for commands that may need none.
    :param fleet: the options that select several clusters, in place of ``--profile``.
    :param more: options of some commands only.
    """

    collect = functools.partial(_collect, explain=explain, several=bool(fleet))

    def defer(**flags: Any) -> Callable[[], ConnectionOptions]:
        return functools.partial(collect, **flags)

    single = tuple(option for option in CONNECTION if not (fleet and option is _PROFILE))
    return OptionGroup("connection", (*single, *fleet, *more), defer if deferred else _unless_given(collect))


def _collect(
    bootstrap_server: str | None,
    command_config: str | None,
    overrides: tuple[str, ...],
    profiles: tuple[str, ...],
    timeout: float | None,
    broker_timeout: float | None,
    transport: str | None,
    max_requests_per_second: float | None,
    debug: bool,
    all_profiles: bool = False,
    cluster_timeout: float | None = None,
    whole_fleet: bool | None = None,
    positions: tuple[str, ...] = (),
    *,
    explain: bool,
    several: bool,
) -> ConnectionOptions:
    if len(profiles) > 1 and not several:
        raise UsageError("--profile: this command works on one cluster; give one profile")
    flags = Flags(
        bootstrap_server,
        command_config,
        overrides,
        profiles[-1] if profiles else None,
        timeout,
        broker_timeout,
        transport,
        max_requests_per_second=max_requests_per_second,
    )
    if several and (profiles or all_profiles):
        from kgroups.config.fleet import fleet_profiles

        names = fleet_profiles(profiles, os.environ, everything=all_profiles, one=bool(whole_fleet))
        if names and whole_fleet is False:
            raise UsageError(
                f"without --fleet, this command changes one cluster; selected profiles: {', '.join(names)}",
                hint="to change all of them, with an undo file for each, add --fleet",
            )
        if names:
            if positions:
                raise UsageError("--positions cannot be combined with several profiles: a query reads one cluster")
            from .fleet import fleet_of

            shared, clusters = fleet_of(names, flags, cluster_timeout)
            return ConnectionOptions(shared, debug, fleet=clusters)
    if whole_fleet:
        raise UsageError("--fleet requires --profile or --all-profiles")
    if cluster_timeout is not None:
        raise UsageError("--cluster-timeout requires several profiles")
    loaded = load_settings(flags, os.environ, explain=explain)
    for note in loaded.warnings:
        _print_note(note)
    understood = loaded.understood if explain else ()
    profile = flags.profile or os.environ.get(PROFILE_ENV, "")
    settings = loaded.settings
    if positions:
        from kgroups.config.positions import position_sources

        settings = settings._replace(positions=position_sources(positions))
    return ConnectionOptions(settings, debug, understood, lambda: _repeated(flags), profile)


def _unless_given(collect: Callable[..., ConnectionOptions]) -> Callable[..., ConnectionOptions]:
    def chosen(**flags: Any) -> ConnectionOptions:
        given: ConnectionOptions | None = click.get_current_context().meta.get(GIVEN)
        return given or collect(**flags)

    return chosen


connection_options = _connection_options()
"""The connection options; ``connection`` is a :class:`ConnectionOptions`."""

deferred_connection_options = _connection_options(deferred=True)
"""The connection options; ``connection`` is a function."""

fleet_options = _connection_options(fleet=_PROFILES)
"""The connection options, for one cluster or several."""

position_options = _connection_options(fleet=_PROFILES, more=(_POSITIONS,))
"""The connection options, for one cluster or several, with the positions of groups outside Kafka."""

fleet_change_options = _connection_options(fleet=_CHANGED_PROFILES, more=(_POSITIONS,))
"""The connection options of a change, for one cluster, or with --fleet for several, and which groups to refuse."""

explained_connection_options = _connection_options(explain=True)
"""The connection options; ``connection`` includes the effective settings."""


def _stored_flags(bootstrap_server: str | None, **values: Any) -> Flags:
    return Flags(bootstrap_server, **values)


stored_connection_options = OptionGroup(
    "flags", tuple(option for option in CONNECTION if option not in (_PROFILE, _DEBUG)), _stored_flags
)
"""The connection options that a profile can store; ``flags`` is a :class:`Flags`."""


class SideOptions(NamedTuple):
    """The connection options of a command whose arguments can name clusters, too."""

    flags: Flags
    """Those that also apply to the clusters of arguments."""
    debug: bool
    selected: str | None
    """The given option that selects a cluster, if any."""
    connect: Callable[[], ConnectionOptions]
    """Returns the connection options of the cluster that no argument names."""


def _side_options(**given: Any) -> SideOptions:
    shared = ("timeout", "broker_timeout", "transport", "max_requests_per_second")
    selecting = {
        "--bootstrap-server": "bootstrap_server",
        "--command-config": "command_config",
        "-X": "overrides",
        "--profile": "profiles",
    }
    return SideOptions(
        Flags(**{name: given[name] for name in shared}),
        given["debug"],
        next((option for option, name in selecting.items() if given[name] not in (None, ())), None),
        functools.partial(_collect, **given, explain=False, several=False),
    )


side_options = OptionGroup("options", CONNECTION, _side_options)
"""The connection options of a command whose arguments can name clusters; ``options`` is a :class:`SideOptions`."""


class PairOptions(NamedTuple):
    """The connection options of a command about two clusters."""

    source: ConnectionOptions
    target: ConnectionOptions


class Side(NamedTuple):
    """A cluster that an option or an argument names, to connect to."""

    flags: Flags
    debug: bool

    def connect(self, option: str, name: str) -> ConnectionOptions:
        """Return the connection to a profile, or to bootstrap servers.

        :param option: what names it, for errors.
        :raises UsageError: if the name is neither.
        """
        from kgroups.config.load import load_profile
        from kgroups.config.profiles import read_profiles

        flags = self.flags
        if name in read_profiles(os.environ).tables:
            flags = flags._replace(profile=name, command_config=None, overrides=())
        elif ":" in name:
            flags = flags._replace(bootstrap=name)
        else:
            raise UsageError(
                f"{option}: {name!r} is neither a profile nor HOST:PORT", hint="the profiles: kgroups profile list"
            )
        loaded = load_profile(flags, os.environ)
        for note in loaded.warnings:
            _print_note(f"{option}: {note}")
        return ConnectionOptions(
            loaded.settings, self.debug, (), lambda: _repeated(flags), flags.profile or "", side=option
        )


def _side(debug: bool, **given: Any) -> Side:
    return Side(Flags(**given), debug)


def _pair_options(source: str, target: str, **given: Any) -> PairOptions:
    """Return the connections to both clusters.

    :raises UsageError: if one of them is neither a profile nor servers.
    """
    side = _side(**given)
    return PairOptions(side.connect("--from", source), side.connect("--to", target))


_SIDE = (
    click.option(
        "--command-config",
        metavar="FILE",
        help="Client configuration file of clusters that are given as HOST:PORT.",
        shell_complete=completer("files"),
    ),
    _OVERRIDES,
    _TIMEOUT,
    _BROKER_TIMEOUT,
    _MAX_REQUESTS,
    _DEBUG,
)

side_connection = OptionGroup("side", _SIDE, _side)
"""The connection options of clusters that arguments name; ``side`` is a :class:`Side`."""

_PAIR_METAVAR = "PROFILE|HOST:PORT"

pair_options = OptionGroup(
    "pair",
    (
        click.option(
            "--from",
            "source",
            required=True,
            metavar=_PAIR_METAVAR,
            help="The cluster on which the groups are: a profile, or bootstrap servers.",
            shell_complete=complete_profile,
        ),
        click.option(
            "--to",
            "target",
            required=True,
            metavar=_PAIR_METAVAR,
            help="The cluster to which the records are copied: a profile, or bootstrap servers.",
            shell_complete=complete_profile,
        ),
        *_SIDE,
    ),
    _pair_options,
)
"""The connection options of a command about two clusters; ``pair`` is a :class:`PairOptions`."""


def _repeated(flags: Flags) -> tuple[str, ...]:
    from .repeat_options import repeated

    return repeated(flags)


def _print_note(note: str) -> None:
    if not is_quiet():
        print_to_stderr(f"kgroups: note: {note}")


output_options = OptionGroup("shape", _OUTPUT, "kgroups.cli.frame.output:Shape")
"""The output options; ``shape`` is a :class:`kgroups.cli.frame.output.Shape`."""

graph_output_options = OptionGroup(
    "shape", (_output_format(" dot (Graphviz),", "graph_formats"), *_OUTPUT[1:]), "kgroups.cli.frame.output:Shape"
)
"""The output options of a command that also writes a graph."""


isolation_option = click.option(
    "--isolation",
    type=click.Choice(["read_uncommitted", "read_committed"]),
    default="read_uncommitted",
    show_default=True,
    help="read_committed measures lag to the last stable offset, so that open transactions do not count.",
)
"""Adds --isolation; the command gets ``isolation``, the value in lowercase."""


_DEEP_MIB, _DEEP_SECONDS = 32, 5.0

_DEEP = (
    click.option(
        "--deep",
        is_flag=True,
        help="Also read the groups' records in __consumer_offsets and __share_group_state, newest first, for details "
        "that no API reports: generation, leader, state timestamp, timeouts, commit times, expiry, delivery counts.",
    ),
    click.option(
        "--deep-mib",
        type=click.IntRange(1, 65_536),
        metavar="N",
        help="With --deep: read at most about N MiB of each partition.  [default: 32]",
    ),
    click.option(
        "--deep-time",
        type=Duration(),
        help="With --deep: read for at most this long.  [default: 5s]",
    ),
)


def _deep_bounds(deep: bool, deep_mib: int | None, deep_time: float | None) -> tuple[int, float] | None:
    if not deep and (deep_mib, deep_time) != (None, None):
        raise UsageError("--deep-mib and --deep-time require --deep")
    return (deep_mib or _DEEP_MIB, deep_time or _DEEP_SECONDS) if deep else None


deep_options = OptionGroup("deep", _DEEP, _deep_bounds)
"""--deep and its limits; ``deep`` is the number of MiB to read of each partition, and the number of seconds to read;
``None`` without ``--deep``."""


PARTS = ("state", "members", "configs", "offsets", "lag", "topics", "records")
"""What is compared of groups."""

only_option = click.option(
    "--only",
    multiple=True,
    type=click.Choice(PARTS),
    help="Compare only this: state (also type and protocol), members, configs (dynamic configuration), offsets, lag, "
    "topics (topic IDs), or records (with --with-records). Repeatable.  [default: all]",
)


def split_values(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of a repeatable option whose values may be comma-separated lists."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def check_exclusive(**flags: bool) -> None:
    """Check that at most one of these flags is given.

    :raises UsageError: if several are.
    """
    given = [f"--{name.replace('_', '-')}" for name, value in flags.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are mutually exclusive")


def file_option(option: str, file: str, help_text: str) -> Decorator:
    """Add an option that prints a file of ``kgroups/exporter/monitoring``, and exits; nothing else is then required."""

    def print_file(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo((get_data("kgroups.exporter.monitoring", file) or b"").decode(), nl=False)
            context.exit()

    return click.option(option, is_flag=True, is_eager=True, expose_value=False, callback=print_file, help=help_text)
