"""``python bench/run.py``: measures, prints what it measured, and writes it down with ``--write``."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Run from a checkout, with nothing installed: the sandbox, all that is imported of kgroups here, needs nothing.
    sys.path[0] = str(Path(__file__).parents[1])
    from bench.main import main

    sys.exit(main())
