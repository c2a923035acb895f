"""A slow and lossy link between two network namespaces, for one measurement.

Uses ``tc netem`` on the loopback of one namespace where the kernel has it. Otherwise connects two namespaces by TUN
devices, and a process delays and drops IP packets between them: TCP itself is the kernel's in both cases. Needs Linux,
root, and iproute2. No interface, route, or setting outside these namespaces is touched.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).parents[1]
CLIENT_ADDRESS = "10.199.0.1"
SERVER_ADDRESS = "10.199.0.2"
QUEUE = 20_000
"""Queue length of a TUN device in packets. Its default of 500 would drop additional packets."""

_MTU = 1_500
_TUN = Path("/dev/net/tun")
_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001


class Unavailable(Exception):
    """The machine does not permit such a link; the message contains the reason."""


class Ends(NamedTuple):
    """The namespaces of clients and servers, and the address of the servers."""

    client: str
    server: str
    address: str
    how: str
    """The emulator, for the report."""

    def within(self, namespace: str) -> tuple[str, ...]:
        """Return the prefix of a command that runs it in the namespace."""
        return ("ip", "netns", "exec", namespace)


@contextmanager
def link(delay: float, loss: float) -> Iterator[Ends]:
    """Open a link for the duration of the block.

    :param delay: seconds, each way.
    :param loss: fraction of the packets of each direction.
    :raises Unavailable: if namespaces or both emulators are not permitted.
    """
    name = f"kgroups-{os.getpid()}"
    with ExitStack() as stack:
        client, server = _namespace(stack, f"{name}-c"), _namespace(stack, f"{name}-s")
        netem = ("qdisc", "add", "dev", "lo", "root", "netem", "delay", f"{delay * 1000:g}ms", "loss", f"{loss:%}")
        result = subprocess.run(["tc", "-n", server, *netem], capture_output=True, text=True, check=False)
        if result.returncode == 0:
            yield Ends(server, server, "127.0.0.1", "tc netem on loopback")
            return
        if not _TUN.exists():
            raise Unavailable(f"tc netem: {result.stderr.strip()}; {_TUN} does not exist")
        _emulate(stack, client, server, delay, loss)
        yield Ends(client, server, SERVER_ADDRESS, f"TUN emulator (tc netem: {result.stderr.strip()})")


def _namespace(stack: ExitStack, name: str) -> str:
    _ip("netns", "add", name)
    stack.callback(_ip, "netns", "del", name)
    _ip("-n", name, "link", "set", "lo", "up")
    return name


def _emulate(stack: ExitStack, client: str, server: str, delay: float, loss: float) -> None:
    command = ["ip", "netns", "exec", server, sys.executable, "-m", "bench.link", str(delay), str(loss)]
    emulator = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT))
    stack.callback(emulator.terminate)
    assert emulator.stdout is not None
    if emulator.stdout.readline().strip() != "ready":
        raise Unavailable("the TUN emulator did not start")
    _ip("-n", server, "link", "set", "far", "netns", client)
    for namespace, device, mine in ((client, "far", CLIENT_ADDRESS), (server, "near", SERVER_ADDRESS)):
        _ip("-n", namespace, "address", "add", f"{mine}/30", "dev", device)
        _ip("-n", namespace, "link", "set", device, "mtu", str(_MTU), "txqueuelen", str(QUEUE), "up")


def _ip(*words: str) -> None:
    try:
        result = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Unavailable("iproute2 is not installed") from error
    if result.returncode:
        raise Unavailable(f"ip {' '.join(words)}: {result.stderr.strip()}")


def _open(device: str) -> IO[bytes]:
    file = _TUN.open("r+b", buffering=0)
    fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TUN_NO_PI))
    os.set_blocking(file.fileno(), False)
    return file


def main() -> None:
    """Delay and drop packets between two new TUN devices until SIGTERM; then report how many."""
    delay, loss = float(sys.argv[1]), float(sys.argv[2])
    near, far = _open("near"), _open("far")
    other = {near.fileno(): far.fileno(), far.fileno(): near.fileno()}
    waiting: deque[tuple[float, int, bytes]] = deque()
    packets = dropped = 0
    chance = random.Random(1)

    def stop(*_: object) -> None:
        print(f"bench: link: {packets:,} packets, {dropped:,} dropped", file=sys.stderr, flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, to, packet = waiting.popleft()
            try:
                os.write(to, packet)
            except OSError:  # the device is not up, or full
                dropped += 1
        readable, _, _ = select.select(other, (), (), max(0.0, waiting[0][0] - now) if waiting else None)
        due = time.monotonic() + delay
        for source in readable:
            for _ in range(64):
                try:
                    packet = os.read(source, 65_536)
                except OSError:  # nothing left, or not up yet
                    break
                packets += 1
                if chance.random() < loss:
                    dropped += 1
                else:
                    waiting.append((due, other[source], packet))


if __name__ == "__main__":
    main()
