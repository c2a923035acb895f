"""Consumers of Java and of librdkafka that join groups with either protocol, and leave them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaError, KafkaException

from tests.integration.java_members import JavaMembers

JAVA, LIBRDKAFKA = "java", "librdkafka"
_ENDS: Final = (KafkaError._FATAL, KafkaError.INCONSISTENT_GROUP_PROTOCOL, KafkaError.GROUP_MAX_SIZE_REACHED)
"""Errors of librdkafka after which a member does not join: of both protocols, and of the classic one."""
_PATIENCE: Final = 180.0
"""Seconds, far more than a member needs to join, also on a busy machine."""


def wait_for(what: str, found: Callable[[], Any]) -> Any:
    """Return the first value that is true."""
    end = time.monotonic() + _PATIENCE
    while not (value := found()):
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.2)
    return value


class LibrdkafkaMember:
    """A consumer that polls in a thread of its own."""

    def __init__(self, bootstrap: str, name: str, group: str, topic: str, settings: dict[str, str]) -> None:
        self.error: str | None = None
        self.assigned = 0
        self._leaving = threading.Event()
        own = {"bootstrap.servers": bootstrap, "client.id": name, "group.id": group, "log_level": 0}
        self._consumer = Consumer(own | settings)
        self._consumer.subscribe([topic])
        self._thread = threading.Thread(target=self._stay, daemon=True)
        self._thread.start()

    def _stay(self) -> None:
        try:
            while not self._leaving.is_set() and self.error is None:
                message = self._consumer.poll(0.1)
                error = message.error() if message is not None else None
                if error and error.code() in _ENDS:
                    self.error = str(error)
                self.assigned = len(self._consumer.assignment())
        except KafkaException as error:
            self.error = str(error)
        finally:
            self._consumer.close()

    def leave(self) -> None:
        self._leaving.set()
        self._thread.join(_PATIENCE)
        assert not self._thread.is_alive()


class Clients:
    """A context manager; all members leave at its end."""

    def __init__(self, bootstrap: str, java: JavaMembers, topic: str) -> None:
        self._bootstrap, self._java, self._topic = bootstrap, java, topic
        self._members: dict[str, LibrdkafkaMember | None] = {}
        """By their names; ``None``: a consumer of Java."""

    def join(self, kind: str, name: str, group: str, instance: str | None = None, **given: str) -> None:
        """Let one more member join.

        :param given: its further settings, with underscores for dots.
        """
        assert name not in self._members
        settings = {key.replace("_", "."): value for key, value in given.items()}
        settings |= {"group.instance.id": instance} if instance else {}
        if kind == JAVA:
            self._java.join(name, group, (self._topic,), *(f"{key}={value}" for key, value in settings.items()))
            self._members[name] = None
        else:
            self._members[name] = LibrdkafkaMember(self._bootstrap, name, group, self._topic, settings)

    def leave(self, name: str) -> None:
        member = self._members.pop(name)
        if member:
            member.leave()
        else:
            self._java.leave(name)

    def error(self, name: str) -> str:
        """Return the error that ended a member, ``""`` if it was assigned partitions."""
        member = self._members[name]

        def outcome() -> tuple[str] | None:
            error = member.error if member else self._java.last("failed", name)
            assigned = member.assigned if member else int(self._java.last("assigned", name) or 0)
            return (error,) if error else ("",) if assigned else None

        (error,) = wait_for(f"{name} is assigned partitions, or fails", outcome)
        return str(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._members):
            self.leave(name)
