"""The file for spark-submit: ``spark-submit …/kgroups/pipeline/submit.py history collect --store …``.

spark-submit sets master, memory, and all other options. kgroups must be installed on the driver; executors without it
get it by ``spark-submit --py-files kgroups.zip``.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_module

    # Modules in this folder would hide others of the same names.
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
    sys.argv[0] = "kgroups"
    run_module("kgroups", run_name="__main__")
