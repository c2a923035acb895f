"""Several clusters at the same time: a cluster of several profiles, of which some are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from kgroups.admin import fleet
from kgroups.admin.client import Client
from kgroups.admin.fleet import Fleet, Member, Progress, query_clusters
from kgroups.errors import DeadlineExceeded, Reason
from kgroups.model.clusters import ClusterAnswer, distinct, merge_clusters
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from tests.fakes.broker import FakeCluster

DENIED = Outcome[str](failures=(Failure(Scope.GROUP, "g", "not authorized", reason=Reason.NOT_AUTHORIZED),))
ABSENT = Outcome[str](failures=(Failure(Scope.GROUP, "g", "the group does not exist", NOT_FOUND),))
ROWS = Outcome(("g",))


@pytest.fixture(autouse=True)
def _one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the profiles connect in their order."""
    monkeypatch.setattr(fleet, "PARALLEL", 1)


Asked = tuple[Sequence[ClusterAnswer], list[str], Progress]


def ask(results: Mapping[str, Outcome[str] | Exception]) -> Asked:
    """Query one cluster by these profiles; return the answers, the profiles that were queried, and the progress."""
    queried: list[str] = []

    async def answers() -> Asked:
        async with FakeCluster(1) as fake:
            members = tuple(Member(name, fake.settings) for name in results)
            progress = Progress(len(members))

            def query_of(name: str):  # type: ignore[no-untyped-def]
                async def query(admin: Client) -> Outcome[str]:
                    queried.append(name)
                    result = results[name]
                    if isinstance(result, Exception):
                        raise result
                    return result

                return query

            return await query_clusters(Fleet(members, 60, 60), query_of, progress), queried, progress

    return asyncio.run(answers())


@pytest.mark.parametrize("refused", [DENIED, DeadlineExceeded("no response")])
def test_next_profile_of_a_cluster_is_queried_if_the_first_is_refused(refused: Outcome[str] | Exception) -> None:
    answers, queried, progress = ask({"few": refused, "all": ROWS, "more": ROWS})
    assert (set(queried), str(progress)) == ({"few", "all"}, "3 of 3 clusters answered")
    outcome, shown = merge_clusters(answers, lambda cluster, row: (cluster, row))
    assert outcome.items == (("all", "g"),)
    assert [(each.cluster, each.cluster_id) for each in shown] == [("few", "fake-cluster"), ("all", "fake-cluster")]
    assert [failure.cluster for failure in outcome.failures] == ["few"]
    assert outcome.notices == ("more and all are the same cluster, shown once, as all",)


def test_every_profile_that_is_refused_is_named() -> None:
    answers, queried, _ = ask({"one": DENIED, "two": DENIED, "three": DENIED})
    assert sorted(queried) == ["one", "three", "two"]
    kept, notices = distinct(answers)
    assert ([each.cluster for each in kept], notices) == (["one", "two", "three"], [])


@pytest.mark.parametrize("answered", [ROWS, ABSENT, Outcome[str]()])
def test_cluster_that_answered_is_queried_once(answered: Outcome[str]) -> None:
    answers, _, _ = ask({"one": answered, "two": ROWS})
    kept, notices = distinct(answers)
    assert ([each.outcome for each in kept], len(notices)) == ([answered], 1)
