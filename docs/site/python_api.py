"""The page of the Python API: directives for mkdocstrings, one for each public name."""

from __future__ import annotations

import ast

from repository import ROOT

_PLACE = "<!-- docstrings -->"
_CLUSTERS = ("AsyncCluster", "AsyncFleet", "Cluster", "Fleet", "Outcome")
"""What programs start with."""
_OPTIONS = {
    "AsyncCluster": "inherited_members: true",
    "AsyncFleet": "inherited_members: true",
    "Cluster": "members: false",
    "Fleet": "members: false",
}
"""The first two document the methods of the next two."""
_SECTIONS = {
    "Errors": ("errors",),
    "Targets of resets": ("model.operations.reset",),
    "Checks": ("model.health",),
    "Rows and results": ("",),
}
"""Heading -> where the names under it are defined, in the package; the first that matches."""


def with_python_api(text: str) -> str:
    """Return the page, with the documentation of every public name."""
    return text.replace(_PLACE, "\n".join(_directives()))


def _directives() -> list[str]:
    modules = _public_names()
    lines = ["## Clusters and outcomes", "", *(_directive(name) for name in _CLUSTERS)]
    rest = {name: module for name, module in modules.items() if name not in _CLUSTERS}
    for title, places in _SECTIONS.items():
        names = [name for name, module in rest.items() if module.startswith(places)]
        lines += [f"## {title}", "", *map(_directive, names)]
        rest = {name: module for name, module in rest.items() if name not in names}
    return lines


def _public_names() -> dict[str, str]:
    """Return the names that programs import, and the module of the package that defines each."""
    source = (ROOT / "kgroups" / "api" / "__init__.py").read_text(encoding="utf-8")
    return {
        alias.asname or alias.name: f"api.{node.module}" if node.level else node.module.removeprefix("kgroups.")
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__"
        for alias in node.names
    }


def _directive(name: str) -> str:
    options = f"\n    options:\n      {_OPTIONS[name]}" if name in _OPTIONS else ""
    return f"::: kgroups.api.{name}{options}\n"
