"""``kgroups exporter`` over fake brokers, scraped as Prometheus scrapes and read by its own parsers."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError
from kgroups.exporter import poller as exporter
from kgroups.exporter.exposition import Exposition
from kgroups.exporter.metrics import Level
from kgroups.exporter.pages import pages
from kgroups.exporter.poller import Poller, Polling
from kgroups.exporter.server import serve as serve_http
from kgroups.model.offsets import Commit, Isolation
from kgroups.model.outcome import Outcome
from tests.documentation.exported_metrics import exported_metrics
from tests.documentation.pages import page_text
from tests.fakes.broker import FakeCluster, close
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch

Run = Callable[..., tuple[int, str, str]]
Samples = dict[tuple[str, ...], float]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    fake.state.group("busy", 0, state="Stable", members=held, commits={("orders", 0): 90, ("orders", 1): 100})
    fake.state.group('odd"\\\n', 1, commits={("orders", 0): 1})


def scrape(port: int, accept: str = "text/plain") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def samples(families: Any) -> Samples:
    """By name and the values of the labels, by the labels' names."""
    every = (each for family in families for each in family.samples)
    return {(each.name, *(value for _, value in sorted(each.labels.items()))): each.value for each in every}


_pollers: list[Poller] = []


@pytest.fixture(autouse=True)
def _close_pollers() -> Iterator[None]:
    yield
    while _pollers:
        _pollers.pop().close()


def looks_at(bootstrap: str, polling: Polling | None = None) -> Poller:
    settings = ClientSettings(parse_bootstrap(bootstrap))
    poller = Poller(
        ConnectionOptions(settings, False), Selection(everything=True), Isolation.READ_UNCOMMITTED, polling or Polling()
    )
    _pollers.append(poller)
    return poller


def _serve(poller: Poller, level: Level = Level.PARTITION, **rest: Any) -> int:
    """Serve the metrics and poll at each scrape, so that tests know what it shows."""
    exposition = Exposition(level, **rest)

    def polled(environ: Any, start_response: Any) -> Any:
        exposition.publish(poller.poll())
        return exposition(environ, start_response)

    return serve_http(pages(polled, exposition.not_ready), "127.0.0.1", 0)


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(fill=shop)


def test_exporter_serves_prometheus_and_openmetrics_formats(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap))
    answer = samples(openmetrics(scrape(port, "application/openmetrics-text; version=1.0.0")))
    assert answer == samples(classic(scrape(port))) | {
        key: value for key, value in answer.items() if key[0].startswith("kgroups_") or key[0].endswith("_seconds")
    }
    assert answer["kgroups_up",] == 1
    assert answer["kafka_consumergroup_lag", "busy", "0", "orders"] == 10
    assert answer["kafka_consumergroup_current_offset", "busy", "0", "orders"] == 90
    assert answer["kafka_consumergroup_total_lag", "busy"] == 10
    assert answer["kafka_consumergroup_lag_sum", "busy", "orders"] == 10
    assert answer["kafka_consumergroup_current_offset_sum", "busy", "orders"] == 190
    assert answer["kafka_topic_partition_current_offset", "0", "orders"] == 100
    assert answer["kafka_consumergroup_members", "busy"] == 1
    assert answer["kafka_consumergroup_state", "busy", "Stable"] == 1
    assert answer["kafka_consumergroup_state", "busy", "Empty"] == 0
    assert answer["kafka_consumergroup_status", "busy", "UNKNOWN", "lagging"] == 1
    assert [key for key in answer if key[:2] == ("kafka_consumergroup_status", "busy")][1:] == []
    assert answer["kafka_consumergroup_known_lag", 'odd"\\\n'] == 99
    assert ("kafka_consumergroup_lag_seconds", "busy", "sampled") not in answer  # its record is older than the poll


