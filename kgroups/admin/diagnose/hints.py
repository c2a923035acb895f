"""Describe the result of each step of a connection, and suggest a fix if it failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kgroups.config.security import Kerberos, Password, Sasl
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.connection_check import Step
from kgroups.net.certificates import Certificate, chain_of
from kgroups.protocol.apis import find_coordinator, list_groups, offset_fetch
from kgroups.protocol.apis.metadata import ClusterMetadata
from kgroups.protocol.kafka_release import release_of
from kgroups.protocol.versions import Api, BrokerVersions

SOON = 30
"""Remaining days of validity below which a certificate causes a warning."""

SHOWN = 5
"""Maximum number of names or brokers to show."""


class Server(NamedTuple):
    """The address of a bootstrap server, or one that a broker advertises.

    ``advertised``: that broker; ``via``: the bootstrap server that returned the address.
    """

    host: str
    port: int
    name: str
    advertised: Node | None = None
    via: str = ""


def describe_step(settings: ClientSettings, step: Step, found: Any) -> tuple[str | None, str | None]:
    """Return the detail of a successful step, and a suggestion if it is nevertheless a warning."""
    match step:
        case Step.DNS:
            return ", ".join(found[:SHOWN]), None
        case Step.TCP:
            return f"connected to {found}", None
        case Step.TLS:
            return _session(settings, found)
        case Step.API_VERSIONS:
            return _versions(found), None
        case Step.SASL:
            assert settings.security and settings.security.sasl
            ends = "" if found is None else f"; the session expires in {found:.0f} s and is renewed before that"
            return f"authenticated with {_principal(settings.security.sasl)}{ends}", None
        case Step.METADATA:
            return _cluster(found)


def _session(settings: ClientSettings, session: Any) -> tuple[str, str | None]:
    cipher = session.cipher()
    chain = chain_of(session)
    parts = [f"{session.version()}, {cipher[0] if cipher else 'no cipher'}", *_chain(chain)]
    tls = settings.security.tls if settings.security else None
    if tls and not tls.verify:
        return "; ".join(
            parts
        ), "the certificate is not verified, so an attacker could impersonate the broker; turn verification on again"
    if tls and not tls.check_name:
        fix = (
            "set ssl.endpoint.identification.algorithm=https as soon as the certificate contains the broker's host name"
        )
        return "; ".join(parts), f"the host name in the certificate is not verified; {fix}"
    next_expiry = min(chain, key=lambda each: each.days, default=None)
    if next_expiry and next_expiry.days < SOON:
        return "; ".join(parts), f"{next_expiry.subject} expires in {next_expiry.days} days; renew it"
    return "; ".join(parts), None


def describe_chain(chain: Sequence[Certificate]) -> str:
    """Return a description of a rejected certificate chain, to append to the reason; empty if it is unknown."""
    return "; certificate chain: " + "; ".join(_chain(chain)) if chain else ""


def _chain(chain: Sequence[Certificate]) -> Iterator[str]:
    for at, each in enumerate(chain):
        names = f" for {', '.join(each.names[:SHOWN])}" if at == 0 and each.names else ""
        by = "by itself" if each.issuer == each.subject else f"by {each.issuer}"
        yield f"{each.subject}{names}, signed {by}, {_validity(each)}"


def _validity(each: Certificate) -> str:
    if each.expired:
        return f"until {each.until:%Y-%m-%d} (expired {-each.days} days ago)"
    since = f"from {each.since:%Y-%m-%d} " if each.since > each.seen else ""
    return f"{since}until {each.until:%Y-%m-%d} ({each.days} days)"


def _versions(versions: BrokerVersions) -> str:
    def use(api: Api, since: int, supported: str, otherwise: str) -> str:
        if not versions.speaks(api):
            return f"no common version of {api}"
        return f"{api} v{versions.pick(api)} ({supported if versions.speaks(api, since) else otherwise})"

    parts = (
        release_of(versions),
        use(find_coordinator.API, find_coordinator.BATCHED, "several groups per request", "one group per request"),
        use(list_groups.API, list_groups.STATES, "filters by state", "states are requested separately"),
        use(offset_fetch.API, offset_fetch.BATCHED, "several groups per request", "one group per request"),
    )
    return "; ".join(parts)


def _cluster(metadata: ClusterMetadata) -> tuple[str, str | None]:
    nodes = ", ".join(map(str, metadata.nodes[:SHOWN]))
    more = f", and {len(metadata.nodes) - SHOWN} more" if len(metadata.nodes) > SHOWN else ""
    if not metadata.nodes:
        return "its metadata has no brokers yet", "wait until the cluster is up, or check the broker's log"
    return f"cluster {metadata.cluster_id or 'without an ID'}; advertises {nodes}{more}", None


def _principal(sasl: Sasl) -> str:
    credentials = sasl.credentials
    user = credentials.username if isinstance(credentials, Password) else None
    user = credentials.principal if isinstance(credentials, Kerberos) else user
    return f"{sasl.mechanism} as {user}" if user else sasl.mechanism


def diagnose(settings: ClientSettings, server: Server, step: Step, error: KgroupsError) -> tuple[str, str]:
    """Return what failed, and a suggested fix."""
    if step in (Step.DNS, Step.TCP) and server.advertised:
        return _unreachable_as_advertised(server, error)
    return error.text, _advice(settings, server, step, error.reason) or error.hint or _DEFAULT_ADVICE[step].format(
        server.port
    )


def _unreachable_as_advertised(server: Server, error: KgroupsError) -> tuple[str, str]:
    """Explain the most common mistake: a broker sends its clients to an address that they cannot reach."""
    assert server.advertised
    number, host = server.advertised.id, server.host
    detail = (
        f"{error.text}: {server.via} is reachable, but broker {number} advertises the address "
        f"{server.advertised.address}, which is not reachable from here"
    )
    own = " ('localhost' is the client's own machine)" if host in ("localhost", "127.0.0.1", "::1") else ""
    return detail, (
        f"set advertised.listeners on broker {number} to an address that its clients can reach{own}; "
        f"or make {host} resolvable and reachable from here (DNS, /etc/hosts, VPN, port forwarding)"
    )


def _advice(settings: ClientSettings, server: Server, step: Step, reason: Reason) -> str | None:
    """Return a fix that depends on the step and the settings; ``None`` if the error's own hint is as good."""
    security = settings.security
    encrypted = bool(security and security.tls)
    match step:
        case Step.DNS:
            return f"check the host name '{server.host}', and that it resolves on this machine (DNS, VPN, /etc/hosts)"
        case Step.TCP if reason is Reason.NO_RESPONSE:
            return f"check the host '{server.host}', and that no firewall drops connections to port {server.port}"
        case Step.TCP:
            return f"check that the broker is running, and that {server.port} is the port of its listener"
        case Step.API_VERSIONS:
            return _wrong_port_advice(server.port, reason, encrypted=encrypted)
        case Step.SASL if reason is Reason.NO_RESPONSE:
            return "check the log of the broker, and of the Kerberos or token server"
        case Step.METADATA if not (security and security.sasl):
            wanted = "SASL_SSL" if encrypted else "SASL_PLAINTEXT"
            return f"if the listener requires authentication, set security.protocol to {wanted}, and sasl.mechanism"
    return None


