"""Users with passwords: PLAIN users are in the brokers' settings, SCRAM users are created with Kafka's tool."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from kgroups.errors import SandboxError
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.settings import write_properties
from kgroups.sandbox.topics import admin_client

OPERATOR: Final = "operator"
"""Authorized for everything; the same principal with every mechanism and certificate."""

AWKWARD: Final = "awkward"
"""Also authorized for everything; its password contains characters that must be escaped."""

_SCRAMS: Final = {OPERATOR: ("SCRAM-SHA-256", "SCRAM-SHA-512"), AWKWARD: ("SCRAM-SHA-512",)}
_TIMEOUT: Final = 60.0
_LISTENER: Final = "SASL_PLAINTEXT"


def add_scram_users(sandbox: Sandbox, passwords: Mapping[str, str]) -> None:
    """Create the SCRAM credentials of the two users, and return when every broker accepts them.

    :raises SandboxError: when Kafka's tool fails, or a broker does not accept a user in 60 s.
    """

    def add(user: str) -> None:
        # A user's mechanisms in turn: over ZooKeeper, each change rewrites all of them, and two at once lose one.
        for mechanism in _SCRAMS[user]:
            _add(sandbox, user, mechanism, passwords[user])
            for address in sandbox.bootstrap_of(_LISTENER).split(","):
                _log_in(address, user, mechanism, passwords[user])

    with ThreadPoolExecutor() as pool:  # each change is a JVM
        list(pool.map(add, _SCRAMS))


def _add(sandbox: Sandbox, user: str, mechanism: str, password: str) -> None:
    # One per run: KRaft does not accept two of a user in one request. In a file: other users can read command lines.
    file = sandbox.folder / f"{mechanism}-{user}.properties"
    write_properties(file, {mechanism: f"iterations=4096,password={password}"})
    done = sandbox.java(
        "kafka.admin.ConfigCommand", "--bootstrap-server", sandbox.bootstrap, "--alter", "--entity-type", "users",
        "--entity-name", user, "--add-config-file", str(file),
    )  # fmt: skip
    file.unlink()
    if done.returncode:
        raise SandboxError(
            f"Kafka's ConfigCommand did not create the {mechanism} user {user}: {done.stdout}{done.stderr}"
        )


def _log_in(address: str, user: str, mechanism: str, password: str) -> None:
    """Wait until a broker accepts the user: it receives credentials from the controller with a delay."""
    from confluent_kafka import KafkaException

    admin = admin_client(
        address,
        {
            "security.protocol": _LISTENER,
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
            "reconnect.backoff.max.ms": 100,
            "log_level": 0,
        },
    )
    try:
        admin.list_topics(timeout=_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"{address} did not accept the {mechanism} user {user} in {_TIMEOUT:g} s: {error}") from None
