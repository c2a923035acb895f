"""Who may log in with a password: PLAIN users are in the brokers' settings, SCRAM users Kafka's own tool makes."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from kgroups.errors import SandboxError
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.settings import write_properties

OPERATOR: Final = "operator"
"""May do everything; is the same principal by every mechanism and certificate."""

AWKWARD: Final = "awkward"
"""May do everything too; its password holds all that must be escaped somewhere."""

_SCRAMS: Final = ((OPERATOR, "SCRAM-SHA-256"), (OPERATOR, "SCRAM-SHA-512"), (AWKWARD, "SCRAM-SHA-512"))


def add_scram_users(sandbox: Sandbox, passwords: Mapping[str, str]) -> None:
    """Gives the two their SCRAM credentials.

    :raises SandboxError: when Kafka's tool fails.
    """
    with ThreadPoolExecutor() as pool:  # each is a JVM
        list(pool.map(lambda pair: _add(sandbox, pair[0], pair[1], passwords[pair[0]]), _SCRAMS))


def _add(sandbox: Sandbox, user: str, mechanism: str, password: str) -> None:
    # One a run: KRaft takes no two of a user in one request. In a file: on the command line everybody could read it.
    file = sandbox.folder / f"{mechanism}-{user}.properties"
    write_properties(file, {mechanism: f"iterations=4096,password={password}"})
    done = sandbox.java(
        "kafka.admin.ConfigCommand", "--bootstrap-server", sandbox.bootstrap, "--alter", "--entity-type", "users",
        "--entity-name", user, "--add-config-file", str(file),
    )  # fmt: skip
    file.unlink()
    if done.returncode:
        raise SandboxError(f"Kafka's ConfigCommand made no {mechanism} user {user}: {done.stdout}{done.stderr}")
