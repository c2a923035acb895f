"""Files of profiles and of rules: read, or an error of ours."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kgroups.config.flags import CONFIG_ENV, Flags
from kgroups.config.load import load_settings
from kgroups.errors import ConfigError, KgroupsError
from kgroups.model.health.rules import parse_rules

PLACE = Path(tempfile.mkdtemp(prefix="kgroups-fuzz-")) / "config.toml"
ENVIRONMENT = {CONFIG_ENV: os.fspath(PLACE)}


def seeds() -> Iterator[bytes]:
    yield (
        b'default = "a"\n[profiles.a]\nbootstrap = "h:1"\ntimeout = "1m"\nbroker-timeout = 5\ntransport = "wire"\n'
        b'[profiles.a.properties]\nsecurity.protocol = "SSL"\nssl.truststore.type = "PEM"\n'
    )
    yield (
        b'[[rule]]\ngroups = ["a", "b-*"]\nmax-lag = "5,10"\nstate = ["stable"]\n'
        b'[[rule]]\ngroups = "x"\nmax-age = {critical = "5m"}\n'
    )
    yield b"[[rule]]\ngroups = ['*']\nmax-topic-lag = {'a*' = 5}\nmin-members = 1\n"
    yield b'a = 1979-05-27T07:32:00Z\nb = [[{c = 0x1f, d = 1e5, e = nan}]]\n"f\\u0041" = """x"""\n'


def one(data: bytes) -> None:
    PLACE.write_bytes(data)
    with suppress(KgroupsError):
        load_settings(Flags(None, None, (), None, None, None, None, ()), ENVIRONMENT)
    with suppress(UnicodeDecodeError, ConfigError):
        parse_rules(data.decode(), "rules.toml")
