"""Chromium without a window, controlled by the DevTools protocol over two pipes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--remote-debugging-pipe",
)  # fmt: skip
LIMIT_MS = 300_000


class Tab:
    """One tab. ``problems`` are errors of the console, failed loads, and requests to the network."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = os.fdopen(requests, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb")
        self._number = 0
        self._session: str | None = None
        self._loaded = False
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # A page remembers the colors of the one before.
        self.call("Page.addScriptToEvaluateOnNewDocument", source="try { localStorage.clear() } catch {}")

    def call(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._requests.write(json.dumps(message).encode() + b"\0")
        while True:
            received = self._receive()
            if received.get("id") == self._number:
                assert "error" not in received, (method, received["error"])
                return received["result"]

    def open(self, address: str) -> None:
        """Load a page, with everything that it loads."""
        self._loaded = False
        self.call("Page.navigate", url=address)
        while not self._loaded:
            self._receive()

    def run(self, script: str) -> Any:
        """Return the value of an expression; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, timeout=LIMIT_MS
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def width(self, pixels: int) -> None:
        """Set the width of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=pixels, height=900, deviceScaleFactor=1, mobile=pixels < 600
        )

    def colors(self, scheme: str) -> None:
        """Prefer light or dark colors."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def close(self) -> None:
        """End the browser."""
        self._session = None
        self.call("Browser.close")
        self._requests.close()
        self._answers.close()

    def _receive(self) -> Any:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "Chromium has ended"
            text += byte
        received = json.loads(text)
        self._note(received.get("method"), received.get("params", {}))
        return received

    def _note(self, method: str | None, params: Any) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent" and params["request"]["url"].startswith(("http:", "https:")):
            self.problems.append(f"request to {params['request']['url']}")


@contextmanager
def opened(program: str, folder: Path) -> Iterator[Tab]:
    """Start Chromium with an empty profile in a folder, and stop it at the end."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()

    # Chromium reads commands from descriptor 3, and writes to 4.
    command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
    arguments = [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with (folder.parent / "chromium.log").open("w") as log:
        browser = subprocess.Popen(
            ["bash", "-c", command, *arguments], pass_fds=(theirs_in, theirs_out), stderr=log, stdout=log
        )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        tab = Tab(ours_out, ours_in)
        yield tab
        tab.close()
        assert browser.wait(timeout=60) == 0, (folder.parent / "chromium.log").read_text()[-2000:]
    finally:
        browser.kill()
        browser.wait()
