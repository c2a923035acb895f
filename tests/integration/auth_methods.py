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
METHODS: Final = {"2.8.2": _EVERYWHERE, "4.3.1": (*_EVERYWHERE, *_over_both(*_BY_TOKEN))}
"""Version -> authentication methods; a test compares them with the methods of the sandbox."""

NOT_BY_JAVA: Final = {("2.8.2", "mtls"): "key password is not specified"}
"""Methods that a version's own tool rejects, and its error: before Kafka 3.0, a PEM store needs a password."""


class JavaLists:
    """Kafka's own ``--list`` with the file of each method, run once for each."""

    def __init__(self, secure: Secure, tool: JavaTool) -> None:
        self._secure = secure
        self.tool = tool
        self.by = cache(self._by)

    def _by(self, method: str) -> ToolOutput:
        where = self._secure.bootstrap(self._secure.ways[method].listener)
        return self.tool.ask(where, "--list", "--command-config", str(self._secure.file(method)))
