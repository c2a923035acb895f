"""Steps of MkDocs: add the pages of the repository, expand the navigation, and write llms.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from llms import description, overview, whole  # in this directory
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from python_api import with_python_api
from repository import DOCS, BrokenLink, generated, pictures, site_files

_API = "python-api.md"
_SEARCH = '<div class="md-search" '
_CELL = re.compile(r"<t[dh]\b.*?</t[dh]>", re.DOTALL)
_CODE = re.compile(r"(?<=<code>).*?(?=</code>)")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z]\w*")
_NODE_TEXT = re.compile(r"(\w)=\1\+(\w)\+(\w)\.id}return \1")
_RANKS = {
    "Tasks": 2,
    "Tutorials": 2,
    "quick-start.md": 2,
    "limits.md": 1,
    "Project": 0.2,
    _API: 0.2,
    "data-dictionary.md": 0.2,
}
"""Section of the navigation, or page -> how much the search prefers it to other pages."""


def on_config(config: MkDocsConfig) -> None:
    """Generate the pages of commands, and replace each pattern in the navigation by the pages that match it."""
    _generated.clear()
    _generated.update(generated())
    places = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(_generated)
    config.nav = _expanded(config.nav or [], sorted(places))


_generated: dict[str, str] = {}
"""The pages and parts that are generated for this build."""


def _expanded(entries: list[Any], places: Sequence[str]) -> list[Any]:
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            ((title, inner),) = entry.items()
            pages = _expanded(inner, places) if isinstance(inner, list) else inner
            found += [{title: pages}] if pages else []
        elif "*" in entry:
            names = [place for place in places if fnmatchcase(place, entry) and not place.endswith("README.md")]
            found.extend(name for name in names if name.count("/") == entry.count("/"))
        else:
            found.append(entry)
    return found


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site, instead of those in docs/."""
    try:
        texts = site_files(_generated)
    except BrokenLink as broken:
        raise PluginError(str(broken)) from broken
    texts[_API] = with_python_api(texts[_API])
    theme = [file for file in files if file.src_dir != config.docs_dir]
    made = [File.generated(config, place, content=text) for place, text in texts.items()]
    made += [File.generated(config, f"pictures/{path.name}", abs_src_path=str(path)) for path in pictures()]
    return Files([*theme, *made])


def on_page_markdown(markdown: str, page: Page, **_: object) -> None:
    """Describe each page to search engines, and rank it in the search of the site."""
    page.meta["description"] = description(markdown)
    section = page.parent.title if page.parent else ""
    page.meta["search"] = {"boost": _RANKS.get(page.file.src_uri) or _RANKS.get(section, 1)}


def on_page_content(html: str, **_: object) -> str:
    """Show code in tables as it is meant: ``|`` without the escape of tables, and no line break after ``--``."""

    def code(match: re.Match[str]) -> str:
        return _OPTION.sub(r'<span class="option">\g<0></span>', match[0].replace(r"\|", "|"))

    return _CELL.sub(lambda cell: _CODE.sub(code, cell[0]), html)


def on_nav(nav: Navigation, **_: object) -> None:
    """Remember the navigation; the pages in it are read later."""
    _navigation[:] = [nav]


_navigation: list[Navigation] = []


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt and llms-full.txt; remove what only a server can use."""
    site, nav = Path(config.site_dir), _navigation[0]
    (site / "llms.txt").write_text(overview(nav, str(config.site_description)), encoding="utf-8")
    (site / "llms-full.txt").write_text(whole(nav), encoding="utf-8")
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):  # they need the address of a server
        (site / name).unlink()
    _mend_search(site)


def _mend_search(site: Path) -> None:
    """End each node in the texts by which Lunr, the library of the search, merges equal nodes of its words.

    Without it, an edge ``a`` to node 123 has the same text as an edge ``a`` to node 1 and one ``2`` to node 3. What was
    merged by mistake is a word that does not exist: a search that meets it finds nothing.
    """
    for worker in site.glob("assets/javascripts/workers/search.*.js"):
        script = worker.read_text(encoding="utf-8")
        worker.write_text(_NODE_TEXT.sub(r'\1=\1+\2+\3.id+";"}return \1', script), encoding="utf-8")


def on_post_page(output: str, **_: object) -> str:
    """Name the dialog of the search, for screen readers."""
    return output.replace(_SEARCH, f'{_SEARCH}aria-label="Search" ', 1)
