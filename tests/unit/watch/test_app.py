"""The full screen of ``kgroups watch``, driven by Textual's Pilot."""

from __future__ import annotations

import asyncio
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from kgroups.errors import UsageError
from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import TimeLag
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.watch.app import Asks, Picture, WatchApp
from kgroups.watch.reset import PlannedReset
from kgroups.watch.state.partitions import TimeLags
from kgroups.watch.state.watching import GroupKey, Watch
from kgroups.watch.tick import Sampled, Tick
from kgroups.watch.ticks import OVER, Event
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
        named = {each.group.group: each for each in groups}
        return Tick(self.number, self.number * 2000, rows, failures, {"": Sampled(named, self.watch)})


def name_of(key: GroupKey) -> str:
    return f"{key.group} in {key.cluster}" if key.cluster else key.group


class Planned(PlannedReset):
    """A plan without a cluster."""

    def __init__(self, key: GroupKey, target: str) -> None:
        if "--bad" in target:
            raise UsageError("no such option: --bad")
        self.words = f"{name_of(key)} {target}"
        self.restore = None

    def plan(self) -> tuple[list[str], bool]:
        return [f"plan of {self.words}"], "--none" not in self.words

    def execute(self) -> list[str]:
        self.restore = "kgroups restore"
        return [f"wrote {self.words}", self.restore]


def play(script: Play, *events: Event, size: tuple[int, int] = (120, 40), styled: bool = True) -> WatchApp:
    arriving: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for event in events:
        arriving.put(event)
    times = TimeLags(1_700_000_000_000, {("t", 0): TimeLag(Milliseconds(61_000))})
    asks = Asks(
        lambda key: [f"findings of {name_of(key)}"],
        Planned,
        lambda key: times,
        lambda key: f"--profile {key.cluster}" if key.cluster else "-b broker:9092",
    )
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
        assert "1,000 groups: 1,000 unknown; " in lines[0] and "lag 9,499,500" in lines[0]
        assert "STATUS↓" in lines[1] and lines[2].startswith("group-0000")
        assert ("OUT/S" in lines[1], "WHY" in lines[1]) == (size[0] >= 100, size[0] >= 200)
        await pilot.press("end")
        assert screen(pilot)[-2].startswith("group-0999")
        assert screen(pilot)[1] == lines[1]
        await pilot.press("L", "r", "home")
        assert "LAG↑" in screen(pilot)[1] and screen(pilot)[2].startswith("group-0999")
        assert screen(pilot)[1].replace("LAG↑", " LAG") == lines[1].replace("STATUS↓", "STATUS ")

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
        shown = await until(pilot, "Time lag and headroom: read ")
        assert "1m1s" in next(line for line in shown.splitlines() if line.startswith("t "))
        await pilot.press("e")
        await until(pilot, "findings of a")
        await pilot.press("escape")
        assert "Group a" in screen(pilot)[1]
        await pilot.press("escape", "e")
        await until(pilot, "findings of a")
        await pilot.press("escape")
        assert "STATE" in screen(pilot)[1]

    play(script, *ticks)


def test_other_groups_are_explained_from_the_page_of_one() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        await pilot.press("e")
        await until(pilot, "findings of a")
        await pilot.press("]")
        await until(pilot, "findings of b")
        await pilot.press("[")
        await until(pilot, "findings of a")

    play(script, Source().tick(group("a", 100), group("b", 300)))


def of_clusters(failures: tuple[Failure, ...] = (), notices: tuple[str, ...] = (), **lags: int) -> Tick:
    """Return a refresh of clusters that have groups of one name."""
    watches = {cluster: Watch(cluster) for cluster in lags}
    groups = {cluster: group("both", 9_999 - lag) for cluster, lag in lags.items()}
    rows = [row for cluster in lags for row in watches[cluster].add(2000, [groups[cluster]])]
    sampled = {cluster: Sampled({"both": groups[cluster]}, watches[cluster]) for cluster in lags}
    ids = {**dict.fromkeys(lags, "ID"), **{each.cluster: None for each in failures if each.cluster}}
    return Tick(1, 2000, rows, failures, sampled, notices, ids)


def refused(cluster: str) -> Failure:
    return Failure(Scope.CLUSTER, cluster, f"refused by {cluster}", cluster=cluster)


def test_groups_of_one_name_are_opened_explained_reset_and_copied_by_cluster() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        copied: list[str] = []
        pilot.app.copy_to_clipboard = copied.append
        lines = screen(pilot)
        assert lines[1].split()[:2] == ["CLUSTER", "GROUP"]
        assert [line.split()[:5] for line in lines[2:4]] == [
            ["us", "both", "lagging", "Stable", "1"],
            ["eu", "both", "lagging", "Stable", "1"],
        ]
        await pilot.press("down", "y", "enter")
        assert copied == ["kgroups describe both --profile eu"]
        assert "Group both of cluster eu" in await until(pilot, "Time lag and headroom: read ")
        await pilot.press("e")
        await until(pilot, "findings of both in eu")
        await pilot.press("y", "escape", "R")
        assert copied[1:] == ["kgroups explain both --profile eu"]
        await until(pilot, "Reset group both of cluster eu")
        await pilot.press("*", "tab", *"earliest", "enter")
        await until(pilot, "plan of both in eu --all-topics --to-earliest")

    play(script, of_clusters(eu=5, us=50))


