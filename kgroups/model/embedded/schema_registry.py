"""The client data of Schema Registry instances, which elect a leader (protocol type ``sr``); also of Karapace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class RegistryIdentity(NamedTuple):
    """The URL of a registry, and whether it is eligible as leader."""

    version: int | None
    scheme: str
    host: str
    port: int
    eligible: bool | None

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def facts(self) -> Mapping[str, object]:
        return {"user_endpoint": self.url, "leader_eligibility": self.eligible}

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        return f"{self.url} {'may lead' if self.eligible else 'may not lead'}"


class RegistryAssignment(NamedTuple):
    """The leader: its member ID and its URL. ``error`` is not 0 if two registries have the same URL."""

    version: int | None
    error: int | None
    leader: str | None
    identity: RegistryIdentity | None

    def facts(self) -> Mapping[str, object]:
        return {"leader_url": self.identity.url if self.identity else None}

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        return f"leader {self.identity.url if self.identity else self.leader or 'none'}"
