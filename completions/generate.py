"""Write the man page from the help text of the commands: ``python completions/generate.py``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual  # in this directory


def generated() -> dict[str, str]:
    """Return file names and their contents."""
    return {"kgroups.1": manual()}


if __name__ == "__main__":
    for name, text in generated().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
