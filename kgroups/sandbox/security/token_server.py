"""A token server: ``python -m kgroups.sandbox.security.token_server FOLDER``.

It issues JWTs, signed with RS256, for client credentials (RFC 6749, 4.4), and serves the key to validate them.

- ``POST /token``: the client's ID and secret in the Authorization header or in the form; ``scope`` is copied to the
  token. A client whose ID ends with ``-short`` receives tokens for five seconds, others for an hour.
- ``GET /jwks``: the key (RFC 7517).

The folder contains ``clients.json`` (ID -> secret) and ``signing.key`` (PEM, RSA); the server writes ``port`` when it
is ready.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus

from ..ports import HOST, ReservedPorts

ISSUER: Final = "https://kgroups.test"
AUDIENCE: Final = "kafka"
_KEY_ID: Final = "one"
_SHORT: Final = 5
_LONG: Final = 3600
_EXPONENT: Final = 65537  # openssl's for every new key


class Signer:
    """Creates signed tokens with the key in a file."""

    def __init__(self, key: Path) -> None:
        self._key = key

    def token(self, subject: str, lifetime: float, **claims: Any) -> str:
        """Return a JWT with these claims that is valid for ``lifetime`` seconds."""
        now = time.time()
        body = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": int(now), "exp": int(now + lifetime), **claims}
        signed = f"{_json({'alg': 'RS256', 'typ': 'JWT', 'kid': _KEY_ID})}.{_json(body)}"
        command = ["openssl", "dgst", "-sha256", "-sign", str(self._key)]
        signature = subprocess.run(command, input=signed.encode(), capture_output=True, check=True).stdout
        return f"{signed}.{_base64(signature)}"

    @cached_property
    def keys(self) -> dict[str, Any]:
        """The public key as a JSON Web Key Set."""
        command = ["openssl", "rsa", "-in", str(self._key), "-noout", "-modulus"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        modulus = bytes.fromhex(output.strip().partition("=")[2])
        exponent = _EXPONENT.to_bytes(3, "big")
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": _KEY_ID}
        return {"keys": [{**key, "n": _base64(modulus), "e": _base64(exponent)}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TokenServer

    def do_GET(self) -> None:
        if self.path == "/jwks":
            self._respond(200, self.server.signer.keys)
        else:
            self._respond(404, {"error": "not_found"})

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        given = {name: values[0] for name, values in form.items()}
        if self.path != "/token":
            self._respond(404, {"error": "not_found"})
        elif given.get("grant_type") != "client_credentials":
            self._respond(400, {"error": "unsupported_grant_type"})
        elif (client := self._client(given)) is None:
            self._respond(401, {"error": "invalid_client", "error_description": "no such client, or a wrong secret"})
        else:
            lifetime = _SHORT if client.endswith("-short") else _LONG
            scope = given.get("scope", "")
            token = self.server.signer.token(client.removesuffix("-short"), lifetime, scope=scope)
            body = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime, "scope": scope}
            self._respond(200, body)

    def _client(self, given: dict[str, str]) -> str | None:
        client, secret = given.get("client_id", ""), given.get("client_secret", "")
        scheme, _, text = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            # RFC 6749, 2.3.1 requires form encoding of both; some clients do not, which is the same for plain letters.
            client, _, secret = base64.b64decode(text).decode().partition(":")
            client, secret = unquote_plus(client), unquote_plus(secret)
        return client if secret and self.server.clients.get(client) == secret else None

    def _respond(self, code: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class TokenServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__((HOST, 0), _Handler, bind_and_activate=False)
        self.signer = Signer(folder / "signing.key")
        self.clients: dict[str, str] = json.loads((folder / "clients.json").read_text())


def serve(folder: Path) -> None:
    """Serve until the process is stopped."""
    server = TokenServer(folder)
    held = ReservedPorts(1)
    server.socket.close()
    server.socket = held.take()
    server.server_address = server.socket.getsockname()
    server.server_activate()
    part = folder / "port.part"
    part.write_text(str(server.server_address[1]))
    part.rename(folder / "port")
    server.serve_forever()


def _json(value: object) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
