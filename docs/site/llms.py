"""llms.txt, an index of the site for language models, and llms-full.txt, all pages in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page


def overview(nav: Navigation, summary: str) -> str:
    """Return the index: each section of the navigation, its pages, and a sentence about each."""
    lines = ["# kgroups", "", f"> {summary}", ""]
    for item in nav.items:
        if isinstance(item, Section):
            lines += [f"## {item.title}", "", *map(_entry, _pages(item)), ""]
        elif isinstance(item, Page):
            lines += [_entry(item), ""]
    return "\n".join(lines)


def whole(nav: Navigation) -> str:
    """Return the Markdown of all pages, in the order of the navigation."""
    return "\n\n".join((page.markdown or "").strip() for page in nav.pages) + "\n"


def description(markdown: str) -> str:
    """Return the first sentence of a page, without markup; empty if the page starts with something else."""
    body = re.sub(r"<!--.*?-->|^#.*$", "", markdown, flags=re.MULTILINE).strip()
    paragraph = " ".join(body.split("\n\n")[0].split())
    if re.match(r"[|]|```|[-*] |!\[", paragraph):
        return ""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph).replace("`", "").replace("**", "").replace("\\", "")
    sentence = re.split(r"(?<=[.?])\s(?=[A-Z`])", plain)[0]
    return f"{sentence[:-1]}." if sentence.endswith(":") else sentence


def _entry(page: Page) -> str:
    return f"- [{page.title}]({page.url}): {page.meta['description']}"


def _pages(section: Section) -> Iterator[Page]:
    for item in section.children:
        if isinstance(item, Section):
            yield from _pages(item)
        elif isinstance(item, Page):
            yield item
