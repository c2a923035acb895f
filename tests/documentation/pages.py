"""The pages of the documentation, and the fenced blocks in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)

_FENCE: Final = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIRECTIVE: Final = re.compile(r"<!-- (not run|cluster): (.+) -->\n\Z")
SEEDED: Final = "seeded"
"""The cluster of the quick start, with all seeded groups."""
SECURE: Final = "secure"
"""A cluster with TLS, SASL, and ACLs."""


class Example(NamedTuple):
    """One command of a console block."""

    command: str
    output: str


class Block(NamedTuple):
    """One fenced block. A comment on the line before it gives the cluster, or the reason why it is not run."""

    page: str
    line: int
    language: str
    text: str
    cluster: str
    not_run: str | None

    @property
    def examples(self) -> Sequence[Example]:
        """The commands, each with the lines that follow it; a backslash continues a command."""
        found: list[Example] = []
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            match = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)\Z", part, re.DOTALL)
            assert match, f"{self.page}:{self.line}"
            found.append(Example(match[1], match[2]))
        return found


def page_text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def blocks_of(page: str) -> Sequence[Block]:
    text = page_text(page)
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        directive = _DIRECTIVE.search(before)
        name, value = directive.groups() if directive else ("cluster", SEEDED)
        cluster, not_run = (value, None) if name == "cluster" else (SEEDED, value)
        found.append(Block(page, before.count("\n") + 1, match[1], match[2], cluster, not_run))
    return found


def console_blocks(page: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == "console"]


def prose_of(page: str) -> str:
    """The text without fenced blocks and inline code."""
    return re.sub(r"`[^`\n]*`", "``", _FENCE.sub("", page_text(page)))
