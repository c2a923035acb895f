"""Re-authentication (KIP-368): a client that outlives the session lifetime of a listener."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.admin.query.list_groups import fetch_groups
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Exchange
from kgroups.sandbox.security import Secure
from kgroups.sandbox.security.client_configs import unsecured
from kgroups.sandbox.security.users import OPERATOR
from tests.integration.auth_methods import GROUPS

AUTHENTICATIONS = 3
"""Number of times that each client authenticates."""

TIMEOUT = 60.0
"""Maximum seconds until a client has authenticated that often."""

METHODS = {
    "plain": "sasl-plaintext-plain",
    "scram": "sasl-plaintext-scram-sha-512",
    "gssapi": "sasl-plaintext-gssapi",
    "unsecured": None,
}


def files(secure: Secure) -> Iterator[Path]:
    for name, method in METHODS.items():
        if method is None:
            yield secure.write(
                f"reauth-{name}", "REAUTH", {"security.protocol": "SASL_PLAINTEXT", **unsecured(OPERATOR)}
            )
        elif method in secure.ways:
            yield secure.write(f"reauth-{name}", "REAUTH", secure.ways[method].settings)


async def list_until_reauthenticated(file: Path) -> list[list[str]]:
    """Return the lists of a client until it has authenticated ``AUTHENTICATIONS`` times, and one list after that."""
    sent: Counter[str] = Counter()
    lists = []

    def observe(exchange: Exchange) -> None:
        sent[exchange.api] += 1

    settings = load_settings(Flags(command_config=str(file), timeout=2 * TIMEOUT), {}).settings
    cluster, _ = await Cluster.connect(settings, observer=observe)
    async with cluster:
        until, over = time.monotonic() + TIMEOUT, False
        while not over:
            assert time.monotonic() < until, sent
            # Also on existing connections: a machine that is too slow for a session may open one or two again.
            over = sent["SaslHandshake"] >= max(AUTHENTICATIONS, 1 + sent["ApiVersions"])
            outcome = await fetch_groups(cluster)
            assert not outcome.failures
            lists.append(sorted(group.group for group in outcome.items))
            await asyncio.sleep(0.05)
    return lists


def test_long_session_reauthenticates(secure: Secure, monkeypatch: pytest.MonkeyPatch) -> None:
    if secure.kerberos:
        monkeypatch.setenv("KRB5_CONFIG", str(secure.kerberos.configuration))

    async def list_with_all() -> list[list[list[str]]]:
        return await asyncio.gather(*map(list_until_reauthenticated, files(secure)))

    listed = asyncio.run(list_with_all())
    assert len(listed) == len(METHODS) - (secure.kerberos is None)
    for lists in listed:
        assert lists and all(found == GROUPS.names() for found in lists)
