"""Measure ``kgroups snapshot save``, ``show``, and ``diff``: seconds, memory, and size of the file.

    python -m bench.snapshot            # 10,000 groups x 10 partitions

The brokers are simulated (:mod:`.simulated`), so that the figures are those of the client.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .simulated import ClusterShape, measure, simulated


def main() -> int:
    """Print the figures; return 1 if a command fails or the file lacks groups."""
    parser = argparse.ArgumentParser(prog="python -m bench.snapshot", description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kgroups", default=str(Path(sys.executable).with_name("kgroups")), help="path of kgroups")
    given = parser.parse_args()
    shape = ClusterShape(groups=given.groups, partitions=given.partitions)
    with tempfile.TemporaryDirectory() as folder, simulated(shape) as bootstrap:
        file, output = Path(folder, "bench.snapshot"), Path(folder, "output")
        commands = {
            "save": ("save", str(file), "--all-groups", "--overwrite"),
            "show --offsets": ("show", str(file), "--offsets", "-o", "csv"),
            "diff": ("diff", str(file)),
        }
        for name, words in commands.items():
            runs = [measure((given.kgroups, "snapshot", *words), bootstrap, output) for _ in range(given.runs)]
            best = min(runs, key=lambda run: run.seconds)
            print(f"{name}: {best.seconds:.2f} s  {best.cpu:.2f} CPU s  {best.megabytes:.0f} MB")
            if any(run.code for run in runs):
                return 1
            if name.startswith("show") and output.read_text().count("\n") != given.groups * given.partitions + 1:
                print("offsets are missing", file=sys.stderr)
                return 1
        print(f"size: {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
