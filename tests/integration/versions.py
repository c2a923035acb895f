"""Which Kafka versions a test of a shared cluster runs against, as marks. A test without one runs against all six.

Against all: what brokers answer differently, which is what most commands read and write. Against the oldest and the
newest: what is ours on top of it, such as terminals, librdkafka, and the safety wait. Against the newest alone: what no
broker decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kgroups.dropins.releases import RELEASES

OLDEST = "1.1.1"
MAIN = "4.3.1"
"""The version of tests that need one, and of the documentation: the newest of which all of Kafka's programs are
published. MirrorMaker 2 and the file connector of 4.4.0 are not."""

on = pytest.mark.versions
newest_only = on(MAIN)
oldest_and_newest = on(OLDEST, MAIN)

FOLLOWED = {release.version: name for name, release in RELEASES.items()}
"""The versions whose tools the drop-ins follow, each with its name in KGROUPS_TOOLS_VERSION."""
followed = on(*FOLLOWED)


def limited(definition: pytest.Item, wanted: Sequence[str]) -> list[str]:
    """Return those of the wanted versions that the marks of a test, its class, and its module allow."""
    marks = list(definition.iter_markers("versions"))
    return [version for version in wanted if all(version in mark.args for mark in marks)]
