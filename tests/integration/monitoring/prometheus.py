"""Run Prometheus and exporters, and query them over HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kgroups.sandbox.ports import ReservedPorts

RULES = Path(__file__).parents[3] / "kgroups/exporter/monitoring/alerts.yaml"
PATIENCE = 600.0
SHORTER = 10
"""By what incidents divide durations of the rules."""
QUICK = {"speed": "quick"}
"""Label of the alerts of shortened rules."""
_UNITS = {"m": 60, "h": 3600, "d": 86400}


class Prometheus(NamedTuple):
    """A server that scrapes each second what :meth:`scrape` adds. ``folder`` has a file for each target."""

    address: str
    folder: Path

    def get(self, path: str, **parameters: str) -> Any:
        """Return the data of a response; each must be a success."""
        query = urllib.parse.urlencode({name.replace("match", "match[]"): text for name, text in parameters.items()})
        with urllib.request.urlopen(f"{self.address}/api/v1/{path}?{query}", timeout=PATIENCE) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the result of an instant query."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def firing(self, job: str, *, quick: bool = False) -> list[dict[str, str]]:
        """Return the labels of the alerts that are firing now."""
        alerts = [each["labels"] for each in self.get("alerts")["alerts"] if each["state"] == "firing"]
        return [each for each in alerts if each.get("job") == job and (each.get("speed") == "quick") == quick]

    @contextmanager
    def scrape(self, job: str, exporter: str) -> Iterator[None]:
        """Scrape an exporter (HOST:PORT) as this job."""
        file = self.folder / f"{job}.json"
        file.write_text(json.dumps([{"targets": [exporter], "labels": {"job": job}}]))
        try:
            wait_until(lambda: self.query(f'kgroups_up{{job="{job}"}} == 1'))
            yield
        finally:
            file.unlink()


@contextmanager
def run_prometheus(program: str, folder: Path) -> Iterator[Prometheus]:
    """Run a server with the rules as they are, and with shortened ones (:func:`shortened`)."""
    (folder / "targets").mkdir()
    (folder / "quick.yaml").write_text(shortened(RULES.read_text(encoding="utf-8"), SHORTER))
    jobs = [{"job_name": "exporters", "file_sd_configs": [{"files": ["targets/*.json"], "refresh_interval": "1s"}]}]
    every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config = {"global": every, "rule_files": [str(RULES), "quick.yaml"], "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    ports = ReservedPorts(1)
    address = f"127.0.0.1:{ports.numbers[0]}"
    ports.release()
    files = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with (
        (folder / "prometheus.log").open("wb") as log,
        subprocess.Popen([program, *files, f"--web.listen-address={address}"], stderr=log) as process,
    ):
        try:
            found = Prometheus(f"http://{address}", folder / "targets")
            wait_until(lambda: found.get("rules")["groups"])
            yield found
            process.terminate()
            assert process.wait(60) == 0, (folder / "prometheus.log").read_text()[-2000:]
        finally:
            process.kill()


@contextmanager
def run_exporter(bootstrap: str | None, *options: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run an exporter that polls each second; yield its HOST:PORT."""
    where = () if bootstrap is None else ("-b", bootstrap)
    words = ["exporter", *where, "--listen", "127.0.0.1:0", "--interval", "1s", *options]
    command = [sys.executable, "-m", "kgroups", *words]
    with subprocess.Popen(command, env={**os.environ, **(env or {})}, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            serving = re.search(r"http://([^/]+)", line)
            assert serving, line
            yield serving[1]
        finally:
            process.kill()


def shortened(rules: str, by: int) -> str:
    """Divide what depends on time: ranges and ``for`` (except days), and thresholds of metrics in seconds."""
    text = re.sub(
        r"(\[|for: )(\d+)([mh])\b", lambda found: f"{found[1]}{int(found[2]) * _UNITS[found[3]] // by}s", rules
    )
    text = re.sub(r"(_seconds\)?) > (\d+)", lambda found: f"{found[1]} > {int(found[2]) // by}", text)
    found = yaml.safe_load(text)
    for group in found["groups"]:
        group["name"] += "-quick"
        for rule in group["rules"]:
            rule["labels"].update(QUICK)
    return json.dumps(found)


def wait_until(done: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Return the first true result; connections that fail count as false."""
    until = time.monotonic() + patience
    while True:
        try:
            if found := done():
                return found
        except OSError as error:
            found = error
        assert time.monotonic() < until, found
        time.sleep(0.25)
