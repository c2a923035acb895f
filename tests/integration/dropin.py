"""Run Kafka's command-line tools and the drop-ins with the same arguments, and normalize their output."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kgroups.dropins import consumer_groups, groups, share_groups
from kgroups.dropins.command import Tool
from kgroups.dropins.releases import release
from tests.integration.dropin_table import rows
from tests.integration.java_output import JavaTool, ToolOutput

TOOLS: Mapping[str, Tool] = {
    "kafka-consumer-groups": consumer_groups.TOOL,
    "kafka-share-groups": share_groups.TOOL,
    "kafka-groups": groups.TOOL,
}
CLASSES = {
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
}
"""The Java tools' classes, where it is not the one of consumer groups."""


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., ToolOutput | Ran]


def ours(tool: str, *words: str) -> Ran:
    """In this process, as :mod:`kgroups.dropins` runs it."""
    return run_tool(TOOLS[tool], *words)


def run_tool(tool: Tool, *words: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = tool.main(words)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def process(tool: str, *words: str) -> Ran:
    """As a process of its own."""
    module = f"kgroups.dropins.{tool.removeprefix('kafka-').replace('-', '_')}"
    done = subprocess.run([sys.executable, "-m", module, *words], capture_output=True, timeout=120, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def theirs(tool: str, *words: str, version: str | None = None) -> ToolOutput:
    """Kafka's tool of a version; of the release that the drop-ins follow, if none is given."""
    java = JavaTool(version or release().version, CLASSES.get(tool))
    match words:
        case ["--bootstrap-server", where, *rest] if ":" in where:  # that of a cluster
            return java.ask(where, *rest)
    return java.run(*words)


# What is made alike.


def alike(text: str) -> list[list[str]]:
    """Tables and lists, which empty lines part, each with its lines sorted, and with the names of a sentence sorted; of
    warnings, each of which is a paragraph, all in one."""
    paragraphs = [sorted(map(_names_sorted, each.split("\n"))) for each in text.split("\n\n")]
    warnings = sorted(line for each in paragraphs for line in each if line.startswith("Warn: "))
    return [warnings, *([line for line in each if not line.startswith("Warn: ")] for each in paragraphs)]


def _names_sorted(line: str) -> str:
    names = re.findall("'[^']*'", line)
    parts = re.split("'[^']*'", line)
    return "".join(part + name for part, name in zip(parts, [*sorted(names), ""], strict=True))


def complaint(err: str) -> list[str]:
    """What stands on stderr before the usage, as a bag of words: the options that it lists come in the order of a hash;
    without the stack of an exception and its class."""
    lines = [line for line in err.partition("\nOption ")[0].split("\n") if not line.startswith("\tat ")]
    text = re.sub(r"^(?:joptsimple\.\w+: |Error: |java\.\S+: )", "", "\n".join(lines), flags=re.MULTILINE)
    return sorted(set(re.split(r"[,\s\[\]]+", text.strip())))


def sentences(message: ToolOutput | Ran) -> set[str]:
    """Return the lines that scripts match: errors, and what one of several groups lacks; no rows, logs, or stacks."""
    text = message.err.partition("\nOption ")[0] + "\n" + message.out
    found = (line for line in text.split("\n") if re.match(_SENTENCE, line))
    return {_names_sorted(line) for line in found}


_SENTENCE = (
    r"Error|\* Group|\* Internal|Cannot shift|Share group .* is not empty|Invalid|Timed out waiting|"
    r"Found multiple|Cannot parse"
)


def keeps_sentences(row: str, mine: Ran, other: ToolOutput) -> None:
    """Assert that ours prints each sentence of the Java tool on the same stream, and exits with 1."""
    assert sentences(other), (row, other)
    on_stdout = sentences(Ran(0, other.out, "")) - sentences(mine._replace(err=""))
    on_stderr = sentences(Ran(0, "", other.err)) - sentences(mine._replace(out=""))
    assert (mine.code, on_stdout, on_stderr) == (1, set(), set()), (row, mine, other)


def agree(table: str | Iterable[str], one: Callable[[list[str]], tuple[object, object]]) -> None:
    """Runs each row on both sides; those that differ once more, for something may have moved meanwhile."""
    found = []
    for row in rows(table) if isinstance(table, str) else table:
        words = shlex.split(row)
        mine, other = one(words)
        if mine != other:
            mine, other = one(words)
        if mine != other:
            found.append(f"{row}\n  ours:   {mine}\n  theirs: {other}")
    assert not found, "\n".join(found)
