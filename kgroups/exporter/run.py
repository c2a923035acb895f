"""Poll the clusters, and serve their metrics, until the command ends."""

from __future__ import annotations

import resource
import ssl
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kgroups.cli.frame.exit_status import enable_gc, print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.selected_groups import GroupOptions
from kgroups.errors import EXIT_OK, UsageError
from kgroups.model.offsets import Isolation

from .clusters import Clusters
from .exposition import Exposition
from .metrics import Level
from .pages import pages, read_users
from .poller import Poller, Polling
from .server import App, serve


class Serving(NamedTuple):
    """Where and how metrics are served."""

    listen: str
    certificate: Path | None
    key: Path | None
    basic_auth: Path | None
    connections: int


def run(
    connection: ConnectionOptions,
    chosen: GroupOptions,
    isolation: str,
    interval: float,
    polling: Polling,
    serving: Serving,
    *,
    by: str,
    compat: str,
    max_series: int,
) -> int:
    """Serve metrics until a signal ends the command.

    :raises UsageError: if the address, the certificate, or the file of users is invalid.
    """
    host, port = _address(serving.listen)
    expositions = partial(Exposition, Level[by.upper()], compat=compat, max_series=max_series)
    users = None if serving.basic_auth is None else read_users(serving.basic_auth)
    tls = _tls(serving.certificate, serving.key)
    poller = partial(
        Poller,
        selection=chosen.selection(all_by_default=True),
        isolation=Isolation[isolation.upper()],
        polling=polling,
    )
    shown = f"[{host}]" if ":" in host else host or "0.0.0.0"

    def start(app: App) -> str:
        try:
            bound = serve(app, host, port, tls=tls, connections=serving.connections)
        except OSError as error:
            raise UsageError(f"--listen: cannot listen on {serving.listen}: {error.strerror or error}") from None
        return f"kgroups: serving {'https' if tls else 'http'}://{shown}:{bound}/metrics"

    if connection.fleet:
        _allow_open_files()
        clusters = Clusters({name: poller(connection.of(name)) for name in connection.fleet.names}, expositions)
        started = start(pages(clusters, clusters.not_ready, users, clusters.probe))
        clusters.poll_once()
        print_to_stderr(started)
        clusters.run(interval)
    with closing(poller(connection)) as only:
        exposition = expositions()
        started = start(pages(exposition, exposition.not_ready, users))
        exposition.publish(only.poll())
        print_to_stderr(started)
        only.run(interval, exposition.publish)
    return EXIT_OK


def _allow_open_files() -> None:
    """Raise the soft limit of open files to the hard one: the connections to all clusters stay open between polls."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS has another limit that is lower
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Return the context of the server.

    :raises UsageError: if one of the files is missing or invalid.
    """
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise UsageError("--tls-certificate and --tls-key must be given together")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    def no_password() -> str:
        raise UsageError(f"--tls-key: {key} has a password; use a key without one")

    try:
        context.load_cert_chain(certificate, key, no_password)
    except OSError as error:
        raise UsageError(
            f"--tls-certificate: cannot load {certificate} with {key}: {error.strerror or error}"
        ) from None
    return context


def _address(text: str) -> tuple[str, int]:
    """Parse HOST:PORT, :PORT for all interfaces, or PORT of the loopback interface; port 0 selects any free port.

    :raises UsageError: if it has another form.
    """
    host, colon, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port[:9]) < 65536):
        raise UsageError(f"--listen: {text!r} is not HOST:PORT, :PORT, or PORT")
    return host.removeprefix("[").removesuffix("]") if colon else "127.0.0.1", int(port)


def exporter(
    connection: ConnectionOptions,
    chosen: GroupOptions,
    listen: str,
    interval: float,
    max_age: float | None,
    keep: float,
    by: str,
    compat: str,
    max_series: int,
    with_time: bool,
    with_headroom: bool,
    exact: bool,
    commit_age: bool,
    tls_certificate: Path | None,
    tls_key: Path | None,
    basic_auth: Path | None,
    max_connections: int,
    isolation: str,
) -> int:
    """Run ``kgroups exporter``; return the exit code."""
    enable_gc()
    if max_age is not None:
        interval = max(1.0, max_age)
    serving = Serving(listen, tls_certificate, tls_key, basic_auth, max_connections)
    polling = Polling(with_time, commit_age, keep, with_headroom, exact)
    return run(connection, chosen, isolation, interval, polling, serving, by=by, compat=compat, max_series=max_series)
