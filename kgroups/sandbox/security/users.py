"""Users with passwords: PLAIN users are in the brokers' settings, SCRAM users are created when the brokers run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from kgroups.errors import SandboxError

from ..cluster import Sandbox
from ..topics import admin_client, wait_done

OPERATOR: Final = "operator"
"""Authorized for everything; the same principal with every mechanism and certificate."""

AWKWARD: Final = "awkward"
"""Also authorized for everything; its password contains characters that must be escaped."""

_SCRAMS: Final = {OPERATOR: ("SCRAM-SHA-256", "SCRAM-SHA-512"), AWKWARD: ("SCRAM-SHA-512",)}
_ITERATIONS: Final = 4096  # the minimum
_TIMEOUT: Final = 60.0
_LISTENER: Final = "SASL_PLAINTEXT"


def add_scram_users(sandbox: Sandbox, passwords: Mapping[str, str]) -> None:
    """Create the SCRAM credentials of the two users, and return when every broker accepts them.

    :raises SandboxError: when the brokers reject a user, or one does not accept a user in 60 s.
    """

    # In turn: over ZooKeeper, each change rewrites all mechanisms of a user, and two at once lose one.
    for user, mechanisms in _SCRAMS.items():
        for mechanism in mechanisms:
            _add(sandbox, user, mechanism, passwords[user])
            for address in sandbox.bootstrap_of(_LISTENER).split(","):
                _log_in(address, user, mechanism, passwords[user])


def _add(sandbox: Sandbox, user: str, mechanism: str, password: str) -> None:
    info = ScramCredentialInfo(ScramMechanism[mechanism.replace("-", "_")], _ITERATIONS)
    # One per request: KRaft does not accept two of a user in one.
    admin = admin_client(sandbox.bootstrap)
    made = admin.alter_user_scram_credentials([UserScramCredentialUpsertion(user, info, password.encode())])
    wait_done(f"cannot create the {mechanism} user {user}", made.values())


def _log_in(address: str, user: str, mechanism: str, password: str) -> None:
    """Wait until a broker accepts the user: it receives credentials from the controller with a delay."""
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
