"""Generate the pages of commands/ in the site, one for each command, from the options and the help of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import click
from manual import DROP_INS, commands, page_of, summary_of  # in this directory

from kgroups.cli.frame.command import Command, CommandGroup
from kgroups.cli.frame.help_page import examples, exit_codes, sections

_DOCS = Path(__file__).parents[1] / "docs"

_MORE = {
    "Connection": ("Connection", "connection.md"),
    "Output": ("Output formats and exit codes", "output-formats.md"),
}
"""Section of options -> the page about it."""

_PURPOSES = {
    "See and explain": ("list", "describe", "owners", "lag", "explain", "watch", "check"),
    "Change": ("reset-offsets", "undo", "delete", "remove-members", "settings-"),
    "Save and compare": ("snapshot-", "diff"),
    "Move to another cluster": ("translate", "parity", "waves"),
    "Monitor": ("exporter", "mcp", "history-"),
    "Set up": ("config-", "profile-", "sandbox-", "completion", "schema"),
    "Drop-ins": ("kafka-",),
}
"""What commands are for -> the begins of their names, as in the navigation of the site (docs/site/mkdocs.yml)."""

_DROP_IN = """\
# {name}

Manages {groups} with the options and the output of Kafka's tool `{name}.sh`, without Java.

```text
{usage}
```

## See also

- [Drop-in replacements](../drop-ins.md)
- [All commands](README.md)
"""


def pages() -> dict[str, str]:
    """Return the pages in Markdown, by file name."""
    found = {f"{_name(context)}.md": "\n".join(_page(context)) + "\n" for context in commands()}
    for name, groups in DROP_INS.items():
        usage = files("kgroups.dropins").joinpath(f"{name}.usage").read_text().rstrip()
        found[f"{name}.md"] = _DROP_IN.format(name=name, groups=groups, usage=usage)
    return found


def table() -> str:
    """Return the tables of all commands by what they are for, with links to their pages."""
    texts = {_name(each): (each.command_path, _prose(summary_of(each))) for each in commands()}
    texts |= {name: (name, f"Manages {groups} as Kafka's tool does.") for name, groups in DROP_INS.items()}
    parts = []
    for title, first in _PURPOSES.items():
        names = sorted((name for name in texts if name.startswith(first)), key=lambda name: _place(name, first))
        rows = [f"| [`{path}`]({name}.md) | {text} |" for name, (path, text) in ((each, texts[each]) for each in names)]
        parts.append("\n".join([f"## {title}\n", "| command | what it does |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _place(name: str, first: Sequence[str]) -> tuple[int, str]:
    return next(number for number, each in enumerate(first) if name.startswith(each)), name


def _page(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"# {context.command_path}\n"
    summary, *more = _paragraphs(command.help or "")
    yield f"{summary}\n"
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    yield f"```text\n{usage}\n```\n"
    yield from (f"{paragraph}\n" for paragraph in more)
    if shown := examples(context):
        yield "## Examples\n"
        for sentence, line in shown:
            yield f"{_prose(sentence)}:\n\n```text\n{line}\n```\n"
    yield "## Options\n"
    shown_sections = sections(command, context)
    for title, records in shown_sections:
        if title != "Options":
            yield f"### {title}\n"
        yield from _options(records)
        if title in _MORE:
            yield "See [{}](../{}).\n".format(*_MORE[title])
    yield "## Exit codes\n\n| code | meaning |\n|---|---|"
    yield from (f"| {code} | {_prose(meaning)} |" for code, meaning in exit_codes(context))
    yield "\n## See also\n"
    page = task_of(context)
    title = (_DOCS / page.partition("#")[0]).read_text("utf-8").partition("\n")[0].removeprefix("# ")
    yield f"- [{title}](../{page})"
    yield from (f"- [`{each.command_path}`]({_name(each)}.md)" for each in commands() if _is_related(each, context))
    if any(title == "Connection" for title, _ in shown_sections):
        yield "- [Permissions](../permissions.md)"
    yield "- [All commands](README.md)"


def _is_related(other: click.Context, context: click.Context) -> bool:
    """Whether both are commands of one group, such as ``snapshot``, or have one page about their task."""
    return task_of(other) == task_of(context) and other.command_path != context.command_path


def task_of(context: click.Context) -> str:
    """Return the page about the task of a command: its own, or that of its group."""
    command = context.command
    if isinstance(command, Command | CommandGroup) and command.page:
        return command.page
    assert context.parent, context.command_path
    return task_of(context.parent)


def _options(records: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "| option | description |\n|---|---|"
    for names, text in records:
        yield f"| `{names.replace('|', chr(92) + '|')}` | {_prose(' '.join(text.split()))} |"
    yield ""


def _paragraphs(text: str) -> Iterator[str]:
    """Yield help text in Markdown; command lines, and paragraphs that click does not wrap, become blocks."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.removeprefix("    ") for line in paragraph.strip("\n").splitlines()]
        if lines[0].startswith(("\b", "kgroups ")):
            yield "```text\n{}\n```".format("\n".join(line for line in lines if line != "\b"))
        else:
            yield _prose(" ".join(" ".join(lines).split()))


def _prose(text: str) -> str:
    """Mark options and file names as code, and escape what Markdown would read as markup."""
    parts = re.split(r"((?<![\w-])--?[A-Za-z][\w-]*(?:=[\w-]+)?|\S*_\S*\w|~/\S+\w)", text)
    return "".join(
        f"`{part}`" if at % 2 else re.sub(r"([*\[\]|\\`])", r"\\\1", re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", part))
        for at, part in enumerate(parts)
    )


def _name(context: click.Context) -> str:
    return page_of(context).removeprefix("kgroups-")
