"""The pages of the full screen as text, at three sizes. ``--rebuild-golden`` writes them again; review the diff."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from rich.cells import cell_len

from kgroups.model.duration import Milliseconds
from kgroups.model.headroom import Headroom
from kgroups.model.status import NO_DAMAGE, Damage, Known, Trend, judge_status
from kgroups.model.time_lag import TimeLag
from kgroups.model.views.offset_row import OffsetRow
from kgroups.watch.screen.picture import Opened, draw_page
from kgroups.watch.screen.table import Layout
from kgroups.watch.state.partitions import PartitionRow, TimeLags
from kgroups.watch.state.view import View
from kgroups.watch.state.watching import StateChange, WatchRow

NOW = 1_767_225_600_000
HEAD = "12:00:00  #7  kafka-1:9092"
FAILURE = "kgroups: broker 2 (kafka-2:9092): no response to ListGroups within 10 s; its groups are missing"
HISTORY = (0, 10, 40, 90, 60, 150)


def row(name: str, lag: int | None, damage: Damage = NO_DAMAGE, **fields: object) -> WatchRow:
    base = WatchRow(
        name, "Stable", 3, lag, 120.4, 95.0, None, 1, (*HISTORY[:-1], lag), frozenset(), False, type="Classic"
    )._replace(falls_behind=bool(lag))
    row = base._replace(**fields)
    known = Known(row.state, row.members, lag, row.known_lag, row.unknown_partitions, damage, row.stale)
    trend = Trend.CATCHING_UP if row.catch_up_ms else Trend.FALLING_BEHIND
    return row._replace(status=judge_status(known._replace(known_lag=row.known_lag or lag), trend))


ROWS = [
    row("lost", 12, Damage(lost=(("orders", 3),)), data_lost=1),
    row("payments-service", 1_204_150, changed=frozenset({"total_lag"})),
    row("orders", 42, catch_up_ms=Milliseconds(61_000), rate_out=400.0, type="Consumer"),
    row("idle", 0, state="Empty", members=0, rate_in=0.0, rate_out=0.0, catch_up_ms=Milliseconds(0)),
    row("never-known", None, unknown_partitions=2, rate_in=None, lags=(None,)),
    row("leader-down", None, unknown_partitions=1, known_lag=7, last_lag=900, lag_age_ms=Milliseconds(5_000)),
    row("of-hung-broker", 30, stale=True, last_lag=30, lag_age_ms=Milliseconds(14_000)),
    row("strange\x1b[31m№-name-that-is-longer-than-the-column-of-a-narrow-terminal-allows", 1),
    *(row(f"batch-{number:03}", number % 7, type="Share") for number in range(60)),
]
MEMBER = "orders-service-1-7f3a6c1e-52a4-4a4e-9a4b-1f6f0f6d7c11"
WHERE = "/10.0.0.7", "orders-service-1"
OPENED = Opened(
    [
        PartitionRow(
            OffsetRow("orders", "orders", 0, 3, 60, 0, 100, 40, MEMBER, *WHERE),
            HISTORY,
            60.0,
            55.5,
        ),
        PartitionRow(
            OffsetRow("orders", "orders", 1, 3, 98, 0, None, None, MEMBER, *WHERE),
            (2, None),
            None,
            1.0,
        ),
        PartitionRow(OffsetRow("orders", consumer_id="c-2-91bd", host="/10.0.0.8", client_id="c-2"), (), None, None),
    ],
    [("11:59:30", StateChange(NOW, "Stable", "PreparingRebalance"))],
    [
        "orders: 2 members",
        "- one member has no partitions: the topic has fewer partitions than the group has members, so that it waits",
    ],
    TimeLags(
        NOW,
        {("orders", 0): TimeLag(Milliseconds(61_000)), ("orders", 1): TimeLag(None)},
        rooms={("orders", 0): Headroom(Milliseconds(7_200_000), by="retention.ms"), ("orders", 1): Headroom()},
        note="time lag unknown of 1 partition: leader not available",
    ),
    NOW + 3_000,
)
PLAN = [
    "GROUP   TOPIC   PARTITION  OLD-OFFSET  NEW-OFFSET  DISTANCE",
    "orders  orders  0          60          0           -60",
]
UNDO = "kgroups-undo-orders-service-of-the-shop-20260101T000000Z.json"
WRITTEN = [
    "GROUP   TOPIC   PARTITION  OLD-OFFSET  NEW-OFFSET  DISTANCE  RESULT",
    "orders  orders  0          60          0           -60       applied",
    "",
    f"The old offsets are in {UNDO}",
    "To restore them:",
    f"kgroups undo {UNDO} --execute -b b:9092",
]


def pages(width: int, height: int) -> Iterator[tuple[str, list[str]]]:
    def drawn(*failures: str) -> list[str]:
        lines = draw_page(view, HEAD, failures, "", OPENED, width, height, layout, utf8=True, styled=False)
        return ["".join(segment.text for segment in line).rstrip() for line in lines]

    view, layout = View(lambda text, whole: re.compile(text).fullmatch), Layout()
    view.show(ROWS)
    yield "groups", drawn()
    view.press("end")
    yield "the last groups, while a broker does not respond", drawn(FAILURE)
    for key in ("home", "N", "/", *"o", "enter"):
        view.press(key)
    yield "sorted by name, filtered", drawn()
    for key in ("escape", "/", *"orders", "enter", "enter"):
        view.press(key)
    yield "a group", drawn()
    view.press("R")
    yield "a reset: target", drawn()
    assert view.reset is not None
    for key in ("*", "tab", *"earliest", "enter"):
        view.press(key)
    view.reset.show(PLAN, planned=True)
    view.press("o")
    yield "a reset: dry run", drawn()
    view.paste("rders")
    view.press("enter")
    view.reset.show(WRITTEN, restore=WRITTEN[-1])
    yield "a reset: results", drawn()
    for key in ("escape", "e"):
        view.press(key)
    yield "explain", drawn()
    for key in ("escape", "?"):
        view.press(key)
    yield "keys", drawn()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 50)])
def test_pages_look_as_before(golden: Callable[[str, str], None], width: int, height: int) -> None:
    text = []
    for name, lines in pages(width, height):
        assert len(lines) == height and max(map(cell_len, lines)) <= width, name
        text += [f"{'=' * 10} {name}", *lines]
    golden(f"watch/{width}x{height}", "\n".join(text) + "\n")


def test_findings_have_the_color_of_the_severity_that_they_name() -> None:
    view = View(lambda text, whole: re.compile(text).fullmatch)
    view.show(ROWS)
    view.press("e")
    texts = ["a: t-0: PROBLEM: stuck", "- WARNING: few members", "- its PROBLEM: none", "  WARNING: indented"]
    lines = draw_page(view, HEAD, [], "", Opened(explained=texts), 80, 24, Layout(), utf8=True)
    styles = [line[0].style for line in lines[1:5]]
    assert [style and str(style) for style in styles] == ["bold red", "bold yellow", None, None]
