"""Run the examples of a page in one shell, and compare what they print with what the page shows.

Names that differ from run to run (addresses, IDs, times, durations), the width of columns, and notes about earlier
changes are not compared. On a page, ``...`` is any text within a line; alone on a line, it is any number of lines.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from tests.documentation.pages import ROOT, Block, Example

_COUNTED: Final = re.compile(r"\b(?:EPOCH|GENERATION)\b")
"""Columns whose numbers depend on the order in which members joined."""
_SHOWN: Final = "broker-1:9092,broker-2:9092"
"""What the pages show as the bootstrap servers."""
_LIMIT: Final = 600.0
_OF_EARLIER_CHANGES: Final = re.compile(r"kgroups: note: (watching \d+ groups? for|group '[^']+': not by a member:)")
"""Notes that depend on how many seconds ago an earlier example changed the group."""
_MARK: Final = "@@ end of command"
_END_OF_FILE: Final = "@@ end of file"
_VOLATILE: Final = (
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UUID"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME"),
    (r"(?:(?:127\.0\.0\.1|localhost|broker-\d):\d+,?)+", "ADDRESS"),
    (r"(?<![\w/+-])(?=[\w+/-]*[A-Z0-9])[\w+/-]{22}(?![\w/+-])", "ID"),
    (r"ADDRESS \(\d\)|\bbroker \d\b", "BROKER"),
    (r"\b(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?m?s\b|\b\d+h\d+m\b|\b\d+[dhm]\b", "DURATION"),
    (r"\b\d+:\d+(?:,\d+)*(?:;\d+:\d+(?:,\d+)*)*(?= |$)", "TASKS"),
    (r"-{3,}", "---"),
    (r"[ \t]+", " "),
)


def run_examples(blocks: Sequence[Block], environment: Mapping[str, str], folder: Path) -> dict[Block, list[str]]:
    """Run all examples in order in one shell in ``folder``; return what each printed, standard error included.

    A block with a title is written to a file of this name, at its place among the examples.
    """
    examples = list(chain.from_iterable(block.examples for block in blocks))
    bootstrap, port = environment.get("KGROUPS_BOOTSTRAP_SERVER", "localhost:9092"), str(_free_port())
    script = "".join(_script(block, bootstrap, port) for block in blocks)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    ran = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}exit 0  # not that of the last example\n"],
        cwd=folder,
        env={**_own_environment(), **environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    printed = ran.stdout.replace(port, "9308").replace(bootstrap, _SHOWN).split(f"{_MARK}\n")[:-1]
    assert len(printed) == len(examples), ran.stdout
    rest = iter(printed)
    return {block: [next(rest) for _ in block.examples] for block in blocks if block.title is None}


def _own_environment() -> dict[str, str]:
    """Return the environment without the variables of a CI system, for which kgroups prints more."""
    return {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("GITHUB_")}


def _script(block: Block, bootstrap: str, port: str) -> str:
    if block.title is None:
        return "".join(_step(example, bootstrap, port) for example in block.examples)
    return f"cat > {shlex.quote(block.title)} <<'{_END_OF_FILE}'\n{block.text}{_END_OF_FILE}\n"


def _step(example: Example, bootstrap: str, port: str) -> str:
    command = re.sub(r"(?:localhost|broker-\d):9092(?:,broker-\d:9092)*", bootstrap, example.command).replace(
        "9308", port
    )
    return f"{command}\nrc=$?; echo '{_MARK}'; (exit $rc)\n"


def differences(shown: str, printed: str) -> list[str]:
    """Return how the output on a page differs from the real one; nothing if it does not."""
    before, after = _normalized(shown), _normalized(printed)
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else _line_pattern(line) for line in before)
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in after)):
        return []
    return list(difflib.unified_diff(before, after, "page", "printed", lineterm=""))


def _normalized(text: str) -> list[str]:
    volatile = (*_VOLATILE, (r"(?<= )\d+(?= |$)", "N")) if _COUNTED.search(text) else _VOLATILE
    lines = []
    for line in text.splitlines():
        if _OF_EARLIER_CHANGES.match(line):
            continue
        for pattern, name in volatile:
            line = re.sub(pattern, name, line)
        lines.append(line.strip())
    return lines


def _line_pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("..."))) + r"\n"


def rewrite(page: str, printed: Mapping[Block, Sequence[str]]) -> None:
    """Put the real output into the examples of a page that differ from it."""
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    for block, outputs in printed.items():
        pairs = zip(block.examples, outputs, strict=True)
        new = "".join(
            f"$ {example.command}\n{output if differences(example.output, output) else example.output}"
            for example, output in pairs
        )
        start = block.text.index("$ ")
        new = re.sub(r"[ \t]+$", "", new, flags=re.MULTILINE)
        text = text.replace(f"```console\n{block.text}```", f"```console\n{block.text[:start]}{new}```")
    path.write_text(text, encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
