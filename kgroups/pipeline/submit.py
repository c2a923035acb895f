"""The file for spark-submit: ``spark-submit …/kgroups/pipeline/submit.py history collect --store …``.

spark-submit sets master, memory, and all other options; kgroups must be installed on the driver and the executors.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from runpy import run_module

    sys.argv[0] = "kgroups"
    run_module("kgroups", run_name="__main__")
