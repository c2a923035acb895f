"""The metrics that ``kgroups exporter`` serves, with their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kgroups.exporter.exposition import Exposition
from kgroups.exporter.metrics import GROUP_FAMILIES, LOG_FAMILIES, Level


def exported_metrics(*, compat: str = "kafka_exporter") -> set[str]:
    """Return the names of all families; families without values are in an exposition, too, with their types."""
    page = Exposition(Level.PARTITION, compat=compat)({"HTTP_ACCEPT": "text/plain"}, lambda *_: None)
    return set(re.findall(r"^# TYPE (\w+)", b"".join(page).decode(), re.MULTILINE))


def exported_labels() -> Mapping[str, tuple[str, ...]]:
    """Return the names of labels by family, of the families of groups and logs."""
    labels = {family.name: family.series.labels for family in GROUP_FAMILIES}
    return labels | {family.name: family.labels for family in LOG_FAMILIES}