def test_promtool_accepts_metrics_except_names_of_other_exporters(
    served: Any, require_program: Callable[..., str]
) -> None:
    text = scrape(_serve(looks_at(served.bootstrap)))
    command = [require_program("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, "it lints"
    named = {line.split()[0] for line in (done.stdout + done.stderr).splitlines()}
    prefix = "kafka_consumergroup_"  # names of kafka_exporter, and one that is deprecated
    assert named == {f"{prefix}current_offset_sum", f"{prefix}known_lag_sum", f"{prefix}lag_sum"}


def test_exporter_serves_share_and_streams_groups(serve: Callable) -> None:
    def sharers(fake: FakeCluster) -> None:
        shop(fake)
        held = (FakeMember("m-1", {"orders": (0, 1)}),)
        kind = {"type": "Share", "protocol_type": "share", "state": "Stable"}
        live = fake.state.group("live", 0, members=held, **kind)
        live.commits.update({("orders", 0): 50, ("orders", 1): 60})
        live.lags["orders", 0] = 3
        fake.state.group("app", 1, type="Streams", protocol_type="streams", commits={("orders", 0): 70})

    served = serve(fill=sharers)
    looks = looks_at(served.bootstrap)
    looks.poll()
    served.state.groups["live"].commits["orders", 1] = 61
    time.sleep(0.05)
    answer = samples(classic(scrape(_serve(looks))))
    unchanged = "kafka_consumergroup_offset_unchanged_seconds"
    assert answer[unchanged, "live", "0", "orders"] > 0.04 and answer[unchanged, "live", "1", "orders"] == 0
    served.state.groups["live"].commits["orders", 1] = 60
    answer = samples(classic(scrape(_serve(looks))))
    assert answer["kafka_consumergroup_lag", "live", "0", "orders"] == 3
    assert answer["kafka_consumergroup_lag", "live", "1", "orders"] == 40
    assert answer["kafka_consumergroup_total_lag", "live"] == 43
    assert ("kafka_consumergroup_current_offset", "live", "0", "orders") not in answer
    assert answer["kafka_consumergroup_lag", "app", "0", "orders"] == 30
    assert answer["kafka_consumergroup_members", "live"] == 1


def lag_samples(reported: Samples, group: str) -> dict[str, float]:
    prefix = "kafka_consumergroup_"
    return {key[0].removeprefix(prefix): value for key, value in reported.items() if key[1:] == (group,)}


def test_outage_is_reported_once_with_its_reason_and_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    poller, polls = looks_at("127.0.0.1:1"), iter([False, False, True, True, False])

    def query() -> Outcome[Any]:
        if not next(polls):
            raise KgroupsError("no server responds")
        return Outcome()

    monkeypatch.setattr(poller, "_query", query)
    poller.poll()
    with pytest.raises(StopIteration):
        poller.run(0, lambda _: None)
    lost = "kgroups: the cluster: not reached: no server responds; the last values are served\n"
    assert capsys.readouterr().err == f"{lost}kgroups: the cluster: reached again\n{lost}"


def test_exporter_keeps_last_lag_while_a_leader_is_down(served: Any) -> None:
    """The lag of busy is on orders-0: its value stays, is marked as stale, and is never 0."""
    port = _serve(looks_at(served.bootstrap))
    before = lag_samples(samples(classic(scrape(port))), "busy")
    assert [before[name] for name in ("total_lag", "known_lag", "unknown_partitions", "stale")] == [10, 10, 0, 0]
    served.state.fail("ListOffsets", "orders-0", ErrorCode.not_leader_or_follower)
    down = samples(classic(scrape(port)))
    found = lag_samples(down, "busy")
    assert (found["total_lag"], found["known_lag"], found["unknown_partitions"], found["stale"]) == (10, 10, 1, 1)
    assert down["kgroups_up",] == 1
    assert down["kafka_consumergroup_lag", "busy", "0", "orders"] == 10


@pytest.mark.parametrize("polling", [Polling(), Polling(keep=1e-9)], ids=["never known", "known too long ago"])
def test_exporter_omits_lag_of_a_leader_that_is_down(served: Any, polling: Polling) -> None:
    looks = looks_at(served.bootstrap, polling)
    if polling.keep < 1:
        looks.poll()
    served.state.fail("ListOffsets", "orders-0", ErrorCode.not_leader_or_follower)
    down = samples(classic(scrape(_serve(looks))))
    found = lag_samples(down, "busy")
    assert "total_lag" not in found
    assert (found["known_lag"], found["unknown_partitions"]) == (0, 1)
    assert ("kafka_consumergroup_lag", "busy", "0", "orders") not in down
    assert ("kafka_consumergroup_lag_sum", "busy", "orders") not in down


def test_exporter_omits_total_lag_without_a_commit(served: Any) -> None:
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    served.state.group("new", 0, state="Stable", members=held, commits={("orders", 0): 100})
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap)))))
    found = lag_samples(answer, "new")
    assert "total_lag" not in found and found["unknown_partitions"] == 1
    assert ("kafka_consumergroup_lag_sum", "new", "orders") not in answer
    dead = lag_samples(answer, 'odd"\\\n')  # members that start again read the partition from somewhere
    assert "total_lag" not in dead and (dead["unknown_partitions"], dead["known_lag"]) == (1, 99)


