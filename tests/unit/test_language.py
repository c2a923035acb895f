"""The language of user-visible text: plain technical English, by the word list of the style guide.

User-visible is every string with a space in it, except docstrings of functions that are not commands. Output that
must equal that of Kafka's tools is exempt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

PACKAGE: Final = Path(__file__).parents[2] / "kgroups"
EXEMPT: Final = ("dropins/",)
"""Output that equals that of Kafka's tools."""

FROZEN: Final = {"Default. Null: none, or the help says which."}
"""Texts of JSON Schemas, whose bytes stay as they are (``tests/contracts/frozen/digests.txt``)."""

REJECTED: Final = {
    r"(?<!there )\bis no(ne)?\b": "is not a valid …, must be …",
    r"\bcannot be\b(?! \w+(ed|en|wn|ad|t|de|ne|nt|me|ld|ut|und|set|read|run)\b)": "is invalid, is not allowed",
    r"\bnobody\b|\bnobody knows\b": "unknown, no client, no member",
    r"\banew\b|\bin vain\b|\bfor ever\b|\bat last\b|\bonce more\b": "again, permanently, finally",
    r"\bso many\b|\bat most so\b|\bso long\b": "N records, at most N",
    r"\bwhich \w+\?|\bwhere to\?|\bSay --|\bSay one\b|: say ": "use …",
    r"\bway out\b|\bways? in\b|\blet us in\b|\bsign(s|ed)?[ -]in\b|\blog(s|ged)? in\b": "authenticate, fix",
    r"\btells?\b|\btold\b|\bsays\b|\bsaid\b": "reports, returns, shows",
    r"\bbehind (the|it|its|a|them)\b": "after",
    r"\bdoomed\b|\bcondemn\w*\b|\bforgets?\b|\bforgot\w*\b|\bleavers?\b": "delete, mark as down, member to remove",
    r"\blooks?\b(?! (up|like)\b|-)|\blooked\b(?! up\b)": "refresh, poll, sample, read",
    r"\bexcludes? each other\b": "mutually exclusive",
    r"\bgoes before\b": "takes precedence over",
    r"\bkinds? of group": "group type",
    r"\bwho asks\b|\bwhoever\b": "the client, principals that …",
    r"(?<!\[)\b(we|us|our)\b": "kgroups, the client",
    r"\b(was|were|is|are) asked for\b|\basks? for\b": "requested, subscribes to",
    r"\b(is|are) not known\b": "unknown",
    r"\bin silence\b|\ball the same\b|\bleft there\b": "silently, anyway, not adjusted",
    r"\bwrong kind\b|\bother kinds\b": "wrong type, other types",
    r"\bholds? nothing\b|\bis to hold\b|\bmembers? holds?\b": "has no partitions, target assignment, assigned to",
    r"\bplan it again\b|\bask again\b|\bputs? (that )?back\b": "run the command again, restore",
    r"\b(it|them|group|one|its topic|is|are) (was )?left out of\b": "missing in the response",
}
"""Pattern -> what to write instead."""


class Text(NamedTuple):
    path: str
    line: int
    text: str


def texts_of(path: str, source: str) -> Iterator[Text]:
    """Yield the user-visible strings of a module; ``…`` stands for a computed part."""
    tree = ast.parse(source)
    apart = {id(docstring) for node in ast.walk(tree) for docstring in _inner_docstrings(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            apart.update(map(id, ast.walk(node)))
            parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield Text(path, node.lineno, "".join(parts))
        elif isinstance(node, ast.Constant) and id(node) not in apart and " " in str(node.value):
            yield Text(path, node.lineno, str(node.value))


def _inner_docstrings(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield strings that stand alone, except the help text of a command."""
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    decorators = [] if isinstance(node, ast.Module) else [ast.unparse(each) for each in node.decorator_list]
    is_command = any(re.search(r"\b(command|group)\(", each) for each in decorators)
    for number, each in enumerate(node.body):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and not (is_command and number == 0):
            yield each.value


def found_in(text: Text) -> list[str]:
    return [
        f"kgroups/{text.path}:{text.line}: {match[0]!r} in {text.text!r}: write {instead}"
        for pattern, instead in REJECTED.items()
        if (match := re.search(pattern, text.text))
    ]


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _findings(package: str) -> list[str]:
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if package_of(path) == package]
    names = {path: path.relative_to(PACKAGE).as_posix() for path in paths}
    return [
        found
        for path, name in names.items()
        if not name.startswith(EXEMPT)
        for text in texts_of(name, path.read_text(encoding="utf-8"))
        if text.text not in FROZEN
        for found in found_in(text)
    ]


@pytest.mark.parametrize("package", sorted({package_of(path) for path in PACKAGE.rglob("*.py")}))
def test_user_visible_text_uses_technical_terms(package: str) -> None:
    assert _findings(package) == []


@pytest.mark.parametrize(
    "source",
    [
        'raise UsageError("is no JKS keystore")',
        'raise UsageError(f"{flag}: which groups? Name some")',
        'click.option("--interval", help="Between two looks.")',
        '@click.command()\ndef watch():\n    """Show what brokers told."""',
        'notice = f"{broker} tells us nothing"',
        'note = f"below log start: {offset} was asked for"',
        'raise UsageError("its type is missing, or of the wrong kind")',
    ],
)
def test_rejected_terms_are_found(source: str) -> None:
    texts = list(texts_of("x.py", source))
    assert any(found_in(text) for text in texts)


@pytest.mark.parametrize(
    "source",
    [
        'raise UsageError("there is no profile of that name")',
        'def inner():\n    """What is no text for users."""',
        'KEY = "told"',
        'help = "Look up the coordinator."',
    ],
)
def test_plain_text_is_not_rejected(source: str) -> None:
    assert [found for text in texts_of("x.py", source) for found in found_in(text)] == []
