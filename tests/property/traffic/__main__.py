"""Judge many moments, and print what was said: ``python -m tests.property.traffic [MOMENTS] [FIRST-SEED]``."""

from __future__ import annotations

import sys

from .judges import Tally, play, report

TICKS = 240

if __name__ == "__main__":
    moments, seed = (*map(int, sys.argv[1:]), 100_000, 0)[:2] if len(sys.argv) < 3 else map(int, sys.argv[1:3])
    if len(sys.argv) == 2:
        seed = 0
    tally = Tally()
    while tally.moments < moments:
        play(seed, TICKS, tally)
        seed += 1
    print("\n".join(report(tally)))
    for each in tally.wrong[:20]:
        print(each)
    sys.exit(bool(tally.wrong))
