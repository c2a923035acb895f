"""Write the frozen lists: ``python -m tests.contracts.generate``; ``--check`` compares.

A change that breaks other programs is refused: it needs a new version of the schema, or ``--breaking`` and a new major
version of kgroups (docs/stability.md).
"""

from __future__ import annotations

import sys
from pathlib import Path

from kgroups.schemas import schema_names, schema_of

from .freeze import FROZEN, frozen, removed


def generated() -> dict[Path, str]:
    """Return the contents of each file."""
    return {FROZEN / name: text for name, text in frozen(list(map(schema_of, schema_names()))).items()}


def outdated(texts: dict[Path, str]) -> list[str]:
    """Return the names of the files that are missing, left over, or have other contents."""
    there = {path for path in FROZEN.iterdir() if path.is_file()}
    changed = {path for path in texts if path in there and path.read_text("utf-8") != texts[path]}
    return sorted(path.name for path in changed | (there ^ texts.keys()))


def main(arguments: list[str]) -> int | str:
    """Write the files, or compare them; return the exit code, or a message."""
    texts = generated()
    broken = removed({path.name: text for path, text in texts.items() if path.parent == FROZEN})
    if broken and "--breaking" not in arguments:
        return "\n".join(("these changes break other programs, see docs/stability.md:", *broken))
    if "--check" in arguments:
        return " ".join(["run python -m tests.contracts.generate:", *names]) if (names := outdated(texts)) else 0
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
