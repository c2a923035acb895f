"""Make the pictures of the Grafana dashboards, from a Prometheus server that scrapes an exporter at real brokers.

There is no Grafana server: the page in dashboards/ draws the JSON of a dashboard with Grafana's panel components, which
npm installs into build/dashboards/.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from dashboard_data import Query, Time, page_data, prometheus
from repository import PICTURES, ROOT

from kgroups.sandbox.ports import ReservedPorts
from kgroups.sandbox.traffic import GROUP, TOPIC, traffic

KGROUPS = (sys.executable, "-m", "kgroups")
SOURCES = ROOT / "docs" / "site" / "dashboards"
BUILD = ROOT / "build" / "dashboards"
NAMES = ("fleet", "group", "partition")
SCHEMES = ("light", "dark")
WANTED = {"job": "kafka", "group": GROUP, "topic": TOPIC}
SCRAPE = 2
"""Seconds between two scrapes, and between two polls of the exporter."""
RECORDED, SHOWN = 600.0, 240.0
"""Seconds for which data is recorded, and the last of them, which are shown: rates are over the 5 minutes before."""
LEAVES, RETURNS = 380.0, 420.0
"""Seconds after the start between which a member is away."""
WIDTH, ROW, MARGINS = 1280, 38, 80


def prepare(browser: str | None) -> str:
    """Bundle the page; return why that, or a picture of it, is not possible."""
    programs = {"Chromium": browser, **{name: shutil.which(name) for name in ("npm", "prometheus")}}
    if missing := [name for name, path in programs.items() if not path]:
        return f"they need {', '.join(missing)}"
    try:
        _build_page()
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)} failed"
    return ""


def dashboards(bootstrap: str, browser: str) -> None:
    """Record the metrics of brokers, and make a picture of each dashboard in each color scheme."""
    with (
        TemporaryDirectory() as folder,
        _exporter(bootstrap) as exporter,
        _prometheus(Path(folder), exporter) as address,
        traffic(bootstrap) as away,
    ):
        time.sleep(LEAVES)
        away.set()
        time.sleep(RETURNS - LEAVES)
        away.clear()
        time.sleep(RECORDED - RETURNS)
        query = prometheus(address)
        # At a full minute, the last label of each time axis would be cut off: the range ends 15 s before one.
        end = (time.time() - SCRAPE - 45) // 60 * 60 + 45
        for name in NAMES:
            _write_data(name, query, Time(end - SHOWN, end, SCRAPE))
    with _serve(BUILD / "site") as address:
        for name in NAMES:
            for scheme in SCHEMES:
                _picture(name, scheme, address, browser)
            print(f"dashboard-{name}: kgroups exporter --dashboard {name}")


def _build_page() -> None:
    """Install the packages if their versions have changed, and bundle the page."""
    BUILD.mkdir(parents=True, exist_ok=True)
    packages = SOURCES / "package.json"
    installed = BUILD / "node_modules" / "package.json"
    if not installed.exists() or installed.read_text(encoding="utf-8") != packages.read_text(encoding="utf-8"):
        shutil.copy(packages, BUILD)
        options = ("--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run(("npm", "install", *options), cwd=BUILD, check=True)
        shutil.copy(packages, installed)
    for file in SOURCES.iterdir():
        shutil.copy(file, BUILD)
    subprocess.run(("npm", "run", "--silent", "build"), cwd=BUILD, check=True)
    icons = BUILD / "node_modules" / "@grafana" / "ui" / "dist" / "public" / "img"
    shutil.copytree(icons, BUILD / "site" / "public" / "build" / "img", dirs_exist_ok=True)


def _height(dashboard: dict[str, Any]) -> int:
    """Return the height of a picture that shows all panels."""
    rows: int = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    return MARGINS + ROW * rows


def _kgroups(*words: str) -> str:
    return subprocess.run((*KGROUPS, *words), check=True, capture_output=True, text=True).stdout


def _write_data(name: str, query: Query, shown: Time) -> None:
    dashboard = json.loads(_kgroups("exporter", "--dashboard", name))
    data = page_data(dashboard, WANTED, query, shown)
    (BUILD / "site" / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")


def _picture(name: str, scheme: str, address: str, browser: str) -> None:
    dashboard = json.loads((BUILD / "site" / f"{name}.json").read_text(encoding="utf-8"))["dashboard"]
    common = (
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--virtual-time-budget=20000",
        f"--window-size={WIDTH},{_height(dashboard)}",
        f"--screenshot={PICTURES / f'dashboard-{name}-{scheme}.png'}",
        f"{address}/?name={name}&theme={scheme}",
    )
    subprocess.run((browser, *common), check=True, capture_output=True)


@contextmanager
def _exporter(bootstrap: str) -> Iterator[str]:
    """Run an exporter; yield its HOST:PORT."""
    options = ("--listen", "127.0.0.1:0", "--interval", f"{SCRAPE}s", "--time", "--commit-age")
    with _running(*KGROUPS, "exporter", "-b", bootstrap, *options, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://([^/]+)", line)
        assert found, line
        Thread(target=process.stderr.read, daemon=True).start()
        yield found[1]


@contextmanager
def _prometheus(folder: Path, exporter: str) -> Iterator[str]:
    """Run a Prometheus server that scrapes an exporter, with the alert rules; yield its address."""
    (folder / "alerts.yaml").write_text(_kgroups("exporter", "--alerts"))
    config = {
        "global": {"scrape_interval": f"{SCRAPE}s", "evaluation_interval": f"{SCRAPE}s"},
        "rule_files": ["alerts.yaml"],
        "scrape_configs": [{"job_name": WANTED["job"], "static_configs": [{"targets": [exporter]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    ports = ReservedPorts(1)
    address = f"127.0.0.1:{ports.numbers[0]}"
    ports.release()
    files = (f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data")
    with _running("prometheus", *files, f"--web.listen-address={address}", stderr=subprocess.DEVNULL):
        yield f"http://{address}"


@contextmanager
def _running(*command: str, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def _serve(folder: Path) -> Iterator[str]:
    """Serve the files of a folder: from a disk, browsers load neither modules nor data."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
