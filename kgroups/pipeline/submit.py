"""For spark-submit, which wants a file: ``spark-submit …/kgroups/pipeline/submit.py history collect --store …``.

Master, memory and all else are spark-submit's to say; kgroups has to be installed where the driver and the executors
run.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from runpy import run_module

    sys.argv[0] = "kgroups"
    run_module("kgroups", run_name="__main__")
