"""Output of the Java ConsumerGroupCommand of any version, parsed by its table headers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_tools_jars
from kgroups.sandbox.java import find_java
from tests.integration.resident_tool import resident_tool

Cells = dict[str, str | None]
"""Header -> text; ``None`` where the tool shows ``-`` or nothing."""

PATIENT = ("--timeout", "60000")
"""For the tools that look at groups. They wait 5 s for each answer, from before they have loaded the classes that ask:
on a busy machine the first request of a JVM takes longer."""

COLUMNS = (
    *("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    *("CONSUMER-ID", "HOST", "CLIENT-ID", "GROUP-INSTANCE-ID", "#PARTITIONS", "ASSIGNMENT"),
    *("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"),
    *("COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "TYPE"),
    *("GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"),
)
"""Every column that a version of the tool has."""

_NAMES = "|".join(sorted(map(re.escape, COLUMNS), key=len, reverse=True))
_COLUMN = re.compile(rf"(?<!\S)(?:{_NAMES})(?!\S)")
_HEADER = re.compile(rf" *(?:{_NAMES})(?: +(?:{_NAMES}))+ *")


class ToolOutput(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[Cells]:
        """The rows of all its tables. Cells may be empty, and group names may hold blanks: they are cut by position."""
        rows: list[Cells] = []
        columns: list[tuple[str, int]] = []
        for line in self.out.split("\n"):
            if _HEADER.fullmatch(line):
                columns = list(_positions(line))
            elif columns and line.strip() and not line.startswith("Error: "):
                rows.append(dict(_cells(line, columns)))
            else:
                columns = []  # an empty line ends a table, and so does an error, which may follow at once
        return rows

    @property
    def names(self) -> list[str]:
        """Of ``--list``: one name a line, and old versions a remark."""
        return [line for line in self.out.split("\n") if line and not line.startswith("Note: ")]


def _positions(header: str) -> list[tuple[str, int]]:
    """Each column with its width, blanks included; of the last one, all there is."""
    found = list(_COLUMN.finditer(header))
    starts = [match.start() for match in found]
    widths = [end - start for start, end in zip(starts, [*starts[1:], sys.maxsize], strict=True)]
    return [(match[0], width) for match, width in zip(found, widths, strict=True)]


def _cells(line: str, columns: Sequence[tuple[str, int]]) -> Iterator[tuple[str, str | None]]:
    for name, width in columns:
        if line[:width].rstrip(" ") == line[:width] and len(line) > width:
            width = line.index(" ", width) + 1  # too long for its column: it pushes the others to the right
        text, line = line[:width].strip(" "), line[width:]
        yield name, None if text in ("", "-") else text


class JavaTool:
    """A tool of one version, against any cluster."""

    def __init__(self, version: str, class_name: str | None = None, options: tuple[str, ...] = ()) -> None:
        """
        :param class_name: of the tool, where it is not the ConsumerGroupCommand.
        :param options: for its JVM.
        """
        kafka = kafka_version(version)
        tool = class_name or kafka.group_command
        self._patient = PATIENT if tool.endswith("GroupCommand") else ()
        self._tool = resident_tool(find_java(), ensure_tools_jars(kafka), tool, options)

    def ask(self, bootstrap: str, *words: str, limit: float = 300.0) -> ToolOutput:
        """About a cluster; with patience, unless the words say how much."""
        patient = () if "--timeout" in words else self._patient
        return self.run("--bootstrap-server", bootstrap, *words, *patient, limit=limit)

    def run(self, *words: str, limit: float = 300.0) -> ToolOutput:
        """With these words alone."""
        code, out, err = self._tool.ask(words, limit)
        return ToolOutput(code, out.decode(), err.decode())


def assignment(text: str | None) -> str | None:
    """``b(2,1), a(0)`` (to 3.9) and ``b:2,1;a:0`` (from 4.0) as ``a:0;b:1,2``."""
    if text is None:
        return None
    parts = [part.partition(":") for part in text.split(";")] if "(" not in text else None
    pairs = [(topic, ids) for topic, _, ids in parts] if parts else re.findall(r"([^\s,()]*)\(([\d,]*)\)", text)
    return ";".join(f"{topic}:{','.join(map(str, sorted(map(int, ids.split(',')))))}" for topic, ids in sorted(pairs))
