"""Write the pages that are generated from the commands and tables: ``python completions/generate.py [FOLDER]``.

The default folder is ``build/generated``. ``man1/`` has the man pages, ``commands/`` a page of the site for each
command, and ``parts/`` what the site inserts into the pages of docs/ that say ``<!-- generated: NAME -->``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # this repository, also if another kgroups is installed
sys.path.insert(0, str(Path(__file__).parent))

from manual import manual  # in this directory
from pages import pages, table

from kgroups.history.contracts.dictionary import tables


def generated() -> dict[str, str]:
    """Return the text of each file, by its path in the folder."""
    parts = {"commands.md": table(), "data-dictionary.md": tables()}
    folders = {"man1": manual(), "commands": pages(), "parts": parts}
    return {f"{folder}/{name}": text for folder, texts in folders.items() for name, text in texts.items()}


def write(folder: Path) -> None:
    """Write the files; delete those of earlier runs."""
    texts = generated()
    for part in {name.partition("/")[0] for name in texts}:
        shutil.rmtree(folder / part, ignore_errors=True)
        (folder / part).mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "build" / "generated")
