"""Properties files: all settings are read, or rejected with an error of kgroups."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.properties import read_properties
from kgroups.errors import ConfigError, KgroupsError

PLACE = Path(tempfile.mkdtemp(prefix="kgroups-fuzz-")) / "client.properties"

KEYS = (
    "bootstrap.servers=h:9092\nsecurity.protocol=SASL_SSL\n",
    "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="u" password="p";\n',
    "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://h/t\n",
    "ssl.truststore.type=PEM\n"
    "ssl.truststore.certificates=-----BEGIN CERTIFICATE-----\\nMA==\\n-----END CERTIFICATE-----\n",
    "config.providers=env,file\nconfig.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
    "client.id=${env:X}${file:/x:y}\n",
    "request.timeout.ms=5000\ndefault.api.timeout.ms=1\nssl.cipher.suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n",
    "a\\u0041 : b\\\n  c\n# d\n! e\n\\ud83d\\ude00=\\t\n",
)


def seeds() -> Iterator[bytes]:
    yield from (text.encode() for text in KEYS)
    yield "".join(KEYS[:2]).encode()


def one(data: bytes) -> None:
    PLACE.write_bytes(data)
    with suppress(ConfigError):
        list(read_properties(PLACE))
    with suppress(KgroupsError):
        load_settings(Flags("h:1", os.fspath(PLACE), (), None, None, None, None, ()), {}, explain=True)
