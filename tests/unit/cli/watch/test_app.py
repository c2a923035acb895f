"""The full screen of ``kgroups watch``, driven by Textual's Pilot."""

from __future__ import annotations

import asyncio
import queue
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from kgroups.cli.watch.app import Asks, Picture, WatchApp
from kgroups.cli.watch.reset import PlannedReset
from kgroups.cli.watch.ticks import OVER, Event, Tick
from kgroups.errors import UsageError
from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import TimeLag
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.watch.partitions import TimeLags
from kgroups.model.watch.watching import Watch
from tests.fakes.broker import FakeCluster
from tests.integration.terminal import Typist

Play = Callable[[Pilot, queue.SimpleQueue], Awaitable[None]]
SIZES = [(80, 24), (120, 40), (200, 50)]


def group(name: str, committed: int, state: str = "Stable") -> GroupOffsets:
    members = (Member(f"{name}-1", "c", "/h", assignment_of([("t", [0])])),)
    described = Group(name, "Classic", state, "consumer", "range", Node(0, "h", 1), members, None)
    return GroupOffsets(
        described, GroupCommits(name, {"t": (Commit(0, committed),)}), Logs({"t": {0: LogOffsets(0, 9_999)}}, {})
    )


class Source:
    """Refreshes of one watch."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.number = 0

    def tick(self, *groups: GroupOffsets, failures: tuple[Failure, ...] = ()) -> Tick:
        self.number += 1
        rows = self.watch.add(self.number * 2000, groups, None if failures else ())
        named = {each.group.group_id: each for each in groups}
        return Tick(self.number, self.number * 2000, rows, failures, named, self.watch)


class Planned(PlannedReset):
    """A plan without a cluster."""

    def __init__(self, group: str, target: str) -> None:
        if "--bad" in target:
            raise UsageError("no such option: --bad")
        self.words = f"{group} {target}"

    def plan(self) -> tuple[list[str], bool]:
        return [f"plan of {self.words}"], "--none" not in self.words

    def execute(self) -> list[str]:
        return [f"wrote {self.words}", "the old offsets are in undo.json"]


def play(script: Play, *events: Event, size: tuple[int, int] = (120, 40), styled: bool = True) -> WatchApp:
    arriving: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for event in events:
        arriving.put(event)
    times = TimeLags(1_700_000_000_000, {("t", 0): TimeLag(Milliseconds(61_000))})
    asks = Asks(lambda name: [f"findings of {name}"], Planned, lambda name: times)
    app = WatchApp(arriving, 1e12, "broker:9092", asks, styled=styled)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(pilot, arriving)

    asyncio.run(run())
    return app


def screen(pilot: Pilot) -> list[str]:
    picture = pilot.app.query_one(Picture)
    return [picture.render_line(y).text.rstrip() for y in range(picture.size.height)]


@pytest.mark.parametrize("size", SIZES)
def test_screen_fits_marks_the_sorted_column_and_scrolls(size: tuple[int, int]) -> None:
    tick = Source().tick(*(group(f"group-{number:04}", number) for number in range(1000)))

    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        lines = screen(pilot)
        assert len(lines) == size[1] and max(map(len, lines)) <= size[0]
        assert "1,000 of 1,000 groups" in lines[0] or "1,000 of 1000 groups" in lines[0]
        assert "LAG↓" in lines[1] and lines[2].startswith("group-0000")
        assert ("OUT/S" in lines[1]) == (size[0] >= 100)
        await pilot.press("end")
        assert screen(pilot)[-2].startswith("group-0999")
        await pilot.press("r", "home")
        assert "LAG↑" in screen(pilot)[1] and screen(pilot)[2].startswith("group-0999")

    play(script, tick, size=size)


def test_screen_without_styles_marks_the_cursor_by_a_character() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        await pilot.press("down")
        assert [line[:4] for line in screen(pilot)[1:4]] == ["  GR", "  a ", "> b "]
        strips = [pilot.app.query_one(Picture).render_line(y) for y in range(pilot.app.size.height)]
        assert not any(segment.style for strip in strips for segment in strip)

    source = Source()
    play(script, source.tick(group("a", 1), group("b", 2)), size=(80, 24), styled=False)


def test_group_page_shows_partitions_changes_and_findings() -> None:
    source = Source()
    ticks = [source.tick(group("a", 100)), source.tick(group("a", 300, state="Empty"))]

    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        await pilot.press("enter")
        text = "\n".join(screen(pilot))
        assert "Group a" in text and "9,699" in text and "100" in text
        assert "Stable -> Empty" in text
        shown = await until(pilot, "Time lag: read ")
        assert "1m1s" in next(line for line in shown.splitlines() if line.startswith("t "))
        await pilot.press("e")
        for _ in range(200):
            if "findings of a" in "\n".join(screen(pilot)):
                break
            await pilot.pause(0.05)
        assert "findings of a" in "\n".join(screen(pilot))
        await pilot.press("escape")
        assert "STATE" in screen(pilot)[1]

    play(script, *ticks)


def test_failures_are_named_and_stale_rows_marked() -> None:
    source = Source()
    source.tick(group("a", 1))
    failed = source.tick(failures=(Failure(Scope.BROKER, "2", "no response"),))

    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        lines = screen(pilot)
        assert "a (stale)" in lines[2] and "(2s ago)" in lines[2] and "no response" in lines[-2]

    assert play(script, failed).failed


def test_keys_work_before_the_first_refresh_and_help_names_keys() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        assert "waiting for the first answer" in screen(pilot)[0]
        await pilot.press("down", "enter", "question_mark")
        assert "Keys" in screen(pilot)[1]
        await pilot.press("escape", "q")

    assert not play(script).failed


def test_resize_and_end_of_refreshes() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert len(screen(pilot)) == 30
        arriving.put(OVER)

    play(script, Source().tick(group("a", 1)))


@pytest.mark.parametrize(("typed", "code"), [("q", 0), ("\x03", 130), (None, -signal.SIGTERM)])
def test_every_end_restores_the_terminal(serve: Callable, typed: str | None, code: int) -> None:
    """On a real pseudo-terminal; the first broker answers, and keys and signals end the screen. A topic is missing."""

    def shop(fake: FakeCluster) -> None:
        fake.state.topic("orders", [0, 1], end=100)
        fake.state.group("b", 0, commits={("deleted", 0): 90})
        fake.state.group("a", 0, commits={("orders", 0): 90})

    with Typist("watch", "--interval", "200ms", bootstrap=serve(fill=shop).bootstrap) as person:
        person.wait_for("LAG↓")
        if typed is None:
            person.signal(signal.SIGTERM)
        else:
            person.type(typed)
        shown = person.end()
    assert shown.code == code
    assert shown.raw.rindex("\x1b[?1049l") > shown.raw.rindex("\x1b[?1049h")
    assert "\x1b[?25h" in shown.raw[shown.raw.rindex("\x1b[?1049h") :] and "Traceback" not in shown.text


def test_other_commands_do_not_import_textual() -> None:
    code = "import sys, kgroups.cli.watch.command, kgroups.__main__; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def until(pilot: Pilot, text: str) -> str:
    for _ in range(200):
        if text in (shown := "\n".join(screen(pilot))):
            return shown
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} not in\n{shown}")


def test_reset_shows_the_dry_run_and_executes_only_after_the_name_was_typed() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        await pilot.press("enter", "R")
        await until(pilot, "kgroups reset-offsets ab --to-earliest --all-topics_")
        await pilot.press("ctrl+u", *"--bad", "enter")
        await until(pilot, "no such option: --bad")
        await pilot.press("ctrl+u", *"--none", "enter")
        await until(pilot, "plan of ab --none")
        await pilot.press(*" q", "enter")
        await until(pilot, "kgroups reset-offsets ab --none q_")
        await pilot.press("ctrl+u", *"--to-latest", "enter")
        await until(pilot, "plan of ab --to-latest")
        await pilot.press("enter", *"yes", "enter")
        assert "wrote" not in await until(pilot, "Type the name of the group to write these offsets: _")
        await pilot.press(*"ab", "enter")
        assert "undo.json" in await until(pilot, "wrote ab --to-latest")
        await pilot.press("escape")
        await until(pilot, "Press e to explain the group.")

    play(script, Source().tick(group("ab", 1)), size=(100, 30))