def _wrong_port_advice(port: int, reason: Reason, *, encrypted: bool) -> str | None:
    perhaps_tls = "if the listener uses TLS, set security.protocol to SSL or SASL_SSL"
    match reason:
        case Reason.NOT_KAFKA:
            return f"port {port} belongs to another service: use the port of a Kafka listener"
        case Reason.NO_RESPONSE:
            check = f"check that port {port} is a Kafka listener, and the broker's log"
            return check if encrypted else f"{check}; {perhaps_tls}"
        case Reason.CONNECTION_CLOSED if encrypted:
            return "if the broker requires a client certificate, set ssl.keystore.location to one that it trusts"
        case Reason.CONNECTION_CLOSED | Reason.TLS_REQUIRED:
            return perhaps_tls
    return None


_DEFAULT_ADVICE = {
    Step.DNS: "check the host name",
    Step.TCP: "check that port {} is a Kafka listener",
    Step.TLS: "compare security.protocol and the ssl settings with that listener of the broker",
    Step.API_VERSIONS: "check that port {} is a Kafka listener",
    Step.SASL: (
        "check the credentials (user and password, token, or keytab) in sasl.jaas.config, and that the broker knows "
        "that user"
    ),
    Step.METADATA: "authentication succeeded, but the broker does not respond: check its log",
}
"""The fix for a failed step if nothing more specific is known; ``{}`` is the port."""