def test_exporter_counts_what_sums_do_not_include(served: Any) -> None:
    served.state.topic("old", [0, 1])
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    commits = {("orders", 0): 105, ("orders", 1): 90, ("old", 0): 1, ("old", 1): 1}
    moved = served.state.group("moved", 0, state="Stable", members=held, commits=commits)
    moved.pending = {("orders", 1)}
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap)))))
    found = lag_samples(answer, "moved")
    assert (found["total_lag"], found["ahead_partitions"]) == (10, 1)
    assert (found["unsubscribed_partitions"], found["pending_partitions"]) == (2, 1)
    assert found["unsubscribed_lag"] == 198
    assert answer["kafka_consumergroup_lag", "moved", "0", "orders"] == -5
    assert answer["kafka_consumergroup_lag_sum", "moved", "orders"] == 10
    assert lag_samples(answer, "busy")["pending_partitions"] == 0


def test_exporter_counts_commits_of_another_log(served: Any) -> None:
    served.state.topic("same", [0], epoch=4)
    served.state.topic("made-anew", [0], epoch=3)
    commits: dict[tuple[str, int], int | Commit] = {("same", 0): Commit(0, 10, 4), ("made-anew", 0): Commit(0, 10, 4)}
    served.state.group("restored", 0, commits=commits)
    found = lag_samples(samples(classic(scrape(_serve(looks_at(served.bootstrap))))), "restored")
    assert found["epoch_ahead_partitions"] == 1
    assert "total_lag" not in found and found["unknown_partitions"] == 1


def test_exporter_marks_groups_of_failed_coordinator_as_unknown(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_at(served.bootstrap)
    port = _serve(looks)
    scrape(port)
    served.state.fail("OffsetFetch", "busy", ErrorCode.group_authorization_failed)
    found = lag_samples(samples(classic(scrape(port))), "busy")
    assert (found["unknown_partitions"], found["stale"], found["total_lag"]) == (2, 1, 10)
    with monkeypatch.context() as gone:
        gone.setattr(looks, "_session", looks_at("127.0.0.1:1")._session)
        answer = samples(classic(scrape(port)))
    assert answer["kgroups_up",] == 0
    found = lag_samples(answer, "busy")
    assert (found["unknown_partitions"], found["stale"], found["total_lag"], found["members"]) == (2, 1, 10, 1)
    assert answer["kgroups_data_age_seconds",] >= 0
    served.state.groups.pop("busy")
    answer = samples(classic(scrape(port)))
    assert answer["kgroups_up",] == 1 and lag_samples(answer, "busy") == {}


def test_exporter_without_partitions_serves_sums_only(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), Level.GROUP))))
    assert "kafka_consumergroup_total_lag" in {key[0] for key in answer}
    assert not {"kafka_consumergroup_lag_sum", "kafka_consumergroup_lag"} & {key[0] for key in answer}


