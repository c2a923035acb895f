"""``python bench/run.py``: measure, print a report, and write it to a file with ``--write``."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # runs from a checkout without installation: only the sandbox is imported, which has no dependencies
    sys.path[0] = str(Path(__file__).parents[1])
    from bench.main import main

    sys.exit(main())
