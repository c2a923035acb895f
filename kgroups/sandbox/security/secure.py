"""Start a cluster with all authentication methods, and users with limited permissions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..cluster import Sandbox
from ..prerequisites import Extras, Site
from ..settings import write_properties
from ..versions import DEFAULT_VERSION, KafkaVersion, kafka_version
from .acls import Acl, add_acls, remove_acls
from .certificates import Certificates, make_certificates
from .client_configs import Means, Settings, Way, by_password, protocol_of, ways
from .kerberos import Kerberos, need_kerberos, start_kerberos
from .listeners import LISTENERS, Around, listener_properties, validates_tokens
from .secrets import Secrets
from .stores import Stores, make_stores
from .tokens import Tokens, start_tokens
from .users import AWKWARD, OPERATOR, add_scram_users

_ALLOWED_URLS: Final = "org.apache.kafka.sasl.oauthbearer.allowed.urls"


@dataclass(frozen=True, slots=True, repr=False)
class Secure:
    """A secure sandbox and its credentials. Leaving the context stops the sandbox."""

    sandbox: Sandbox
    certificates: Certificates
    stores: Stores
    users: Mapping[str, str]
    """Name -> password, for PLAIN; the operator and the awkward user have the same for SCRAM."""
    tokens: Tokens | None
    kerberos: Kerberos | None
    secrets: Secrets
    """All secrets, none of which may ever be printed."""
    ways: Mapping[str, Way]
    """The operator's authentication methods by name; :meth:`file` returns their ``client.properties``."""

    def __enter__(self) -> Secure:
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.down()

    def bootstrap(self, listener: str) -> str:
        return self.sandbox.bootstrap_of(listener)

    def file(self, way: str) -> Path:
        """Return the operator's ``client.properties`` for an authentication method."""
        return self.sandbox.folder / "clients" / f"{way}.properties"

    def user_file(self, user: str, listener: str = "SASL_PLAINTEXT") -> Path:
        """Return the ``client.properties`` of a user, with PLAIN."""
        settings = {**protocol_of(listener, self.certificates), **by_password("PLAIN", user, self.users[user])}
        return self.write(f"user-{user}-{listener.lower()}", listener, settings)

    def write(self, name: str, listener: str, settings: Settings) -> Path:
        """Write a ``client.properties`` with these settings and the listener's address, and return its path."""
        file = self.file(name)
        write_properties(file, {"bootstrap.servers": self.bootstrap(listener), **settings})
        file.chmod(0o600)
        return file

    def allow(self, *acls: Acl) -> None:
        """Add ACLs; without any for a resource, only the operator is authorized."""
        add_acls(self.sandbox.bootstrap, *acls)

    def forget(self, user: str) -> None:
        """Remove all ACLs of that user."""
        remove_acls(self.sandbox.bootstrap, user)


def up(
    version: str = DEFAULT_VERSION,
    brokers: int = 1,
    *,
    name: str = "secure",
    users: Iterable[str] = (),
    kerberos: bool = True,
    properties: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Secure:
    """Start a cluster with all authentication methods, and return when it serves groups.

    :param users: further users, with PLAIN, who are not authorized for anything without an ACL.
    :param kerberos: whether to support GSSAPI.
    :param properties: server settings that override the sandbox's own, for every broker.
    :raises SandboxError: as :meth:`Sandbox.up`; also when a program for keys or Kerberos is missing.
    """
    if kerberos:
        need_kerberos()
    preparation = _Preparation(kafka_version(version), tuple(users), kerberos)
    sandbox = Sandbox.up(
        version,
        brokers,
        name=name,
        properties=properties,
        listeners=LISTENERS,
        prepare=preparation,
        progress=progress,
    )
    try:
        return preparation.finish(sandbox)
    except BaseException:
        sandbox.down()
        raise


class _Preparation:
    """The prerequisites of the brokers, and the steps after their start."""

    def __init__(self, version: KafkaVersion, users: tuple[str, ...], kerberos: bool) -> None:
        self._version = version
        self._names = users
        self._with_kerberos = kerberos

    def __call__(self, site: Site) -> Extras:
        self._secrets = secrets = Secrets()
        self._users = {OPERATOR: secrets.new(), AWKWARD: secrets.awkward()}
        self._users |= {name: secrets.new() for name in self._names}
        self._certificates = make_certificates(site.folder / "certificates", OPERATOR, secrets)
        self._stores = make_stores(self._certificates, site.java, secrets)
        self._tokens = start_tokens(site, OPERATOR, secrets) if validates_tokens(self._version) else None
        self._kerberos = start_kerberos(site, OPERATOR, secrets) if self._with_kerberos else None
        around = Around(self._certificates, secrets.new(), self._users, self._tokens, self._kerberos)
        return Extras({**listener_properties(around), **self._authorizer()}, tuple(self._options()))

    def finish(self, sandbox: Sandbox) -> Secure:
        add_scram_users(sandbox, self._users)
        means = Means(self._certificates, self._stores, self._users, self._tokens, self._kerberos)
        found = {way.name: way for way in ways(means)}
        secure = Secure(sandbox, *means, secrets=self._secrets, ways=found)
        for way in found.values():
            secure.write(way.name, way.listener, way.settings)
        return secure

    def _authorizer(self) -> dict[str, str]:
        # The principal of the plaintext listener, ANONYMOUS, is authorized for everything: brokers use it themselves.
        supers = ";".join(f"User:{name}" for name in ("ANONYMOUS", OPERATOR, AWKWARD))
        old, new = "kafka.security.authorizer.AclAuthorizer", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        return {
            "authorizer.class.name": old if self._version.zookeeper else new,
            "super.users": supers,
            "allow.everyone.if.no.acl.found": "false",
        }

    def _options(self) -> list[str]:
        options = []
        if self._kerberos:
            options.append(f"-Djava.security.krb5.conf={self._kerberos.configuration}")
        if self._tokens:
            urls = (self._tokens.endpoint, self._tokens.keys, self._tokens.file.as_uri())
            options.append(f"-D{_ALLOWED_URLS}={','.join(urls)}")
        return options
