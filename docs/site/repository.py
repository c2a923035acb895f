"""The files of the site, from those of the repository, with links that work in the site.

Pages in docs/ keep their place; pages elsewhere in the repository get one in ``ELSEWHERE``. Other files that pages link
to become text files. The pages of commands, and parts of other pages, are generated when the site is built.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = ROOT / "build" / "pictures"
SCREEN_TEXTS = ROOT / "build" / "screens"
README_PICTURES = DOCS / "pictures"
"""The only pictures in git."""
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
_PART = re.compile(r"^<!-- generated: (?P<name>[\w-]+) -->$", re.MULTILINE)
_PICTURE = re.compile(
    r"^<!-- picture: (?P<name>[\w-]+): (?P<text>.+) -->$|"
    r'^<picture>\n.*\n *<img alt="(?P<alt>.+)" src="(?:docs/)?pictures/(?P<file>[\w-]+)-light\.svg">\n</picture>$',
    re.MULTILINE,
)
"""The place of a picture that may be missing, or HTML with which GitHub shows one of two."""


class BrokenLink(Exception):
    """A link leads to no file of the repository."""


def generated() -> dict[str, str]:
    """Return the text of each generated file, by its path in the folder of ``completions/generate.py``.

    It runs in a process of its own: click keeps the options for help of the first context of a command.
    """
    with tempfile.TemporaryDirectory(prefix="kgroups-pages-") as folder:
        subprocess.run([sys.executable, ROOT / "completions" / "generate.py", folder], check=True)
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in Path(folder).rglob("*.md")}


def site_files(generated: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file, by its place in the site: the pages, and the files that they link to.

    :param generated: the pages of commands, and the parts of other pages.
    :raises BrokenLink: a link leads to no file.
    """
    commands = {name: text for name, text in generated.items() if name.startswith("commands/")}
    pages = {path: path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))}
    pages |= {ROOT / path: place for path, place in ELSEWHERE.items()}
    pages |= {DOCS / name: name for name in commands}
    found: dict[str, str] = {}
    for page, place in pages.items():
        text = commands.get(place) or _with_parts(page.read_text(encoding="utf-8"), generated)
        found[place] = _with_links(_with_pictures(text, place), page, place, pages, found)
    return found


def _with_parts(text: str, generated: Mapping[str, str]) -> str:
    """Replace the comments that name a generated part of the page."""
    return _PART.sub(lambda match: generated[f"parts/{match['name']}.md"], text)


def pictures() -> list[Path]:
    """Return the pictures in git, and the others if they were made."""
    found = (path for folder in (README_PICTURES, PICTURES) for path in folder.glob("*-*.*"))
    return sorted(path for path in found if path.suffix in (".png", ".svg"))


def _with_links(text: str, page: Path, place: str, pages: dict[Path, str], found: dict[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        path, _, anchor = (match["target"] or "").partition("#")
        if not path or "://" in path or path.startswith(("mailto:", "pictures/", "../pictures/")):
            return match[0]
        file = Path(os.path.normpath(page.parent / path))
        if file not in pages and not file.exists():
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
        picture, text = match["name"] or match["file"], match["text"] or match["alt"]
        names = {scheme: made.get(f"{picture}-{scheme}") for scheme in ("light", "dark")}
        if not all(names.values()):
            return ""
        return "\n".join(f"![{text}]({up}/{name}#only-{scheme})" for scheme, name in names.items())

    return _PICTURE.sub(replace, text)
