"""The page as text: its content, and that no text of the cluster becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from kgroups.history.report import page as pages
from kgroups.history.report.data import GroupRow, Kept, ReportData
from kgroups.history.report.file import MARK
from kgroups.history.report.findings import STATUSES, status, wrong
from kgroups.history.report.html import Html
from kgroups.history.report.page import body, page
from kgroups.history.report.table import share
from kgroups.history.report.words import anchor, visible
from tests.fakes.report import BIDI, HOSTILE, NAMES, at, busy_day, hundred_groups, nothing

SECTIONS = [
    "Lag", "Rebalances", "Groups", "Consumers by topic", "Top offenders", "Commits", "Anomalies", "Stale and expiring",
    "Move to the consumer protocol", "Completeness of history",
]  # fmt: skip
VOID = {"meta", "br", "img", "link", "input"}


class Outline(HTMLParser):
    """What elements there are, with which attributes and in which text; complains of what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


@pytest.fixture(scope="module")
def busy_page() -> Outline:
    return Outline(page(busy_day()))


def test_page_has_headings_captions_and_chart_descriptions(busy_page: Outline) -> None:
    assert [text for text in busy_page.text("h2") if text in SECTIONS] == SECTIONS
    assert len(busy_page.text("h1")) == 1
    assert len([each for each in busy_page.all("table") if "id" in each]) == 9
    assert len(busy_page.all("caption")) == len(busy_page.all("table")) > 6
    assert {each.get("scope") for each in busy_page.all("th")} == {"col", "row"}
    assert {scope for tag, each in busy_page.elements if tag == "td" for scope in each} <= {"class", "data-key"}
    regions = [each for each in busy_page.all("div") if each.get("tabindex") == "0"]
    assert all(each["role"] == "region" and {"aria-label", "aria-labelledby"} & each.keys() for each in regions)
    plots = [at for at, (tag, each) in enumerate(busy_page.elements) if each.get("class") == "plot"]
    assert len(plots) == 7
    assert all(busy_page.elements[at][1]["role"] == "img" for at in plots)
    assert all([tag for tag, _ in busy_page.elements[at + 1 : at + 3]] == ["title", "desc"] for at in plots)
    assert len(busy_page.text("desc")) == 7 and all(len(text) > 40 for text in busy_page.text("desc"))
    levels = [int(tag[1]) for tag, _ in busy_page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in busy_page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(each["href"] or "")[1:] for each in busy_page.all("a")} <= set(ids)
    assert {each["aria-labelledby"] for _, each in busy_page.elements if "aria-labelledby" in each} <= set(ids)


def test_page_numbers_have_exact_values_in_titles(busy_page: Outline) -> None:
    titles = {each.get("title") for each in busy_page.all("span")}
    assert {"1,261,000 records", "25,200,000 ms"} <= titles
    times = busy_page.all("time")
    assert times and all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each["title"] or "") for each in times)


def test_page_shows_cluster_names_as_text(busy_page: Outline) -> None:
    assert not busy_page.all("img")
    assert HOSTILE in busy_page.text("bdi")
    assert "evil\\u202egpj.exe\\x1b[31m" in busy_page.text("bdi")
    assert not any("onerror" in attributes or "onload" in attributes for _, attributes in busy_page.elements)


@pytest.mark.parametrize("name", [HOSTILE, "<!--", "]]>", "&lt;b&gt;", "\u2028", BIDI, "'\"`", "\ud800", "x" * 32_767])
def test_page_is_safe_for_any_name(name: str) -> None:
    day = busy_day()
    series = tuple(series._replace(group=name) for series in day.lag.series.rows[:1])
    outline = Outline(page(day._replace(lag=day.lag._replace(series=Kept(series, 1)))))
    assert not outline.all("img") and len(outline.all("script")) == 2
    shown = [text for text in outline.text("title") if "records" in text or " k" in text or " M" in text]
    assert shown and all(line.isprintable() and len(line) < 400 for text in shown for line in text.splitlines())


