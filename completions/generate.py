"""Write the man page and the page of commands: ``python completions/generate.py``; ``--check`` compares."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual, reference  # in this directory


def generated() -> dict[str, str]:
    """Return file names and their contents."""
    return {"kgroups.1": manual(), "../docs/commands.md": reference()}


def outdated() -> list[str]:
    """Return the names of the files with other contents."""
    here = Path(__file__).parent
    return [name for name, text in generated().items() if (here / name).read_text(encoding="utf-8") != text]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(" ".join(["run python completions/generate.py:", *names]) if (names := outdated()) else 0)
    for name, text in generated().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
