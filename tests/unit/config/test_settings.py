from __future__ import annotations

import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import UsageError


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ("host:9093", (("host", 9093),)),
        ("host", (("host", 9092),)),
        ("a:1,b:2", (("a", 1), ("b", 2))),
        (" a:1 , , b ", (("a", 1), ("b", 9092))),
        ("[::1]:9093", (("::1", 9093),)),
        ("[::1]", (("::1", 9092),)),
        ("PLAINTEXT://host:9093", (("host", 9093),)),
        ("SSL://[fe80::1]:1", (("fe80::1", 1),)),
        ("host:65535", (("host", 65535),)),
    ],
)
def test_parse_bootstrap_accepts_server_lists(text: str, servers: tuple[tuple[str, int], ...]) -> None:
    assert parse_bootstrap(text) == servers


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ",",
        ":9092",
        "host:0",
        "host:65536",
        "host:x",
        "host:-1",
        "::1",
        "::1:9092",
        "[]:9092",
        "host:٣",
        "[::1",
        "[::1]x",
        "[::1]9092",
        "a:1,b:x",
    ],
)
def test_parse_bootstrap_rejects_invalid_text(text: str) -> None:
    with pytest.raises(UsageError):
        parse_bootstrap(text)


def test_bootstrap_servers_are_formatted_as_text() -> None:
    text = "a:1,[::1]:2"
    assert ClientSettings(parse_bootstrap(text)).bootstrap_servers == text
