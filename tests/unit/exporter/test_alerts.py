"""The alert rules, run by ``promtool test rules``: each fires in time and alone, and none for healthy groups."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.documentation.pages import page_text

ROOT = Path(__file__).parents[3]
RULES = ROOT / "kgroups/exporter/monitoring/alerts.yaml"

EXPORTER = 'job="kgroups",instance="a:9308"'
GROUP = f'{EXPORTER},consumergroup="orders"'
PARTITION = f'{GROUP},topic="orders",partition="0"'
LOG = f'{EXPORTER},topic="orders",partition="0"'

UP = f"up{{{EXPORTER}}}"
REACHED = f"kgroups_up{{{EXPORTER}}}"
AGE = f"kgroups_data_age_seconds{{{EXPORTER}}}"
OMITTED = f'kgroups_omitted_series{{{EXPORTER},level="partition"}}'
BROKER_FAILURES = f'kgroups_scrape_failures_total{{{EXPORTER},scope="broker"}}'
TOPIC_FAILURES = f'kgroups_scrape_failures_total{{{EXPORTER},scope="topic"}}'
STALE = f"kafka_consumergroup_stale{{{GROUP}}}"
MEMBERS = f"kafka_consumergroup_members{{{GROUP}}}"
TOTAL = f"kafka_consumergroup_total_lag{{{GROUP}}}"
KNOWN = f"kafka_consumergroup_known_lag{{{GROUP}}}"
UNKNOWN = f"kafka_consumergroup_unknown_partitions{{{GROUP}}}"
SECONDS = f'kafka_consumergroup_lag_seconds{{{GROUP},method="sampled"}}'
HEADROOM = f"kafka_consumergroup_headroom_seconds{{{GROUP}}}"
REBALANCES = f"kafka_consumergroup_rebalances_total{{{GROUP}}}"
LAG = f"kafka_consumergroup_lag{{{PARTITION}}}"
OFFSET = f"kafka_consumergroup_current_offset{{{PARTITION}}}"
HIDDEN = f'kgroups_hidden{{{EXPORTER},what="offsets"}}'
AHEAD = f"kafka_consumergroup_ahead_partitions{{{GROUP}}}"
EPOCH_AHEAD = f"kafka_consumergroup_epoch_ahead_partitions{{{GROUP}}}"
STATUS = f'kafka_consumergroup_status{{{GROUP},severity="ok",status="ok"}}'
NOT_ASSIGNED = f'kafka_consumergroup_status{{{GROUP},severity="critical",status="not assigned"}}'
LOST = f'kafka_consumergroup_status{{{GROUP},severity="critical",status="data lost"}}'
PENDING = f"kafka_consumergroup_pending_partitions{{{GROUP}}}"
UNSUBSCRIBED = f"kafka_consumergroup_unsubscribed_lag{{{GROUP}}}"
OFFSET_SUM = f'kafka_consumergroup_current_offset_sum{{{GROUP},topic="orders"}}'
UNCHANGED = f"kafka_consumergroup_offset_unchanged_seconds{{{PARTITION}}}"
COMMITTED = f"kafka_consumergroup_commit_age_seconds{{{PARTITION}}}"
OLDEST = f"kafka_topic_partition_oldest_offset{{{LOG}}}"

HOURS = 5
MINUTES = HOURS * 60
HEALTHY: Mapping[str, str | None] = {
    UP: f"1x{MINUTES}",
    f'kgroups_build_info{{{EXPORTER},version="1",python="3"}}': f"1x{MINUTES}",
    REACHED: f"1x{MINUTES}",
    AGE: f"15x{MINUTES}",
    OMITTED: f"0x{MINUTES}",
    BROKER_FAILURES: f"0x30 1x{MINUTES}",  # one poll failed
    TOPIC_FAILURES: f"0+4x{MINUTES}",  # commits on a deleted topic
    STALE: f"0x{MINUTES}",
    MEMBERS: f"2x{MINUTES}",
    TOTAL: "10 0 30 20 " * (MINUTES // 4),
    KNOWN: f"10x{MINUTES}",
    UNKNOWN: f"0x{MINUTES}",
    SECONDS: f"2x{MINUTES}",
    HEADROOM: f"86400x{MINUTES}",
    REBALANCES: f"0x100 2x{MINUTES}",  # a deployment
    LAG: "10 0 30 20 " * (MINUTES // 4),
    OFFSET: f"500+60x{MINUTES}",
    OFFSET_SUM: f"500+60x{MINUTES}",
    UNCHANGED: f"0x{MINUTES}",
    COMMITTED: f"5x{MINUTES}",
    OLDEST: f"100x{MINUTES}",
    HIDDEN: f"0x{MINUTES}",
    AHEAD: f"0x{MINUTES}",
    EPOCH_AHEAD: f"0x{MINUTES}",
    STATUS: f"1x{MINUTES}",
    UNSUBSCRIBED: f"0x{MINUTES}",
    PENDING: f"2x{MINUTES}",  # a client that commits in short transactions
}
"""Series -> values, one a minute; ``None``: no such series."""


class Case(NamedTuple):
    """``within``: minutes after the beginning in which the alert must fire, and not before ``quiet`` minutes."""

    series: Mapping[str, str | None]
    quiet: int
    within: int
    together: Sequence[str] = ()
    """Other alerts that fire as well."""


def always(value: object) -> str:
    return f"{value}x{MINUTES}"


CASES: Mapping[str, Case] = {
    "KgroupsExporterDown": Case({UP: f"1x10 0x{MINUTES}"}, 14, 17),
    "KgroupsClusterUnreachable": Case({REACHED: f"1x10 0x{MINUTES}"}, 14, 17),
    "KgroupsDataStale": Case({AGE: f"15x10 15+60x{MINUTES}"}, 15, 20),
    "KgroupsPartialData": Case({BROKER_FAILURES: f"0x10 1+4x{MINUTES}"}, 14, 17),
    "KgroupsHidden": Case({HIDDEN: f"0x10 1x{MINUTES}"}, 14, 17),
    "KgroupsSeriesOmitted": Case({OMITTED: f"0x10 7x{MINUTES}"}, 14, 17),
    "ConsumerGroupStopped": Case({MEMBERS: f"2x10 0x{MINUTES}", TOTAL: f"0x10 10+60x{MINUTES}"}, 14, 18),
    "ConsumerGroupPartitionStuck": Case(
        {LAG: f"0x10 1+1x{MINUTES}", UNCHANGED: f"0x10 0+60x{MINUTES}", OFFSET: f"500+60x10 1100x{MINUTES}"}, 24, 28
    ),
    "ConsumerGroupDisappeared": Case(
        dict.fromkeys((LAG, OFFSET, OFFSET_SUM, TOTAL, PENDING)) | {STALE: "0x10 stale"}, 14, 18
    ),
    "ConsumerGroupStale": Case({STALE: f"0x10 1x{MINUTES}", UNKNOWN: f"0x10 1x{MINUTES}"}, 14, 17),
    "ConsumerGroupUnknownPartitions": Case({UNKNOWN: f"0x10 2x{MINUTES}"}, 19, 22),
    "ConsumerGroupNoCommits": Case(
        dict.fromkeys((TOTAL, KNOWN, LAG, OFFSET, OFFSET_SUM, UNCHANGED, PENDING)) | {UNKNOWN: always(1)},
        8,
        12,
        ["ConsumerGroupUnknownPartitions"],
    ),
    "ConsumerGroupUnsubscribed": Case({UNSUBSCRIBED: f"0x10 1000x{MINUTES}", TOTAL: always(0)}, 19, 22),
    "ConsumerGroupNotAssigned": Case({STATUS: "1x10 stale", NOT_ASSIGNED: f"_x10 1x{MINUTES}"}, 19, 23),
    "ConsumerGroupLagSeconds": Case({SECONDS: f"2x10 2+60x{MINUTES}"}, 19, 23),
    "ConsumerGroupHeadroom": Case({HEADROOM: f"86400x10 3601-60x{MINUTES}"}, 15, 18),
    "ConsumerGroupRebalanceStorm": Case({REBALANCES: f"0x10 0+1x{MINUTES}"}, 16, 24),
    "ConsumerGroupDataLost": Case({OLDEST: f"100x10 100+1000x{MINUTES}"}, 15, 18),
    "ConsumerGroupAheadOfLog": Case({LAG: f"0x10 -5x{MINUTES}"}, 14, 17),
    "ConsumerGroupEpochAhead": Case({EPOCH_AHEAD: f"0x10 2x{MINUTES}"}, 14, 17),
    "ConsumerGroupOpenTransaction": Case(
        {PENDING: f"0x10 1x{MINUTES}", OFFSET: f"500+60x10 1100x{MINUTES}", OFFSET_SUM: f"500+60x10 1100x{MINUTES}"},
        26,
        32,
    ),
    "ConsumerGroupNearExpiry": Case({MEMBERS: always(0), COMMITTED: f"518000+60x{MINUTES}"}, 65, 72),
}


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


def test_every_alert_has_a_test_and_a_runbook() -> None:
    names = [rule["alert"] for rule in rules()]
    headings = re.findall(r"^## (\w+)$", page_text("docs/alerts.md"), re.MULTILINE)
    assert names == list(CASES) == headings
    for rule in rules():
        assert rule["annotations"]["runbook_url"] == f"alerts.md#{rule['alert'].lower()}"
        assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("critical", "warning", "info")


@pytest.mark.parametrize("name", CASES)
def test_alert_fires_in_time_and_alone(name: str, tmp_path: Path, require_program: Callable[..., str]) -> None:
    case = CASES[name]
    firing = sorted((name, *case.together))
    run_promtool(require_program("promtool"), tmp_path, case.series, {case.quiet: [], case.within: firing})


def test_no_alert_fires_for_healthy_groups(tmp_path: Path, require_program: Callable[..., str]) -> None:
    run_promtool(require_program("promtool"), tmp_path, {}, dict.fromkeys(range(1, MINUTES, 3), ()))


QUIET: Mapping[str, Mapping[str, str | None]] = {
    "an empty group without new records": {MEMBERS: always(0), TOTAL: always(40), SECONDS: always(200)},
    "a group whose topics have no retention limit": {HEADROOM: None},
    "a partition without records": {LAG: always(0), UNCHANGED: f"0+60x{MINUTES}"},
}


@pytest.mark.parametrize("case", QUIET)
def test_no_alert_fires_for(case: str, tmp_path: Path, require_program: Callable[..., str]) -> None:
    run_promtool(require_program("promtool"), tmp_path, QUIET[case], dict.fromkeys(range(1, MINUTES, 3), ()))


ALSO_FIRES: Mapping[str, tuple[str, Mapping[str, str | None]]] = {
    "a commit beyond the end, without series of partitions": (
        "ConsumerGroupAheadOfLog",
        dict.fromkeys((LAG, OFFSET, UNCHANGED, COMMITTED)) | {AHEAD: always(1)},
    ),
    "lost records of a share group, which has no committed offsets": (
        "ConsumerGroupDataLost",
        dict.fromkeys((OFFSET, OFFSET_SUM, STATUS, PENDING)) | {LOST: always(1)},
    ),
    "a transaction that holds the only offsets of a group": (
        "ConsumerGroupOpenTransaction",
        dict.fromkeys((LAG, OFFSET, OFFSET_SUM, UNCHANGED, COMMITTED)) | {PENDING: always(1)},
    ),
}


@pytest.mark.parametrize("case", ALSO_FIRES)
def test_alert_fires_although_other_metrics_are_absent(
    case: str, tmp_path: Path, require_program: Callable[..., str]
) -> None:
    name, series = ALSO_FIRES[case]
    run_promtool(require_program("promtool"), tmp_path, series, {40: [name]})


def test_group_is_not_reported_as_gone_while_a_broker_is_down(
    tmp_path: Path, require_program: Callable[..., str]
) -> None:
    """An exporter that was started meanwhile does not know the groups of that broker."""
    series = dict.fromkeys((LAG, OFFSET, OFFSET_SUM, TOTAL, PENDING)) | {
        STALE: "0x10 stale",
        BROKER_FAILURES: f"0x10 1+4x{MINUTES}",
    }
    run_promtool(require_program("promtool"), tmp_path, series, dict.fromkeys((17, 30, 60), ("KgroupsPartialData",)))


def run_promtool(
    promtool: str, folder: Path, series: Mapping[str, str | None], firing: Mapping[int, Sequence[str]]
) -> None:
    """Check which alerts fire, by the minute."""
    inputs = [{"series": name, "values": values} for name, values in {**HEALTHY, **series}.items() if values]
    expected = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in names],
        }
        for minute, names in firing.items()
    ]
    test = {"interval": "1m", "input_series": inputs, "promql_expr_test": expected}
    file = folder / "alerts.test.yaml"  # JSON is YAML
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
