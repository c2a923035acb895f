"""``kgroups check`` over fake brokers: output in each format, and exit codes."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from kio.schema.errors import ErrorCode
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from kgroups.cli.check.checker import Checker
from kgroups.model.health.findings import Finding
from kgroups.model.health.report import Report
from kgroups.model.severity import Severity
from kgroups.protocol.record_batch import Aborted
from kgroups.render.health import write_report
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import TRANSACTIONAL, batch, marker

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    fake.state.group("busy", 0, state="Stable", members=held, commits={("orders", 0): 90, ("orders", 1): 100})
    fake.state.group("a'b|c\x1b", 1, commits={("orders", 0): 1})


@pytest.fixture
def check(run_cli: Run, serve: Callable) -> Run:
    served = serve(fill=shop)
    return lambda *words: run_cli("check", "-b", served.bootstrap, *words)


def test_check_all_rules_pass_exits_0(check: Run) -> None:
    code, out, err = check("busy", "--max-lag", "10", "--state", "stable,empty")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "KGROUPS OK - 3 checks of 1 group | 'busy lag'=10;;10",
        "OK        busy: the group exists",
        "OK        busy: state: Stable",
        "OK        busy: lag 10",
    ]


@pytest.mark.parametrize("output", ["text", "json", "junit", "openmetrics"])
def test_check_group_without_committed_offset_is_unknown(
    run_cli: Run, serve: Callable, output: str, tmp_path: Path
) -> None:
    """A consumer that never managed to commit, or on one partition of two only."""

    def never(fake: FakeCluster) -> None:
        shop(fake)
        held = (FakeMember("m-1", {"orders": (0, 1)}),)
        fake.state.group("never", 0, state="Stable", members=held)
        fake.state.group("once", 0, state="Stable", members=held, commits={("orders", 0): 100})

    words = ("check", "-b", serve(fill=never).bootstrap, "never", "once", "--max-lag", "5", "-o", output)
    code, out, _ = run_cli(*words)
    assert code == 3
    if output == "text":
        assert "UNKNOWN   never: lag unknown on 2 partitions: no committed offset" in out
        assert "UNKNOWN   once: lag 0 on 1 partition, unknown on 1: no committed offset" in out
        assert "lag'=" not in out
    assert run_cli(*words, "--allow-uncommitted")[0] == 0
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\ngroups = ["once"]\nmax-lag = 5\nallow-uncommitted = true\n', encoding="utf-8")
    assert run_cli(*words[:3], "--rules", str(rules), "-o", output)[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (["busy", "--max-lag", "5,50"], 1, "KGROUPS WARNING - 1 of 2 checks of 1 group: busy: lag 10 is above 5"),
        (["busy", "--max-lag", "5"], 2, "KGROUPS CRITICAL - 1 of 2 checks of 1 group: busy: lag 10 is above 5"),
        (["none"], 2, "KGROUPS CRITICAL - 1 of 1 check of 1 group: none: the group does not exist"),
        (["--regex", "x"], 3, "KGROUPS UNKNOWN - no group matches"),
        (["busy", "--max-lag", "x"], 3, "KGROUPS UNKNOWN - --max-lag: 'x' is not a number of records"),
        (["busy", "--max-topic-lag", "5"], 3, "KGROUPS UNKNOWN - --max-topic-lag: '5' is not GLOB=[WARN,]CRIT"),
        (["--all-groups", "--state", "odd"], 3, "KGROUPS UNKNOWN - --state: 'odd' is not a group state"),
        ([], 3, "KGROUPS UNKNOWN - no groups selected"),
        (["busy", "--rules", "/none"], 3, "KGROUPS UNKNOWN - --rules: cannot read /none"),
    ],
)
def test_check_exit_code_and_first_line_match_the_worst_result(
    check: Run, words: list[str], code: int, first: str
) -> None:
    got, out, _ = check(*words)
    assert (got, out.startswith(first)) == (code, True), out


def test_check_unknown_option_exits_3(check: Run) -> None:
    code, _, err = check("busy", "--nix")
    assert code == 3 and "No such option" in err


def test_check_unreachable_cluster_exits_3(run_cli: Run) -> None:
    code, out, _ = run_cli("check", "busy", "-b", "127.0.0.1:1")
    assert code == 3 and out.startswith("KGROUPS UNKNOWN - no bootstrap server responded")


@pytest.mark.parametrize("words", [["busy", "-b", "127.0.0.1:1"], ["--max-lag", "x"]])
def test_check_machine_formats_report_a_missing_response(run_cli: Run, words: list[str]) -> None:
    def shown_as(output: str) -> str:
        code, out, err = run_cli("check", *words, "-o", output)
        assert code == 3 and err.startswith("kgroups: error: ")
        return out

    (item,) = json.loads(shown_as("json"))["items"]
    assert (item["group"], item["check"], item["status"]) == (None, "answered", "UNKNOWN")
    assert ElementTree.fromstring(shown_as("junit")).get("errors") == "1"
    status, _ = text_string_to_metric_families(shown_as("openmetrics"))
    assert [sample.value for sample in status.samples] == [3]


def test_check_summary_of_one_check_is_singular(check: Run) -> None:
    assert check("busy")[1].startswith("KGROUPS OK - 1 check of 1 group\n")


def test_check_hostile_group_name_keeps_the_status_line_intact(check: Run) -> None:
    line = check("--all-groups", "--max-lag", "0")[1].splitlines()[0]
    assert line.count("|") == 1 and "\x1b" not in line
    assert r"a'b/c\x1b: lag 99 on 1 partition is above 0, unknown on 1" in line
    line = check("--all-groups", "--max-lag", "0", "--allow-uncommitted")[1].splitlines()[0]
    assert line.count("|") == 1 and "\x1b" not in line
    assert r"'a''b_c\x1b lag'=99;;0" in line


def test_check_json_has_status_and_items(check: Run) -> None:
    code, out, _ = check("busy", "--max-lag", "5", "-o", "json")
    shown = json.loads(out)
    assert (code, shown["schema"], shown["status"], shown["exit_code"]) == (2, "kgroups/check/v1", "CRITICAL", 2)
    assert [(item["check"], item["status"], item["value"]) for item in shown["items"]] == [
        ("exists", "OK", None),
        ("lag", "CRITICAL", 10),
    ]


def test_check_junit_counts_failures(check: Run) -> None:
    root = ElementTree.fromstring(check("busy", "none", "--max-lag", "5", "-o", "junit")[1])
    assert root.attrib == {"name": "kgroups check", "tests": "3", "failures": "2", "errors": "0"}
    assert [suite.get("name") for suite in root] == ["busy", "none"]
    assert [case.get("message") for case in root.iter("failure")] == ["lag 10 is above 5", "the group does not exist"]


def test_check_openmetrics_has_status_per_check(check: Run) -> None:
    out = check("--all-groups", "--max-lag", "50", "-o", "openmetrics")[1]
    samples = [sample for family in text_string_to_metric_families(out) for sample in family.samples]
    status = {(each.labels["group"], each.labels["check"]): each.value for each in samples if "status" in each.name}
    assert status[("busy", "lag")] == 0 and status[("a'b|c\x1b", "lag")] == 2


def test_check_rules_file_selects_groups_and_limits(check: Run, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\ngroups = ["b*", "none"]\nmax-lag = 5\nmin-members = 1\n')
    code, out, _ = check("--rules", str(rules))
    assert code == 2
    assert out.splitlines()[1:] == [
        "CRITICAL  busy: lag 10 is above 5",
        "CRITICAL  none: the group does not exist",
        "OK        busy: the group exists",
        "OK        busy: 1 member",
    ]
    assert check("--rules", str(rules), "busy", "--max-lag", "10")[0] == 0


def test_check_unreadable_commit_times_are_unknown_with_reason(check: Run) -> None:
    code, out, _ = check("busy", "--max-commit-age", "1h")
    assert code == 3 and "busy: commit age unknown on 2 partitions: " in out


def quiet(fake: FakeCluster) -> None:
    """t: two records, their marker; a record, its marker; an aborted record, its marker. Groups stand before each."""
    aborted = batch(5, [(5, 1)], attributes=TRANSACTIONAL, producer=9)
    committed = [batch(0, [(0, 1), (1, 1)], attributes=TRANSACTIONAL, producer=7), marker(2, 7)]
    log = [*committed, batch(3, [(3, 1)], attributes=TRANSACTIONAL, producer=7), marker(4, 7), aborted, marker(6, 9)]
    fake.state.topic("__consumer_offsets", [0], end=0)
    fake.state.topic("t", [0], end=7, logs={0: log}, aborted=[Aborted(9, 5)])
    fake.state.topic("m", [0], end=5, logs={0: log[:4]})
    fake.state.group("read", 0, commits={("m", 0): 4})
    fake.state.group("behind", 0, commits={("m", 0): 1})
    fake.state.group("aborted", 0, commits={("t", 0): 4})


@pytest.mark.parametrize(
    ("group", "words", "code", "said"),
    [
        ("read", (), 0, "OK in "),
        ("behind", (), 2, "STOP in "),
        ("aborted", (), 3, "STOP? in "),
        ("aborted", ("--isolation", "read_committed"), 0, "OK in "),
    ],
)
def test_check_trend_looks_for_unread_records(
    run_cli: Run, serve: Callable, group: str, words: tuple[str, ...], code: int, said: str
) -> None:
    """A consumer that commits record by record stands before the marker of a quiet transactional topic."""
    found = run_cli("check", "-b", serve(fill=quiet).bootstrap, group, "--trend", "--window", "100ms", *words)
    assert found[0] == code, found[1]
    assert f"{group}: trend: {said}" in found[1]


def test_check_trend_with_unreadable_records_is_unknown(run_cli: Run, serve: Callable) -> None:
    def refused(fake: FakeCluster) -> None:
        quiet(fake)
        fake.state.fail("Fetch", "m-0", ErrorCode.topic_authorization_failed)

    words = ("check", "-b", serve(fill=refused).bootstrap, "behind", "--trend", "--window", "100ms")
    code, out, _ = run_cli(*words)
    assert code == 3
    assert "behind: trend: STOP? in " in out and "m-0; unread records are unknown: " in out
    assert "needs READ on TOPIC m" in out


def test_check_wait_outlasts_unreachable_cluster(run_cli: Run) -> None:
    words = ("check", "busy", "-b", "127.0.0.1:1", "--interval", "20ms")
    began = time.monotonic()
    code, out, _ = run_cli(*words, "--wait", "200ms")
    assert code == 3 and out.startswith("KGROUPS UNKNOWN - no bootstrap server responded")
    assert time.monotonic() - began > 0.15


def test_check_wait_polls_until_the_rules_pass(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    words = ("check", "busy", "--members", "0", "-b", served.bootstrap, "--interval", "50ms")
    assert run_cli(*words, "--wait", "150ms")[0] == 2
    later = threading.Timer(0.3, lambda: served.state.group("busy", 0))  # its member leaves
    later.start()
    assert run_cli(*words, "--wait", "30s")[0] == 0
    later.join()


@pytest.mark.parametrize(
    ("wait", "interval", "checks"), [(3.0, 8.0, [0, 3]), (10.0, 8.0, [0, 8, 10]), (2.0, 1.0, [0, 1, 2])]
)
def test_check_wait_ends_with_a_check_at_its_end(
    run_cli: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch, wait: float, interval: float, checks: list[float]
) -> None:
    now = 1000.0
    at: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def report(checker: Checker) -> Report:
        at.append(now - 1000.0)
        return Report((Finding("busy", "members", Severity.CRITICAL, "1 member"),), 0)

    clock = SimpleNamespace(monotonic=lambda: now, sleep=sleep, time=time.time)
    monkeypatch.setattr("kgroups.cli.check.command.time", clock)
    monkeypatch.setattr(Checker, "report", report)
    words = ("check", "busy", "-b", "127.0.0.1:1", "--wait", f"{wait}s", "--interval", f"{interval}s")
    assert run_cli(*words)[0] == 2
    assert at == checks


def test_check_group_without_matching_topic_is_unknown_or_skipped(check: Run) -> None:
    code, out, _ = check("busy", "--max-topic-lag", "audit*=5")
    assert (code, "UNKNOWN   busy: topic-lag: the group has no topic that matches 'audit*'" in out) == (3, True)
    code, out, _ = check("busy", "--max-topic-lag", "audit*=5", "--skip-missing-topics")
    assert (code, "OK        busy: topic-lag: skipped: the group has no topic that matches 'audit*'" in out) == (
        0,
        True,
    )


def test_check_internal_error_exits_3(run_cli: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, Python's own for an exception, would be a WARNING about the groups."""
    served = serve(fill=lambda fake: fake.state.group("a", 0))

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr("kgroups.cli.check.checker.Checker.report", fail)
    for fmt in ("text", "json", "junit", "openmetrics"):
        code, out, err = run_cli("check", "a", "-b", served.bootstrap, "--max-lag", "1", "-o", fmt)
        assert code == 3 and "ZeroDivisionError" in out + err and "secret words" not in out + err


