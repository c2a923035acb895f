"""Certificates of the servers and clients in unit tests, made once per run with openssl."""

from __future__ import annotations

import ssl
from functools import cached_property
from pathlib import Path

from kgroups.config.secret import Secret
from kgroups.config.security import Tls
from kgroups.sandbox.security.certificates import Pair, make_certificates
from kgroups.sandbox.security.secrets import Secrets


class Certificates:
    def __init__(self, folder: Path) -> None:
        self.made = make_certificates(folder, "ann", Secrets())

    @cached_property
    def trusting(self) -> Tls:
        """A client that trusts our authority."""
        return Tls(authorities=self.made.authority.read_text())

    @cached_property
    def known(self) -> Tls:
        """The same, with a certificate of its own."""
        return self.showing(self.made.client)

    def showing(self, pair: Pair) -> Tls:
        certificate, key = pair.certificate.read_text(), Secret(pair.key.read_text())
        return self.trusting._replace(certificate=certificate, key=key)

    def server(self, pair: Pair | None = None, *, client: bool = False) -> ssl.SSLContext:
        """Return a server context with a certificate, valid by default; ``client``: require a client certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*(pair or self.made.server))
        if client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.made.authority)
        return context
