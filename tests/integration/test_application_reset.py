"""``kafka-streams-application-reset`` compared with the Java tool of that name, on applications of Kafka Streams with
the classic protocol: stdout byte by byte, except for the order, as in :mod:`tests.integration.test_dropin`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from kgroups.dropins.streams_application_reset import TOOL
from tests.integration.application_table import ACTS, COMMAND_LINES, DRY_RUNS, REFUSED
from tests.integration.applications import RECORDS, SUFFIXES, TOPICS, Applications
from tests.integration.dropin import Ran, Run, agree, complaint, run_tool
from tests.integration.java_output import JavaTool, ToolOutput
from tests.integration.streams_member import play_streams_group
from tests.integration.versions import followed

pytestmark = followed

_CLASS = "org.apache.kafka.tools.StreamsResetter"
IDLE = "resets-idle"
INPUTS = ("--input-topics", ",".join(TOPICS))
_FILES = {
    "@file": "".join(f"resets-in,{at},{offset}\n" for at, offset in enumerate((5, 500, 0))),
    "@within": "".join(f"resets-in,{at},5\n" for at in range(3)),
    "@settings": "client.id=reset\nrequest.timeout.ms=30000\n",
}


def ours(applications: Applications, *words: str) -> Ran:
    return run_tool(TOOL, "--bootstrap-server", applications.sandbox.bootstrap, *words)


def theirs(applications: Applications, *words: str) -> ToolOutput:
    return JavaTool(applications.sandbox.version.name, _CLASS).ask(applications.sandbox.bootstrap, *words)


BOTH: tuple[Run, ...] = (ours, theirs)


@pytest.fixture(scope="module")
def idle(applications: Applications) -> Applications:
    applications.make_by_hand(IDLE)
    return applications


def expanded(words: Iterable[str], folder: Path, names: Mapping[str, str]) -> list[str]:
    for name, content in _FILES.items():
        (folder / name).write_text(content)
    places = {"@in": "resets-in", "@more": "resets-more", **{name: str(folder / name) for name in _FILES}, **names}
    return [
        re.sub("@(?:within|in|more|idle|file|settings|1|new)", lambda found: places[found[0]], word) for word in words
    ]


def alike(text: str, *names: str) -> list[str]:
    """Return the lines, sorted, since the Java tool has no order of partitions; lists in a line are sorted too."""
    for name in names:
        text = text.replace(name, "@")
    return sorted(
        re.sub(r"\[[^\[]*\]", lambda found: str(sorted(re.split(r"[, ]+", found[0][1:-1]))), line)
        for line in text.split("\n")
    )


def errors(err: str) -> list[str]:
    return [line for line in err.split("\n") if line.startswith("ERROR")]


def test_command_lines_match_java(applications: Applications) -> None:
    version = applications.sandbox.version.name

    def one(words: list[str]) -> tuple[object, object]:
        mine, other = run_tool(TOOL, *words), JavaTool(version, _CLASS).run(*words)
        return (mine.code, mine.out, complaint(mine.err)), (other.code, other.out, complaint(other.err))

    agree(COMMAND_LINES, one)
    assert run_tool(TOOL, "--help").err == JavaTool(version, _CLASS).run("--help").err
    assert run_tool(TOOL).err == JavaTool(version, _CLASS).run().err


def test_dry_runs_match_java(idle: Applications, tmp_path: Path) -> None:
    before = idle.state_of(IDLE)

    def one(words: list[str]) -> tuple[object, object]:
        words = [*expanded(words, tmp_path, {"@idle": IDLE}), "--dry-run"]
        mine, other = ours(idle, *words), theirs(idle, *words)
        assert not errors(mine.err)
        return (mine.code, alike(mine.out)), (other.code, alike(other.out))

    agree(DRY_RUNS, one)
    assert idle.state_of(IDLE) == before


def test_refused_resets_match_java_and_change_nothing(idle: Applications, tmp_path: Path) -> None:
    before = idle.state_of(IDLE)

    def one(words: list[str]) -> tuple[object, object]:
        words = [*expanded(words, tmp_path, {"@idle": IDLE}), "--dry-run"]
        mine, other = ours(idle, *words), theirs(idle, *words)
        assert ours(idle, *words[:-1]).code == 1  # unlike Java's, without a dry run too
        return (mine.code, alike(mine.out), errors(mine.err)), (other.code, alike(other.out), errors(other.err))

    agree(REFUSED, one)
    assert idle.state_of(IDLE) == before


def test_resets_match_java(applications: Applications, tmp_path: Path) -> None:
    """Each tool has its own applications for each row; their state afterward is equal, too."""
    table = ACTS.strip().splitlines()
    numbers = {row: at for at, row in enumerate(table)}

    def one(words: list[str]) -> tuple[object, object]:
        row = shlex.join(words)
        names = [f"resets-{numbers[row]}-{side}" for side in "kj"]
        applications.make_by_hand(*(name for name in names if "@1" in row))
        found = []
        for run, name in zip(BOTH, names, strict=True):
            ran = run(applications, *expanded(words, tmp_path, {"@1": name, "@new": name}))
            found.append((ran.code, alike(ran.out, name), errors(ran.err), applications.state_of(name)))
        return found[0], found[1]

    agree(table, one)


def test_reset_of_application_that_ran_matches_java(applications: Applications) -> None:
    """Members stay after the application ends; only --force removes them. Afterward, it reads everything again."""
    names = ("resets-ran-k", "resets-ran-j")
    applications.run(*names)
    mine, other = (run(applications, "--application-id", name) for run, name in zip(BOTH, names, strict=True))
    assert (mine.code, mine.out) == (other.code, other.out) == (1, "")
    assert _without_ids(errors(mine.err)[0], names[0]) == _without_ids(errors(other.err)[0], names[1])
    before = applications.state_of(names[0])

    rehearsed = ours(applications, "--application-id", names[0], *INPUTS, "--force", "--dry-run")
    assert rehearsed.code == 0
    assert ours(applications, "--application-id", names[0]).code == 1  # the members are still there
    assert applications.state_of(names[0]) == before
    assert before[1] == {"by-value-repartition", "counts-changelog"}

    words = [("--application-id", name, *INPUTS, "--force") for name in names]
    mine, other = ours(applications, *words[0]), theirs(applications, *words[1])
    assert (mine.code, alike(mine.out, names[0])) == (other.code, alike(other.out, names[1]))
    assert [line for line in rehearsed.out.splitlines() if "Dry run" not in line] == mine.out.splitlines()
    start = {(topic, at): 0 for topic, partitions in TOPICS.items() for at in range(partitions)}
    assert applications.state_of(names[0]) == applications.state_of(names[1]) == (start, set())

    applications.run(*names)  # returns when all records were counted again
    end = dict.fromkeys(start, RECORDS)
    assert applications.state_of(names[0]) == applications.state_of(names[1]) == (end, before[1])


def _without_ids(line: str, name: str) -> list[str]:
    line = re.sub("-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "-ID", line.replace(name, "@"))
    return sorted(re.split(r"[ ,=()\[\]]+", line))


def test_internal_topics_of_another_application_are_kept(applications: Applications) -> None:
    """Intended difference: the Java tool deletes topics of an application whose name begins with this one's."""
    name, other = "resets-part", "resets-part-eu"
    applications.make_by_hand(name, other)
    done = ours(applications, "--application-id", name)
    assert done.code == 1
    assert done.err.count(f"its name also matches group '{other}', not only '{name}'") == 1
    _, topics = applications.state_of(other)
    assert set(SUFFIXES) <= topics
    assert not set(SUFFIXES) & applications.state_of(name)[1]


def test_streams_group_is_refused(applications: Applications) -> None:
    play_streams_group(applications.sandbox.bootstrap, "resets-streams", "resets-in")
    done = ours(applications, "--application-id", "resets-streams")
    assert (done.code, done.out) == (1, "")
    assert "is a streams group: use kafka-streams-groups." in done.err
