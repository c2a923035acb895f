"""The settings in librdkafka's words."""

from __future__ import annotations

from typing import Any

from .settings import ClientSettings


def librdkafka_options(settings: ClientSettings) -> dict[str, Any]:
    """What every client of librdkafka needs to reach the cluster. Its own log stays silent: errors come as such."""
    return {
        "bootstrap.servers": settings.bootstrap_servers,
        "client.id": settings.client_id,
        "log_level": 0,
    }
