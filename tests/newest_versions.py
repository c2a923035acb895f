"""The newest version of each API that kgroups supports, and why it is not the newest of Kafka."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from kgroups.protocol import apis
from kgroups.protocol.versions import Api


class Decision(NamedTuple):
    """Kafka's newest version when this was decided, and the reason."""

    kafka: int
    reason: str


DECISIONS: Mapping[str, Decision] = {
    "ApiVersions": Decision(
        5, "v4 adds supported features whose minimum is 0, v5 checks the IDs of cluster and broker: not used"
    ),
    "DescribeLogDirs": Decision(5, "v5 reports cordoned directories: not used"),
    "Fetch": Decision(18, "v13 and later name topics by ID only: names are what users and files have"),
    "ListOffsets": Decision(11, "v11 adds a timestamp for tiered storage, the earliest offset to upload: not used"),
    "ListTransactions": Decision(2, "v1 and v2 filter by duration and by a pattern: kgroups filters by producer ID"),
    "Metadata": Decision(13, "v11 and later lack the authorized operations on the cluster"),
    "OffsetFetch": Decision(10, "v10 names topics by ID only: brokers omit the commits to deleted topics"),
}
"""APIs of which kgroups does not support Kafka's newest version."""


def supported() -> Iterator[tuple[str, Api]]:
    """Yield the module of each API, and the API with its newest supported version."""
    for module in pkgutil.iter_modules(apis.__path__):
        found = vars(import_module(f"{apis.__name__}.{module.name}")).values()
        yield module.name, max((each for each in found if isinstance(each, Api)), key=lambda api: api.newest)


def undecided(newest: Mapping[int, int], *, exact: bool) -> list[str]:
    """Return the APIs with a newer version that nobody decided about, and decisions that are out of date.

    :param newest: API key -> newest version of Kafka.
    :param exact: whether that is the newest Kafka, for which decisions must be up to date.
    """
    problems = []
    for _, api in supported():
        theirs, decision = newest.get(api.key), DECISIONS.get(api.name)
        if theirs is None:
            continue
        if theirs > max(api.newest, decision.kafka if decision else 0):
            problems.append(f"{api} v{theirs} is newer than v{api.newest}: support it, or decide not to")
        elif exact and decision and not api.newest < theirs == decision.kafka:
            problems.append(f"the decision about {api} is out of date: v{api.newest} here, v{theirs} in Kafka")
    return problems
