"""Authentication methods of a secure cluster, and the groups that the Java tool lists with each."""

from __future__ import annotations

from functools import cache
from typing import Final

from kgroups.sandbox.commits import Commits
from kgroups.sandbox.security import Secure
from tests.integration.java_output import JavaTool, ToolOutput

GROUPS: Final = Commits(groups=3, partitions=2, rounds=1, topic="secured")
"""What is there to be seen."""

_BY_TLS: Final = ("ssl", "ssl-jks", "mtls", "mtls-encrypted", "mtls-inline", "mtls-jks", "mtls-pkcs12")
_BY_PASSWORD: Final = ("plain", "plain-awkward", "scram-sha-256", "scram-sha-512", "scram-sha-512-awkward")
_BY_TICKET: Final = ("gssapi", "gssapi-tickets")
_BY_TOKEN: Final = ("oauthbearer", "oauthbearer-token")
_UNSECURED: Final = ("oauthbearer-unsecured",)


def _over_both(*logins: str) -> tuple[str, ...]:
    return tuple(f"{protocol}-{login}" for protocol in ("sasl-ssl", "sasl-plaintext") for login in logins)


_EVERYWHERE: Final = (*_BY_TLS, *_over_both(*_BY_PASSWORD, *_UNSECURED, *_BY_TICKET))

# Brokers check signed tokens from Kafka 3.1 on (KIP-768).
WAYS: Final = {"2.8.2": _EVERYWHERE, "4.3.1": (*_EVERYWHERE, *_over_both(*_BY_TOKEN))}
"""By version. A test holds them against what the sandbox offers."""

NOT_BY_JAVA: Final = {("2.8.2", "mtls"): "key password is not specified"}
"""What a version's own tool cannot do, and says: before Kafka 3.0 it takes no PEM store without a password."""


class JavaLists:
    """Kafka's own ``--list`` with the file of each way; each is asked for once."""

    def __init__(self, secure: Secure, tool: JavaTool) -> None:
        self._secure = secure
        self.tool = tool
        self.by = cache(self._by)

    def _by(self, way: str) -> ToolOutput:
        where = self._secure.bootstrap(self._secure.ways[way].listener)
        return self.tool.ask(where, "--list", "--command-config", str(self._secure.file(way)))
