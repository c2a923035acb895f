"""Clusters in the configuration files of kcl, kaf, rpk, and kafkactl."""

from __future__ import annotations

import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.other_tools import TOOLS, Clusters, Found, clusters_in, default_file, read_clusters
from kgroups.config.profile_edits import add_profiles, clear_text_secrets
from kgroups.config.profiles import Profiles
from kgroups.errors import ConfigError, MissingPackage

SAMPLES = Path(__file__).parent / "other_tools"
SCRAM_512 = {
    "security.protocol": "SASL_SSL",
    "ssl.ca.location": "/etc/ca.pem",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "operator",
}


def read(tool: str, file: str) -> dict[str, Found]:
    return {found.name: found for found in read_clusters(tool, SAMPLES / file).found}


def table(bootstrap: str, properties: dict[str, str] | None = None, **more: str) -> dict[str, Any]:
    return {"bootstrap": bootstrap, **({"properties": properties} if properties else {}), **more}


def test_kcl_profiles_become_profiles() -> None:
    found = read("kcl", "kcl.toml")
    assert {name: each.table for name, each in found.items()} == {
        "prod": table("kcl-1:9093,kcl-2:9092", {**SCRAM_512, "sasl.password": "hush-kcl"}),
        "dev": table("localhost:9092"),
    }
    assert clear_text_secrets(found["prod"].table) == ["sasl.password"]


def test_kcl_file_without_profiles_is_one_cluster() -> None:
    assert read("kcl", "kcl-single.toml")["kcl"].table == table("localhost:9092", {"security.protocol": "SSL"})


def test_kaf_clusters_become_profiles() -> None:
    found = read("kaf", "kaf.yaml")
    assert {name: each.table for name, each in found.items()} == {
        "local": table("localhost:9092"),
        "prod": table(
            "kaf-1:9093,kaf-2:9093",
            {
                "security.protocol": "SASL_SSL",
                "ssl.ca.location": str(SAMPLES / "ca.pem"),
                "ssl.certificate.location": str(SAMPLES / "client.pem"),
                "ssl.key.location": str(SAMPLES / "client.key"),
                "sasl.mechanism": "PLAIN",
                "sasl.username": "operator",
                "sasl.password": "hush-kaf",
            },
        ),
        "sso": table(
            "kaf-3:9093",
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.client.id": "id",
                "sasl.oauthbearer.client.secret": "hush-secret",
                "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
                "sasl.oauthbearer.scope": "kafka groups",
            },
        ),
    }


def test_rpk_profiles_become_profiles() -> None:
    found = read("rpk", "rpk.yaml")
    scram = {**SCRAM_512, "sasl.mechanism": "SCRAM-SHA-256", "sasl.password": "hush-rpk"}
    assert {name: each.table for name, each in found.items()} == {
        "prod": table("rpk-1:9092", scram),
        "local": table("127.0.0.1:9092"),
        "public": table("rpk-2:9092", {"security.protocol": "SSL"}),
    }
    insecure, rest = found["prod"].remarks
    assert insecure.startswith("insecure TLS is not imported")
    assert rest == "not imported: description, admin_api.addresses"


@pytest.mark.parametrize(
    "text",
    [
        "name: one\nkafka_api:\n  brokers: [r:9092]\n  sasl: {user: u, password: 0123, mechanism: SCRAM-SHA-512}\n",
        "rpk:\n  name: one\n  kafka_api:\n    brokers: [r:9092]\n"
        "    sasl: {user: u, password: 0123, type: SCRAM-SHA-512}\n",
    ],
)
def test_rpk_file_of_one_profile_is_imported(text: str, tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(text)
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "u",
        "sasl.password": "0123",
    }
    assert read_clusters("rpk", file) == Clusters([Found("one", table("r:9092", properties))])


def test_rpk_login_of_the_cloud_is_a_remark(tmp_path: Path) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text("name: cloud\nkafka_api:\n  brokers: [r:9092]\n  tls: {}\n  sasl: {mechanism: CLOUD-OIDC}\n")
    (found,) = read_clusters("rpk", file).found
    assert found.remarks[0] == "SASL mechanism CLOUD-OIDC: not supported"
    assert found.table["properties"] == {"security.protocol": "SASL_SSL", "sasl.mechanism": "CLOUD-OIDC"}


def test_kafkactl_passphrase_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text(
        "contexts:\n  a:\n    Brokers: k:1\n    tls: {enabled: yes, cert: /c, certKey: /k, certkeypassphrase: hush}\n"
    )
    (found,) = read_clusters("kafkactl", file).found
    assert found.remarks == ()
    assert found.table["properties"] == {
        "security.protocol": "SSL",
        "ssl.certificate.location": "/c",
        "ssl.key.location": "/k",
        "ssl.key.password": "hush",
    }


def _tables(tree: Any) -> Iterator[dict[Any, Any]]:
    if isinstance(tree, dict):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _tables(each)


