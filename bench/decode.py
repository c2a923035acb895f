"""``python bench/decode.py``: measure the decoding of commits, by default half a million (``--records N``)."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # runs from a checkout; requires the dependencies of the pipeline: pyarrow, numpy
    sys.path[0] = str(Path(__file__).parents[1])
    from bench.decoders import main

    sys.exit(main())
