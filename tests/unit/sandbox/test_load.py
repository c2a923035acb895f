from __future__ import annotations

from kgroups.sandbox.load import Load


def test_load_names_tell_stable_from_empty_groups() -> None:
    assert list(Load(5, 3, stable=0.4).names()) == [
        "stable-00000",
        "stable-00001",
        "empty-00000",
        "empty-00001",
        "empty-00002",
    ]
    assert [Load(7, 1, stable=part).stable_groups for part in (0, 1)] == [0, 7]


def test_load_groups_share_the_topics() -> None:
    load = Load(5, 1, topics=2)
    assert {load.topic_of(name) for name in load.names()} == {"load-0", "load-1"}


def test_load_commits_are_within_the_log_and_lags_differ() -> None:
    load = Load(50, 9)
    lags = set()
    for name in load.names():
        commits = load.commits_of(name)
        assert set(commits) == set(range(9))
        assert all(0 <= offset <= load.ends()[partition] for partition, offset in commits.items())
        lags.add(tuple(load.ends()[partition] - offset for partition, offset in commits.items()))
    assert len(lags) > 10
