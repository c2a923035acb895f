import csv
import io
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.outcome import Outcome
from kgroups.model.views.member_rows import MemberRow
from kgroups.model.views.offset_row import WITHOUT_COLUMN, OffsetRow
from kgroups.render.cells import escape
from kgroups.render.csvout import write_csv
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS
from kgroups.render.offset_view import OFFSETS
from kgroups.render.table import Table

Render = Callable[..., str]
Golden = Callable[[str, str], None]


def test_csv_offsets_match_golden(offsets: Outcome[OffsetRow], render: Render, golden: Golden) -> None:
    golden("render/offsets.csv", render(offsets, OFFSETS, fmt="csv"))


def test_csv_members_match_golden(members: Outcome[MemberRow], render: Render, golden: Golden) -> None:
    golden("render/members.csv", render(members, MEMBERS, fmt="csv"))


def test_csv_header_does_not_depend_on_rows(offsets: Outcome[OffsetRow], render: Render) -> None:
    keys = [column.key for column in OFFSETS.columns]
    assert sorted(keys) == sorted({*OffsetRow._fields} - WITHOUT_COLUMN)
    header = ",".join(keys) + "\n"
    assert render(Outcome(), OFFSETS, fmt="csv") == header
    assert render(offsets, OFFSETS, fmt="csv").startswith(header)
    assert render(Outcome(), OFFSETS, fmt="csv", headers=False) == ""


def test_csv_columns_are_selectable(offsets: Outcome[OffsetRow], render: Render) -> None:
    assert render(offsets, OFFSETS, fmt="csv", columns="group,lag").splitlines()[:2] == ["group,lag", "billing,0"]


@given(st.lists(st.tuples(st.text(st.characters()), st.none() | st.text(st.characters()) | st.integers())))
def test_csv_reads_back_with_escapes(rows: list[tuple[str, str | int | None]]) -> None:
    stream = io.StringIO(newline="")
    write_csv(Table(LIST, LIST.columns[:2], rows, headers=False), stream)
    text = stream.getvalue()
    assert text.replace("\n", "").isprintable()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        [escape(name), "" if other is None else escape(str(other))] for name, other in rows
    ]
