"""Write the man pages and the page of commands: ``python completions/generate.py``; ``--check`` compares."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual, reference  # in this directory


def generated() -> dict[str, str]:
    """Return file names and their contents."""
    pages = {f"man1/{name}": text for name, text in manual().items()}
    return {**pages, "../docs/commands.md": reference()}


def outdated() -> list[str]:
    """Return the names of the files that are missing, left over, or have other contents."""
    here, texts = Path(__file__).parent, generated()
    there = {f"man1/{path.name}" for path in (here / "man1").iterdir()}
    changed = {
        name
        for name in texts
        if name.startswith("..") or name in there
        if (here / name).read_text("utf-8") != texts[name]
    }
    return sorted(changed | (there ^ {name for name in texts if name.startswith("man1/")}))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(" ".join(["run python completions/generate.py:", *names]) if (names := outdated()) else 0)
    for name, text in generated().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
