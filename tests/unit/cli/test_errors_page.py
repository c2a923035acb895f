"""docs/errors.md shows the messages that commands print."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.documentation.pages import page_text
from tests.fakes import broker
from tests.fakes.sasl import FakeSasl, scram
from tests.unit.conftest import Ran, Served

JAAS = 'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="x";'
PLAIN = ("-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN", "-X", JAAS)


def shown(reason: str) -> str:
    """Return the messages in the section of a reason."""
    section = page_text("docs/errors.md").partition(f"\n## {reason}\n")[2].partition("\n## ")[0]
    return re.findall(r"```text\n(.*?)```", section, re.DOTALL)[0]


def plain(text: str) -> str:
    return re.sub(r"[\w.-]+:\d+(?=: )", "ADDRESS", text)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("connection_refused", ("-b", "127.0.0.1:1")),
        ("name_not_resolved", ("-b", "broker-1.invalid:9092")),
        ("invalid_usage", ()),
        ("invalid_config", ("-b", "127.0.0.1:1", "-X", "security.protocol=SSLX")),
    ],
)
def test_message_without_a_broker(reason: str, words: tuple[str, ...], run_cli: Callable[..., Ran]) -> None:
    assert plain(run_cli("list", *words).err) == plain(shown(reason))


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("not_kafka", broker.raw(b"HTTP/1.1 400 Bad Request")),
        ("tls_required", broker.raw(b"\x15\x03\x01\x00\x02\x02\x46")),
        ("connection_closed", broker.close),
    ],
)
def test_message_about_a_listener(
    reason: str, fault: broker.Fault, serve: Callable[..., Served], run_cli: Callable[..., Ran]
) -> None:
    served = serve(brokers=1)
    served.fake.brokers[0].fault("*", fault)
    assert plain(run_cli("list", "-b", served.bootstrap).err) == plain(shown(reason))


@pytest.mark.parametrize(
    ("reason", "asked"),
    [
        ("mechanism_unsupported", FakeSasl({"SCRAM-SHA-512": scram({}, "SCRAM-SHA-512")})),
        ("authentication_not_supported", FakeSasl({}, wanted=False)),
    ],
)
def test_message_about_authentication(
    reason: str, asked: FakeSasl, serve: Callable[..., Served], run_cli: Callable[..., Ran]
) -> None:
    served = serve(brokers=1, fill=lambda fake: fake.secure(asked=asked))
    assert plain(run_cli("list", "-q", "-b", served.bootstrap, *PLAIN).err) == plain(shown(reason))
