"""The replacement of client hosts in a store: the choice of its first collector. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Final, NamedTuple

from kgroups.errors import HistoryError, UsageError
from kgroups.protocol.offsets_topic.hosts import Pair, replace_hosts

KEEP: Final = "keep"
HASH: Final = "hash"
OMIT: Final = "omit"
CHOICES: Final = (KEEP, HASH, OMIT)

SHORTEST_SALT: Final = 16
"""Bytes. There are few addresses in a network: with a salt that can be guessed, all of them can."""
_DIGITS: Final = 32
_ID_OF: Final = b"kgroups: ID of a salt"


class ClientHosts(NamedTuple):
    """A choice. Equal hosts have equal hashes, in every store with the same salt."""

    how: str = KEEP
    salt: bytes = b""

    def __repr__(self) -> str:
        return f"ClientHosts({self.how})"

    @property
    def salt_id(self) -> str | None:
        """Identifies the salt, and does not reveal it; ``None`` without a salt."""
        return self._digest(_ID_OF) if self.salt else None

    @property
    def redaction(self) -> Callable[[bytes | None, bytes | None], Pair] | None:
        """The function that returns the key and value of a record as they are stored; ``None`` if they are kept."""
        return None if self.how == KEEP else self._redact

    def _redact(self, key: bytes | None, value: bytes | None) -> Pair:
        return replace_hosts(key, value, self._stored)

    def _stored(self, host: str) -> str:
        return self._digest(host.encode()) if self.how == HASH and host else ""

    def _digest(self, data: bytes) -> str:
        return hmac.new(self.salt, data, hashlib.sha256).hexdigest()[:_DIGITS]


KEEP_HOSTS: Final = ClientHosts()


class GivenHosts(NamedTuple):
    """What the user gave; ``how`` is ``None`` for the choice of the store, which is to keep hosts if it is new."""

    how: str | None = None
    salt: bytes = b""

    def __repr__(self) -> str:
        return f"GivenHosts({self.how})"

    def for_new_store(self) -> ClientHosts:
        """Return the choice of a new store, or of other output.

        :raises UsageError: if the salt is missing, or too short.
        """
        how = self.how or KEEP
        if how == HASH and not self.salt:
            raise UsageError("client hosts are hashed with a salt: set --salt-file FILE, or KGROUPS_SALT")
        if how == HASH and len(self.salt) < SHORTEST_SALT:
            raise UsageError(f"the salt has {len(self.salt)} bytes; use at least {SHORTEST_SALT} random bytes")
        return ClientHosts(how, self.salt if how == HASH else b"")

    def for_store(self, shown: str, how: str, salt_id: str | None) -> ClientHosts:
        """Return the choice of a store that exists, with the salt.

        :param shown: the store, for messages.
        :param how: its choice.
        :param salt_id: the ID of its salt.
        :raises HistoryError: if the user chose otherwise: a store never contains both.
        :raises UsageError: if the salt is missing, or too short.
        """
        if self.how not in (None, how):
            raise HistoryError(
                f"store {shown} was made with --client-hosts {how}, not {self.how}, and must not contain both; omit "
                "the option, or use a new store"
            )
        found = self._replace(how=how).for_new_store()
        if found.salt_id != salt_id:
            raise HistoryError(
                f"store {shown} hashes client hosts with another salt; use the salt that it was made with, or a new "
                "store"
            )
        return found


AS_STORED: Final = GivenHosts()
