import pytest

from kgroups.render.list_view import LIST
from kgroups.render.table import CHUNK_ROWS, Table


@pytest.mark.parametrize("count", [0, 1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS])
def test_chunks_contain_every_row_once(count: int) -> None:
    rows = [(number, "Classic", "", None, -number) for number in range(count)]
    chunks = list(Table(LIST, (LIST.columns[4], LIST.columns[0]), rows).chunks())
    assert [pair for last, first in chunks for pair in zip(last, first, strict=True)] == [(-n, n) for n in range(count)]
    assert all(0 < len(last) <= CHUNK_ROWS for last, _ in chunks)
