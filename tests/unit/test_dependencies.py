"""Dependencies that pyproject.toml declares."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def lowest(requirement: Requirement) -> str | None:
    return next((each.version for each in requirement.specifier if each.operator in (">=", "==")), None)


def test_lowest_versions_of_users_satisfy_the_tools_of_the_tests() -> None:
    """``make lowest`` installs both in one environment."""
    extras = {name: [*map(Requirement, words)] for name, words in PROJECT["optional-dependencies"].items()}
    tools = {tool.name: tool for tool in extras.pop("dev")}
    of_users = [Requirement(word) for word in PROJECT["dependencies"]] + [
        each for words in extras.values() for each in words
    ]
    shared = [(each, tools[each.name]) for each in of_users if each.name in tools and each.name != "kgroups"]
    assert shared
    assert [str(each) for each, tool in shared if not tool.specifier.contains(lowest(each) or "0")] == []
