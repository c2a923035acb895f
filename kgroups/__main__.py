"""``python -m kgroups`` and the ``kgroups`` command."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # A command asks, answers and ends: looking for cycles meanwhile costs a third of the decoding and frees nothing.
    gc.disable()
    from kgroups.cli.main import main as run

    code = run(sys.argv[1:])
    gc.freeze()  # nor at the end, when Python looks once more: a tenth of a small command
    sys.exit(code)


if __name__ == "__main__":
    main()
