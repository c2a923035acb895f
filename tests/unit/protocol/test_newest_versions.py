"""Each API is as new as an independent implementation has it, or a reason is given; an integration test asks Kafka."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import kio.schema

from tests.newest_versions import DECISIONS, supported, undecided


def kio_versions() -> Iterator[tuple[int, int]]:
    """Yield (API key, newest version) of each API in kio, whose packages have the names of the modules here."""
    for module, api in supported():
        package = import_module(f"{kio.schema.__name__}.{module}")
        names = [each.name for each in pkgutil.iter_modules(package.__path__)]
        yield api.key, max(int(name[1:]) for name in names if name[1:].isdigit())


def test_every_newer_version_of_kio_is_decided() -> None:
    assert undecided(dict(kio_versions()), exact=False) == []


def test_undecided_versions_and_old_decisions_are_found() -> None:
    newest = {api.key: DECISIONS[api.name].kafka if api.name in DECISIONS else api.newest for _, api in supported()}
    assert undecided(newest, exact=True) == []
    assert undecided(newest | {16: 6}, exact=True) == ["ListGroups v6 is newer than v5: support it, or decide not to"]
    assert undecided(newest | {3: 14}, exact=False) == ["Metadata v14 is newer than v10: support it, or decide not to"]
    assert undecided(newest | {3: 10}, exact=True) == [
        "the decision about Metadata is out of date: v10 here, v10 in Kafka"
    ]
