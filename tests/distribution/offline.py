"""Run commands without network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROXIES = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https", "all")}
"""Nothing listens there: each request to an index fails."""


def offline_environment(**variables: str) -> dict[str, str]:
    """Return variables without the settings of pip, uv, pex, and Python, with which other hosts are not reached."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PEX_", "PYTHON"))}
    return kept | PROXIES | {"no_proxy": "127.0.0.1", "PIP_CONFIG_FILE": os.devnull} | variables


def offline(*command: str | Path, code: int = 0, **variables: str) -> str:
    """Run a command; return its output, or its errors if it is expected to fail."""
    env = offline_environment(**variables)
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, timeout=600, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr
