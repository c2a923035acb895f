"""Users with passwords: PLAIN users are in the brokers' settings, SCRAM users are created with Kafka's tool."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from kgroups.errors import SandboxError
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.settings import write_properties

OPERATOR: Final = "operator"
"""Authorized for everything; the same principal with every mechanism and certificate."""

AWKWARD: Final = "awkward"
"""Also authorized for everything; its password contains characters that must be escaped."""

_SCRAMS: Final = ((OPERATOR, "SCRAM-SHA-256"), (OPERATOR, "SCRAM-SHA-512"), (AWKWARD, "SCRAM-SHA-512"))


def add_scram_users(sandbox: Sandbox, passwords: Mapping[str, str]) -> None:
    """Create the SCRAM credentials of the two users.

    :raises SandboxError: when Kafka's tool fails.
    """
    with ThreadPoolExecutor() as pool:  # each is a JVM
        list(pool.map(lambda pair: _add(sandbox, pair[0], pair[1], passwords[pair[0]]), _SCRAMS))


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
