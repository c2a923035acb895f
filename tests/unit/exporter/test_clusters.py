"""``kgroups exporter`` of several clusters, over fake brokers."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

from kgroups.cli.main import main
from kgroups.errors import UsageError
from kgroups.exporter.clusters import Clusters
from kgroups.exporter.poller import Poller
from tests.fakes.broker import FakeCluster, silence

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]
Profiles = Callable[..., None]
Export = Callable[..., str]

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
ODD = 'odd"\\\n'


def shop(cluster_id: str, lag: int) -> Callable[[FakeCluster], None]:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id
        fake.state.topic("orders", [0], end=100)
        fake.state.group(ODD, 0, commits={("orders", 0): 100 - lag})

    return fill


@pytest.fixture
def export(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Export]:
    """Run the exporter with these words until its clusters are polled; return the address of its pages."""
    polled, ended = threading.Event(), threading.Event()

    def wait(clusters: Clusters, interval: float) -> None:
        polled.set()
        ended.wait(60)
        raise UsageError("the test is over")

    monkeypatch.setattr(Clusters, "run", wait)
    threads = []

    def start(*words: str) -> str:
        thread = threading.Thread(target=main, args=(("exporter", "--listen", "127.0.0.1:0", *words),))
        threads.append(thread)
        thread.start()
        assert polled.wait(60)
        return capfd.readouterr().err.partition("serving ")[2].partition("/metrics")[0]

    yield start
    ended.set()
    for thread in threads:
        thread.join(60)


def read(url: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def refused(url: str) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as found:
        read(url)
    with found.value as answer:
        return answer.code, answer.read().decode()


def values(families: Any, name: str) -> dict[tuple[str | None, str | None], float]:
    """By cluster and group."""
    return {
        (each.labels.get("cluster"), each.labels.get("consumergroup")): each.value
        for family in families
        for each in family.samples
        if each.name == name
    }


@pytest.mark.parametrize(("accept", "parse"), [(OPENMETRICS, openmetrics), ("text/plain", classic)])
def test_series_have_the_label_cluster(
    serve: Serve, profiles: Profiles, export: Export, accept: str, parse: Any
) -> None:
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=serve(fill=shop("U", 50)).bootstrap)
    url = export("--all-profiles")
    families = list(parse(read(f"{url}/metrics", Accept=accept)))
    assert len({family.name for family in families}) == len(families), "each family is there once"
    assert values(families, "kafka_consumergroup_total_lag") == {("eu", ODD): 5, ("us", ODD): 50}
    assert values(families, "kgroups_up") == {("eu", None): 1, ("us", None): 1}
    assert set(values(families, "kgroups_data_age_seconds")) == {("eu", None), ("us", None)}
    probed = list(parse(read(f"{url}/probe?profile=us", Accept=accept)))
    assert values(probed, "kafka_consumergroup_total_lag") == {(None, ODD): 50}


def test_cluster_that_does_not_respond_is_down_and_others_are_served(
    serve: Serve, profiles: Profiles, export: Export
) -> None:
    hung = serve(fill=shop("H", 0))
    for broker in hung.fake.brokers.values():
        broker.fault("*", silence)
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, hung=hung.bootstrap)
    url = export("--all-profiles", "--cluster-timeout", "1s")
    families = list(classic(read(f"{url}/metrics")))
    assert values(families, "kgroups_up") == {("eu", None): 1, ("hung", None): 0}
    assert set(values(families, "kgroups_hidden")) == {("eu", None)}, "unknown is not 0"
    assert read(f"{url}/ready") == "ready\n"


def test_cluster_of_two_profiles_is_served_once(serve: Serve, profiles: Profiles, export: Export) -> None:
    one = serve(fill=shop("E", 5)).bootstrap
    profiles(eu=one, again=one)
    families = list(classic(read(f"{export('--profile', '*')}/metrics")))
    assert set(values(families, "kgroups_up")) == {("eu", None)}


def test_only_selected_profiles_are_probed(serve: Serve, profiles: Profiles, export: Export) -> None:
    profiles(**{name: serve(fill=shop(name, 1)).bootstrap for name in ("a", "b", "c")})
    url = export("--profile", "a", "--profile", "b")
    for path in ("/probe?profile=c", "/probe", "/probe?profile=127.0.0.1:9092"):
        assert refused(url + path)[0] == 404


def test_no_cluster_is_reached(profiles: Profiles, export: Export) -> None:
    profiles(a="127.0.0.1:1", b="127.0.0.1:1")
    code, reason = refused(f"{export('--all-profiles')}/ready")
    assert (code, "a: the last poll did not reach the cluster" in reason) == (503, True)


def test_bug_in_a_poll_ends_the_exporter(
    serve: Serve, profiles: Profiles, monkeypatch: pytest.MonkeyPatch, run_cli: Run
) -> None:
    profiles(a=serve(fill=shop("A", 1)).bootstrap, b=serve(fill=shop("B", 1)).bootstrap)
    real, polls = Poller.poll, []

    def poll(poller: Poller) -> Any:
        polls.append(poller)
        if len(polls) > 2:
            raise ZeroDivisionError
        return real(poller)

    monkeypatch.setattr(Poller, "poll", poll)
    with pytest.raises(ZeroDivisionError):
        run_cli("exporter", "--listen", "127.0.0.1:0", "--all-profiles")


def test_invalid_profile_is_an_error_at_the_start(profiles: Profiles, run_cli: Run) -> None:
    profiles('[profiles.bad]\nbootstrap = "h:1"\ncommand-config = "nosuch.properties"\n', a="127.0.0.1:1")
    code, _, err = run_cli("exporter", "--all-profiles")
    assert (code, "nosuch.properties" in err) == (2, True)