@given(
    st.sampled_from(
        [
            ("kcl", "kcl.toml"),
            ("kcl", "kcl-single.toml"),
            ("kaf", "kaf.yaml"),
            ("rpk", "rpk.yaml"),
            ("kafkactl", "kafkactl.yaml"),
        ]
    ),
    st.lists(
        st.tuples(
            st.integers(0, 99),
            st.text(string.ascii_letters, min_size=1),
            st.sampled_from(["x", 0, False, {"y": "z"}, ["w"]]),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_every_unknown_key_is_named(sample: tuple[str, str], added: list[tuple[int, str, Any]]) -> None:
    tool, name = sample
    parse, _, _ = TOOLS[tool]
    tree = parse(SAMPLES / name)
    tables = [table for table in _tables(tree) if table not in (tree.get("profiles"), tree.get("contexts"))]
    keys = []
    for at, word, value in added:
        key = f"zz{word}"  # no key of a tool begins with it
        tables[at % len(tables)][key] = value
        keys.append(key)
    clusters = clusters_in(tool, tree, SAMPLES / name)
    remarks = [remark for found in clusters.found for remark in found.remarks if remark.startswith("not imported: ")]
    named = ", ".join([*clusters.unread, *(remark.partition(": ")[2] for remark in remarks)]).split(", ")
    assert {*keys} <= {part for path in named for part in path.split(".")}


@pytest.mark.parametrize(
    "text", ["contexts:\n  a: {brokers: k:1, brokers: k:2}\n", "contexts:\n  a: {brokers: k}\n  a: {brokers: k}\n"]
)
def test_repeated_key_is_an_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="a key is repeated"):
        read_clusters("kafkactl", file)


def test_repeated_name_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "rpk.yaml"
    file.write_text("profiles:\n" + "- {name: a, kafka_api: {brokers: [k]}}\n" * 2)
    with pytest.raises(ConfigError, match="several clusters have the name 'a'"):
        read_clusters("rpk", file)


def test_kafkactl_contexts_become_profiles() -> None:
    found = read("kafkactl", "kafkactl.yaml")
    pair = {"ssl.certificate.location": "/etc/client.pem", "ssl.key.location": "/etc/client.key"}
    assert {name: each.table for name, each in found.items()} == {
        "default": table("localhost:9092"),
        "prod": table(
            "ctl-1:9093,ctl-2:9093", {**SCRAM_512, **pair, "sasl.password": "hush-ctl"}, **{"client-id": "me"}
        ),
        "cloud": table("ctl-3:9093", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}),
    }
    assert [remark.partition(":")[0] for remark in found["cloud"].remarks] == [
        "kubernetes",
        "sasl.tokenprovider",
        "not imported",
    ]


@pytest.mark.parametrize(
    ("tool", "file", "name", "mechanism"),
    [
        ("kcl", "kcl.toml", "prod", "SCRAM-SHA-512"),
        ("kaf", "kaf.yaml", "sso", "OAUTHBEARER"),
        ("rpk", "rpk.yaml", "prod", "SCRAM-SHA-256"),
        ("kafkactl", "kafkactl.yaml", "prod", "SCRAM-SHA-512"),
    ],
)
def test_imported_profile_is_one_that_kgroups_connects_with(
    tool: str, file: str, name: str, mechanism: str, tmp_path: Path
) -> None:
    imported = {**read(tool, file)[name].table}
    absent = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")  # files that are not on this machine
    imported["properties"] = {key: value for key, value in imported["properties"].items() if key not in absent}
    target = tmp_path / "config.toml"
    add_profiles(Profiles(target), {name: imported})
    loaded = load_settings(Flags(profile=name), {"KGROUPS_CONFIG": str(target)})
    assert loaded.warnings == ()
    security = loaded.settings.security
    assert security and security.tls and security.sasl and security.sasl.mechanism == mechanism
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("text", ["[1, 2]", "clusters: x", "profiles: [{name: a}]", "a = 1", "{", "x: &a [*a]", ""])
def test_other_file_is_an_error_without_its_contents(tool: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(f"{text}\n")
    with pytest.raises(
        ConfigError, match=f"^{file}: not (valid (YAML, or a key is repeated|TOML)|a configuration file of {tool})$"
    ):
        read_clusters(tool, file)


def test_missing_yaml_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingPackage, match=r"needs PyYAML: pip install 'kgroups\[import\]'"):
        read("kaf", "kaf.yaml")


def test_default_file_is_the_first_that_exists(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert default_file("kaf", home) == tmp_path / ".kaf" / "config"
    assert default_file("rpk", {"XDG_CONFIG_HOME": "/x"}) == Path("/x/rpk/rpk.yaml")
    assert default_file("kafkactl", home) == tmp_path / ".config" / "kafkactl" / "config.yml"
    old = tmp_path / ".kafkactl" / "config.yml"
    old.parent.mkdir()
    old.touch()
    assert default_file("kafkactl", home) == old
    assert default_file("kcl", {**home, "KCL_CONFIG_PATH": "/k.toml"}) == Path("/k.toml")
