"""``python bench/decode.py``: measures how fast commits are decoded; ``--records 2000000`` takes so many of them."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Run from a checkout; what the pipeline needs must be installed: pyarrow, numpy.
    sys.path[0] = str(Path(__file__).parents[1])
    from bench.decoders import main

    sys.exit(main())
