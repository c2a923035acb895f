"""Re-authentication (KIP-368): a listener that lets a sign-in hold for two seconds, and a client that stays longer."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.admin.list_groups import fetch_groups
from kgroups.config.load import Flags, load_settings
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Exchange
from kgroups.sandbox.security import Secure
from kgroups.sandbox.security.listeners import SESSION
from kgroups.sandbox.security.users import OPERATOR
from kgroups.sandbox.security.ways import unsecured
from tests.integration.ways_in import GROUPS

SESSIONS = 2.5
"""How many sign-ins long a client stays."""

WAYS = {
    "plain": "sasl-plaintext-plain",
    "scram": "sasl-plaintext-scram-sha-512",
    "gssapi": "sasl-plaintext-gssapi",
    "unsecured": None,
}


def files(secure: Secure) -> Iterator[Path]:
    for name, way in WAYS.items():
        if way is None:
            yield secure.write(
                f"reauth-{name}", "REAUTH", {"security.protocol": "SASL_PLAINTEXT", **unsecured(OPERATOR)}
            )
        elif way in secure.ways:
            yield secure.write(f"reauth-{name}", "REAUTH", secure.ways[way].settings)


async def stay(file: Path) -> tuple[list[list[str]], Counter[str]]:
    """What was listed, again and again, and what was sent for that, by API."""
    sent: Counter[str] = Counter()
    lists = []

    def observe(exchange: Exchange) -> None:
        sent[exchange.api] += 1

    settings = load_settings(Flags(command_config=str(file)), {}).settings
    cluster, _ = await Cluster.connect(settings, observer=observe)
    async with cluster:
        until = time.monotonic() + SESSIONS * SESSION
        while time.monotonic() < until:
            outcome = await fetch_groups(cluster)
            assert not outcome.failures
            lists.append(sorted(group.group_id for group in outcome.items))
            await asyncio.sleep(0.05)
    return lists, sent


def test_who_stays_signs_in_again(secure: Secure, monkeypatch: pytest.MonkeyPatch) -> None:
    if secure.kerberos:
        monkeypatch.setenv("KRB5_CONFIG", str(secure.kerberos.configuration))

    async def all_stay() -> list[tuple[list[list[str]], Counter[str]]]:
        return await asyncio.gather(*map(stay, files(secure)))

    stayed = asyncio.run(all_stay())
    assert len(stayed) == len(WAYS) - (secure.kerberos is None)
    for lists, sent in stayed:
        assert all(found == GROUPS.names() for found in lists)
        # At first, and in each of the sessions that are over.
        assert sent["SaslHandshake"] >= 1 + int(SESSIONS)
        # On connections that were there: a machine that is too slow for one session may have made one or two anew.
        assert sent["SaslHandshake"] > sent["ApiVersions"]
