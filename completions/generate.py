"""Write the man pages and the pages of docs/commands/: ``python completions/generate.py``; ``--check`` compares."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual  # in this directory
from pages import pages

_FOLDERS = ("man1", "../docs/commands")


def generated() -> dict[str, str]:
    """Return file names and their contents."""
    texts = zip(_FOLDERS, (manual(), pages()), strict=True)
    return {f"{folder}/{name}": text for folder, found in texts for name, text in found.items()}


def outdated() -> list[str]:
    """Return the names of the files that are missing, left over, or have other contents."""
    here, texts = Path(__file__).parent, generated()
    there = {f"{folder}/{path.name}" for folder in _FOLDERS for path in (here / folder).iterdir()}
    changed = {name for name in there & texts.keys() if (here / name).read_text("utf-8") != texts[name]}
    return sorted(changed | (there ^ texts.keys()))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(" ".join(["run python completions/generate.py:", *names]) if (names := outdated()) else 0)
    for name, text in generated().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
