"""HTML that cannot be broken out of: what is not made here is text, and text is escaped.

Strategy: :class:`Html` is markup, every other string is not; :func:`tag`, :func:`join` and :func:`raw` alone make it.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_VOID = {"meta", "br"}


class Html(str):
    """Markup, to be put into a page as it is."""

    __slots__ = ()


def raw(text: str) -> Html:
    """Text that is markup: of this package, never of the cluster."""
    return Html(text)


def join(*parts: str | None, by: str = "") -> Html:
    """One behind the other; what is None is not there."""
    return Html(by.join(part if isinstance(part, Html) else escape(part) for part in parts if part is not None))


def tag(name: str, /, *children: str | None, **attributes: object) -> Html:
    """An element. ``class_`` is ``class``, ``data_key`` ``data-key``; None and False leave one out, True is bare."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def each(name: str, items: Iterable[str], /, **attributes: object) -> Html:
    """An element for every item, a line each."""
    return join(*(tag(name, item, **attributes) for item in items), by="\n")


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
