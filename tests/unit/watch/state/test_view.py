"""Cursor, order, and filters of the full-screen watch."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgroups.errors import UsageError
from kgroups.model.duration import Milliseconds
from kgroups.model.status import GroupStatus, Status
from kgroups.watch.state.arrange import Order, arrange
from kgroups.watch.state.view import Page, View
from kgroups.watch.state.watching import WatchRow


def row(name: str, lag: int | None = 0, **fields: object) -> WatchRow:
    base = WatchRow(name, "Stable", 2, lag, 1.0, 2.0, Milliseconds(0), 0, (lag,), frozenset(), False, type="Classic")
    return base._replace(**fields)


def compile_regex(text: str, whole: bool) -> Callable[[str], bool]:
    try:
        compiled = re.compile(text, 0 if whole else re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"invalid: {error}") from None
    return lambda name: (compiled.fullmatch if whole else compiled.search)(name) is not None


def view_of(*rows: WatchRow) -> View:
    view = View(compile_regex)
    view.show(rows)
    return view


def names(view: View) -> list[str]:
    return [each.group for each in view.shown]


def cursor(view: View) -> str | None:
    return view.cursor and view.cursor.group


def press(view: View, *keys: str) -> View:
    for key in keys:
        view.press(key)
    return view


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("backwards", [False, True])
def test_unknown_numbers_are_last_and_equal_rows_are_sorted_by_name(order: Order, backwards: bool) -> None:
    unknown = row("a", None, members=None, rate_in=None, rate_out=None, catch_up_ms=None)
    arranged = [each.group for each in arrange([row("c"), unknown, row("b")], order, backwards=backwards)]
    if order is Order.GROUP:
        assert arranged == (["c", "b", "a"] if backwards else ["a", "b", "c"])
    elif order in (Order.STATUS, Order.STATE, Order.REBALANCES, Order.CLUSTER):
        assert arranged == ["a", "b", "c"]
    else:
        assert arranged == ["b", "c", "a"]


def test_cursor_stays_on_its_group_when_rows_move() -> None:
    view = press(view_of(row("a", 3), row("b", 2), row("c", 1)), "down")
    assert cursor(view) == "b"
    view.show([row("a", 1), row("b", 9), row("c", 5), row("d", 20)])
    assert (cursor(view), view.at) == ("b", 1)
    view.show([row("a", 1), row("c", 5), row("d", 20)])
    assert (cursor(view), view.at) == ("c", 1)


def test_moves_stay_in_range_and_reveal_the_cursor() -> None:
    view = view_of(*(row(f"g{number:05}") for number in range(10_000)))
    view.resize(20)
    assert (cursor(press(view, "end")), view.top) == ("g09999", 9980)
    assert cursor(press(view, "down")) == "g09999"
    assert (cursor(press(view, "pageup")), view.top) == ("g09979", 9979)
    assert (cursor(press(view, "home", "up")), view.top) == ("g00000", 0)
    view.move(25)
    assert (cursor(view), view.top) == ("g00025", 6)


@pytest.mark.parametrize(
    ("pattern", "kind", "found"),
    [
        ("pay", "text", ["Payments", "old.pay", "pay-1", "pay[1]"]),
        ("!pay", "text", ["orders"]),
        ("pay*", "glob", ["Payments", "pay-1", "pay[1]"]),
        ("!pay*", "glob", ["old.pay", "orders"]),
        ("PAY-?", "glob", ["pay-1"]),
        ("[op]*s", "glob", ["Payments", "orders"]),
        ("pay[1]", "glob", ["pay[1]"]),
        ("/^pay.*s", "regex", ["Payments"]),
        ("/^pay.*s/", "regex", ["Payments"]),
        ("!/^pay/", "regex", ["old.pay", "orders"]),
        ("pay$|ders", "regex", ["old.pay", "orders"]),
        ("^pay-", "regex", ["pay-1"]),
        ("~pay.*", "regex", ["pay-1", "pay[1]"]),
        ("!~pay-.", "regex", ["Payments", "old.pay", "orders", "pay[1]"]),
    ],
)
def test_filters_by_text_glob_and_regex(pattern: str, kind: str, found: list[str]) -> None:
    view = view_of(*map(row, ("pay-1", "Payments", "orders", "pay[1]", "old.pay")))
    press(view, "/", *pattern, "enter")
    assert (view.filter.kind, names(view), view.typing) == (kind, found, False)
    assert len(names(press(view, "escape"))) == 5


def test_invalid_filter_is_named_and_cannot_be_applied() -> None:
    view = press(view_of(row("pay"), row("orders")), "/", *"/pay", "(", "enter")
    assert view.typing and view.invalid.startswith("invalid: missing )") and names(view) == ["pay"]
    press(view, "backspace", "enter")
    assert (view.typing, view.invalid, names(view)) == (False, "", ["pay"])
    press(view, "/", "ctrl+u", "q")
    assert (view.pattern, view.typing, view.done) == ("q", True, False)


@pytest.mark.parametrize("pattern", ["!", "/", "//", "~", "!/"])
def test_filter_without_text_shows_all(pattern: str) -> None:
    assert len(names(press(view_of(row("a"), row("b")), "/", *pattern, "enter"))) == 2


def test_pasted_text_is_typed_up_to_its_first_line_end() -> None:
    view = view_of(row("pay"), row("orders"))
    view.paste("q")
    assert not view.done
    press(view, "/").paste(" pay\nq\n")
    assert (view.pattern, view.typing, names(view)) == ("pay", True, ["pay"])


def test_wheel_scrolls_and_the_cursor_remains_visible() -> None:
    view = view_of(*(row(f"g{number:03}") for number in range(100)))
    view.scroll(3)
    assert (view.top, view.at) == (3, 3)
    press(view, *["down"] * 5).scroll(3)
    assert (view.top, view.at) == (6, 8)
    view.scroll(-30)
    assert (view.top, view.at) == (0, 8)
    press(view, "end").scroll(-3)
    assert (view.top, view.at) == (77, 96)


def test_sort_keys_reverse_when_repeated() -> None:
    view = press(view_of(row("b", 1), row("a", 1), row("c", 2)), "N")
    assert (names(view), view.order) == (["a", "b", "c"], Order.GROUP)
    assert names(press(view, "N")) == ["c", "b", "a"]
    assert (names(press(view, "L")), view.backwards) == (["c", "a", "b"], False)


def test_several_clusters_have_groups_of_one_name() -> None:
    def rows(lag: int) -> list[WatchRow]:
        return [row("a", lag, cluster="eu"), row("a", 5, cluster="us"), row("b", 1, cluster="us")]

    view = View(compile_regex)
    view.several = True
    view.show(rows(9))
    assert press(view, "down").cursor == ("us", "a")
    view.show(rows(1))
    assert (view.cursor, view.at) == (("us", "a"), 0)
    assert [each.key for each in press(view, "<").shown] == [("eu", "a"), ("us", "a"), ("us", "b")]
    assert view.order is Order.CLUSTER
    assert [each.cluster for each in press(view, "r").shown] == ["us", "us", "eu"]
    assert names(press(view, "/", *"US", "enter")) == ["a", "b"]
    assert [each.cluster for each in press(view, "escape", "/", *"!~us", "enter").shown] == ["eu"]


def test_only_several_clusters_have_their_order_and_their_page() -> None:
    view = press(view_of(row("a")), "<", "b")
    assert (view.order, view.page) == (Order.CATCH_UP, Page.GROUPS)
    view.several = True
    assert press(view, "b").page is Page.CLUSTERS
    assert press(view, "?", "escape").page is Page.CLUSTERS
    assert press(view, "b").page is Page.GROUPS


def test_toggles_show_lagging_changed_and_types() -> None:
    view = view_of(row("a", 5), row("b", None), row("c", 0, changed=frozenset({"state"})), row("d", 0, type="Share"))
    assert names(press(view, "l")) == ["a", "b"]
    assert names(press(view, "l", "c")) == ["c"]
    assert names(press(view, "c", "t")) == ["a", "b", "c"]
    assert names(press(view, "t")) == ["d"]
    assert len(names(press(view, "t"))) == 4


def judged(name: str, status: Status, lag: int | None = 0) -> WatchRow:
    return row(name, lag, status=GroupStatus(status, status.severity, "because"))


def test_worst_status_is_first_and_equal_ones_are_sorted_by_lag() -> None:
    view = view_of(
        judged("ok", Status.OK, 9),
        judged("unknown", Status.UNKNOWN, None),
        judged("behind", Status.FALLING_BEHIND, 5),
        judged("further", Status.FALLING_BEHIND, 50),
        judged("stopped", Status.NO_MEMBER, 1),
        judged("stuck", Status.STUCK, 1),
        judged("lost", Status.DATA_LOST, 1),
    )
    worst_first = ["lost", "stuck", "stopped", "further", "behind", "unknown", "ok"]
    assert (view.order, names(view)) == (Order.STATUS, worst_first)
    assert names(press(view, "S")) == worst_first[::-1]
    assert names(press(view, "S", "ctrl+z")) == worst_first[:-1]
    assert (
        view.summary
        and view.summary.text() == "7 groups: 2 critical, 3 warning, 1 unknown, 1 ok; total lag at least 67"
    )
    assert view.summary.text(short=True) == "7 groups: 2 critical, 3 warning, 1 unknown, 1 ok; lag >= 67"


def test_pages_of_other_groups_follow_the_order_of_the_list() -> None:
    view = press(view_of(row("a", 3), row("b", 2), row("c", 1)), "]", "enter")
    view.move(9)
    assert (cursor(press(view, "]")), view.page, view.scrolled) == ("b", Page.GROUP, 0)
    assert (cursor(press(view, "e", "]", "]")), view.page) == ("c", Page.EXPLAIN)
    assert (cursor(press(view, "[", "escape", "[", "[")), view.page) == ("a", Page.GROUP)
    assert cursor(press(view, "escape", "]")) == "a"


def test_explain_returns_to_the_page_it_was_opened_from() -> None:
    view = press(view_of(row("a", 2), row("b", 1)), "e")
    assert press(view, "e", "pagedown").page is Page.EXPLAIN
    assert press(view, "escape").page is Page.GROUPS
    view.scrolled = press(view, "d").scrolled + 7
    assert press(view, "e", "?", "escape").page is Page.EXPLAIN
    assert (press(view, "q").page, view.scrolled) == (Page.GROUP, 7)


def test_pages_open_and_close() -> None:
    view = press(view_of(row("a", 2), row("b", 1)), "enter")
    assert (view.page, cursor(view)) == (Page.GROUP, "a")
    view.show([row("b", 1)])
    assert (view.page, cursor(view)) == (Page.GROUP, "a")
    assert press(view, "?").page is Page.HELP
    assert press(view, "q").page is Page.GROUP
    assert press(view, "escape").page is Page.GROUPS
    assert press(view, "q").done
