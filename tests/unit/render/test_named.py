import csv
import io
from collections.abc import Callable

import pytest
import tabulate

from kgroups.errors import UsageError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.list_view import LIST
from kgroups.render.named import NAMED_FORMATS, NOT_OFFERED
from kgroups.render.offset_view import OFFSETS
from kgroups.render.views import Tier

NODE = Node(1, "h", 9092)
Render = Callable[..., str]
Golden = Callable[[str, str], None]


def test_named_formats_are_those_of_tabulate() -> None:
    assert list(NAMED_FORMATS) == sorted(set(tabulate.tabulate_formats) - NOT_OFFERED)


@pytest.mark.parametrize("fmt", ["github", "grid", "html", "tsv", "pretty"])
def test_named_format_offsets_match_golden(
    offsets: Outcome[OffsetRow], fmt: str, render: Render, golden: Golden
) -> None:
    golden(f"render/offsets-base.{fmt}", render(offsets, OFFSETS, fmt=fmt))


@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("fmt", NAMED_FORMATS)
def test_named_formats_accept_rows_and_no_rows(
    fmt: str, headers: bool, groups: Outcome[ListRow], render: Render
) -> None:
    text = render(groups, LIST, fmt=fmt, tier=Tier.WIDE, headers=headers)
    assert "billing" in text
    assert ("PROTOCOL-TYPE" in text) == headers
    assert "\x1b" not in text
    assert render(Outcome(), LIST, fmt=fmt, headers=headers).endswith("\n")


def test_named_formats_do_not_parse_numbers(render: Render) -> None:
    rows = tuple(ListRow(name, None, "", None, NODE) for name in ("1e5", "007", "inf", "1_000"))
    assert render(Outcome(rows), LIST, fmt="tsv", headers=False).split() == ["007", "1_000", "1e5", "inf"]


def test_named_formats_escape_markup(render: Render) -> None:
    rows = (ListRow("<b>a|b</b>", None, "", None, NODE),)
    assert "&lt;b&gt;a|b&lt;/b&gt;" in render(Outcome(rows), LIST, fmt="html")
    assert r"\<b\>a\|b\</b\>" in render(Outcome(rows), LIST, fmt="github")


MARKUP = {
    "github": (r"[x](http://e)", r"\[x\](http:\//e)"),
    "pipe": ("![x](e)*b*_i_~~s~~`c`&lt;", r"\!\[x\](e)\*b\*\_i\_\~\~s\~\~\`c\`\&lt;"),
    "jira": ("!e.png!{color:red}[a|b]", "&#33;e.png&#33;&#123;color:red&#125;&#91;a&#124;b&#93;"),
    "youtrack": ("{html}-gone-", "&#123;html&#125;&#45;gone-"),
    "mediawiki": ("[[File:x]]<script>''i''", "&#91;&#91;File:x&#93;&#93;&#60;script&#62;&#39;&#39;i&#39;&#39;"),
    "moinmoin": ("<<Include(x)>>{{y}}", "&#60;&#60;Include(x)&#62;&#62;&#123;&#123;y&#125;&#125;"),
    "asciidoc": ("image:x[]*b*", "image:x&#91;&#93;&#42;b&#42;"),
    "textile": ('!x!"a":b', "&#33;x&#33;&#34;a&#34;:b"),
    "orgtbl": ("[[x][y]]*b*|<a>", r"[\zwnj{}[\zwnj{}x][\zwnj{}y]]\ast{}b\ast{}\vert{}\lt{}a\gt{}"),
    "rst": (".. image:: x|s|`r`_", r"\.. image\:\: x\|s\|\`r\`\_"),
}


@pytest.mark.parametrize("fmt", MARKUP)
def test_named_formats_keep_markup_like_names_as_text(fmt: str, render: Render) -> None:
    """A group name never becomes a link, image, macro, or HTML."""
    name, written = MARKUP[fmt]
    rows = (ListRow(name, None, "", None, NODE),)
    assert written in render(Outcome(rows), LIST, fmt=fmt)


@pytest.mark.parametrize("fmt", sorted(set(NAMED_FORMATS) - {"tsv"}))
def test_named_formats_keep_ordinary_names(fmt: str, render: Render) -> None:
    for name in ("orders-range", "payments.eu-1", "Team A (eu)"):
        assert name in render(Outcome((ListRow(name, None, "", None, NODE),)), LIST, fmt=fmt)


def test_tsv_has_no_padding(offsets: Outcome[OffsetRow], render: Render) -> None:
    table = list(csv.reader(io.StringIO(render(offsets, OFFSETS, fmt="tsv")), delimiter="\t"))
    assert {len(line) for line in table} == {10}
    assert all(cell == cell.strip() for line in table for cell in line)


def test_older_tabulate_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch, render: Render) -> None:
    monkeypatch.setattr(tabulate, "tabulate_formats", ["grid"])
    with pytest.raises(UsageError, match=r"--output colon_grid: the installed tabulate .* does not have it"):
        render(Outcome(), LIST, fmt="colon_grid")
