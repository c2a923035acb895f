"""TLS and SASL settings reach the data sources and are never shown."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from kgroups.config.secret import Secret
from kgroups.config.security import Password, Sasl, Security, Tls
from kgroups.config.settings import ClientSettings
from kgroups.errors import ConfigError, UsageError
from kgroups.history.connection import resolve_settings, with_settings
from kgroups.history.extract.source import OffsetsSource
from kgroups.history.live.source import LiveSource
from kgroups.history.options import Options

HUSH = "hush-hush"
SECURED = ClientSettings(
    (("h", 1), ("i", 2)),
    security=Security(Tls(key=Secret(HUSH)), Sasl("PLAIN", Password("me", Secret(HUSH)))),
)
OPTIONS = {"bootstrap.servers": "h:1,i:2"}


def options(given: Mapping[str, str]) -> Options:
    return Options("s", given, ("bootstrap.servers", "command.config"))


@pytest.mark.parametrize("source", [OffsetsSource, LiveSource])
def test_settings_are_pickled_with_the_source(source: Any) -> None:
    packed = cloudpickle.dumps(with_settings(source, SECURED))
    arrived = pickle.loads(packed)
    assert arrived is not source
    assert arrived.name() == source.name()
    made = arrived(OPTIONS)
    read = pickle.loads(cloudpickle.dumps(made.reader(made.schema())))  # what goes on to the executors
    settings = read._options.settings
    assert (settings.bootstrap, settings.security) == (SECURED.bootstrap, SECURED.security)
    for seen in (made, arrived, read, read._options, settings, made.options, OPTIONS):
        assert HUSH not in repr(seen) + str(seen)


def test_settings_apply_only_to_their_own_servers() -> None:
    assert resolve_settings(options(OPTIONS), SECURED) is SECURED
    assert resolve_settings(options({"bootstrap.servers": "elsewhere:1"}), SECURED).security is None


def test_source_without_security_is_unchanged() -> None:
    assert with_settings(OffsetsSource, None) is OffsetsSource
    assert with_settings(OffsetsSource, ClientSettings((("h", 1),))) is OffsetsSource


def test_source_reads_config_file_on_the_driver(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f"sasl.username=me\nsasl.password={HUSH}\nbootstrap.servers=x\n"
    )
    given = {"bootstrap.servers": "h:1", "command.config": str(file)}
    source = LiveSource(given)
    settings = source.reader(source.schema())._options.settings
    assert settings.bootstrap == (("h", 1),)
    assert settings.security == Security(None, Sasl("PLAIN", Password("me", Secret(HUSH))))
    with pytest.raises(ConfigError, match=r"kgroups-live: option command\.config: cannot read"):
        LiveSource(given | {"command.config": str(tmp_path / "none")}).schema()


def test_source_without_servers_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"kgroups-live: option bootstrap\.servers is not set; set it to "):
        LiveSource({}).schema()


def test_servers_are_compared_after_parsing() -> None:
    settings = ClientSettings((("a", 1), ("b", 9092)), security=Security(Tls()))
    assert resolve_settings(options({"bootstrap.servers": " a:1, b,"}), settings) is settings
    assert resolve_settings(options({"bootstrap.servers": "c:1"}), settings).security is None


def test_disabled_host_name_check_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "client.properties"
    path.write_text("security.protocol=SSL\nssl.endpoint.identification.algorithm=\n")
    resolve_settings(options({"bootstrap.servers": "a:1", "command.config": str(path)}), None)
    assert "a certificate for any host is accepted" in caplog.text
