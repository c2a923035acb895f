"""Invalid configurations on real brokers: a one-line error in time, an exit code, and no secret."""

from __future__ import annotations

import re

import pytest

from kgroups.config.settings import Transport
from kgroups.sandbox.security import Secure
from tests.integration.asking import Answer, run_here
from tests.integration.auth_methods import GROUPS
from tests.integration.bad_config_runs import Misused
from tests.integration.bad_configs import MISUSES
from tests.integration.secret_scan import Leaks

UNBOUNDED = 30.0
"""Default of --timeout in seconds: a command with half of it ends earlier, on any machine."""


def reported(answer: Answer) -> list[str]:
    """Its lines on stderr, but for those of ``--debug``."""
    return [line for line in answer.err.splitlines() if not line.startswith("debug: ")]


def check(answer: Answer, code: int, says: str) -> None:
    lines = reported(answer)
    hints = [line for line in lines if line.startswith("kgroups: hint: ")]
    references = [line for line in lines if line.startswith("kgroups: reference: errors.md#")]
    *notes, error = [line for line in lines if line not in (*hints, *references)]
    assert len(references) == 1
    assert (answer.code, answer.out) == (code, ""), answer.err
    assert re.match(f"kgroups: error: .*(?:{says})", "; ".join((error, *hints))), error
    assert all(note.startswith("kgroups: note: ") for note in notes)
    assert answer.seconds < UNBOUNDED


def test_misuse_over_wire_is_one_line_error(misuse: str, misuse_results: Misused) -> None:
    expected = MISUSES[misuse]
    check(misuse_results.answers[misuse, Transport.WIRE], expected.code, expected.says)


def test_misuse_over_librdkafka_is_one_line_error(misuse: str, misuse_results: Misused) -> None:
    expected = MISUSES[misuse]
    answer = misuse_results.answers.get((misuse, Transport.LIBRDKAFKA))
    assert (answer is None) == (expected.librdkafka is None)
    if answer and expected.librdkafka:
        check(answer, expected.code, expected.librdkafka)


def test_misuse_output_shows_no_secret(misuse_results: Misused, secure: Secure) -> None:
    leaks = Leaks(secure)
    assert leaks.in_(f"password={secure.users['operator']}") and leaks.in_("Bearer eyJhbGciOiJSUzI1NiIsInR5cCI6")
    for cell, answer in misuse_results.answers.items():
        assert not leaks.in_(answer.out + answer.err), cell


def test_misuse_command_lines_show_no_secret(misuse_results: Misused, secure: Secure) -> None:
    leaks = Leaks(secure)
    assert any("misuse-wrong-password-plain.properties" in line for line in misuse_results.command_lines)
    assert not [line for line in misuse_results.command_lines if leaks.in_(line)]


@pytest.mark.parametrize("transport", Transport)
def test_disabled_host_name_check_still_verifies_the_chain(secure: Secure, transport: Transport) -> None:
    """A setting disables it, with a warning; the chain is still verified."""
    off = {**secure.ways["ssl"].settings, "ssl.endpoint.identification.algorithm": ""}
    file = secure.write("any-name", "WRONG_NAME", off)
    answer = run_here("list", "--command-config", str(file), "--transport", transport.value)
    assert (answer.code, answer.lines) == (0, GROUPS.names())
    assert "ssl.endpoint.identification.algorithm" in answer.err
    strange = secure.write("any-name-self-signed", "SELF_SIGNED", off)
    assert run_here("list", "--command-config", str(strange), "--transport", transport.value).code == 1


@pytest.mark.parametrize("transport", Transport)
def test_pbes2_key_that_java_17_cannot_read_is_read(secure: Secure, transport: Transport) -> None:
    """Encrypted as openssl does today, PBES2 with AES."""
    made = secure.certificates
    store = made.folder / "modern-store.pem"
    store.touch(0o600)
    store.write_text(made.modern_key.read_text() + made.client.certificate.read_text())
    settings = {**secure.ways["mtls-encrypted"].settings, "ssl.keystore.location": str(store)}
    file = secure.write("modern-key", "MTLS", settings)
    answer = run_here("list", "--command-config", str(file), "--transport", transport.value)
    assert (answer.code, answer.lines) == (0, GROUPS.names()), answer.err
