"""``python -m bench.explain --bootstrap SERVERS``: compare ``explain --partition`` with ``describe``, on real brokers.

``make sandbox`` starts the brokers. Whole commands, in turn, for each lagging partition; prints medians, and exits with
1 if explaining one partition takes more than :data:`TARGET` longer than describing its group.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kgroups.model.visible import escape

from .processes import measure

TARGET = 0.5
"""Seconds."""
KGROUPS = str(Path(sys.executable).with_name("kgroups"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.explain", description=__doc__)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--partitions", type=int, default=5, help="how many lagging partitions, of different groups")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    shared = (KGROUPS, "-b", given.bootstrap)
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for group, place in [each for each in _lagging(shared) if _is_complete(shared, each[0])][: given.partitions]:
            commands = {
                "describe": (*shared, "describe", group),
                "explain": (*shared, "explain", group, "--partition", place),
            }
            seconds: dict[str, list[float]] = {name: [] for name in commands}
            for _ in range(given.runs):
                for name, words in commands.items():
                    seconds[name].append(measure(words, Path(folder, name)).wall)
            describe, explain = (median(each) for each in seconds.values())
            print(f"{escape(group)} {place}: describe {describe:.2f} s, explain --partition {explain:.2f} s")
            slow |= explain - describe > TARGET
    return int(slow)


def _lagging(shared: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return a lagging partition of each group, as ``TOPIC:PARTITION``."""
    words = (*shared, "lag", "--by", "partition", "--only-lagging", "--type", "classic,consumer", "-o", "json")
    rows = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)["items"]
    places = {row["group"]: f"{row['topic']}:{row['partition']}" for row in rows}
    return sorted(places.items())


def _is_complete(shared: tuple[str, ...], group: str) -> bool:
    """Return whether nothing about a group is unknown: only complete answers are measured."""
    return not subprocess.run((*shared, "describe", group), capture_output=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
