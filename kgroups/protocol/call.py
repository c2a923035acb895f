"""The interface that each file under ``apis/`` implements: a request that any supported broker version can answer."""

from __future__ import annotations

from typing import Protocol, TypeVar

from .versions import Api

T_co = TypeVar("T_co", covariant=True)


class Call(Protocol[T_co]):
    """A request, and the decoder of its response. Calls are immutable: the same call can be sent again."""

    @property
    def api(self) -> Api:
        """The API, and its supported versions."""

    @property
    def keys(self) -> int:
        """The number of groups, topics, or partitions in the request, which ``--debug`` shows."""

    def encode(self, version: int) -> bytes:
        """Encode the request in that version.

        :raises LocalProtocolError: when a value does not fit Kafka's types.
        """

    def decode(self, version: int, data: bytes, offset: int) -> T_co:
        """Decode the response, which goes from ``offset`` to the end of ``data``.

        :raises RemoteProtocolError: when the bytes are not such a response, or continue after its end.
        """