def test_page_loads_nothing_from_elsewhere() -> None:
    text = page(busy_day())
    assert not re.findall(r"https?:|//[a-z]+\.|@import|url\(", text)
    for tag, attributes in Outline(text).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")


def test_page_policy_allows_only_its_own_scripts() -> None:
    text = page(busy_day())
    policy = next(each["content"] or "" for each in Outline(text).all("meta") if each.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy and "*" not in policy and "script-src 'unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    assert pages.policy(scripts) == policy


def test_page_of_hundred_groups_is_smaller_than_a_megabyte() -> None:
    text = page(hundred_groups())
    assert len(set(re.findall('<section id="(group-[^"]+)" class="page"', text))) == 100
    assert 900_000 < len(text.encode()) < 1_000_000
    assert len(page(nothing()).encode()) < 25_000


@pytest.mark.parametrize(
    ("letter", "length"),
    [("x", 61), ("x", 249), ("&", 249), ("\U000e0001", 249), ("\N{GRINNING FACE}", 32_767), (" ", 32_767)],
)
def test_page_of_hundred_groups_with_long_names_is_smaller_than_a_megabyte(letter: str, length: int) -> None:
    text = page(hundred_groups(letter * length))
    outline = Outline(text)
    assert len([each for each in outline.all("section") if each.get("class") == "page"]) == 100
    assert len(text.encode()) < 1_000_000


def test_small_report_shows_all_rows_and_a_large_one_names_the_command_for_the_rest() -> None:
    day = busy_day()
    one = day.pages.rows[0]
    rows = tuple(one.partitions.rows[0]._replace(partition=number) for number in range(500))
    whole = one._replace(partitions=Kept(rows, 500))
    text = page(day._replace(pages=Kept((whole,), 1)))
    assert text.count("<td>1,201,000</td>") == 500
    crowded = page(hundred_groups())
    hidden = list(map(int, re.findall(">([0-9]+) of 40 rows are left out<", crowded)))
    assert (
        "for table in verdicts memberships rebalances anomalies; do kgroups history show $table --group "
        "production.payments-service-7 --since 2026-02-28T12:00:00Z --until 2026-03-01T12:00:00Z; done; kgroups "
        "history show expiring --group production.payments-service-7 --until 2026-03-01T12:00:00Z</code>"
    ) in crowded
    assert len(hidden) == 500 and max(hidden) <= min(hidden) + 1 <= 38


def test_lists_share_the_room_evenly() -> None:
    def rows(*lengths: int) -> Iterator[Html]:
        return (Html("x" * length) for length in lengths)

    assert [len(each) for each in share([rows(5, 5, 5), rows(5), rows(5, 5, 5)], 25)] == [2, 1, 2]
    assert [len(each) for each in share([rows(5, 5, 5), rows(), rows(5)], 1000)] == [3, 0, 1]
    assert [len(each) for each in share([rows(6)], 5)] == [0]


def test_each_group_has_a_page_that_names_link_to(busy_page: Outline) -> None:
    pages = [each["id"] for each in busy_page.all("section") if each.get("class") == "page"]
    assert pages[:2] == ["group-billing", "group-fraud-scoring"]
    assert pages == [anchor(NAMES[number]) for number in (0, 2, 3, 12)]
    links = [each["href"] for each in busy_page.all("a")]
    assert all(links.count(f"#{each}") >= 2 for each in pages)
    assert busy_page.text("h3").count("Partitions") == 4
    said = "".join(text for _, text in busy_page.texts)
    for part in (
        "1,201,000", "88,120", "an open transaction hides commits", "9 of 12 rows are left out",
        "All rows: for table in verdicts rebalances anomalies; do kgroups history show $table --group billing --since",
        "app-2@/10.0.0.2",
        "No lag is known.", "No members at the end.", "No partition has a committed offset.",
        " and 5 more",
    ):  # fmt: skip
        assert part in said, part


def test_page_without_data_says_so() -> None:
    text = page(nothing())
    assert "No history found" in text and "kgroups history collect" in text
    assert not Outline(text).all("figure")


def test_page_names_empty_sections() -> None:
    day = nothing()
    only_groups = day._replace(groups=busy_day().groups)
    outline = Outline(page(only_groups))
    said = outline.text("p")
    for line in ("No group rebalanced.", "No group committed.", "None expire soon.", "There were none."):
        assert line in said


def test_first_screen_says_what_is_wrong_since_when_and_at_what_cost(busy_page: Outline) -> None:
    text = " ".join(text for _, text in busy_page.texts)
    first = re.sub(r"\s+", " ", text[text.index("Switch to") if "Switch to" in text else 0 : text.index("Findings")])
    assert "In trouble since 2026-02-28T18:00:00Z 6 groups of 38" in first
    assert "Unread records 2.01 M at least 7 h behind; time unknown of 2 groups; lag unknown of 1 group" in first
    assert "Lost records 4.12 k at least; deleted before they were read Repeated records \N{EN DASH} at least;" in first
    assert "billing CRITICAL stuck; data lost 2026-02-28T18:00:00Z 1.26 M 7 h 4.12 k 0" in first
    assert "and 1 more group" in first


def test_group_has_the_same_status_everywhere(busy_page: Outline) -> None:
    day = busy_day()
    overview = {row.group: status(day, row) for row in wrong(day)}
    assert overview["billing"] == "CRITICAL" and len(overview) == 5
    texts = [text for _, text in busy_page.texts]
    for group, expected in overview.items():
        names = [at for at, text in enumerate(texts[:-1]) if text == visible(group) and texts[at + 1] in STATUSES]
        assert len(names) == 2 and {texts[at + 1] for at in names} == {expected}  # first screen, and list of groups
    heads = [at for at, text in enumerate(texts) if text == "Group " and texts[at + 1] in overview]
    assert heads
    for head in heads:
        assert next(text for text in texts[head:] if text in STATUSES) == overview[texts[head + 1]]


def test_page_names_omitted_rows(busy_page: Outline) -> None:
    said = "".join(text for _, text in busy_page.texts)
    for line in (
        "25 of 38 groups, those with less lag, are left out: kgroups history lag",
        "9 of 74 rebalances, those of such groups and the oldest, are left out: kgroups history rebalances",
        "52 of 61 rows are left out: kgroups history show latest_offsets",
        "47 of 50 rows are left out: kgroups history show completeness",
    ):
        assert line in said


def test_page_is_deterministic_and_marked() -> None:
    text = page(busy_day())
    assert text == page(busy_day())
    assert text.splitlines()[:2] == ["<!DOCTYPE html>", MARK]


def test_page_of_group_without_verdict_or_samples() -> None:
    row = GroupRow("g", None, None, None, "LIVE", None, None, None, 0, 0, None)
    day = busy_day()
    page(day._replace(groups=day.groups._replace(rows=Kept((row,), 1))))


def test_page_body_matches_golden(golden: Callable[[str, str], None]) -> None:
    golden("report/body.html", str(body(_short(busy_day()))) + "\n")


def _short(day: ReportData) -> ReportData:
    """A few points say it all."""
    lag = tuple(series._replace(points=series.points[22:30]) for series in day.lag.series.rows[:9:4])
    rate = tuple(series._replace(points=series.points[:3]) for series in day.rate.series.rows[::5])
    marks = day.rebalances.marks._replace(rows=day.rebalances.marks.rows[:9])
    return day._replace(
        lag=day.lag._replace(series=Kept(lag, 38)),
        rate=day.rate._replace(series=Kept(rate, 38)),
        rebalances=day.rebalances._replace(marks=marks),
        shown=day.shown._replace(since=at(2)),
    )
