"""Create a Kerberos realm: MIT's KDC on a loopback port, with database, keytabs, and tickets in the sandbox's folder.

On Debian: ``apt-get install krb5-kdc krb5-admin-server krb5-user``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.errors import SandboxError

from ..ports import HOST, ReservedPorts
from ..prerequisites import Site
from ..process import state_of
from ..programs import mark_of
from .secrets import Secrets

REALM: Final = "KGROUPS.TEST"
SERVICE: Final = "kafka"
"""The first part of the brokers' principals."""
_ATTEMPTS: Final = 3
_PROGRAMS: Final = ("krb5kdc", "kadmin.local", "kdb5_util", "kinit")

# With a UDP port, some clients would try it first, and wait for it.
_CLIENT: Final = """\
[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_lookup_realm = false
udp_preference_limit = 1
default_ccache_name = FILE:{folder}/default.ccache
default_client_keytab_name = FILE:{folder}/none.keytab
[realms]
{realm} = {{
  kdc = {host}:{port}
}}
"""
_KDC: Final = """\
[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = {host}:{port}
[realms]
{realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/kadm5.acl
  max_life = 24h
}}
[logging]
kdc = FILE:{folder}/kdc.log
"""


class Kerberos(NamedTuple):
    configuration: Path
    """The file for ``KRB5_CONFIG`` and ``-Djava.security.krb5.conf``."""
    service_principal: str
    service_keytab: Path
    user_principal: str
    user_keytab: Path
    tickets: Path
    """The user's tickets, from kinit, valid for a day."""


def need_kerberos() -> dict[str, str]:
    """Return the paths of the Kerberos programs.

    :raises SandboxError: when one is missing; the message names the packages.
    """
    places = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    found = {name: shutil.which(name, path=places) for name in _PROGRAMS}
    if missing := [name for name, path in found.items() if path is None]:
        raise SandboxError(
            f"a sandbox with Kerberos requires {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not "
            "installed; on Debian: apt-get install krb5-kdc krb5-admin-server krb5-user"
        )
    return {name: path for name, path in found.items() if path}


def kerberos_configuration(folder: Path) -> Path | None:
    """Return the file for ``KRB5_CONFIG`` of the sandbox in a folder; ``None`` if it has no realm."""
    found = folder / "kerberos" / "krb5.conf"
    return found if found.exists() else None


def start_kerberos(site: Site, user: str, secrets: Secrets) -> Kerberos:
    """Create a realm with the brokers' and the user's principal, start its KDC, and request a ticket for the user.

    :raises SandboxError: when a program is missing, or fails.
    """
    programs = need_kerberos()
    folder = site.folder / "kerberos"
    folder.mkdir()
    realm = _Realm(folder, programs)
    service = f"{SERVICE}/{_own_name()}@{REALM}"
    kerberos = Kerberos(
        folder / "krb5.conf", service, folder / "kafka.keytab", f"{user}@{REALM}", folder / "user.keytab",
        folder / "user.ccache",
    )  # fmt: skip
    for attempt in range(_ATTEMPTS):
        realm.configure(_free_port())
        if attempt == 0:
            realm.create(secrets.new())
            realm.add(kerberos.service_principal, kerberos.service_keytab)
            realm.add(kerberos.user_principal, kerberos.user_keytab)
        if realm.serve(site):
            realm.run(
                "kinit", "-k", "-t", str(kerberos.user_keytab), "-c", str(kerberos.tickets), kerberos.user_principal
            )
            return kerberos
    raise SandboxError(f"the Kerberos KDC does not start; see {site.folder}/logs/kdc.log")


class _Realm:
    def __init__(self, folder: Path, programs: dict[str, str]) -> None:
        self._folder = folder
        self._programs = programs
        self._port = 0
        self._environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder}/default.ccache",
        }

    def configure(self, port: int) -> None:
        self._port = port
        values = {"realm": REALM, "folder": self._folder, "host": HOST, "port": port}
        (self._folder / "krb5.conf").write_text(_CLIENT.format(**values))
        (self._folder / "kdc.conf").write_text(_KDC.format(**values))

    def create(self, master: str) -> None:
        self.run("kdb5_util", "create", "-s", "-r", REALM, stdin=f"{master}\n{master}\n")

    def add(self, principal: str, keytab: Path) -> None:
        self.run("kadmin.local", stdin=f"addprinc -randkey {principal}\nktadd -k {keytab} {principal}\nquit\n")
        if not keytab.exists():
            raise SandboxError(f"kadmin.local did not create {keytab}")

    def serve(self, site: Site) -> bool:
        """Start the KDC; return false if another process has taken its port."""
        words = [f"{key}={value}" for key, value in self._environment.items()]
        command = ["/usr/bin/env", *words, self._programs["krb5kdc"], "-n", "-P", str(self._folder / "kdc.pid")]
        pid = site.spawn("kdc", command)
        until = time.monotonic() + 30
        while state_of(pid, mark_of(site.folder)) != "gone" and time.monotonic() < until:
            try:
                socket.create_connection((HOST, self._port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def run(self, name: str, *words: str, stdin: str = "") -> None:
        _run([self._programs[name], *words], {**os.environ, **self._environment}, stdin)


def _run(command: Sequence[str], environment: dict[str, str], stdin: str) -> None:
    done = subprocess.run(
        command, env=environment, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise SandboxError(f"{Path(command[0]).name} failed: {done.stdout.strip()} {done.stderr.strip()}")


def _free_port() -> int:
    held = ReservedPorts(1)
    held.release()
    return held.numbers[0]


def _own_name() -> str:
    """Return this machine's name of its loopback address, with which clients request the broker's ticket."""
    try:
        return socket.gethostbyaddr(HOST)[0]
    except OSError:
        return "localhost"
