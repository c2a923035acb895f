import io
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import UsageError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.list_view import LIST
from kgroups.render.offset_view import OFFSETS
from kgroups.render.output import FORMATS, write_outcome
from kgroups.render.views import Tier

Render = Callable[..., str]

names = st.text(st.characters(), max_size=12)
list_rows = st.builds(
    ListRow,
    names,
    st.none() | names,
    names,
    st.none() | names,
    st.builds(Node, st.integers(0, 9), names, st.integers(1, 65535)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(list_rows, max_size=4))
def test_every_format_escapes_unprintable_characters(rows: list[ListRow]) -> None:
    for fmt in FORMATS:
        stream = io.StringIO()
        write_outcome(Outcome(tuple(rows)), LIST, fmt=fmt, stream=stream, tier=Tier.WIDE)
        allowed = stream.getvalue().replace("\n", "").replace("\t" if fmt == "tsv" else "", "")
        assert allowed.isprintable(), fmt


@settings(max_examples=25, deadline=None)
@given(st.lists(list_rows, max_size=4))
def test_output_does_not_depend_on_arrival_order(rows: list[ListRow]) -> None:
    unique = list({row.group: row for row in rows}.values())
    for fmt in ("plain", "json", "csv"):
        texts = set()
        for order in (unique, unique[::-1]):
            stream = io.StringIO()
            write_outcome(Outcome(tuple(order)), LIST, fmt=fmt, stream=stream, tier=Tier.WIDE)
            texts.add(stream.getvalue())
        assert len(texts) == 1


def test_format_names_are_unique() -> None:
    assert FORMATS[:5] == ("table", "plain", "json", "jsonl", "csv")
    assert len(set(FORMATS)) == len(FORMATS)
    assert "github" in FORMATS


@pytest.mark.parametrize("fmt", FORMATS)
def test_unknown_column_or_sort_key_is_rejected_before_output(fmt: str) -> None:
    stream = io.StringIO()
    for wrong in ({"columns": "nope"}, {"sort": "nope"}):
        with pytest.raises(UsageError):
            write_outcome(Outcome(), LIST, fmt=fmt, stream=stream, **wrong)  # type: ignore[arg-type]
    assert stream.getvalue() == ""


def test_extra_columns_are_added(render: Render) -> None:
    rows = (ListRow("a", "Classic", "consumer", "Empty", Node(1, "h", 1)),)
    assert render(Outcome(rows), LIST, fmt="plain", extra=("state",)) == "GROUP  STATE\na      Empty\n"


def test_sort_descending_puts_unknown_last(offsets: Outcome[OffsetRow], render: Render) -> None:
    text = render(offsets, OFFSETS, fmt="csv", columns="lag", sort="-lag", headers=False)
    assert text.split() == ["50", "0", "-10", '""', '""']


def test_plain_output_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from kgroups.model.outcome import Outcome\n"
        "from kgroups.render import failures, offset_view, output\n"
        "output.write_outcome(Outcome(), offset_view.OFFSETS, fmt='plain', stream=sys.stdout)\n"
        "heavy = {name.split('.')[0] for name in sys.modules} & {'rich', 'tabulate', 'json', 'csv', 'click', 'kio'}\n"
        "sys.exit(' '.join(heavy) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
