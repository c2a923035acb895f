"""How a client and a broker prove to each other who they are: plain values, whatever file or flag they came from.

Stores are read and unpacked before they get here: certificates and keys are PEM texts, so that both transports are fed
alike. Imported only where a cluster asks for it: a plain connection pays nothing for this.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from .effective import shown
from .secret import Secret


class Mechanism(StrEnum):
    """The SASL mechanisms that we speak ourselves."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"
    GSSAPI = "GSSAPI"
    """With the extra ``kgroups[gssapi]``."""


class Tls(NamedTuple):
    """What TLS needs. Verification is on unless somebody turned it off by name."""

    authorities: str | None = None
    """The certificates to trust, PEM, one after the other; ``None``: those of the system."""
    certificate: str | None = None
    """Ours, PEM, with those that lead to its authority after it; ``None``: we show none."""
    key: Secret | None = None
    """That certificate's, PEM, perhaps encrypted."""
    key_password: Secret | None = None
    verify: bool = True
    """Whether the broker's certificate must lead to an authority. Java cannot turn this off, librdkafka can."""
    check_name: bool = True
    """Whether the certificate must name the host that we connect to: ``ssl.endpoint.identification.algorithm``."""
    versions: tuple[str, ...] = ()
    """Java's names, ``TLSv1.2``, ``TLSv1.3``; empty: what Python's ssl takes for safe."""
    ciphers: tuple[str, ...] = ()
    """In OpenSSL's names; empty: Python's choice."""


class Password(NamedTuple):
    """For PLAIN and SCRAM."""

    username: str
    password: Secret
    token_auth: bool = False
    """SCRAM by a delegation token (KIP-48): the name is the token's id, the password its HMAC."""


class StaticToken(NamedTuple):
    """For OAUTHBEARER: a token that somebody else got. It is sent as it is."""

    token: Secret
    extensions: Mapping[str, str] = {}


class TokenFile(NamedTuple):
    """For OAUTHBEARER: a file that holds a token, read anew for each login (``file:`` as Java's token endpoint)."""

    path: str
    extensions: Mapping[str, str] = {}


class ClientCredentials(NamedTuple):
    """For OAUTHBEARER: an OAuth client that gets its tokens from an endpoint (RFC 6749, 4.4; KIP-768)."""

    endpoint: str
    """``https://...`` or ``http://...``."""
    client_id: str
    client_secret: Secret
    scope: str | None = None
    extensions: Mapping[str, str] = {}
    tls: Tls | None = None
    """For an https endpoint; ``None``: the system's authorities."""
    timeout: float = 10.0
    """Seconds that the endpoint may take, within what the broker may."""
    url_encode: bool = False
    """Whether id and secret are URL-encoded on their way into the header, as RFC 6749 has it and Java does only when
    told so: ``sasl.oauthbearer.header.urlencode``."""

    def __repr__(self) -> str:
        shown_endpoint = shown(self.endpoint, secret=False)  # it may hold a name and a password, or a key
        return f"ClientCredentials({shown_endpoint}, {self.client_id}, {self.client_secret})"


class UnsecuredToken(NamedTuple):
    """For OAUTHBEARER, in tests: a JWS without a signature that we make ourselves (Java's ``unsecuredLogin...``)."""

    subject: str
    principal_claim: str = "sub"
    lifetime: float = 3600.0
    """Seconds."""
    claims: Mapping[str, str | float | list[str]] = {}
    extensions: Mapping[str, str] = {}


class AwsIam(NamedTuple):
    """For OAUTHBEARER against MSK with IAM, with the extra ``kgroups[aws]``: the credentials are AWS's own affair.

    Java's mechanism ``AWS_MSK_IAM`` becomes this: MSK takes both on the same port.
    """

    region: str | None = None
    """``None``: as the environment says, else as the broker's name says."""
    profile: str | None = None
    role: str | None = None
    """An ARN to assume."""
    session: str | None = None


class Kerberos(NamedTuple):
    """For GSSAPI."""

    service: str
    """The first part of the brokers' principals: ``sasl.kerberos.service.name``."""
    principal: str | None = None
    keytab: str | None = None
    """A file's path; ``None``: the tickets that are there already."""
    cache: str | None = None
    """Where those tickets are; ``None``: where the system keeps them."""


Credentials = Password | StaticToken | TokenFile | ClientCredentials | UnsecuredToken | AwsIam | Kerberos


class Sasl(NamedTuple):
    """How we log in."""

    mechanism: str
    """One of :class:`Mechanism`, or one that only another transport may have."""
    credentials: Credentials


class Security(NamedTuple):
    """Everything that ``security.protocol`` stands for."""

    tls: Tls | None = None
    sasl: Sasl | None = None

    @property
    def protocol(self) -> str:
        """``PLAINTEXT``, ``SSL``, ``SASL_PLAINTEXT`` or ``SASL_SSL``."""
        wrapped = "PLAINTEXT" if self.tls is None else "SSL"
        return wrapped if self.sasl is None else f"SASL_{wrapped}"