def test_check_writes_text_and_junit_in_one_run(check: Run, tmp_path: Path) -> None:
    code, out, _ = check("busy", "--max-lag", "5", "--junit", str(tmp_path / "j.xml"))
    assert (code, out.startswith("KGROUPS CRITICAL")) == (2, True)
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_check_writes_junit_if_no_broker_responds(run_cli: Run, tmp_path: Path) -> None:
    words = ("check", "busy", "-b", "127.0.0.1:1", "--junit", str(tmp_path / "j.xml"))
    assert run_cli(*words)[0] == 3
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("errors") == "1"


def test_check_junit_file_that_cannot_be_written_is_unknown(check: Run, tmp_path: Path) -> None:
    code, _, err = check("busy", "--junit", str(tmp_path / "missing" / "j.xml"))
    assert (code, "cannot write" in err) == (3, True)


def test_check_on_a_full_disk_is_unknown_and_leaves_no_part_of_a_report(
    check: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(report: object, stream: Any, more: object) -> None:
        stream.write("<testsuites>")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("kgroups.cli.check.reports.write", full)
    code, out, err = check("busy", "--junit", str(tmp_path / "j.xml"))
    message = f"cannot write {tmp_path / 'j.xml'}: No space left on device"
    assert code == 3 and f"UNKNOWN - {message}" in out and err == f"kgroups: error: {message}\n"
    assert not list(tmp_path.glob("j.xml*"))
    assert check("busy", "--junit", "/dev/full")[0] == 3 and Path("/dev/full").exists()
    (tmp_path / "rules.toml").write_text('[[rule]]\ngroups = ["*"]\nmax-lag = 5\n')
    with Path("/dev/full").open("w") as stream:
        words = (sys.executable, "-m", "kgroups", "check", "--lint", str(tmp_path / "rules.toml"))
        ran = subprocess.run(words, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
    message = "kgroups: error: cannot write the output: No space left on device\n"
    assert (ran.returncode, ran.stderr) == (3, message)


def test_check_fail_on_critical_passes_warnings_only(check: Run) -> None:
    assert check("busy", "--max-lag", "5,50")[0] == 1
    code, out, _ = check("busy", "--max-lag", "5,50", "--fail-on", "critical")
    assert (code, out.startswith("KGROUPS WARNING")) == (0, True)
    assert check("busy", "--max-lag", "5", "--fail-on", "critical")[0] == 2
    assert check("busy", "--max-topic-lag", "x*=5", "--fail-on", "critical")[0] == 3


def test_check_lint_needs_no_cluster(run_cli: Run, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('[[rule]]\ngroups = "a*"\nmax-lag = 5\n')
    bad.write_text('[[rule]]\ngroups = "a*"\nmax-lga = 5\n')
    assert run_cli("check", "--lint", str(good)) == (0, f"{good}: 1 rule, valid\n", "")
    code, out, _ = run_cli("check", "--lint", str(good), str(bad))
    assert (code, "bad.toml, line 3: unknown key 'max-lga'" in out) == (3, True)


def test_check_github_writes_annotations_and_summary(
    check: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, out, _ = check("--all-groups", "--max-lag", "5", "--github")
    assert code == 2
    assert "::error title=CRITICAL busy::busy: lag 10 is above 5\n" in out
    assert all("\x1b" not in line for line in out.splitlines())
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("### kgroups check: CRITICAL\n")
    assert "| CRITICAL | busy | lag | lag 10 is above 5 |" in text


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), MemoryError(), RecursionError()])
def test_check_every_crash_is_unknown(check: Run, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Checker, "report", fail)
    code, out, _ = check("busy")
    assert (code, out.startswith("KGROUPS UNKNOWN - ")) == (3, True)


def test_check_reports_progress_in_ci(check: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    words = ("busy", "--members", "0", "--wait", "60ms", "--interval", "20ms")
    assert check(*words)[2] == "kgroups: note: waiting: CRITICAL: 1 check not OK\n"
    monkeypatch.delenv("CI")
    assert check(*words)[2] == ""


def test_check_on_a_terminal_shows_problems_first_in_color(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    fine = Finding("a", "exists", Severity.OK, "the group exists")
    report = Report((fine, Finding("b", "lag", Severity.CRITICAL, "lag 9 is above 5", 9)), 0)
    shown, listed, plain = Terminal(), Terminal(), Terminal()
    write_report(report, "text", shown, None)
    assert shown.getvalue().splitlines() == [
        "\x1b[1;31mCRITICAL\x1b[0m  b: lag 9 is above 5",
        "\x1b[32mOK      \x1b[0m  1 check passed",
    ]
    write_report(report, "text", listed, None, verbose=True)
    assert listed.getvalue().splitlines()[1] == "\x1b[32mOK      \x1b[0m  a: the group exists"
    monkeypatch.setenv("NO_COLOR", "1")
    write_report(report, "text", plain, None)
    assert "\x1b" not in plain.getvalue()


def test_check_headroom_as_performance_data_and_in_json(run_cli: Run, serve: Callable) -> None:
    now = int(time.time() * 1000)
    served = serve(fill=shop)
    log = [batch(at, [(at, now - 10 * 3_600_000)]) for at in range(100)]
    served.state.topics["orders"].logs = {0: log, 1: log}
    retention = {"cleanup.policy": "delete", "retention.ms": str(12 * 3_600_000), "retention.bytes": "-1"}
    served.state.settings["orders"] = {**retention, "segment.ms": "1", "segment.bytes": "1"}
    served.state.settings["0"] = {"log.retention.check.interval.ms": "1"}
    words = ("check", "-b", served.bootstrap, "busy", "--min-headroom", "6h,1h")
    code, out, err = run_cli(*words)
    assert (code, err) == (1, "")
    assert "WARNING   busy: orders-0: headroom 1h59m is below 6h" in out
    assert "'busy headroom'=7" in out and "ms;21600000:;3600000:" in out
    (item,) = [item for item in json.loads(run_cli(*words, "-o", "json")[1])["items"] if item["check"] == "headroom"]
    assert (item["status"], item["warning"], item["critical"]) == ("WARNING", 21_600_000, 3_600_000)
    assert run_cli(*words[:-1], "1h")[0] == 0
    assert run_cli(*words[:-1], "1h,6h")[0] == 3
