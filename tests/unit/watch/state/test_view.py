"""Cursor, order, and filters of the full-screen watch."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgroups.model.duration import Milliseconds
from kgroups.watch.state.arrange import Order, arrange
from kgroups.watch.state.view import Page, View
from kgroups.watch.state.watching import WatchRow


def row(name: str, lag: int | None = 0, **fields: object) -> WatchRow:
    base = WatchRow(name, "Stable", 2, lag, 1.0, 2.0, Milliseconds(0), 0, (lag,), frozenset(), False, type="Classic")
    return base._replace(**fields)


def compile_regex(text: str) -> Callable[[str], bool] | None:
    try:
        compiled = re.compile(text)
    except re.error:
        return None
    return lambda name: compiled.fullmatch(name) is not None


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
    elif order in (Order.STATE, Order.REBALANCES, Order.CLUSTER):
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


def test_filters_by_text_regex_and_inverse() -> None:
    view = view_of(row("pay-1"), row("Payments"), row("orders"))
    assert names(press(view, "/", *"pay", "enter")) == ["Payments", "pay-1"]
    assert names(press(view, "escape")) == ["Payments", "orders", "pay-1"]
    assert names(press(view, "/", *"~pay-.", "enter")) == ["pay-1"]
    press(view, "escape", "/", *"!~pay-.", "enter")
    assert names(view) == ["Payments", "orders"]
    press(view, "escape", "/", *"~(")
    assert view.invalid and len(names(view)) == 3
    press(view, "ctrl+u", "q")
    assert (view.pattern, view.typing, view.done) == ("q", True, False)


def test_several_clusters_have_groups_of_one_name() -> None:
    def rows(lag: int) -> list[WatchRow]:
        return [row("a", lag, cluster="eu"), row("a", 5, cluster="us"), row("b", 1, cluster="us")]

    view = View(compile_regex)
    view.several = True
    view.show(rows(9))
    assert press(view, "down").cursor == ("us", "a")
    view.show(rows(1))
    assert (view.cursor, view.at) == (("us", "a"), 0)
    assert [each.key for each in press(view, "S").shown] == [("eu", "a"), ("us", "a"), ("us", "b")]
    assert view.order is Order.CLUSTER
    assert [each.cluster for each in press(view, "r").shown] == ["us", "us", "eu"]
    assert names(press(view, "/", *"US", "enter")) == ["a", "b"]
    assert [each.cluster for each in press(view, "escape", "/", *"!~us", "enter").shown] == ["eu"]


def test_only_several_clusters_have_their_order_and_their_page() -> None:
    view = press(view_of(row("a")), "S", "b")
    assert (view.order, view.page) == (Order.CATCH_UP, Page.GROUPS)
    view.several = True
    assert press(view, "b").page is Page.CLUSTERS
    assert press(view, "?", "escape").page is Page.CLUSTERS
    assert press(view, "b").page is Page.GROUPS


def test_toggles_show_lagging_changed_and_types() -> None:
    view = view_of(row("a", 5), row("b", None), row("c", 0, changed=frozenset({"state"})), row("d", 0, type="Share"))
    assert names(press(view, "l")) == ["a", "b"]
    assert names(press(view, "l", "c")) == ["c"]
    assert names(press(view, "c", "t")) == ["a", "c", "b"]
    assert names(press(view, "t")) == ["d"]
    assert len(names(press(view, "t"))) == 4


def test_pages_open_and_close() -> None:
    view = press(view_of(row("a", 2), row("b", 1)), "enter")
    assert (view.page, cursor(view)) == (Page.GROUP, "a")
    view.show([row("b", 1)])
    assert (view.page, cursor(view)) == (Page.GROUP, "a")
    assert press(view, "?").page is Page.HELP
    assert press(view, "q").page is Page.GROUP
    assert press(view, "escape").page is Page.GROUPS
    assert press(view, "q").done
