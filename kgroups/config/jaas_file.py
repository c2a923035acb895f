"""Read the JAAS file that options of the JVM name: ``KAFKA_OPTS=-Djava.security.auth.login.config=jaas.conf``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kgroups.errors import ConfigError

from .formats.jaas import section_of
from .jaas_line import JAAS
from .properties import read_bounded
from .settings_reader import Setting

_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "KAFKA_OPTS", "_JAVA_OPTIONS")
"""In the order of precedence of the JVM: the last one wins."""

_PROPERTY = "java.security.auth.login.config"
_OTHERS = ("javax.net.ssl.", "java.security.krb5.", "org.apache.kafka.")
_SECTION = "KafkaClient"


def jaas_file(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable that names a JAAS file, and its path; ``None`` without one."""
    found = [(variable, value) for variable, key, value in _properties(environ) if key == _PROPERTY]
    return (found[-1][0], found[-1][1].removeprefix("=").removeprefix("file:")) if found else None


def setting_of_jaas_file(environ: Mapping[str, str]) -> Setting | None:
    """Return the section ``KafkaClient`` of the JAAS file as ``sasl.jaas.config``; ``None`` without a file.

    :raises ConfigError: if the file cannot be read, or does not have this section.
    """
    named = jaas_file(environ)
    if named is None:
        return None
    variable, path = named
    text = read_bounded(Path(path), f"{variable}: {_PROPERTY}").decode("utf-8", "surrogateescape")
    try:
        section = section_of(text, _SECTION)
    except ValueError as error:
        raise ConfigError(f"{path} ({variable}) {error}") from None
    if section is None:
        raise ConfigError(f"{path} ({variable}) has no section {_SECTION}")
    return Setting(JAAS, section, f"{path} ({variable})", written=_SECTION)


def ignored_options(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each other option of the JVM that changes how Java's clients connect."""
    for variable, key, _ in _properties(environ):
        if key.startswith(_OTHERS):
            yield f"{variable}: {key} is not read; set it in the settings file"


def _properties(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for variable in _VARIABLES:
        for found in re.finditer(r"""-D([\w.]+)=("[^"]*"|'[^']*'|\S*)""", environ.get(variable, "")):
            yield variable, found[1], found[2].strip("\"'")
