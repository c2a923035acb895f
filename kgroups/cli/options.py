"""Options that several commands share: each group of them is one decorator and reaches the command as one value."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

from kgroups.config.settings import ClientSettings, Transport, parse_bootstrap
from kgroups.errors import UsageError

from .answer import Shape

F = TypeVar("F", bound=Callable[..., Any])

BOOTSTRAP_ENV = "KGROUPS_BOOTSTRAP_SERVER"


class Duration(click.ParamType[float]):
    """Seconds, or a number with one of the units ms, s, m, h. Converts to seconds."""

    name = "duration"
    _units = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|)", str(value).strip())
        seconds = float(match[1]) * self._units[match[2]] if match else 0.0
        if not seconds:
            self.fail(f"{value!r} is not a time above zero such as 30, 500ms, 10s or 2m", param, ctx)
        return seconds


class Connection(NamedTuple):
    """What the connection options say."""

    settings: ClientSettings
    debug: bool


_CONNECTION = (
    click.option(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT[,...]",
        envvar=BOOTSTRAP_ENV,
        help=f"Brokers to ask first.  [env: {BOOTSTRAP_ENV}]",
    ),
    click.option("--timeout", type=Duration(), default="30s", show_default=True, help="Bound on the whole command."),
    click.option(
        "--broker-timeout",
        type=Duration(),
        default="10s",
        show_default=True,
        help="The most that one broker that hangs, or is not ready, may cost.",
    ),
    click.option(
        "--transport",
        type=click.Choice([transport.value for transport in Transport]),
        default=Transport.WIRE.value,
        show_default=True,
        help="The batched wire client, or librdkafka with one group a request.",
    ),
    click.option("--debug", is_flag=True, help="One line on stderr for each request."),
)

_OUTPUT = (
    click.option(
        "-o",
        "--output",
        metavar="FORMAT",
        default="auto",
        show_default=True,
        help="table, plain, json, jsonl, csv, or one of tabulate's formats (github, grid, html, ...). "
        "auto: table on a terminal, plain in a pipe.",
    ),
    click.option("-w", "--wide", is_flag=True, help="All columns of the view."),
    click.option("--no-headers", is_flag=True, help="No header line (table, plain, csv)."),
    click.option("--columns", metavar="A,B,...", help="These columns, in this order."),
    click.option("--sort", metavar="A,-B,...", help="Sort by these columns; - means descending."),
)


def connection_options(command: F) -> F:
    """How to reach the cluster. The command gets ``connection``, a :class:`Connection`.

    What cannot be right among them is a :class:`UsageError`, raised before the command's own body runs.
    """

    def collect(
        bootstrap_server: str | None, timeout: float, broker_timeout: float, transport: str, debug: bool
    ) -> Connection:
        settings = ClientSettings(
            bootstrap=parse_bootstrap(bootstrap_server or ""),
            timeout=timeout,
            broker_timeout=min(broker_timeout, timeout),
            transport=Transport(transport),
        )
        return Connection(settings, debug)

    return collected(command, _CONNECTION, "connection", collect)


def output_options(command: F) -> F:
    """How to show the answer. The command gets ``shape``, a :class:`kgroups.cli.answer.Shape`."""
    return collected(command, _OUTPUT, "shape", Shape)


def collected(command: F, options: tuple[Callable[[F], F], ...], name: str, collect: Callable[..., Any]) -> F:
    """The command with these options, which reach it as the one value that ``collect`` makes of them."""
    for option in reversed(options):
        command = option(command)
    params = command.__click_params__[-len(options) :]  # type: ignore[attr-defined]  # click keeps them there
    own = [param.name for param in params]
    inner = command

    @functools.wraps(inner)
    def outer(**values: Any) -> Any:
        return inner(**{name: collect(**{key: values.pop(key) for key in own})}, **values)

    return outer  # type: ignore[return-value]


isolation_option = click.option(
    "--isolation",
    type=click.Choice(["read_uncommitted", "read_committed"]),
    default="read_uncommitted",
    show_default=True,
    help="With read_committed a log ends at its last stable offset: open transactions are not lag.",
)
"""Whose end of the log. The command gets ``isolation``, the word."""


def words(values: tuple[str, ...]) -> tuple[str, ...]:
    """Every word of options that may be repeated and may hold comma lists."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def exclusive(**flags: bool) -> None:
    """:raises UsageError: when more than one of these flags is given."""
    given = [f"--{name.replace('_', '-')}" for name, value in flags.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} exclude each other")
