"""Settings of a client: how to connect to a cluster, and its time limits."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from kgroups.errors import UsageError

if TYPE_CHECKING:
    from .positions import PositionSource
    from .security import Security

DEFAULT_PORT = 9092


class Transport(StrEnum):
    """The client: the built-in wire client with batches, or librdkafka's AdminClient with one group per request."""

    WIRE = "wire"
    LIBRDKAFKA = "librdkafka"


class ClientSettings(NamedTuple):
    """Settings of a client. Times are in seconds.

    ``timeout`` is the time limit for the whole command, ``broker_timeout`` for one unresponsive broker.
    """

    bootstrap: tuple[tuple[str, int], ...]
    timeout: float = 30.0
    broker_timeout: float = 10.0
    transport: Transport = Transport.WIRE
    client_id: str = "kgroups"
    max_requests_per_second: float | None = None
    """Maximum rate over all brokers; ``None``: no limit."""
    security: Security | None = None
    """TLS and SASL; ``None``: a plaintext connection."""
    read_only: bool = False
    """Whether a request that changes something is an error instead of being sent."""
    positions: tuple[PositionSource, ...] = ()
    """The groups outside Kafka to show with those of the cluster."""

    @property
    def bootstrap_servers(self) -> str:
        """Return the bootstrap servers as ``host:port,[::1]:port``."""
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.bootstrap)

    def check_writable(self, change: str) -> None:
        """Check that the client may send a request that changes something.

        :raises UsageError: if it may only read.
        """
        if self.read_only:
            raise UsageError(f"{change} was not sent: this client is read-only")

    def within(self, seconds: float) -> ClientSettings:
        """Return the same settings with another time limit for the whole command."""
        return self._replace(timeout=seconds, broker_timeout=min(self.broker_timeout, seconds))


def parse_bootstrap(text: str, source: str = "--bootstrap-server") -> tuple[tuple[str, int], ...]:
    """Return the pairs of host and port in ``host:port,host,[::1]:9092``; the default port is 9092.

    :param source: the flag or setting, for errors.
    :raises UsageError: if there is no server, or an address or a port is invalid.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    servers = tuple(_server(part, f"{source}, address {number}" if len(parts) > 1 else source)
                    for number, part in enumerate(parts, 1))  # fmt: skip
    if not servers:
        raise UsageError(
            "no bootstrap server: set --bootstrap-server HOST:PORT, KGROUPS_BOOTSTRAP_SERVER, or --profile",
            hint="to try kgroups with brokers on this machine: kgroups sandbox up",
        )
    return servers


def _server(text: str, source: str) -> tuple[str, int]:
    """Return host and port. Errors do not show an invalid address, which may contain a user name and a password."""
    address = text.rpartition("://")[2]  # addresses of listeners are often pasted with their protocol
    if "@" in address:
        raise UsageError(f"{source}: the address contains an @; it must not contain a user name or password")
    if address.startswith("["):
        host, bracket, rest = address[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise UsageError(f"{source}: must be [ADDRESS]:PORT")
        port = rest.removeprefix(":")
    else:
        host, colon, port = address.rpartition(":")
        if not colon:
            host, port = address, ""
    if not host or (":" in host and not address.startswith("[")):
        raise UsageError(f"{source}: must be HOST:PORT (put an IPv6 address in brackets)")
    if not port:
        return host, DEFAULT_PORT
    if not (port.isascii() and port.isdigit() and 0 < int(port[:9]) < 65536):
        shown = f" {port!r}" if port.isascii() and port.isdigit() and len(port) < 9 else ""
        raise UsageError(f"{source}: the port{shown} of host {host!r} is not a number from 1 to 65535")
    return host, int(port)
