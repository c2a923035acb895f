"""The prerequisites of OAUTHBEARER: the token server, its clients, and a token in a file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import SandboxError

from ..ports import HOST
from ..prerequisites import Site
from ..process import state_of
from ..programs import mark_of
from .certificates import openssl
from .secrets import Secrets
from .token_server import Signer

_DAY = 86400.0


class Tokens(NamedTuple):
    endpoint: str
    """The URL from which clients request tokens."""
    keys: str
    """The URL from which brokers fetch the keys to validate them."""
    clients: dict[str, str]
    """Client ID -> secret; the ID is the principal."""
    file: Path
    """Contains a token of the user that is valid for a day."""


def start_tokens(site: Site, user: str, secrets: Secrets) -> Tokens:
    """Start the token server, and create its clients and a token.

    :raises SandboxError: when the server does not start.
    """
    folder = site.folder / "tokens"
    folder.mkdir()
    key = folder / "signing.key"
    openssl(folder, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(key))
    clients = {user: secrets.new(), f"{user}-short": secrets.new()}
    (folder / "clients.json").write_text(json.dumps(clients))
    file = folder / "user.jwt"
    file.touch(mode=0o600)
    file.write_text(secrets.keep(Signer(key).token(user, _DAY, scope="kafka")))
    pid = site.spawn("token-server", [sys.executable, "-m", "kgroups.sandbox.security.token_server", f"{folder}/"])
    address = f"http://{HOST}:{_port(site, pid, folder / 'port')}"
    return Tokens(f"{address}/token", f"{address}/jwks", clients, file)


def _port(site: Site, pid: int, file: Path) -> int:
    until = time.monotonic() + 60
    while time.monotonic() < until and state_of(pid, mark_of(site.folder)) != "gone":
        if file.exists():
            return int(file.read_text())
        time.sleep(0.02)
    raise SandboxError(f"the token server did not start; see {site.folder}/logs/token-server.log")
