"""What a file under ``apis/`` provides: a question that can be put to a broker of any version that is spoken."""

from __future__ import annotations

from typing import Protocol, TypeVar

from .versions import Api

T_co = TypeVar("T_co", covariant=True)


class Call(Protocol[T_co]):
    """One request and how its response is read. Calls are frozen values: the same call may be sent again."""

    @property
    def api(self) -> Api:
        """Which API, and the versions of it that are spoken."""

    @property
    def keys(self) -> int:
        """How many groups, topics or partitions are asked about; what ``--debug`` shows."""

    def encode(self, version: int) -> bytes:
        """The request's message in that version.

        :raises LocalProtocolError: when a value does not fit Kafka's types.
        """

    def decode(self, version: int, data: bytes, offset: int) -> T_co:
        """The response's message, which goes from ``offset`` to the end of ``data``, as words of the model.

        :raises RemoteProtocolError: when the bytes are not such a response, or go on behind its end.
        """
