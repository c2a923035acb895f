"""The way to one server, step by step, each with its time: as every connection goes, but told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import AuthenticationFailed, ConfigError, KgroupsError, MissingPackage
from kgroups.model.connection_check import Step
from kgroups.protocol.apis import metadata
from kgroups.protocol.versions import BrokerVersions

from .authenticator import Authenticator
from .certificates import Certificate
from .connection import Connection, Observer, Overdue, unavailable
from .connector import negotiate
from .deadline import Deadline
from .dial import dial_address, invalid_address, no_address
from .pace import Pace
from .resolve import addresses
from .tls_handshake import TlsConnector, Untrusted

T = TypeVar("T")

_REQUESTS = frozenset({Step.API_VERSIONS, Step.SASL, Step.METADATA})
"""Steps that send requests of Kafka's protocol."""


class StepResult(NamedTuple):
    """One step: what it gave, or why it failed; neither where it was not tried."""

    step: Step
    seconds: float | None = None
    found: Any = None
    error: KgroupsError | None = None

    @property
    def tried(self) -> bool:
        return self.seconds is not None

    @property
    def shown(self) -> tuple[Certificate, ...]:
        """What a broker sent whose certificate was not accepted."""
        return self.error.shown if isinstance(self.error, Untrusted) else ()


class Prober:
    """Goes the way as often as it is asked to, and shows its credentials to nobody once they were refused.

    :raises ConfigError: when the settings for TLS cannot be.
    """

    def __init__(self, settings: ClientSettings, observer: Observer | None = None) -> None:
        security = settings.security
        self.settings = settings
        self.deadline = Deadline(settings.timeout)
        self.pace = Pace(self.deadline, settings.max_requests_per_second)
        self._observer = observer
        self._tls = TlsConnector(security.tls) if security and security.tls else None
        self._sasl = security.sasl if security else None
        self._sign_in: Authenticator | None = None
        self._refused = False

    def steps(self) -> Iterable[Step]:
        """Those that these settings lead over."""
        without = {step for step, there in ((Step.TLS, self._tls), (Step.SASL, self._sasl)) if not there}
        return [step for step in Step if step not in without]

    async def probe(self, host: str, port: int, name: str) -> list[StepResult]:
        """Every step, those behind one that failed untried. What is found: addresses; the address that accepted; the
        TLS session; the versions; seconds that the sign-in holds, or ``None``; the metadata.

        :raises ConfigError: when the settings turn out to be impossible (or a package to be missing).
        """
        way = _Path(self, host, port, name)
        strides: list[StepResult] = []
        try:
            for step in self.steps():
                if step is Step.SASL and self._refused:
                    break
                stride = await self._timed(step, way)
                strides.append(stride)
                if stride.error is not None:
                    break
        finally:
            way.close()
        return strides + [StepResult(step) for step in self.steps() if step not in {stride.step for stride in strides}]

    async def _timed(self, step: Step, way: _Path) -> StepResult:
        began, allowed = time.perf_counter(), 0.0
        found: object = None
        error: KgroupsError | None = None
        try:
            await way.turn(step)
            began = time.perf_counter()
            allowed = min(self.settings.broker_timeout, self.deadline.remaining())
            async with asyncio.timeout(allowed):
                found = await way.steps[step]()
        except TimeoutError:
            error = Overdue("no answer", allowed)
        except (ConfigError, MissingPackage):
            raise
        except KgroupsError as failed:
            self._refused |= isinstance(failed, AuthenticationFailed)
            error = failed
        except OSError as failed:
            error = unavailable(failed)
        except (ValueError, OverflowError) as failed:  # brokers advertise what they were told
            error = invalid_address(failed)
        return StepResult(step, time.perf_counter() - began, found, error)

    def patience(self) -> Deadline:
        return self.deadline.within(self.settings.broker_timeout)

    def authenticator(self) -> Authenticator:
        """:raises UnsupportedMechanism: for one that we do not speak."""
        assert self._sasl
        self._sign_in = self._sign_in or Authenticator(self._sasl)
        return self._sign_in


class _Path:
    """One server, and how far we are."""

    def __init__(self, prober: Prober, host: str, port: int, name: str) -> None:
        self._prober = prober
        self._host, self._port, self._name = host, port, name
        self._addresses: list[str] = []
        self._address = ""
        self._connection: Connection | None = None
        self._versions = BrokerVersions({})
        self.steps = {
            Step.DNS: self._resolve,
            Step.TCP: self._reach,
            Step.TLS: self._agree,
            Step.API_VERSIONS: self._negotiate,
            Step.SASL: self._sign_in,
            Step.METADATA: self._ask,
        }

    def close(self) -> None:
        if self._connection:
            self._connection.close()

    async def turn(self, step: Step) -> None:
        """Wait until the request of a step may be sent; that is no time of the step.

        :raises NotRequested: when that is after the command's deadline.
        """
        if self._connection and step in _REQUESTS:
            await self._prober.pace.turn(self._name, self._connection.resumes)

    async def _resolve(self) -> list[str]:
        self._addresses = await addresses(self._host, self._port)
        return self._addresses

    async def _reach(self) -> str:
        refused: OSError | None = None
        for address in self._addresses:
            try:
                self._connection = await dial_address(self._host, address, self._port, make=self._make, tls=None)
            except OSError as error:
                refused = error
            else:
                self._address = address
                return address
        raise refused or no_address(self._host)

    async def _agree(self) -> object:
        self.close()  # TLS begins with a connection of its own
        self._connection = await dial_address(
            self._host, self._address, self._port, make=self._make, tls=self._prober._tls
        )
        return self._connection.tls_session

    async def _negotiate(self) -> BrokerVersions:
        assert self._connection
        self._versions = await negotiate(self._connection, self._prober.patience())
        self._connection.throttled(self._versions.pause)
        return self._versions

    async def _sign_in(self) -> float | None:
        assert self._connection
        await self._prober.authenticator().on(self._connection, self._versions, self._host, self._prober.patience())
        ends = self._connection.ends
        return None if ends is None else ends - asyncio.get_running_loop().time()

    async def _ask(self) -> metadata.ClusterMetadata:
        assert self._connection
        self._connection.trust()
        version = self._versions.pick(metadata.API)
        return await self._connection.call(
            metadata.Metadata(operations=True), version, self._prober.patience().remaining()
        )

    def _make(self) -> Connection:
        return Connection(self._name, self._prober.settings.client_id, self._prober._observer)
