"""Connect to one server step by step, and time each step."""

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
from .dial import addresses, dial_address, invalid_address, no_address
from .pace import Pace
from .tls_handshake import TlsConnector, Untrusted

T = TypeVar("T")

_REQUESTS = frozenset({Step.API_VERSIONS, Step.SASL, Step.METADATA})
"""Steps that send requests of Kafka's protocol."""


class StepResult(NamedTuple):
    """One step: its finding or error; neither if it was skipped."""

    step: Step
    seconds: float | None = None
    found: Any = None
    error: KgroupsError | None = None

    @property
    def tried(self) -> bool:
        return self.seconds is not None

    @property
    def shown(self) -> tuple[Certificate, ...]:
        """Return the chain of a broker whose certificate was not accepted."""
        return self.error.shown if isinstance(self.error, Untrusted) else ()


class Prober:
    """Probes servers. After one rejected the credentials, they are not sent to another.

    :raises ConfigError: if the TLS settings are invalid.
    """

    def __init__(self, settings: ClientSettings, observer: Observer | None = None) -> None:
        security = settings.security
        self.settings = settings
        self.deadline = Deadline(settings.timeout)
        self.pace = Pace(self.deadline, settings.max_requests_per_second)
        self._observer = observer
        self._tls = TlsConnector(security.tls) if security and security.tls else None
        self._sasl = security.sasl if security else None
        self._authenticator: Authenticator | None = None
        self._refused = False

    def steps(self) -> Iterable[Step]:
        """Return the steps that these settings require."""
        without = {step for step, there in ((Step.TLS, self._tls), (Step.SASL, self._sasl)) if not there}
        return [step for step in Step if step not in without]

    async def probe(self, host: str, port: int, name: str) -> list[StepResult]:
        """Run every step; those after a failed one are skipped.

        The steps find: addresses; the address that accepted; the TLS session; the API versions; seconds until the
        authenticated session ends, or ``None``; the metadata.

        :raises ConfigError: if the settings are invalid.
        :raises MissingPackage: if the mechanism requires an extra.
        """
        path = _Path(self, host, port, name)
        results: list[StepResult] = []
        try:
            for step in self.steps():
                if step is Step.SASL and self._refused:
                    break
                result = await self._timed(step, path)
                results.append(result)
                if result.error is not None:
                    break
        finally:
            path.close()
        return results + [StepResult(step) for step in self.steps() if step not in {result.step for result in results}]

    async def _timed(self, step: Step, path: _Path) -> StepResult:
        began, allowed = time.perf_counter(), 0.0
        found: object = None
        error: KgroupsError | None = None
        try:
            await path.turn(step)
            began = time.perf_counter()
            allowed = min(self.settings.broker_timeout, self.deadline.remaining())
            async with asyncio.timeout(allowed):
                found = await path.steps[step]()
        except TimeoutError:
            error = Overdue("no response", allowed)
        except (ConfigError, MissingPackage):
            raise
        except KgroupsError as failed:
            self._refused |= isinstance(failed, AuthenticationFailed)
            error = failed
        except OSError as failed:
            error = unavailable(failed)
        except (ValueError, OverflowError) as failed:  # a broker may advertise anything
            error = invalid_address(failed)
        return StepResult(step, time.perf_counter() - began, found, error)

    def broker_deadline(self) -> Deadline:
        return self.deadline.within(self.settings.broker_timeout)

    def authenticator(self) -> Authenticator:
        """Return the authenticator.

        :raises UnsupportedMechanism: for a mechanism that the wire client does not support.
        """
        assert self._sasl
        self._authenticator = self._authenticator or Authenticator(self._sasl)
        return self._authenticator


class _Path:
    """The steps to one server, and their findings so far."""

    def __init__(self, prober: Prober, host: str, port: int, name: str) -> None:
        self._prober = prober
        self._host, self._port, self._name = host, port, name
        self._addresses: list[str] = []
        self._address = ""
        self._connection: Connection | None = None
        self._versions = BrokerVersions({})
        self.steps = {
            Step.DNS: self._resolve,
            Step.TCP: self._connect,
            Step.TLS: self._handshake,
            Step.API_VERSIONS: self._negotiate,
            Step.SASL: self._authenticate,
            Step.METADATA: self._describe_cluster,
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

    async def _connect(self) -> str:
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

    async def _handshake(self) -> object:
        self.close()  # TLS needs a new connection
        self._connection = await dial_address(
            self._host, self._address, self._port, make=self._make, tls=self._prober._tls
        )
        return self._connection.tls_session

    async def _negotiate(self) -> BrokerVersions:
        assert self._connection
        self._versions = await negotiate(self._connection, self._prober.broker_deadline())
        self._connection.throttled(self._versions.pause)
        return self._versions

    async def _authenticate(self) -> float | None:
        assert self._connection
        await self._prober.authenticator().on(
            self._connection, self._versions, self._host, self._prober.broker_deadline()
        )
        ends = self._connection.ends
        return None if ends is None else ends - asyncio.get_running_loop().time()

    async def _describe_cluster(self) -> metadata.ClusterMetadata:
        assert self._connection
        self._connection.trust()
        version = self._versions.pick(metadata.API)
        return await self._connection.call(
            metadata.Metadata(operations=True), version, self._prober.broker_deadline().remaining()
        )

    def _make(self) -> Connection:
        return Connection(self._name, self._prober.settings.client_id, self._prober._observer)