def test_exporter_counts_rebalances_and_scrapes(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap))
    assert samples(classic(scrape(port)))["kafka_consumergroup_rebalances_total", "busy"] == 0
    served.state.group("busy", 0, state="Stable", members=(FakeMember("m-2", {"orders": (0, 1)}),))
    answer = samples(classic(scrape(port)))
    assert answer["kafka_consumergroup_rebalances_total", "busy"] == 1
    assert answer["kgroups_scrapes_total",] == 2


def serve_unpolled(exposition: Exposition) -> int:
    return serve_http(pages(exposition, exposition.not_ready), "127.0.0.1", 0)


def status(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode().strip()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode().strip()


def test_exporter_scrape_never_waits_for_a_poll(served: Any) -> None:
    exposition = Exposition(Level.PARTITION)
    port = serve_unpolled(exposition)
    answer = samples(classic(scrape(port)))
    assert answer["kgroups_scrapes_total",] == 0 and ("kgroups_up",) not in answer
    assert status(port, "/ready") == (503, "the first poll is not finished")
    exposition.publish(looks_at(served.bootstrap).poll())
    for _ in range(2):
        assert samples(classic(scrape(port)))["kgroups_scrapes_total",] == 1
    assert status(port, "/ready") == (200, "ready")
    exposition.publish(looks_at("127.0.0.1:1").poll())
    assert status(port, "/ready") == (503, "the last poll did not reach the cluster")
    assert status(port, "/healthz") == (200, "ok")


def test_exporter_serves_gzip(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap))
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert b"kgroups_up 1.0" in gzip.decompress(answer.read())


def test_exporter_kminion_names_have_the_same_values(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), compat="kminion"))))
    assert answer["kminion_kafka_consumer_group_topic_lag", "busy", "orders"] == 10
    # The values of the labels are in the order of the labels' names: group_id, partition_id, topic_name.
    assert answer["kminion_kafka_consumer_group_topic_partition_lag", "busy", "0", "orders"] == 10
    assert answer["kminion_kafka_consumer_group_topic_offset_sum", "busy", "orders"] == 190
    assert answer["kminion_kafka_consumer_group_members", "busy"] == 1
    assert answer["kminion_kafka_topic_partition_high_water_mark", "0", "orders"] == 100
    (info,) = (key for key in answer if key[0] == "kminion_kafka_consumer_group_info" and "busy" in key)
    assert answer[info] == 1 and info[-1] == "Stable"
    assert answer["kafka_consumergroup_lag_sum", "busy", "orders"] == 10
    assert answer[("kminion_exporter_up",)] == 1
    assert answer["kminion_kafka_consumer_group_empty_members", "busy"] == 0
    assert answer["kminion_kafka_consumer_group_topic_members", "busy", "orders"] == 1
    assert answer["kminion_kafka_consumer_group_topic_assigned_partitions", "busy", "orders"] == 2


def test_exporter_grafana_names_have_the_same_values(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), compat="grafana"))))
    for ours, theirs, factor in (
        ("kafka_consumergroup_lag", "kafka_consumergroup_uncommitted_offsets", 1),
        ("kafka_consumergroup_lag_sum", "kafka_consumergroup_uncommitted_offsets_sum", 1),
        ("kafka_consumergroup_partition_lag_seconds", "kafka_consumer_lag_millis", 1000),
    ):
        values = {
            tuple(sorted({*key[1:]} - {"sampled", "record"})): each * factor
            for key, each in answer.items()
            if key[0] == ours
        }
        assert values and values == {tuple(sorted(key[1:])): each for key, each in answer.items() if key[0] == theirs}


