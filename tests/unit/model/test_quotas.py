"""Which quota limits a consumer."""

from __future__ import annotations

import pytest

from kgroups.model.quotas import FetchLimit, Quota, fetch_limit


def quota(rate: float, **entity: str | None) -> Quota:
    return Quota({name.replace("_", "-"): value for name, value in entity.items()}, {"consumer_byte_rate": rate})


@pytest.mark.parametrize(
    ("quotas", "limit"),
    [
        ([], None),
        ([Quota({"client-id": "app"}, {"producer_byte_rate": 1.0})], None),
        ([quota(5, client_id="other")], None),
        ([quota(5, ip="127.0.0.1")], None),
        ([quota(5, client_id="app")], FetchLimit(5, "client ID 'app'")),
        ([quota(5, client_id=None)], FetchLimit(5, "every client ID")),
        ([quota(5, client_id=None), quota(9, client_id="app")], FetchLimit(9, "client ID 'app'")),
        ([quota(5, user="alice", client_id=None)], FetchLimit(5, "user 'alice' and every client ID")),
        ([quota(7, user=None), quota(9, client_id="app")], FetchLimit(7, "every user")),
    ],
)
def test_fetch_limit_is_the_lowest_that_may_apply(quotas: list[Quota], limit: FetchLimit | None) -> None:
    assert fetch_limit(quotas, "app") == limit
