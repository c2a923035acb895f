"""Let the log cleaner of all brokers search for work all the time, not only every 15 s (KIP-339, Kafka 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

_SETTING = "log.cleaner.backoff.ms"
_SECONDS = 60.0


@contextmanager
def quick_cleaner(admin: AdminClient) -> Iterator[None]:
    _configure(admin, ConfigEntry(_SETTING, "200", incremental_operation=AlterConfigOpType.SET))
    try:
        yield
    finally:
        _configure(admin, ConfigEntry(_SETTING, None, incremental_operation=AlterConfigOpType.DELETE))


def _configure(admin: AdminClient, entry: ConfigEntry) -> None:
    for broker in admin.list_topics(timeout=_SECONDS).brokers:
        resource = ConfigResource(ResourceType.BROKER, str(broker), incremental_configs=[entry])
        for future in admin.incremental_alter_configs([resource]).values():
            future.result(_SECONDS)