def test_exporter_bounds_series_and_counts_omitted(served: Any) -> None:
    looks = looks_at(served.bootstrap)

    def served_series(most: int | None) -> tuple[int, float]:
        answer = samples(classic(scrape(_serve(looks, max_series=most))))
        names = [key for key in answer if key[0].startswith("kafka_")]
        return len(names), sum(value for key, value in answer.items() if key[0] == "kgroups_omitted_series")

    every, omitted = served_series(None)
    assert omitted == 0
    for most in (0, 1, 15, 30, every - 1, every):
        count, omitted = served_series(most)
        assert count <= most and count + omitted == every


def test_exporter_estimates_lag_seconds_from_sampled_log_ends(served: Any) -> None:
    looks = looks_at(served.bootstrap)
    looks.poll()
    served.state.topic("orders", [0, 1], end=110)
    served.state.groups["busy"].commits.update({("orders", 0): 105, ("orders", 1): 110})
    answer = samples(classic(scrape(_serve(looks))))
    assert answer["kafka_consumergroup_lag_seconds", "busy", "sampled"] >= 0
    assert answer["kafka_consumergroup_partition_lag_seconds", "busy", "sampled", "1", "orders"] == 0
    assert answer["kafka_consumergroup_offset_unchanged_seconds", "busy", "0", "orders"] == 0


def test_exporter_unreachable_cluster_is_down(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at("127.0.0.1:1")))))
    assert answer["kgroups_up",] == 0
    assert answer["kgroups_scrape_failures_total", "cluster"] == 1
    assert not [key for key in answer if key[0].startswith("kafka_")]


@pytest.mark.parametrize("name", ["fleet", "group", "partition"])
def test_exporter_dashboard_keeps_clusters_apart_and_takes_no_rate_of_a_gauge(run_cli: Run, name: str) -> None:
    code, out, _ = run_cli("exporter", "--dashboard", name)
    asked = [target["expr"] for panel in json.loads(out)["panels"] for target in panel["targets"]]
    assert code == 0 and asked
    assert [expression for expression in asked if 'job="$job"' not in expression] == []
    # the offsets of a reset are no reset of a counter
    assert [expression for expression in asked if re.search(r"rate\(kafka_consumergroup_current", expression)] == []


