"""Tests do not ignore how the processes that they start end: a fixture that ignores an error hides faults.

Ruff requires ``check`` for ``subprocess.run`` (PLW1510); here, ``check=False`` requires a use of the exit code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

TESTS = Path(__file__).parents[1]
_KILLED = frozenset({"kill", "killpg"})
"""How a process ends that runs until a test kills it."""

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def ignored(source: str) -> Iterator[int]:
    """Yield the lines that start a process of which the function, or the class, does not use the exit code.

    A function may also return the completed process.
    """
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        started = _started(node)
        if not started or not isinstance(node, ast.Call):
            continue
        returned = isinstance(parents[node], ast.Return)
        scope = _scope(node, parents)
        if started == "Popen" and returned:
            scope = _scope(scope, parents)
        elif returned:
            continue
        if not _uses_code(scope, parents, killed=started == "Popen"):
            yield node.lineno


def _started(node: ast.AST) -> str | None:
    """Return the function of ``subprocess`` that a node calls, if it does not check the exit code itself."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("subprocess"), attr="run" | "call" | "Popen" as name)):
            checked = any(word.arg == "check" and getattr(word.value, "value", None) is True for word in node.keywords)
            return None if checked else name
        case _:
            return None


def _scope(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Scope:
    """Return the class that a node is in, else the outermost function, else the module."""
    above = []
    while node in parents:
        node = parents[node]
        above.append(node)
    functions = [each for each in above if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = [each for each in above if isinstance(each, ast.ClassDef)]
    module = above[-1]
    assert isinstance(module, ast.Module)
    return (classes or functions or [module])[-1]


def _uses_code(scope: Scope, parents: dict[ast.AST, ast.AST], *, killed: bool) -> bool:
    for node in ast.walk(scope):
        if isinstance(node, ast.Attribute) and node.attr == "returncode":
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            used = not isinstance(parents[node], ast.Expr)
            if (node.func.attr == "wait" and used) or (killed and node.func.attr in _KILLED):
                return True
    return False


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    subprocess.run(x, check=True)", []),
        ("def f():\n    subprocess.run(x, check=False)", [2]),
        ("def f():\n    return subprocess.run(x).stdout", [2]),
        ("def f():\n    return subprocess.run(x)", []),
        ("def f():\n    done = subprocess.run(x)\n    assert done.returncode == 2", []),
        ("def f():\n    done = subprocess.run(x)\n    done.kill()", [2]),
        ("def f():\n    p = subprocess.Popen(x)\n    p.terminate()\n    p.wait()", [2]),
        ("def f():\n    p = subprocess.Popen(x)\n    p.kill()", []),
        ("def f():\n    p = subprocess.Popen(x)\n    assert p.wait(3) == 0", []),
        (
            "class C:\n    def f(self):\n        self.p = subprocess.Popen(x)\n    def g(self):\n        self.p.wait()",
            [3],
        ),
        ("class C:\n    def f(self):\n        return subprocess.Popen(x)\n    def g(self):\n        p.kill()", []),
    ],
)
def test_ignored_exit_codes_are_found(source: str, lines: list[int]) -> None:
    assert list(ignored(source)) == lines


def test_no_exit_code_is_ignored() -> None:
    found = {
        f"{path.relative_to(TESTS)}:{line}"
        for path in TESTS.rglob("*.py")
        if "subprocess" in (source := path.read_text(encoding="utf-8"))
        for line in ignored(source)
    }
    assert not found
