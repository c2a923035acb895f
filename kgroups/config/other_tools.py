"""Read the clusters in the configuration files of other tools: kcl, kaf, rpk, and kafkactl.

Each setting of a file becomes one of the profile, or is named in a remark: :class:`KeyedTable` records what was read.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kgroups.errors import ConfigError, MissingPackage, install_command

from .formats.keyed_table import KeyedTable
from .profile_edits import Table
from .properties import read_bounded

_MERGE = "tag:yaml.org,2002:merge"
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
_INSECURE = (
    "insecure TLS is not imported: certificates are verified unless enable.ssl.certificate.verification is false"
)
_OAUTH = {
    "clientID": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "tokenURL": "sasl.oauthbearer.token.endpoint.url",
    "token": "sasl.oauthbearer.token",
}


class Found(NamedTuple):
    """A cluster of another tool, as a profile; ``remarks`` names settings that are not imported."""

    name: str
    table: Table
    remarks: tuple[str, ...] = ()


class Clusters(NamedTuple):
    """The clusters of a file; ``unread`` are the paths of settings that belong to none of them."""

    found: list[Found]
    unread: tuple[str, ...] = ()


class _Tls(NamedTuple):
    ca: str | None
    certificate: str | None
    key: str | None
    key_password: str | None = None
    insecure: bool = False


class _Sasl(NamedTuple):
    mechanism: str
    user: str | None
    password: str | None
    more: Mapping[str, str] = {}


def read_clusters(tool: str, file: Path) -> Clusters:
    """Return the clusters in a configuration file of one of the ``TOOLS``.

    :raises ConfigError: if the file cannot be read, or has another structure.
    :raises MissingPackage: if it is YAML, and PyYAML is not installed.
    """
    parse, _, _ = TOOLS[tool]
    return clusters_in(tool, parse(file), file)


def clusters_in(tool: str, tree: Any, file: Path) -> Clusters:
    """Return the clusters in the parsed contents of a file.

    :raises ConfigError: if they have another structure.
    """
    _, clusters, _ = TOOLS[tool]
    try:
        table = KeyedTable(tree, folded=tool == "kafkactl")
        found = list(clusters(table, file))
    except (TypeError, ValueError):
        raise ConfigError(f"{file}: not a configuration file of {tool}") from None
    names = [each.name for each in found]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{file}: several clusters have the name {repeated[0]!r}; rename all but one")
    return Clusters(found, tuple(table.take_unread()))


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

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        """Like Go's decoder, take scalars as they are written (``0123`` is no number), and reject repeated keys."""

        yaml_implicit_resolvers = {
            first: [(tag, pattern) for tag, pattern in each if tag in ("tag:yaml.org,2002:null", _MERGE)]
            for first, each in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value if key.tag != _MERGE and isinstance(key.value, str)]
            if len(keys) > len({*keys}):
                raise yaml.YAMLError
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(read_bounded(file), Loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):  # the message may quote a line with a password
        raise ConfigError(f"{file}: not valid YAML, or a key is repeated") from None


def _kcl(tree: KeyedTable, file: Path) -> Iterator[Found]:
    tables = tree.named_tables("profiles") if "profiles" in tree else {"kcl": tree}  # named clusters, or only one
    for name, cluster in tables.items():
        has_tls, tls, sasl = "tls" in cluster, cluster.table("tls"), cluster.table("sasl")
        remarks = ["sasl.is_token: delegation tokens are not imported"] if sasl.flag("is_token") else []
        yield _found(
            name,
            file,
            cluster,
            cluster.texts("seed_brokers"),
            _Tls(
                tls.text("ca_cert_path"),
                tls.text("client_cert_path"),
                tls.text("client_key_path"),
                insecure=bool(tls.flag("insecure")),
            )
            if has_tls
            else None,
            _Sasl(method, sasl.text("user"), sasl.text("pass")) if (method := sasl.text("method")) else None,
            remarks,
        )


def _kaf(tree: KeyedTable, file: Path) -> Iterator[Found]:
    for cluster in tree.items("clusters"):
        has_tls, tls, sasl = "TLS" in cluster, cluster.table("TLS"), cluster.table("SASL")
        protocol = (cluster.text("security-protocol") or "").upper()
        mechanism = sasl.text("mechanism")
        more = {key: text for name, key in _OAUTH.items() if (text := sasl.text(name))} if mechanism else {}
        if mechanism and (scopes := sasl.texts("scopes")):
            more["sasl.oauthbearer.scope"] = " ".join(scopes)
        yield _found(
            cluster.text("name"),
            file,
            cluster,
            cluster.texts("brokers"),
            _Tls(
                tls.text("cafile"),
                tls.text("clientfile"),
                tls.text("clientkeyfile"),
                insecure=bool(tls.flag("insecure")),
            )
            if has_tls or protocol.endswith("SSL")
            else None,
            _Sasl(mechanism, sasl.text("username"), sasl.text("password"), more) if mechanism else None,
            [],
        )