@pytest.mark.parametrize("name", ["fleet", "group", "partition"])
def test_exporter_dashboard_panels_have_a_unit_and_do_not_overlap(run_cli: Run, name: str) -> None:
    panels = json.loads(run_cli("exporter", "--dashboard", name)[1])["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place, defaults = panel["gridPos"], panel["fieldConfig"]["defaults"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
        in_seconds = "_seconds" in panel["targets"][0]["expr"]
        assert (defaults["unit"] == "s") == in_seconds, panel["title"]
        assert defaults["noValue"] in ("unknown", "none") and not defaults["custom"].get("spanNulls"), panel["title"]


@pytest.mark.parametrize("name", ["fleet", "group", "partition"])
def test_exporter_dashboard_numbers_are_those_of_now(run_cli: Run, name: str) -> None:
    panels = json.loads(run_cli("exporter", "--dashboard", name)[1])["panels"]
    instant = {panel["title"]: panel["targets"][0].get("instant", False) for panel in panels if panel["type"] != "stat"}
    assert [title for title, found in instant.items() if found] == (["Firing alerts"] if name == "fleet" else [])
    assert all(panel["targets"][0]["instant"] for panel in panels if panel["type"] == "stat")


def test_exporter_prints_kit_without_bootstrap_servers(run_cli: Run) -> None:
    code, out, err = run_cli("exporter", "--dashboard")
    assert (code, json.loads(out)["uid"], err) == (0, "kgroups-fleet", "")
    code, out, _ = run_cli("exporter", "--alerts")
    assert code == 0 and out.startswith("# Alert rules")
    for words in (("exporter",), ("snapshot", "save"), ("history", "collect")):
        code, out, _ = run_cli(*words, "--systemd-unit")
        assert code == 0 and "DynamicUser=yes" in out
    code, out, _ = run_cli("snapshot", "save", "--systemd-timer")
    assert code == 0 and "OnCalendar=hourly" in out
    assert run_cli("exporter", "--dashboard", "nosuch")[0] == 2


def test_names_of_kminion_are_mapped_to_metrics_that_exist() -> None:
    rows = re.findall(r"^\| `(kminion_\w+)` \| (`.+) \|$", page_text("docs/exporter.md"), re.MULTILINE)
    assert len(rows) > 5
    exported, with_kminion = exported_metrics(), exported_metrics(compat="kminion")
    for theirs, ours in rows:
        assert set(re.findall(r"\b(?:kafka|kgroups)_\w+", ours)) <= exported
        assert theirs in with_kminion
    missing = re.findall(r"^\| `(kminion_\w+)` \| not served", page_text("docs/exporter.md"), re.MULTILINE)
    assert "kminion_kafka_consumer_group_offset_commits_total" in missing and not with_kminion & {*missing}


def test_systemd_unit_is_valid_and_hardened(run_cli: Run, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    words = {
        "kgroups-exporter.service": ("exporter", "--systemd-unit"),
        "kgroups-snapshot.service": ("snapshot", "save", "--systemd-unit"),
        "kgroups-history.service": ("history", "collect", "--systemd-unit"),
        "kgroups-snapshot.timer": ("snapshot", "save", "--systemd-timer"),
    }
    units = [tmp_path / name for name in words]
    for unit in units:
        unit.write_text(run_cli(*words[unit.name])[1].replace("/usr/local/bin/kgroups", sys.executable))
    verified = subprocess.run([program, "verify", *units], capture_output=True, text=True, timeout=60, check=False)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    for unit in units[:3]:
        rated = [program, "security", "--offline=true", "--threshold=20", unit]  # 2.0 of 10
        assert subprocess.run(rated, capture_output=True, timeout=60, check=False).returncode == 0


def test_exporter_reports_no_value_as_younger_than_it_is(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_at(served.bootstrap)
    query, read_at = looks._query, []

    def timed() -> Any:
        read_at.append(time.time())
        return query()

    monkeypatch.setattr(looks, "_query", timed)
    reached_at = looks.poll().reached_at
    assert reached_at is not None and reached_at <= read_at[0]


def test_exporter_invalid_listen_address_exits_2(run_cli: Run) -> None:
    for text in ("x", "1:", ":", "h:99999", ":-1"):
        code, _, err = run_cli("exporter", "-b", "127.0.0.1:1", "--listen", text)
        assert code == 2 and "--listen" in err


def test_exporter_max_age_is_an_interval_with_a_notice(run_cli: Run) -> None:
    _, _, err = run_cli("exporter", "-b", "127.0.0.1:1", "--max-age", "5s", "--listen", "nowhere")
    assert "kgroups: note: --max-age of kgroups exporter is deprecated; use --interval" in err


def test_exporter_forgets_deleted_groups_while_others_fail(served: Any) -> None:
    looks = looks_at(served.bootstrap)
    served.state.fail("ListOffsets", "orders-0", ErrorCode.not_leader_or_follower)  # for good
    for at in range(30):
        name = f"passing-{at}"
        served.state.group(name, 0, commits={("orders", 0): 1})
        looks.poll()
        del served.state.groups[name]
    looks.poll()
    assert looks._rebalances.names == {"busy", 'odd"\\\n'}
    assert set(looks._known) == {"busy", 'odd"\\\n'}


def test_exporter_memory_is_bounded_while_a_broker_is_down(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "MAX_MISSING", 5)
    looks = looks_at(served.bootstrap)
    looks.poll()
    served.fake.brokers[1].fault("ListGroups", close)
    for at in range(20):
        name = f"passing-{at}"
        served.state.group(name, 0, commits={("orders", 0): 1})
        looks.poll()
        del served.state.groups[name]
    assert len(looks._rebalances.names) <= 1 + 5 + 1
    assert len(looks._known) <= 1 + 5 + 1


def test_exporter_headroom(served: Any) -> None:
    now = int(time.time() * 1000)
    log = [batch(at, [(at, now - 60_000)]) for at in range(100)]
    served.state.topics["orders"].logs = {0: log, 1: log}
    retention = {"cleanup.policy": "delete", "retention.ms": "360000", "retention.bytes": "-1"}
    served.state.settings["orders"] = {**retention, "segment.ms": "1", "segment.bytes": "1"}
    served.state.settings |= {name: {"log.retention.check.interval.ms": "1"} for name in ("0", "1")}
    plain = samples(classic(scrape(_serve(looks_at(served.bootstrap)))))
    assert not any("headroom" in name for name, *_ in plain)
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap, Polling(with_headroom=True))))))
    assert 290 < answer["kafka_consumergroup_headroom_seconds", "busy"] <= 300
    assert 290 < answer["kafka_consumergroup_partition_headroom_seconds", "busy", "0", "orders"] <= 300
    assert ("kafka_consumergroup_partition_headroom_seconds", "busy", "1", "orders") not in answer


