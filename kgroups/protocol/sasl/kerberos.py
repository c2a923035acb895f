"""GSSAPI (RFC 4752): Kerberos by the system's library. With the extra ``kgroups[gssapi]``.

Its steps may ask a key distribution center and so take time: they run beside the event loop.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

from kgroups.config.security import Kerberos
from kgroups.errors import AuthenticationFailed, MissingPackage, RemoteProtocolError

from . import Dialogue

NO_LAYER = 1
"""Of the security layers that a broker offers: authentication only. TLS does the rest, and Kafka has no other."""

_caches = itertools.count(1)


def kerberos(credentials: Kerberos, host: str) -> Dialogue:
    """:param host: as it was asked for: the broker's principal is ``service/host``.
    :raises MissingPackage: without python-gssapi.
    """
    try:
        import gssapi
        from gssapi.raw import GSSError
    except ImportError as error:  # or its library is not there
        raise MissingPackage(f"GSSAPI needs a library for Kerberos ({error}): pip install 'kgroups[gssapi]'") from None
    try:
        yield from _signed_in(gssapi, credentials, host)
    except GSSError as error:
        raise AuthenticationFailed(f"{_said(error)}{_advice(credentials)}") from None


def _signed_in(gssapi: Any, credentials: Kerberos, host: str) -> Dialogue:
    flags = gssapi.RequirementFlag
    context = gssapi.SecurityContext(
        name=gssapi.Name(f"{credentials.service}@{host}", gssapi.NameType.hostbased_service),
        creds=_acquired(credentials),
        usage="initiate",
        mech=gssapi.MechType.kerberos,
        flags=flags.mutual_authentication | flags.integrity | flags.out_of_sequence_detection,
    )
    token = context.step()
    while not context.complete:
        token = context.step((yield token or b""))
    offer = context.unwrap((yield token or b"")).message
    if len(offer) != 4 or not offer[0] & NO_LAYER:
        raise RemoteProtocolError("the broker insists on a security layer of Kerberos's, which Kafka does not have")
    yield context.wrap(bytes((NO_LAYER, 0, 0, 0)), False).message


@cache
def _acquired(credentials: Kerberos) -> Any:
    """The tickets to sign in with; those of a keytab are got once, and kept in this process's memory."""
    import gssapi

    name = None
    if credentials.principal:
        name = gssapi.Name(credentials.principal, gssapi.NameType.kerberos_principal)
    store: dict[bytes | str, bytes | str] | None = None
    if credentials.keytab:
        store = {"client_keytab": credentials.keytab, "ccache": f"MEMORY:kgroups-{next(_caches)}"}
    elif credentials.cache:
        store = {"ccache": credentials.cache}
    return gssapi.Credentials(name=name, usage="initiate", store=store)


def _said(error: Any) -> str:
    """Kerberos's own words where it has some; else those that GSSAPI has for all of its mechanisms."""
    own = [text for text in error.get_all_statuses(error.min_code, False) if text] if error.min_code else []
    return "; ".join(own or error.get_all_statuses(error.maj_code, True))


def _advice(credentials: Kerberos) -> str:
    if credentials.keytab:
        return f" (keytab {credentials.keytab})"
    return "; is there a ticket? kinit gets one, and keyTab= in sasl.jaas.config does without"
