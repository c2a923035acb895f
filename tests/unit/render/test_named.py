import csv
import io
from collections.abc import Callable

import pytest
import tabulate

from kgroups.errors import UsageError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.rows import ListRow, OffsetRow
from kgroups.render.named import NAMED_FORMATS, NOT_OFFERED
from kgroups.render.views import LIST, OFFSETS, Tier

NODE = Node(1, "h", 9092)
Render = Callable[..., str]
Golden = Callable[[str, str], None]


def test_the_list_is_tabulates_own() -> None:
    assert list(NAMED_FORMATS) == sorted(set(tabulate.tabulate_formats) - NOT_OFFERED)


@pytest.mark.parametrize("fmt", ["github", "grid", "html", "tsv", "pretty"])
def test_offsets(offsets: Outcome[OffsetRow], fmt: str, render: Render, golden: Golden) -> None:
    golden(f"render/offsets-base.{fmt}", render(offsets, OFFSETS, fmt=fmt))


@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("fmt", NAMED_FORMATS)
def test_every_format_takes_rows_and_none(fmt: str, headers: bool, groups: Outcome[ListRow], render: Render) -> None:
    text = render(groups, LIST, fmt=fmt, tier=Tier.WIDE, headers=headers)
    assert "billing" in text
    assert ("PROTOCOL-TYPE" in text) == headers
    assert "\x1b" not in text
    assert render(Outcome(), LIST, fmt=fmt, headers=headers).endswith("\n")


def test_numbers_are_not_read_again(render: Render) -> None:
    rows = tuple(ListRow(name, None, "", None, NODE) for name in ("1e5", "007", "inf", "1_000"))
    assert render(Outcome(rows), LIST, fmt="tsv", headers=False).split() == ["007", "1_000", "1e5", "inf"]


def test_names_are_not_markup(render: Render) -> None:
    rows = (ListRow("<b>a|b</b>", None, "", None, NODE),)
    assert "&lt;b&gt;a|b&lt;/b&gt;" in render(Outcome(rows), LIST, fmt="html")
    assert r"<b>a\|b</b>" in render(Outcome(rows), LIST, fmt="github")


def test_tsv_has_no_padding(offsets: Outcome[OffsetRow], render: Render) -> None:
    table = list(csv.reader(io.StringIO(render(offsets, OFFSETS, fmt="tsv")), delimiter="\t"))
    assert {len(line) for line in table} == {10}
    assert all(cell == cell.strip() for line in table for cell in line)


def test_an_older_tabulate_is_named(monkeypatch: pytest.MonkeyPatch, render: Render) -> None:
    monkeypatch.setattr(tabulate, "tabulate_formats", ["grid"])
    with pytest.raises(UsageError, match=r"--output colon_grid: the installed tabulate .* does not have it"):
        render(Outcome(), LIST, fmt="colon_grid")