def _rpk(tree: KeyedTable, file: Path) -> Iterator[Found]:
    """Yield the profiles of ``rpk.yaml``, or the profile of ``redpanda.yaml`` or a file for ``rpk profile create``."""
    single = tree if "kafka_api" in tree else tree.table("rpk") if "rpk" in tree else None
    for profile in tree.items("profiles") if single is None else [single]:
        api = profile.table("kafka_api")
        has_tls, tls, sasl = "tls" in api, api.table("tls"), api.table("sasl")
        remarks, user, mechanism = [], sasl.text("user"), None
        if user or _oidc(sasl):
            mechanism = sasl.text("mechanism") or sasl.text("type") or "SCRAM-SHA-256"
        if _oidc(sasl):
            remarks.append("the login of Redpanda Cloud is part of rpk; set a SCRAM user, or the OAUTHBEARER settings")
        yield _found(
            profile.text("name") or ("rpk" if single else None),
            file,
            profile,
            api.texts("brokers"),
            _Tls(
                tls.text("ca_file") or tls.text("truststore_file"),
                tls.text("cert_file"),
                tls.text("key_file"),
                insecure=bool(tls.flag("insecure_skip_verify")),
            )
            if has_tls and tls.flag("enabled") is not False
            else None,
            _Sasl(mechanism, user, sasl.text("password")) if mechanism else None,
            remarks,
        )


def _oidc(sasl: KeyedTable) -> bool:
    return (sasl.peek("mechanism") or "").upper() == "CLOUD-OIDC"


def _kafkactl(tree: KeyedTable, file: Path) -> Iterator[Found]:
    for name, context in tree.named_tables("contexts").items():
        tls, sasl = context.table("tls"), context.table("sasl")
        has_tls, has_sasl = tls.flag("enabled"), sasl.flag("enabled")
        remarks = []
        if context.table("kubernetes").flag("enabled"):
            remarks.append("kubernetes: kgroups connects to the brokers itself")
        if has_sasl and "tokenprovider" in sasl:
            remarks.append("sasl.tokenprovider: set the OAUTHBEARER settings of kgroups instead")
        yield _found(
            name,
            file,
            context,
            [broker for words in context.texts("brokers") for broker in words.split()],
            _Tls(
                tls.text("ca"),
                tls.text("cert"),
                tls.text("certKey"),
                tls.text("certKeyPassphrase"),
                bool(tls.flag("insecure")),
            )
            if has_tls
            else None,
            _Sasl(sasl.text("mechanism") or "plaintext", sasl.text("username"), sasl.text("password"))
            if has_sasl
            else None,
            remarks,
            client=context.text("clientID"),
        )


def _found(
    name: str | None,
    file: Path,
    cluster: KeyedTable,
    brokers: list[str],
    tls: _Tls | None,
    sasl: _Sasl | None,
    remarks: list[str],
    client: str | None = None,
) -> Found:
    """Return a cluster with Java's properties; brokers without a port get 9092, as in these tools.

    :param cluster: its table; what was not read is a remark.
    """
    servers = ",".join(each if ":" in each else f"{each}:9092" for each in brokers)
    if not servers or not name:
        raise ValueError
    properties: dict[str, str] = {}
    if tls or sasl:
        properties["security.protocol"] = "_".join([*(["SASL"] if sasl else []), "SSL" if tls else "PLAINTEXT"])
    if tls:
        properties |= _tls_properties(tls, file)
        remarks = [*remarks, *([_INSECURE] if tls.insecure else [])]
    if sasl:
        short = sasl.mechanism.lower().replace("-", "").replace("_", "")
        properties["sasl.mechanism"] = _MECHANISMS.get(short, sasl.mechanism)
        if short not in _MECHANISMS:
            remarks = [f"SASL mechanism {sasl.mechanism}: not supported", *remarks]
        properties |= {
            key: value for key, value in (("sasl.username", sasl.user), ("sasl.password", sasl.password)) if value
        }
        properties |= sasl.more
    more: Table = {"client-id": client} if client else {}
    table: Table = {"bootstrap": servers, **({"properties": properties} if properties else {}), **more}
    if unread := list(cluster.take_unread()):
        remarks = [*remarks, f"not imported: {', '.join(unread)}"]
    return Found(name, table, tuple(remarks))


def _tls_properties(tls: _Tls, file: Path) -> dict[str, str]:
    paths = {
        "ssl.ca.location": tls.ca,
        "ssl.certificate.location": tls.certificate,
        "ssl.key.location": tls.key,
    }
    folder = file.absolute().parent
    properties = {key: os.path.normpath(folder / Path(path).expanduser()) for key, path in paths.items() if path}
    return properties | ({"ssl.key.password": tls.key_password} if tls.key_password else {})


TOOLS: dict[str, tuple[Callable[[Path], Any], Callable[[KeyedTable, Path], Iterator[Found]], tuple[str, ...]]] = {
    "kcl": (_toml, _kcl, ("$KCL_CONFIG_PATH", "config/kcl/config.toml")),
    "kaf": (_yaml, _kaf, ("~/.kaf/config",)),
    "rpk": (_yaml, _rpk, ("config/rpk/rpk.yaml",)),
    "kafkactl": (_yaml, _kafkactl, ("$KAFKA_CTL_CONFIG", "config/kafkactl/config.yml", "~/.kafkactl/config.yml")),
}
"""For each tool: the parser of its files, the reader of their clusters, and the places of the file."""
