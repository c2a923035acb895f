"""HTML without injection: text is always escaped.

Strategy: :class:`Html` is markup, every other string is text; only :func:`tag`, :func:`join`, and :func:`raw` create
markup.
"""

from __future__ import annotations

from html import escape

_VOID = {"meta", "br"}


class Html(str):
    """Markup, which is not escaped."""

    __slots__ = ()


def raw(text: str) -> Html:
    """Declare text as markup: only text of this package, never of the cluster."""
    return Html(text)


def join(*parts: str | None, by: str = "") -> Html:
    """Concatenate the parts that are not ``None``."""
    return Html(by.join(part if isinstance(part, Html) else escape(part) for part in parts if part is not None))


def tag(name: str, /, *children: str | None, **attributes: object) -> Html:
    """Render an element.

    ``class_`` is ``class``, ``data_key`` is ``data-key``. ``None`` and ``False`` omit an attribute, ``True`` omits its
    value.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(*children)}</{name}>")


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
