"""The files of the site, from those of the repository, with links that work in the site.

Pages in docs/ keep their place; pages elsewhere in the repository get one in ``ELSEWHERE``. Other files that pages link
to become text files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = ROOT / "build" / "pictures"
ELSEWHERE = {
    "README.md": "overview.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "bench/README.md": "project/benchmarks.md",
    "bench/RESULTS.md": "project/benchmark-results.md",
    "bench/RESET.md": "project/benchmark-resets.md",
    "bench/HISTORY.md": "project/benchmark-history.md",
    "bench/RELIABILITY.md": "project/reliability.md",
}
"""Pages that are not in docs/ -> their place in the site."""

_LINK = re.compile(r"(?P<code>^```.*?^```|`[^`\n]+`(?!\]))|\]\((?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"^<!-- picture: (?P<name>[\w-]+): (?P<text>.+) -->$", re.MULTILINE)


class BrokenLink(Exception):
    """A link leads to no file of the repository."""


def site_files() -> dict[str, str]:
    """Return the text of each file, by its place in the site: the pages, and the files that they link to.

    :raises BrokenLink: a link leads to no file.
    """
    pages = {path: path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))}
    pages |= {ROOT / path: place for path, place in ELSEWHERE.items()}
    found: dict[str, str] = {}
    for page, place in pages.items():
        text = _with_pictures(page.read_text(encoding="utf-8"), place)
        found[place] = _with_links(text, page, place, pages, found)
    return found


def pictures() -> list[Path]:
    """Return the pictures; none if they were not made."""
    return sorted(path for path in PICTURES.glob("*-*.*") if path.suffix in (".png", ".svg"))


def _with_links(text: str, page: Path, place: str, pages: dict[Path, str], found: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        path, _, anchor = (match["target"] or "").partition("#")
        if not path or "://" in path or path.startswith(("mailto:", "pictures/", "../pictures/")):
            return match[0]
        file = Path(os.path.normpath(page.parent / path))
        if not file.exists():
            raise BrokenLink(f"{page.relative_to(ROOT)}: link to {path}: no such file")
        link = os.path.relpath(pages.get(file) or _as_text(file, found), Path(place).parent)
        return f"]({link}#{anchor})" if anchor else f"]({link})"

    return _LINK.sub(replace, text)


def _as_text(file: Path, found: dict[str, str]) -> str:
    """Add a file as text, which browsers show; the files of a directory become one text."""
    place = f"files/{'/'.join(part.lstrip('.') for part in file.relative_to(ROOT).parts)}.txt"
    found[place] = "\n".join(_texts(file))
    return place


def _texts(file: Path) -> Iterator[str]:
    if not file.is_dir():
        yield file.read_text(encoding="utf-8")
        return
    for each in sorted(path for path in file.iterdir() if path.is_file()):
        yield f"==== {each.name} ====\n\n{each.read_text(encoding='utf-8')}"


def _with_pictures(text: str, place: str) -> str:
    """Replace the comments that name a picture; remove those of pictures that were not made."""
    up = os.path.relpath("pictures", Path(place).parent)

    made = {path.stem: path.name for path in pictures()}

    def replace(match: re.Match[str]) -> str:
        names = {scheme: made.get(f"{match['name']}-{scheme}") for scheme in ("light", "dark")}
        if not all(names.values()):
            return ""
        return "\n".join(f"![{match['text']}]({up}/{name}#only-{scheme})" for scheme, name in names.items())

    return _PICTURE.sub(replace, text)
