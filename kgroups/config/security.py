"""TLS and SASL settings as plain values, independent of the file or flag that they came from.

Keystores are already unpacked: certificates and keys are PEM texts, so that both transports use the same values.
Imported only for clusters with TLS or SASL, so that plaintext connections do not load it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from .effective import shown
from .secret import Secret


class Mechanism(StrEnum):
    """The SASL mechanisms that the wire client implements."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"
    GSSAPI = "GSSAPI"
    """Requires ``kgroups[gssapi]``."""


class Tls(NamedTuple):
    """TLS settings. Verification is on unless it is explicitly turned off."""

    authorities: str | None = None
    """Trusted certificate authorities, concatenated PEM; ``None``: the system's authorities."""
    certificate: str | None = None
    """Client certificate, PEM, followed by its chain; ``None``: no client certificate."""
    key: Secret | None = None
    """Private key of the client certificate, PEM, possibly encrypted."""
    key_password: Secret | None = None
    verify: bool = True
    """Whether to verify the broker's certificate chain. Java's clients cannot turn this off, librdkafka can."""
    check_name: bool = True
    """Whether to verify the host name in the certificate: ``ssl.endpoint.identification.algorithm``."""
    versions: tuple[str, ...] = ()
    """Java's names: ``TLSv1.2``, ``TLSv1.3``; empty: the default of Python's ssl."""
    ciphers: tuple[str, ...] = ()
    """OpenSSL's names; empty: the default of Python's ssl."""


class Password(NamedTuple):
    """Credentials of PLAIN and SCRAM."""

    username: str
    password: Secret
    token_auth: bool = False
    """SCRAM with a delegation token (KIP-48): the username is the token ID, the password its HMAC."""


class StaticToken(NamedTuple):
    """Credentials of OAUTHBEARER: an existing token, sent unchanged."""

    token: Secret
    extensions: Mapping[str, str] = {}


class TokenFile(NamedTuple):
    """Credentials of OAUTHBEARER: a token file, read for each authentication (Java: a ``file:`` token endpoint)."""

    path: str
    extensions: Mapping[str, str] = {}


class Assertion(NamedTuple):
    """A JWT by which an OAuth client authenticates itself, instead of a secret (RFC 7523, KIP-1139, KIP-1258)."""

    file: str | None = None
    """A file with the JWT; ``None``: it is created, and signed with the key."""
    key_file: str | None = None
    passphrase: Secret | None = None
    algorithm: str = "RS256"
    """RS256 or ES256."""
    claims: Mapping[str, str] = {}
    template: str | None = None
    """A JSON file with more claims and headers."""
    expires: int = 300
    """Seconds until it expires."""
    valid_before: int = 60
    """Seconds before it is created from which it is valid."""
    with_id: bool = False
    """Whether it has a unique ID (``jti``)."""


class ClientCredentials(NamedTuple):
    """Credentials of OAUTHBEARER: an OAuth client that gets tokens from an endpoint (RFC 6749, 4.4; KIP-768)."""

    endpoint: str
    """``https://...`` or ``http://...``."""
    client_id: str
    client_secret: Secret
    scope: str | None = None
    extensions: Mapping[str, str] = {}
    tls: Tls | None = None
    """TLS settings for an https endpoint; ``None``: the system's authorities."""
    timeout: float = 10.0
    """Time limit for the endpoint in seconds; the time limit for the broker applies as well."""
    url_encode: bool = False
    """Whether to URL-encode ID and secret in the header, as RFC 6749 requires; Java's default is not to
    (``sasl.oauthbearer.header.urlencode``)."""
    assertion: Assertion | None = None
    """Replaces the secret."""
    bearer: bool = False
    """Whether the assertion is the grant (``JwtBearerJwtRetriever``), not the authentication of the client."""

    def __repr__(self) -> str:
        shown_endpoint = shown(self.endpoint, secret=False)  # it may contain credentials
        return f"ClientCredentials({shown_endpoint}, {self.client_id}, {self.client_secret})"


class UnsecuredToken(NamedTuple):
    """Credentials of OAUTHBEARER for tests: an unsigned JWS that kgroups creates (Java's ``unsecuredLogin...``)."""

    subject: str
    principal_claim: str = "sub"
    lifetime: float = 3600.0
    """In seconds."""
    claims: Mapping[str, str | float | list[str]] = {}
    extensions: Mapping[str, str] = {}


class AwsIam(NamedTuple):
    """Credentials of OAUTHBEARER for MSK with IAM. AWS's library finds them; requires ``kgroups[aws]``.

    Java's mechanism ``AWS_MSK_IAM`` is mapped to this: MSK accepts both on the same port.
    """

    region: str | None = None
    """``None``: only the broker's host name and the environment determine it."""
    profile: str | None = None
    role: str | None = None
    """ARN of the role to assume."""
    session: str | None = None


class Kerberos(NamedTuple):
    """Credentials of GSSAPI."""

    service: str
    """First component of the brokers' principals: ``sasl.kerberos.service.name``."""
    principal: str | None = None
    keytab: str | None = None
    """Path of the keytab; ``None``: use the ticket cache."""
    cache: str | None = None
    """Location of the ticket cache; ``None``: the system's default."""


Credentials = Password | StaticToken | TokenFile | ClientCredentials | UnsecuredToken | AwsIam | Kerberos


class Sasl(NamedTuple):
    """A SASL mechanism and its credentials."""

    mechanism: str
    """One of :class:`Mechanism`, or one that only librdkafka may support."""
    credentials: Credentials


class Security(NamedTuple):
    """The settings of ``security.protocol``: TLS, SASL, both, or neither."""

    tls: Tls | None = None
    sasl: Sasl | None = None

    @property
    def protocol(self) -> str:
        """Return ``PLAINTEXT``, ``SSL``, ``SASL_PLAINTEXT`` or ``SASL_SSL``."""
        transport = "PLAINTEXT" if self.tls is None else "SSL"
        return transport if self.sasl is None else f"SASL_{transport}"
