"""Docstrings as Markdown: roles of Sphinx become code."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Roles(griffe.Extension):
    """Replace ``:class:`Outcome``` by ``Outcome``, which Markdown shows as code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object after it is read."""
        if obj.docstring:
            obj.docstring.value = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", obj.docstring.value)
