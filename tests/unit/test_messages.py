"""No code of kgroups decides by searching its own messages: errors and failures have a ``reason``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "kgroups"

SEARCHES = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit",
            "find", "index", "replace"}  # fmt: skip

ERRORS = {"error", "exc", "exception", "failure", "failed", "reason", "overdue", "cause"}
"""Names that hold an error, or its message."""

MESSAGES = {"message", "hint", "text"}
"""Attributes that hold a message."""

FOREIGN = {
    "config/profiles.py": "tomllib reports the line in its text only",
    "model/operations/plan_file.py": "csv reports the cause in its text only",
    "net/identity.py": "secrets are masked in what a broker sends",
    "net/tls_errors.py": "ssl's reason is a code of OpenSSL",
    "history/load/tasks.py": "Spark reports a late Python worker in its text only",
    "protocol/compression.py": "cramjam reports a full buffer in its text only",
}
"""Files that search the messages of other libraries or of brokers, and why there is no other way."""


def searches(source: str) -> Iterator[str]:
    """Yield each expression that searches a message."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(ops=operators, comparators=places):
                for operator, place in zip(operators, places, strict=True):
                    if isinstance(operator, ast.In | ast.NotIn) and _is_message(place):
                        yield ast.unparse(node)
            case ast.Call(func=ast.Attribute(value=place, attr=name)) if name in SEARCHES and _is_message(place):
                yield ast.unparse(node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=arguments):
                if any(map(_is_message, arguments[1:])):
                    yield ast.unparse(node)


def _is_message(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[held]):
            return _is_error(held)
        case ast.Attribute(value=held, attr=name):
            return name in MESSAGES and _is_error(held)
        case ast.Subscript(value=ast.Attribute(attr="args")):
            return True
        case ast.Name(id=name):
            return name in ERRORS
    return False


def _is_error(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ERRORS
    return False


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_code_does_not_search_messages(path: Path) -> None:
    found = list(searches(path.read_text(encoding="utf-8")))
    if path.relative_to(PACKAGE).as_posix() in FOREIGN:
        assert found, "the exception is no longer needed: remove it from FOREIGN"
    else:
        assert not found


@pytest.mark.parametrize(
    "source",
    [
        "if 'no response' in str(error): pass",
        "if 'TLS' in reason: pass",
        "str(error).startswith(name)",
        "failure.message.split('; ')",
        "error.text.removeprefix(name)",
        "re.search('TLS', str(failed))",
        "error.args[0].partition(': ')",
        "'x' not in self.error.message",
    ],
)
def test_message_search_is_found(source: str) -> None:
    assert list(searches(source))


@pytest.mark.parametrize("source", ["error.reason is Reason.TIMEOUT", "str(error)", "name in failures", "text.split()"])
def test_other_code_is_not_reported(source: str) -> None:
    assert not list(searches(source))
