"""Read the clusters in the configuration files of other tools: kcl, kaf, rpk, and kafkactl."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kgroups.errors import ConfigError, MissingPackage, install_command

from .profile_edits import Table
from .properties import read_bounded

_MECHANISMS = {
    "plain": "PLAIN",
    "plaintext": "PLAIN",
    "scramsha256": "SCRAM-SHA-256",
    "scramsha512": "SCRAM-SHA-512",
    "oauth": "OAUTHBEARER",
    "oauthbearer": "OAUTHBEARER",
    "awsmskiam": "AWS_MSK_IAM",
    "gssapi": "GSSAPI",
}
_OAUTH = {
    "clientID": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "tokenURL": "sasl.oauthbearer.token.endpoint.url",
    "token": "sasl.oauthbearer.token",
}


class Found(NamedTuple):
    """A cluster of another tool, as a profile; ``remarks`` names what kgroups does not support."""

    name: str
    table: Table
    remarks: tuple[str, ...] = ()


class _Tls(NamedTuple):
    ca: str | None
    certificate: str | None
    key: str | None
    insecure: bool = False


class _Sasl(NamedTuple):
    mechanism: str
    user: str | None
    password: str | None
    more: Mapping[str, str] = {}


def read_clusters(tool: str, file: Path) -> list[Found]:
    """Return the clusters in a configuration file of one of the ``TOOLS``.

    :raises ConfigError: if the file cannot be read, or has another structure.
    :raises MissingPackage: if it is YAML, and PyYAML is not installed.
    """
    parse, clusters, _ = TOOLS[tool]
    tree = parse(file)
    try:
        return list(clusters(tree, file))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ConfigError(f"{file}: not a configuration file of {tool}") from None


def default_file(tool: str, environ: Mapping[str, str]) -> Path:
    """Return the file that the tool itself reads; where it has several places, the first that exists."""
    folders = {
        "~": Path(environ.get("HOME") or Path.home()),
        "config": Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME") or Path.home(), ".config")),
    }
    _, _, places = TOOLS[tool]
    files = [
        Path(environ[place[1:]])
        if place.startswith("$")
        else folders[place.partition("/")[0]] / place.partition("/")[2]
        for place in places
        if not place.startswith("$") or environ.get(place[1:])
    ]
    return next((file for file in files if file.is_file()), files[0])


def _toml(file: Path) -> Any:
    try:
        return tomllib.loads(read_bounded(file).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ConfigError(f"{file}: not valid TOML") from None


def _yaml(file: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingPackage(f"{file} is YAML, which needs PyYAML: {install_command('import')}") from None
    try:
        return yaml.safe_load(read_bounded(file))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):  # the message may quote a line with a password
        raise ConfigError(f"{file}: not valid YAML") from None


def _kcl(tree: Any, file: Path) -> Iterator[Found]:
    tables = tree.get("profiles", {"kcl": tree})  # one cluster without a name, or named ones
    for name, table in tables.items():
        tls, sasl = table.get("tls"), table.get("sasl") or {}
        remarks = ["is_token: delegation tokens are not imported"] if sasl.get("is_token") else []
        yield _found(
            name,
            file,
            table["seed_brokers"],
            None
            if tls is None
            else _Tls(
                tls.get("ca_cert_path"),
                tls.get("client_cert_path"),
                tls.get("client_key_path"),
                bool(tls.get("insecure")),
            ),
            _Sasl(sasl["method"], sasl.get("user"), sasl.get("pass")) if sasl.get("method") else None,
            remarks,
        )


def _kaf(tree: Any, file: Path) -> Iterator[Found]:
    for cluster in tree["clusters"]:
        tls, sasl = cluster.get("TLS"), cluster.get("SASL") or {}
        protocol = str(cluster.get("security-protocol") or "").upper()
        has_tls = tls is not None or protocol.endswith("SSL")
        tls = tls or {}
        more = {key: str(sasl[name]) for name, key in _OAUTH.items() if sasl.get(name)}
        if sasl.get("scopes"):
            more["sasl.oauthbearer.scope"] = " ".join(sasl["scopes"])
        yield _found(
            cluster["name"],
            file,
            cluster["brokers"],
            _Tls(tls.get("cafile"), tls.get("clientfile"), tls.get("clientkeyfile"), bool(tls.get("insecure")))
            if has_tls
            else None,
            _Sasl(sasl["mechanism"], sasl.get("username"), sasl.get("password"), more)
            if sasl.get("mechanism")
            else None,
            [],
        )


def _rpk(tree: Any, file: Path) -> Iterator[Found]:
    for profile in tree["profiles"]:
        api = profile.get("kafka_api") or {}
        has_tls, tls, sasl = "tls" in api, api.get("tls") or {}, api.get("sasl") or {}
        yield _found(
            profile["name"],
            file,
            api["brokers"],
            _Tls(
                tls.get("ca_file") or tls.get("truststore_file"),
                tls.get("cert_file"),
                tls.get("key_file"),
                bool(tls.get("insecure_skip_verify")),
            )
            if has_tls and tls.get("enabled") is not False
            else None,
            _Sasl(sasl.get("mechanism") or "SCRAM-SHA-256", sasl.get("user"), sasl.get("password"))
            if sasl.get("user")
            else None,
            [],
        )


def _kafkactl(tree: Any, file: Path) -> Iterator[Found]:
    for name, context in tree["contexts"].items():
        tls, sasl = context.get("tls") or {}, context.get("sasl") or {}
        brokers = context["brokers"]
        remarks = []
        if (context.get("kubernetes") or {}).get("enabled"):
            remarks.append("kubernetes: kgroups connects to the brokers itself")
        if sasl.get("enabled") and (sasl.get("tokenprovider") or sasl.get("tokenProvider")):
            remarks.append("tokenprovider: set the OAUTHBEARER settings of kgroups instead")
        found = _found(
            name,
            file,
            brokers.split() if isinstance(brokers, str) else brokers,
            _Tls(tls.get("ca"), tls.get("cert"), tls.get("certKey"), bool(tls.get("insecure")))
            if tls.get("enabled")
            else None,
            _Sasl(sasl.get("mechanism") or "plaintext", sasl.get("username"), sasl.get("password"))
            if sasl.get("enabled")
            else None,
            remarks,
        )
        client = context.get("clientID")
        yield found._replace(table={**found.table, "client-id": str(client)}) if client else found


def _found(
    name: Any, file: Path, brokers: list[Any], tls: _Tls | None, sasl: _Sasl | None, remarks: list[str]
) -> Found:
    """Return a cluster with Java's properties; brokers without a port get 9092, as in these tools."""
    servers = ",".join(str(each) if ":" in str(each) else f"{each}:9092" for each in brokers)
    if not servers:
        raise ValueError
    properties: dict[str, str] = {}
    if tls or sasl:
        properties["security.protocol"] = "_".join([*(["SASL"] if sasl else []), "SSL" if tls else "PLAINTEXT"])
    if tls:
        for key, path in (
            ("ssl.ca.location", tls.ca),
            ("ssl.certificate.location", tls.certificate),
            ("ssl.key.location", tls.key),
        ):
            if path:
                properties[key] = os.path.normpath(file.absolute().parent / Path(path).expanduser())
        if tls.insecure:
            remarks = [*remarks, "insecure TLS: kgroups always verifies the certificates of brokers"]
    if sasl:
        short = sasl.mechanism.lower().replace("-", "").replace("_", "")
        properties["sasl.mechanism"] = _MECHANISMS.get(short, sasl.mechanism)
        if short not in _MECHANISMS:
            remarks = [*remarks, f"SASL mechanism {sasl.mechanism}: not supported"]
        properties |= {
            key: str(value)
            for key, value in (("sasl.username", sasl.user), ("sasl.password", sasl.password))
            if value is not None and value != ""
        }
        properties |= sasl.more
    table: Table = {"bootstrap": servers, **({"properties": properties} if properties else {})}
    return Found(str(name), table, tuple(remarks))


TOOLS: dict[str, tuple[Callable[[Path], Any], Callable[[Any, Path], Iterator[Found]], tuple[str, ...]]] = {
    "kcl": (_toml, _kcl, ("$KCL_CONFIG_PATH", "config/kcl/config.toml")),
    "kaf": (_yaml, _kaf, ("~/.kaf/config",)),
    "rpk": (_yaml, _rpk, ("config/rpk/rpk.yaml",)),
    "kafkactl": (_yaml, _kafkactl, ("$KAFKA_CTL_CONFIG", "config/kafkactl/config.yml", "~/.kafkactl/config.yml")),
}
"""For each tool: the parser of its files, the reader of their clusters, and the places of the file."""
