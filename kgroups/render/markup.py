"""Escape names in markup formats so that they do not become links, images, or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_MARKDOWN = re.compile(r"[\\`*_\[\]<>!|~&]|(?<=:)//|(?<=www)\.", re.IGNORECASE)
_RST = re.compile(r"[\\`*_|:<>]|^\.")
_WIKI = re.compile(r"[\\`*_\[\]<>!|~&{}^+#'=/@\"]|(?<=[^0-9A-Za-z])-|^-|--")
_ORG = {"|": r"\vert{}", "*": r"\ast{}", "_": r"\under{}", "<": r"\lt{}", ">": r"\gt{}", "[": r"[\zwnj{}"}


def _backslashed(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: pattern.sub(r"\\\g<0>", text)


def _references(text: str) -> str:
    """Replace special characters with numeric character references, which all these wikis support."""
    return _WIKI.sub(lambda found: "".join(f"&#{ord(char)};" for char in found[0]), text)


def _org(text: str) -> str:
    return "".join(_ORG.get(char, char) for char in text)


ESCAPES: Mapping[str, Callable[[str], str]] = {
    "github": _backslashed(_MARKDOWN),
    "pipe": _backslashed(_MARKDOWN),
    "rst": _backslashed(_RST),
    "orgtbl": _org,
    **dict.fromkeys(("asciidoc", "jira", "mediawiki", "moinmoin", "textile", "youtrack"), _references),
}
"""Format -> function that escapes a cell. tabulate escapes HTML and LaTeX itself."""
