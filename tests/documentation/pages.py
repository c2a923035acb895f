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
_FOLLOWED: Final = ("docs/quick-start.md", "docs/tutorials/", "docs/migrate/")
GUIDES: Final = tuple(page for page in PAGES if page.startswith(_FOLLOWED))
"""Pages that a reader follows from the first line to the last, so that every block of them is run."""

LANGUAGES: Final = {"bash", "console", "json", "promql", "python", "sql", "text", "toml", "yaml"}
"""The languages of fenced blocks."""

DISCOURAGED: Final = re.compile(
    r"\b(nobody|tells?|told|sign(s|ed)? in|logs? in|anew|so many|at most so|a look|looks at|doomed|simply|easily)\b",
    re.IGNORECASE,
)
"""Words that the style of the project replaces."""

_FENCE: Final = re.compile(r"^```(\S*)(?: title=\"([^\"\n]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIRECTIVE: Final = re.compile(r"<!-- (not run|cluster): (.+) -->\n\Z")
SEEDED: Final = "seeded"
"""The cluster of the quick start, with all seeded groups."""
SECURE: Final = "secure"
"""A cluster with TLS, SASL, and ACLs."""
PAIR: Final = "pair"
"""The clusters east and west, to which a topic was copied."""


class Example(NamedTuple):
    """One command of a console block."""

    command: str
    output: str


class Block(NamedTuple):
    """One fenced block. A comment on the line before it gives the cluster, or the reason why it is not run."""

    page: str
    line: int
    language: str
    title: str | None
    """The name of the file that the reader saves the block as; ``None`` if it is not a file."""
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
    return blocks_in(page, page_text(page))


def blocks_in(page: str, text: str) -> Sequence[Block]:
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        directive = _DIRECTIVE.search(before)
        name, value = directive.groups() if directive else ("cluster", SEEDED)
        cluster, not_run = (value, None) if name == "cluster" else (SEEDED, value)
        language, title, content = match.groups()
        found.append(Block(page, before.count("\n") + 1, language, title, content, cluster, not_run))
    return found


def console_blocks(page: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == "console"]


def steps_of(page: str, cluster: str) -> list[Block]:
    """Return what a reader types with one cluster, in order: console blocks, and blocks to save as files."""
    typed = [block for block in blocks_of(page) if block.language == "console" or block.title is not None]
    return [block for block in typed if block.cluster == cluster and block.not_run is None]


def prose_of(page: str) -> str:
    """The text without fenced blocks and inline code."""
    return prose_in(page_text(page))


def prose_in(text: str, code: str = "``") -> str:
    """A text without fenced blocks; ``code`` replaces inline code."""
    return re.sub(r"`[^`\n]*`", code, _FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """The anchors of the headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