def test_clusters_that_fail_are_named_below_the_table_and_on_the_page_of_totals() -> None:
    failures = tuple(refused(f"dead-{number}") for number in range(20))

    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        lines = screen(pilot)
        assert "kgroups: cluster dead-0: refused by dead-0" in lines
        assert lines[-2] == "10 more; b shows all"
        await pilot.press("b")
        lines = screen(pilot)
        assert [" ".join(line.split()) for line in lines if line.startswith(("CLUSTER", "us", "dead-10"))] == [
            "CLUSTER #GROUPS CRITICAL WARNING STABLE EMPTY REBALANCING OTHER-STATE LAGGING "
            "TOTAL-LAG KNOWN-LAG UNKNOWN-LAG",
            "dead-10 - - - - - - - - - - -",
            "us 1 0 0 1 0 0 0 1 5 5 0",
        ]
        assert "kgroups: note: eu and us are the same cluster" in lines
        assert all(f"kgroups: cluster dead-{number}: refused by dead-{number}" in lines for number in range(20))
        await pilot.press("escape")
        assert screen(pilot)[1].startswith("CLUSTER")

    play(script, of_clusters(failures, ("eu and us are the same cluster",), us=5), size=(120, 50))


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


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("b", 0, commits={("deleted", 0): 90})
    fake.state.group("a", 0, commits={("orders", 0): 90})


@pytest.mark.parametrize(("typed", "code"), [("q", 0), ("\x03", 130), (None, -signal.SIGTERM)])
def test_every_end_restores_the_terminal(serve: Callable, typed: str | None, code: int) -> None:
    """On a real pseudo-terminal; the first broker answers, and keys and signals end the screen. A topic is missing."""
    with Typist("watch", "--interval", "200ms", bootstrap=serve(fill=shop).bootstrap) as person:
        person.wait_for("STATUS↓")
        if typed is None:
            person.signal(signal.SIGTERM)
        else:
            person.type(typed)
        shown = person.end()
    assert shown.code == code
    assert shown.raw.rindex("\x1b[?1049l") > shown.raw.rindex("\x1b[?1049h")
    assert "\x1b[?25h" in shown.raw[shown.raw.rindex("\x1b[?1049h") :] and "Traceback" not in shown.text


def test_signal_ends_a_screen_whose_terminal_takes_nothing_more(serve: Callable) -> None:
    with Typist("watch", "--interval", "200ms", bootstrap=serve(fill=shop).bootstrap) as person:
        person.wait_for("STATUS↓")
        for columns in range(120, 200):  # more than the buffers of the terminal and of Textual hold
            person.resize(columns)
            person.signal(signal.SIGWINCH)
            time.sleep(0.02)
        person.signal(signal.SIGTERM)
        assert person.wait(60) == -signal.SIGTERM


def test_other_commands_do_not_import_textual() -> None:
    code = "import sys, kgroups.watch.command, kgroups.__main__; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def until(pilot: Pilot, text: str) -> str:
    for _ in range(200):
        if text in (shown := "\n".join(screen(pilot))):
            return shown
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} not in\n{shown}")


def test_reset_shows_the_dry_run_and_executes_only_after_the_name_was_typed() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        copied: list[str] = []
        pilot.app.copy_to_clipboard = copied.append
        await pilot.press("enter", "R", "enter")
        shown = await until(pilot, "Topics: must not be empty")
        assert "--to-earliest" not in shown and "The group has 1 member" in shown and "Topics of the group: t" in shown
        await pilot.press(*"*", "enter", *"--bad", "enter")
        await until(pilot, "no such option: --bad")
        await pilot.press("ctrl+u", *"latest", "down", *"--none", "enter")
        await until(pilot, "plan of ab --all-topics --to-latest --none")
        await pilot.press(*" q", "enter")
        await until(pilot, "kgroups reset-offsets ab --all-topics --to-latest --none q")
        await pilot.press("ctrl+u", "shift+tab", "ctrl+u", *"shift -5", "enter")
        assert "Enter: write" in await until(pilot, "plan of ab --all-topics --shift-by=-5")
        await pilot.press("escape")
        assert "Tab: next field" in await until(pilot, "> Move to: shift -5_")
        await pilot.press("enter")
        await until(pilot, "Type the name")
        await pilot.press("enter", *"yes", "enter")
        assert "wrote" not in await until(pilot, "Type the name of the group to write these offsets: _")
        await until(pilot, "'yes' is not the name of the group: nothing was written")
        await pilot.press(*"ab", "enter")
        shown = await until(pilot, "wrote ab --all-topics --shift-by=-5")
        assert "\nkgroups restore\n" in shown and shown.splitlines()[-1].startswith("Esc: back  y: copy")
        await pilot.press("y", "escape")
        assert copied == ["kgroups restore"]
        await until(pilot, "R: reset")

    play(script, Source().tick(group("ab", 1)), size=(100, 30))


def test_clicks_sort_select_and_open() -> None:
    async def script(pilot: Pilot, arriving: queue.SimpleQueue) -> None:
        def first() -> list[str]:
            return [line.split()[0] for line in screen(pilot)[1:5]]

        await pilot.click(Picture, offset=(2, 1))
        assert first() == ["GROUP↑", "a", "b", "c"]
        await pilot.click(Picture, offset=(2, 1))
        assert first() == ["GROUP↓", "c", "b", "a"]
        await pilot.click(Picture, offset=(screen(pilot)[1].index("LAG") + 1, 1))
        assert first() == ["GROUP", "a", "c", "b"]
        await pilot.click(Picture, offset=(2, 3))
        await pilot.click(Picture, offset=(2, 20))
        assert isinstance(pilot.app, WatchApp) and pilot.app.view.cursor == ("", "c")
        await pilot.click(Picture, offset=(2, 4), times=2)
        await until(pilot, "Group b")

    play(script, Source().tick(group("b", 30), group("a", 10), group("c", 20)))
