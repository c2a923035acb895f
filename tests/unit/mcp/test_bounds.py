"""The size of documents."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgroups.mcp.bounds import HINT, Bounds


def document(*items: Any, **more: Any) -> dict[str, Any]:
    lists: dict[str, Any] = {"failures": [], "notices": [], "missing_acls": []}
    return {"schema": "kgroups/list/v1", "cluster_id": "A", "items": list(items), **lists, **more}


def test_small_document_is_unchanged() -> None:
    given_document = document({"group": "a"}, notices=["n"])
    assert Bounds(500, 20_000).applied(given_document) == given_document | {"truncated": None}


def test_rows_are_counted() -> None:
    found = Bounds(2, 20_000).applied(document(1, 2, 3, 4, failures=[{"name": str(at)} for at in range(5)]))
    assert (found["items"], len(found["failures"])) == ([1, 2], 2)
    assert found["truncated"] == {"omitted": {"items": 2, "failures": 3}, "shortened": False, "hint": HINT}


def test_unknown_number_of_rows_is_null() -> None:
    found = Bounds(500, 20_000).applied(document({"n": 1}, has_more=True))
    assert found["items"] == [{"n": 1}] and found["truncated"]["omitted"] == {"items": None}


def test_worst_rows_of_a_check_are_kept() -> None:
    rows = [{"group": str(at), "status": "OK" if at < 9 else "CRITICAL"} for at in range(10)]
    found = Bounds(2, 20_000).applied({"schema": "kgroups/check/v1", "status": "CRITICAL", "items": rows})
    assert [row["group"] for row in found["items"]] == ["9", "0"] and found["truncated"]["omitted"] == {"items": 8}


def test_large_row_is_shortened() -> None:
    row = {"group": "a", "members": [{"id": "m" * 50, "topics": ["t" * 20] * 200} for _ in range(300)]}
    found = Bounds(500, 20_000).applied(document(row, row))
    assert found["truncated"]["shortened"] and found["truncated"]["omitted"] == {"items": 1}
    assert found["items"][0]["members"][-1] == "... 280 more"
    assert len(json.dumps(found)) <= 20_000


rows_of_text = st.lists(
    st.lists(st.text(max_size=30), max_size=4) | st.text(max_size=900).map(lambda t: t * 9), max_size=9
)


@given(rows_of_text, rows_of_text, st.integers(1, 50), st.integers(2_000, 10_000))
def test_no_document_is_larger_than_the_limit(items: list[Any], failures: list[Any], rows: int, size: int) -> None:
    given_document = document(*items, failures=failures)
    found = Bounds(rows, size).applied(given_document)
    assert len(json.dumps(found)) <= size
    for name in ("items", "failures"):
        omitted = found["truncated"]["omitted"].get(name, 0) if found["truncated"] else 0
        assert len(found[name]) + omitted == len(given_document[name])
        assert len(found[name]) <= rows
