"""What Schema Registries tell each other to elect a leader (protocol type ``sr``); Karapace does the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class RegistryIdentity(NamedTuple):
    """Where a registry is reached, and whether it may lead."""

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
    """Who leads: a member id, and where it is reached. ``error`` is not 0 when two registries say that they are one."""

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
