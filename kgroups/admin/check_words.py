"""What a step on the way to a server tells, in words; and where it failed, the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kgroups.config.security import Kerberos, Password, Sasl
from kgroups.config.settings import ClientSettings
from kgroups.model.cluster import Node
from kgroups.model.connection_check import Step
from kgroups.net.certificates import Certificate, chain_of
from kgroups.net.probe import Stride
from kgroups.protocol.apis import find_coordinator, list_groups, offset_fetch
from kgroups.protocol.apis.metadata import ClusterMetadata
from kgroups.protocol.kafka_release import release_of
from kgroups.protocol.versions import Api, BrokerVersions

SOON = 30
"""Days before its end from which on a certificate is warned of."""

SHOWN = 5
"""Names and brokers that are shown."""


class Server(NamedTuple):
    """Whom a row is about. ``advertised``: not a bootstrap server, but the address of a broker of the cluster that was
    reached ``via`` one."""

    host: str
    port: int
    name: str
    advertised: Node | None = None
    via: str = ""


def told(settings: ClientSettings, step: Step, found: Any) -> tuple[str | None, str | None]:
    """What a step that went well tells; and what to do, where it is a warning all the same."""
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
            ends = "" if found is None else f"; the session ends in {found:.0f} s, and is renewed before"
            return f"signed in with {_who(settings.security.sasl)}{ends}", None
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
        ), "the certificate is not verified: anybody could be at the other end; turn that on again"
    if tls and not tls.check_name:
        way = "set ssl.endpoint.identification.algorithm=https when the certificate has the broker's name"
        return "; ".join(parts), f"the name in the certificate is not compared with the host's; {way}"
    ending = min(chain, key=lambda each: each.days, default=None)
    if ending and ending.days < SOON:
        return "; ".join(parts), f"{ending.subject} expires in {ending.days} days: have it renewed"
    return "; ".join(parts), None


def shown(chain: Sequence[Certificate]) -> str:
    """What stands behind the reason why a chain was not accepted; nothing, where it could not be had."""
    return "; it showed " + "; ".join(_chain(chain)) if chain else ""


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
    def use(api: Api, batched: int, what: str, otherwise: str) -> str:
        if not versions.speaks(api):
            return f"no common version of {api}"
        return f"{api} v{versions.pick(api)} ({what if versions.speaks(api, batched) else otherwise})"

    parts = (
        release_of(versions),
        use(find_coordinator.API, find_coordinator.BATCHED, "many groups a request", "one group a request"),
        use(list_groups.API, list_groups.STATES, "filters by state", "states are asked for besides"),
        use(offset_fetch.API, offset_fetch.BATCHED, "many groups a request", "one group a request"),
    )
    return "; ".join(parts)


def _cluster(told: ClusterMetadata) -> tuple[str, str | None]:
    nodes = ", ".join(map(str, told.nodes[:SHOWN]))
    more = f", and {len(told.nodes) - SHOWN} more" if len(told.nodes) > SHOWN else ""
    controller = f"controller {told.controller}; " if told.controller >= 0 else ""
    if not told.nodes:
        return "it knows of no brokers yet", "wait until the cluster is up, or look into the broker's log"
    return f"cluster {told.cluster_id or 'without an id'}; {controller}advertises {nodes}{more}", None


def _who(sasl: Sasl) -> str:
    credentials = sasl.credentials
    user = credentials.username if isinstance(credentials, Password) else None
    user = credentials.principal if isinstance(credentials, Kerberos) else user
    return f"{sasl.mechanism} as {user}" if user else sasl.mechanism


def failed(settings: ClientSettings, server: Server, stride: Stride) -> tuple[str, str]:
    """What went wrong, and the way out."""
    reason = (stride.error or "").removeprefix(f"{server.name}: ")
    if stride.step in (Step.DNS, Step.TCP) and server.advertised:
        return _unreachable_as_advertised(server, reason)
    match stride.step:
        case Step.DNS:
            return reason, f"is '{server.host}' the right name, and known here (DNS, VPN, /etc/hosts)?"
        case Step.TCP:
            return reason, _nobody_there(server, stride)
        case Step.TLS:
            what, _, way = reason.rpartition("; ")
            if what:
                return what, way
            return reason, "compare security.protocol and the ssl settings with that listener of the broker"
        case Step.API_VERSIONS:
            return reason, _no_kafka(settings, server, reason)
        case Step.SASL:
            return reason, _not_signed_in(reason)
        case Step.METADATA:
            return reason, _no_metadata(settings)


def _unreachable_as_advertised(server: Server, reason: str) -> tuple[str, str]:
    """The classical trap: who asks is sent on to where it cannot go."""
    assert server.advertised
    number, host = server.advertised.id, server.host
    detail = (
        f"{reason}: {server.via} was reached, and sends its clients on to {server.advertised.address}, "
        f"the address that broker {number} advertises, which cannot be reached from here"
    )
    own = " ('localhost' is every machine's own name)" if host in ("localhost", "127.0.0.1", "::1") else ""
    return detail, (
        f"set advertised.listeners on broker {number} to an address that its clients can reach{own}; "
        f"or make {host} known and open from here (DNS, /etc/hosts, VPN, port forwarding)"
    )


def _nobody_there(server: Server, stride: Stride) -> str:
    if stride.timed_out:
        return f"does a firewall drop it, or is {server.host} another machine? Nothing came back"
    return f"does the broker run, and is {server.port} the port of its listener?"


def _no_kafka(settings: ClientSettings, server: Server, reason: str) -> str:
    encrypted = bool(settings.security and settings.security.tls)
    if "HTTP" in reason or "SSH" in reason:
        return f"{server.port} is the port of another service: give that of a Kafka listener"
    if "no answer" in reason:
        hint = "; a TLS listener waits like this too: then set security.protocol to SSL or SASL_SSL"
        return f"the port accepts connections and says nothing: is it Kafka, and is it well{'' if encrypted else hint}?"
    if encrypted and ("TLS" in reason or "certificate" in reason or "closed the connection" in reason):
        return "it may want a certificate that it trusts from us: set ssl.keystore.location"
    if "TLS" in reason or "closed the connection" in reason:
        return "set security.protocol to SSL or SASL_SSL if that listener speaks TLS"
    return f"is {server.port} the port of a Kafka listener?"


def _not_signed_in(reason: str) -> str:
    if "on this port, but" in reason:
        return "set sasl.mechanism to one that the broker has, with credentials for it"
    if "wants no sign-in" in reason:
        return "set security.protocol to PLAINTEXT or SSL there"
    if "no answer" in reason:
        return "the broker, or who gives the tokens, does not answer: see their logs"
    return "check user and password (or token, keytab) in sasl.jaas.config, and whether the broker knows that user"


def _no_metadata(settings: ClientSettings) -> str:
    security = settings.security
    if not (security and security.sasl):
        wanted = "SASL_SSL" if security and security.tls else "SASL_PLAINTEXT"
        return f"the listener may want a sign-in: set security.protocol to {wanted}, and sasl.mechanism"
    return "the broker let us in, and does not answer: see its log"
