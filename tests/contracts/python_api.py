"""The public Python API as a stub file, from Griffe: names, signatures, fields, and values."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import griffe

from kgroups.version import __version__

ROOT = Path(__file__).parents[2]
API = Path(__file__).parent / "frozen" / "python-api.txt"

_HEAD = '''\
"""The public Python API of kgroups, frozen: python -m tests.contracts.generate writes it. See docs/stability.md."""
'''
_CONSTANT = re.compile(r"""[("'{\[\d-]|[A-Z]\w*\.[A-Z]|(?:True|False|frozenset\(\))$|None$""")
"""The values that are shown: those that do not depend on the instance. None is shown if there is an annotation."""

_SPECIAL = ("__init__", "__iter__", "__len__", "__enter__", "__exit__", "__aenter__", "__aexit__")


@cache
def stub() -> str:
    """Return every public class with its public members, also inherited ones."""
    package = griffe.load("kgroups", search_paths=[ROOT], allow_inspection=False)
    names = [str(name).strip("'\"") for name in package.exports or ()]
    return "\n\n".join((_HEAD, *("\n".join(_object(name, package[name])) for name in sorted(names)))) + "\n"


def breaking_changes(before: str | None = None, now: str | None = None) -> list[str]:
    """Return what was removed from the API, or changed so that programs break.

    :param before: a stub. Default: the frozen one.
    :param now: another stub. Default: that of the code.
    """
    if before is None:
        before = API.read_text("utf-8") if API.exists() else ""
    old, new = (griffe.visit("kgroups", API, text) for text in (before, now or stub()))
    found = [_explained(each) for each in griffe.find_breaking_changes(old, new)]
    for name, each in old.classes.items():
        bases = {str(base) for base in new.classes[name].bases} if name in new.classes else set(map(str, each.bases))
        found += [f"{name}: Base class was removed: {base}" for base in each.bases if str(base) not in bases]
    return [f"Python API: {text}" for text in found]


def released(root: Path = ROOT, version: str = __version__) -> str | None:
    """Return the stub of the last release with the same major version; ``None`` if there is none, or no Git."""
    tag = _git(root, "describe", "--tags", "--abbrev=0", "--match", f"v{version.partition('.')[0]}.*")
    return _git(root, "show", f"{tag.strip()}:{API.relative_to(ROOT).as_posix()}") if tag else None


def _git(root: Path, *words: str) -> str | None:
    try:
        ran = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return ran.stdout if ran.returncode == 0 else None


def _explained(breakage: griffe.Breakage) -> str:
    lines = breakage.explain(griffe.ExplanationStyle.MARKDOWN).lstrip("- ").replace("`", "").splitlines()
    return re.sub(r"\*([A-Z][a-z ]+)\*", r"\1", " ".join(line.strip() for line in lines))


def _object(name: str, found: Any) -> Iterator[str]:
    target = found.final_target if found.is_alias else found
    if not target.is_class:
        yield f"{name}: str"
        return
    bases = ", ".join(map(str, target.bases))
    yield f"class {name}({bases}):" if bases else f"class {name}:"
    members = {key: each for key, each in target.all_members.items() if _is_public(key, each)}
    if any(str(each).rpartition(".")[2] == "NamedTuple" for each in target.bases):
        yield f"    def __new__(cls{''.join(f', {_field(each)}' for each in members.values() if _is_field(each))}): ..."
    for each in members.values():
        yield from (f"    {line}" for line in _member(each))
    if not members:
        yield "    ..."


def _is_public(key: str, member: Any) -> bool:
    if not (member.final_target if member.is_alias else member).path.startswith("kgroups."):
        return False
    return key in _SPECIAL or not key.startswith("_")


def _is_field(member: Any) -> bool:
    return bool(member.is_attribute and member.annotation and "property" not in member.labels)


def _field(member: Any) -> str:
    return f"{member.name}: {member.annotation}" + (f" = {member.value}" if member.value is not None else "")


def _member(member: Any) -> Iterator[str]:
    target = member.final_target if member.is_alias else member
    if target.is_attribute and "property" in target.labels:
        yield f"@property\ndef {target.name}(self) -> {target.annotation}: ...".replace("\n", "\n    ")
    elif target.is_attribute and (method := _blocking(target)):
        yield f"def {target.name}({_parameters(method)}) -> {method.returns}: ..."
    elif target.is_attribute:
        is_shown = target.value is not None and _CONSTANT.match(str(target.value))
        value = f" = {target.value}" if is_shown else ""
        annotation = f": {target.annotation}" if target.annotation else "" if value else ": Any"
        yield f"{target.name}{annotation}{value}"
    elif target.is_function:
        for label in ("classmethod", "staticmethod"):
            if label in target.labels:
                yield f"@{label}"
        word = "async def" if "async" in target.labels else "def"
        yield f"{word} {target.name}({_parameters(target)}) -> {target.returns}: ..."


def _blocking(attribute: Any) -> Any | None:
    """Return the asynchronous method that ``name = blocking(AsyncClass.name)`` waits for; ``None`` of any other."""
    call = attribute.value
    if not isinstance(call, griffe.ExprCall) or call.canonical_path != "kgroups.api.blocking.blocking":
        return None
    (argument,) = call.arguments
    owner, _, name = str(argument.canonical_path).rpartition(".")
    method = attribute.modules_collection[owner].all_members[name]
    return method.final_target if method.is_alias else method


def _parameters(function: Any) -> str:
    shown: list[str] = []
    for each in function.parameters:
        kind = str(each.kind.value)
        if kind == "keyword-only" and "*" not in "".join(text[:1] for text in shown):
            shown.append("*")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        annotation = f": {each.annotation}" if each.annotation is not None else ""
        default = f" = {each.default}" if each.default is not None and not stars else ""
        shown.append(f"{stars}{each.name}{annotation}{default}")
    return ", ".join(shown)