def test_exporter_unread_records(served: Any) -> None:
    log = [batch(at, [(at, 1)], last=at + 1) for at in range(0, 100, 2)]
    served.state.topics["orders"].logs = {0: log, 1: log}
    plain = samples(classic(scrape(_serve(looks_at(served.bootstrap)))))
    assert not any("unread_" in name for name, *_ in plain)
    served.state.fail("Fetch", "orders-1", ErrorCode.unknown_server_error)
    served.state.groups["broken"] = served.state.group("broken", 0, commits={("orders", 1): 90})
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap, Polling(with_counts=True))))))
    for name in ("kafka_consumergroup_unread_min", "kafka_consumergroup_unread_max"):
        assert answer[name, "busy"] == 5
        assert (name, "broken") not in answer  # unknown is not 0
    assert answer["kafka_consumergroup_partition_unread_min", "busy", "1", "orders"] == 0


def test_exporter_dashboard_colors_only_what_is_wrong_in_every_cluster(run_cli: Run) -> None:
    panels = [
        panel
        for name in ("fleet", "group")
        for panel in json.loads(run_cli("exporter", "--dashboard", name)[1])["panels"]
    ]
    numbers = {panel["title"]: panel["fieldConfig"]["defaults"] for panel in panels if panel["type"] == "stat"}
    assert all(each["thresholds"]["steps"] == [{"color": "text", "value": None}] for each in numbers.values())
    texts = {title: each["mappings"][1]["options"] for title, each in numbers.items() if len(each["mappings"]) > 1}
    assert texts == {
        "Cluster reached": {"0": {"text": "no", "color": "red"}, "1": {"text": "yes"}},
        "Values": {"0": {"text": "current"}, "1": {"text": "stale", "color": "orange"}},
    }


def test_exporter_dashboard_of_alerts_has_the_labels_that_name_what_fires(run_cli: Run) -> None:
    panels = json.loads(run_cli("exporter", "--dashboard", "fleet")[1])["panels"]
    (table,) = (panel for panel in panels if panel["type"] == "table")
    (columns,) = (each["options"] for each in table["transformations"])
    labels = ["alertname", "severity", "consumergroup", "topic", "partition", "instance"]
    assert table["targets"][0]["expr"].startswith(f"max by ({', '.join(labels)}) (ALERTS{{")
    assert [*columns["indexByName"]] == [*columns["renameByName"]] == labels
    assert columns["excludeByName"] == {"Time": True, "Value": True}
