"""GSSAPI (RFC 4752): Kerberos with the system's library. Requires the extra ``kgroups[gssapi]``.

Its steps can contact a key distribution center, which takes time: they run outside the event loop.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import gssapi
from gssapi.raw import GSSError

from kgroups.config.security import Kerberos
from kgroups.errors import AuthenticationFailed, RemoteProtocolError

from . import Dialogue

NO_LAYER = 1
"""The security layer that means authentication only. Kafka does not support others."""

_caches = itertools.count(1)


def kerberos(credentials: Kerberos, host: str) -> Dialogue:
    """Authenticate with Kerberos.

    :param host: the requested name of the broker, whose principal is ``service/host``.
    """
    try:
        yield from _authenticate(credentials, host)
    except GSSError as error:
        raise AuthenticationFailed(f"{_message(error)}{_advice(credentials)}") from None


def _authenticate(credentials: Kerberos, host: str) -> Dialogue:
    flags = gssapi.RequirementFlag
    context = gssapi.SecurityContext(
        name=gssapi.Name(f"{credentials.service}@{host}", gssapi.NameType.hostbased_service),
        creds=_tickets(credentials),
        usage="initiate",
        mech=gssapi.MechType.kerberos,
        flags=flags.mutual_authentication | flags.integrity | flags.out_of_sequence_detection,
    )
    token = context.step()
    while not context.complete:
        token = context.step((yield token or b""))
    offer = context.unwrap((yield token or b"")).message
    if len(offer) != 4 or not offer[0] & NO_LAYER:
        raise RemoteProtocolError("the broker insists on a Kerberos security layer, which Kafka does not support")
    yield context.wrap(bytes((NO_LAYER, 0, 0, 0)), False).message


@cache
def _tickets(credentials: Kerberos) -> Any:
    """Return the tickets to authenticate with; tickets of a keytab are requested once, and cached in memory."""
    name = None
    if credentials.principal:
        name = gssapi.Name(credentials.principal, gssapi.NameType.kerberos_principal)
    store: dict[bytes | str, bytes | str] | None = None
    if credentials.keytab:
        store = {"client_keytab": credentials.keytab, "ccache": f"MEMORY:kgroups-{next(_caches)}"}
    elif credentials.cache:
        store = {"ccache": credentials.cache}
    return gssapi.Credentials(name=name, usage="initiate", store=store)


def _message(error: Any) -> str:
    """Return Kerberos's message, or GSSAPI's if there is none."""
    own = [text for text in error.get_all_statuses(error.min_code, False) if text] if error.min_code else []
    return "; ".join(own or error.get_all_statuses(error.maj_code, True))


def _advice(credentials: Kerberos) -> str:
    if credentials.keytab:
        return f" (keytab {credentials.keytab})"
    return "; run kinit to get a ticket, or set keyTab= in sasl.jaas.config"
