"""The plan of docs/architecture.md, enforced. If the two disagree, change one of them on purpose.

cli -> admin -> net -> protocol -> model;  render -> model;  errors and config are leaves that every package may import;
applications (watch, exporter, mcp, dropins, history, sandbox) are on top: they may import what they need, and nothing
below imports them. The command tree names their commands by strings.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.serving import serving

PACKAGE = Path(__file__).parents[2] / "kgroups"
FILES = sorted(path for path in PACKAGE.rglob("*.py"))

_BELOW = {"admin", "net", "protocol", "model", "render", "errors", "config", "deprecation", "schemas"}
"""What every command may import."""

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "deprecation": set(),
    "class_archive": set(),
    "config": {"errors"},
    "files": {"errors"},
    "model": {"errors", "deprecation"},
    "protocol": {"model", "errors", "config"},
    "net": {"protocol", "model", "errors", "config"},
    "admin": {"net", "protocol", "model", "errors", "config", "files"},
    "render": {"model", "errors", "config"},
    "schemas": {"render", "model", "errors", "config"},
    "cli": _BELOW,
    "api": {"admin", "render", "model", "errors", "config", "deprecation"},
    "watch": {"cli", "watch/screen", "watch/state", *_BELOW},
    "watch/screen": {"watch/state", "render", "model", "errors", "config"},
    "watch/state": {"model", "errors"},
    "exporter": {"cli", "watch", "watch/state", *_BELOW},
    "mcp": {"cli", *_BELOW},
    "dropins": {"cli", "dropins/text", *_BELOW},
    "dropins/text": {"render", "model", "errors", "config"},
    "history": {"class_archive", "history/live", "files", "protocol", "model", "errors", "config"},
    "history/live": {"history", "admin", "net", "protocol", "model", "errors", "config"},
    "history/commands": {"cli", "history/run"},
    "history/run": {"cli", "history", "history/commands", "history/live", *_BELOW},
    "pipeline": {"history"},
    "sandbox": {"class_archive", "admin", "net", "protocol", "model", "errors", "config"},
    "sandbox/command": {"cli", "sandbox", *_BELOW},
    "__main__": {"cli", "dropins"},
    "__init__": {"api", "version"},
}
"""Area -> the other areas that it may import; every area may import the version. A folder in an area can be an area."""

EXCEPTIONS = {
    "config/profiles": {"model"},
    # The completions of applications.
    "cli/completion/drop_ins": {"dropins"},
    # The definitions of tables.
    "schemas/contents": {"history"},
    "schemas/history": {"history"},
}
"""Beginning of a path -> areas that these files may import in addition."""

REGISTRY = "cli/frame/lazy_command"
"""The file that imports commands by the names in the command tree, those of applications too."""

FOREIGN = {
    "click": {
        *(
            "cli",
            "history/commands",
            "history/run",
            "sandbox/command",
            "exporter/command",
            "exporter/run",
            "mcp/command",
            "mcp/run_tool",
        ),
        *("watch/app", "watch/command", "watch/reset", "watch/run", "mcp/run"),
    },
    "rich": {"render", "watch/screen"},
    "tabulate": {"render"},
    "textual": {"watch/app"},
    "prometheus_client": {"exporter/"},
    "mcp": {"mcp/server"},
    "jsonschema": {"mcp/server"},
    "re2": {"dropins/regex", "admin/query/pattern"},
    "kio": set(),  # the oracle of the tests
    "cramjam": {"protocol/compression"},
    "gssapi": {"protocol/sasl/kerberos"},
    "aws_msk_iam_sasl_signer": {"config/aws"},
    "cryptography": {"config/formats", "net/certificates"},
    "platformdirs": {"config/profiles"},
    "tomllib": {
        "config/profiles",
        "config/profile_edits",
        "config/other_tools",
        "model/health/rules",
        "model/settings/declared",
    },
    "yaml": {"config/other_tools"},
    "keyring": {"config/providers"},
    "confluent_kafka": {"admin/rdkafka/client", "history/extract", "sandbox"},
    "pyspark": {"history"},
    "duckdb": {"history"},
    "pyarrow": {"history", "api/outcome"},
    "pandas": {"api/outcome"},
    "polars": {"api/outcome"},
    "numpy": {"history"},
    "pyiceberg": {"history/publish/iceberg"},
    "deltalake": {"history/publish/delta"},
    "asyncio": {
        *("net", "admin", "cli", "api", "sandbox", "history/live", "exporter/server", "mcp/server"),
        *("watch/app", "watch/group_page", "watch/repeated_query", "watch/sources"),
    },
}
"""A package, and the only areas that may import it, or the beginnings of paths."""

EFFECTS = {"asyncio", "socket", "ssl", "select", "time", "os", "io", "pathlib", "subprocess", "threading", "random"}
"""Modules of the standard library by which a rule would reach the world, or ask a clock."""

PURE = {"model", "watch/state"}
"""Areas that contain rules."""

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


class Import(NamedTuple):
    """``who`` is the importing module's path in the package (``admin/wire``); ``what`` the dotted name imported."""

    who: str
    what: str
    line: int

    def __str__(self) -> str:
        return f"kgroups/{self.who}.py:{self.line} imports {self.what}"


@cache
def imports_of(who: str, source: str) -> tuple[Import, ...]:
    """Return every import of a module, also those in functions and under TYPE_CHECKING, with absolute names."""
    return tuple(_imports(who, source))


def _imports(who: str, source: str) -> Iterator[Import]:
    parents = who.split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(who, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = ["kgroups", *parents]
                base = ".".join([*above[: len(above) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                yield Import(who, f"{base}.{alias.name}", node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _IMPORTING:
            yield Import(who, _beginning(node.args[0]) if node.args else _COMPUTED, node.lineno)


_REFERENCE = re.compile(r"(kgroups(?:\.\w+)+):(\w+)")


def references_of(who: str, source: str) -> Iterator[Import]:
    """Yield what a module refers to by a text, and so imports later: ``kgroups.package.module:name``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and (match := _REFERENCE.fullmatch(str(node.value))):
            yield Import(who, f"{match[1]}.{match[2]}", node.lineno)


_IMPORTING = {"__import__", "importlib.import_module", "import_module"}
_COMPUTED = "a computed name"


def _beginning(name: ast.expr) -> str:
    """A name as far as it is written down: ``kgroups.cli.`` of ``f"kgroups.cli.{module}"``."""
    match name:
        case ast.Constant(value=str(written)):
            return written
        case ast.JoinedStr(values=[ast.Constant(value=str(written)), *_]) if written.endswith("."):
            return written
    return _COMPUTED


def forbidden(found: Import) -> str | None:
    """Why an import is against the plan; ``None`` when it is not."""
    area = area_of(found.who)
    top, _, rest = found.what.partition(".")
    if area not in MAY_IMPORT:
        return "an area that is not in the plan"
    if found.what == _COMPUTED:
        return "the imported name is computed"
    if found.what == "kgroups." and found.who == REGISTRY:
        return None
    if top == "kgroups":
        other = area_of(rest.replace(".", "/"))
        allowed = MAY_IMPORT[area].union(*(areas for file, areas in EXCEPTIONS.items() if found.who.startswith(file)))
        if other not in {area, "version"} and other in MAY_IMPORT and other not in allowed:
            return f"{area} may not import {other}"
        return None if other in MAY_IMPORT else f"{other} is not in the plan"
    owners = FOREIGN.get(top)
    if owners is not None and not any(found.who == owner or found.who.startswith(owner) for owner in owners):
        return f"only {' and '.join(sorted(owners)) or 'tests'} may import {top}"
    if area in PURE and (top in EFFECTS or top not in sys.stdlib_module_names):
        return "the model is pure, and of the standard library"
    return None


def area_of(path: str) -> str:
    """Return the innermost area of a module, by its path in the package."""
    parts = path.split("/")
    inner = "/".join(parts[:2])
    return inner if inner in MAY_IMPORT else parts[0]


def of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def test_every_import_is_in_the_plan() -> None:
    assert len(FILES) > 50
    found = [each for path in FILES for each in imports_of(of(path), path.read_text(encoding="utf-8"))]
    assert len(found) > 200
    assert [f"{each}: {reason}" for each in found if (reason := forbidden(each))] == []


def test_every_reference_is_in_the_plan_and_exists() -> None:
    found = [each for path in FILES for each in references_of(of(path), path.read_text(encoding="utf-8"))]
    assert len(found) > 100
    applications = [each for each in found if each.who == "cli/main"]
    assert [f"{each}: {reason}" for each in found if each not in applications and (reason := forbidden(each))] == []
    for each in found:
        module, _, name = each.what.rpartition(".")
        assert hasattr(importlib.import_module(module), name), each


@pytest.mark.parametrize(
    ("who", "source"),
    [
        ("model/lag", "import time"),
        ("model/lag", "from kio.schema import errors"),
        ("model/lag", "from kgroups.protocol import reader"),
        ("model/lag", "from ..net.cluster import Cluster"),
        ("model/lag", "def f():\n    import asyncio"),
        ("protocol/framing", "import asyncio"),
        ("protocol/apis/metadata", "from ...net import cluster"),
        ("net/cluster", "from kgroups.admin.wire import WireClient"),
        ("admin/rdkafka/conversions", "import confluent_kafka"),
        ("net/cluster", "from kgroups.render import views"),
        ("net/cluster", "from kio.index import load_request_schema"),
        ("protocol/error_codes", "from kio.schema.errors import ErrorCode"),
        ("sandbox/wire/heartbeat", "def f():\n    from kio.index import load_request_schema"),
        ("render/views", "from kgroups.net.progress import Progress"),
        ("render/views", "from .. import admin"),
        ("render/views", "import click"),
        ("admin/query/describe", "from kgroups.cli.main import main"),
        ("admin/query/describe", "from kgroups.sandbox import cluster"),
        ("admin/query/describe", "if TYPE_CHECKING:\n    from confluent_kafka.admin import AdminClient"),
        ("cli/main", "import rich.table"),
        ("cli/main", "def f():\n    from tabulate import tabulate"),
        ("cli/main", "__import__('pyspark')"),
        ("cli/main", "import importlib\nimportlib.import_module(name)"),
        ("cli/frame/lazy_command", "from importlib import import_module\nimport_module(name)"),
        ("cli/frame/lazy_command", "import_module(f'{name}.cli')"),
        ("cli/main", "import_module(f'kgroups.{name}')"),
        ("cli/frame/lazy_command", "import_module(f'pys{name}')"),
        ("render/output", "import_module(f'kgroups.cli.{name}')"),
        ("config/settings", "from kgroups.model.cluster import Node"),
        ("errors", "from kgroups.model.outcome import Failure"),
        ("unplanned/things", "import json"),
        ("cli/main", "from kgroups.unplanned import things"),
        ("history/extract/reader", "from kgroups.admin.wire import WireClient"),
        ("history/transform/lag", "import confluent_kafka"),
        ("history/jobs/collect", "from ..run.options import Bounds"),
        ("history/jobs/collect", "from kgroups.cli.frame.options import completer"),
        ("history/session", "import click"),
        ("cli/list", "from kgroups.watch.command import watch"),
        ("cli/main", "from kgroups.history.commands import command"),
        ("api/fleet", "from kgroups.watch.state.view import Position"),
        ("exporter/metrics", "from kgroups.watch.screen.table import Table"),
        ("mcp/tools", "from kgroups.history.tables import TABLES"),
        ("pipeline/submit", "from kgroups.cli.main import main"),
        ("sandbox/seed", "from kgroups.cli.frame.options import completer"),
        ("sandbox/seed", "from .command import sandbox"),
        ("watch/state/view", "import time"),
        ("watch/state/view", "from ..app import run"),
        ("watch/screen/table", "import asyncio"),
        ("watch/screen/table", "from kgroups.net.progress import Progress"),
        ("watch/screen/table", "from ..sources import Source"),
        ("dropins/text/consumer", "from kgroups.admin.wire import WireClient"),
        ("dropins/changes", "import click"),
        ("admin/query/describe", "from kgroups.history import tables"),
        ("protocol/offsets_topic/decode", "import pyarrow"),
        ("__init__", "from .admin import wire"),
    ],
)
def test_forbidden_imports_are_found(who: str, source: str) -> None:
    assert [reason for each in imports_of(who, source) if (reason := forbidden(each))]


@pytest.mark.parametrize(
    ("who", "source"),
    [
        ("admin/rdkafka/client", "from confluent_kafka.admin import AdminClient"),
        ("protocol/apis/metadata", "from ..reader import reader_of"),
        ("protocol/__init__", "from .framing import FrameReader"),
        ("net/cluster", "from . import connection"),
        ("cli/list", "def f():\n    from kgroups.admin.wire import WireClient"),
        ("cli/frame/lazy_command", "import_module(f'kgroups.cli.{name}')"),
        ("model/views/offsets", "from .lag import compute_lag"),
        ("protocol/apis/api_versions", "from kgroups.version import __version__"),
        ("cli/frame/lazy_command", "import_module(f'kgroups.{name}')"),
        ("history/live/tables", "from kgroups.admin.query.describe import describe_offsets"),
        ("history/jobs/collect", "from ..live.ask import cluster_id"),
        ("history/run/show", "from ..jobs.show import show_table"),
        ("exporter/poller", "from kgroups.watch.state.group_samples import GroupSample"),
    ],
)
def test_allowed_imports_are_accepted(who: str, source: str) -> None:
    found = list(imports_of(who, source))
    assert found and not [reason for each in found if (reason := forbidden(each))]


def module_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the modules that each module imports, also inside functions and under ``TYPE_CHECKING``.

    :param sources: by path in the package, as in ``admin/wire``.
    """
    names = {who: f"kgroups/{who}".removesuffix("/__init__").replace("/", ".") for who in sources}
    modules = set(names.values())
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for who, source in sources.items():
        for found in imports_of(who, source):
            target = found.what if found.what in modules else found.what.rpartition(".")[0]
            if target in modules and target != names[who]:
                graph[names[who]].add(target)
    return graph


def cycles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return each set of modules that import one another, directly or not."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        todo, seen = [start], set()
        while todo:
            for each in graph[todo.pop()] - seen:
                seen.add(each)
                todo.append(each)
        reach[start] = seen
    return {
        frozenset(other for other in seen if start in reach[other]) for start, seen in reach.items() if start in seen
    }


LAYERS = {
    "admin": (
        {"routing"},
        {"query/group_types"},
        {"query"},
        {"log_search"},
        {"offsets_topic", "share_state"},
        {"verdicts"},
        {"change/plan"},
        {"change/apply/writers"},
        {"change/apply"},
        {"change"},
        {"positions", "rdkafka"},
        {""},
        {"diagnose", "snapshot", "translation"},
    ),
    "cli": (
        {"frame"},
        {"commands"},  # they name their bodies by references
        {"query"},
        {"change"},
        {"completion"},
        {"", "check"},
    ),
    "model": (
        {""},
        {"assignors", "embedded", "operations", "share"},
        {"settings", "translation", "views"},
        {"health", "snapshot", "verdicts"},
        {"explain"},
    ),
    "render": ({""}, {"health"}),
    "watch": ({"state"}, {"screen"}, {""}),
    "exporter": ({"monitoring"}, {""}),
    "dropins": ({"text"}, {""}),
}
"""Area -> its folders in layers, lowest first. A module imports from its own folder and from lower layers."""


def upward_imports(graph: Mapping[str, set[str]], layers: Mapping[str, tuple[set[str], ...]] = LAYERS) -> list[str]:
    """Return the imports, inside an area, of another folder in the same layer or a higher one."""
    packages = {name.rpartition(".")[0] for name in graph}

    def place(name: str) -> tuple[str, str]:
        _, area, *folders = (name if name in packages else name.rpartition(".")[0]).split(".")
        return area, "/".join(folders)

    def layer(area: str, folder: str) -> int:
        return next((at for at, folders in enumerate(layers[area]) if folder in folders), -1)

    upward = []
    for name, found in graph.items():
        if name.count(".") < 2:
            continue
        area, folder = place(name)
        if area in layers and layer(area, folder) < 0:
            upward.append(f"{name}: folder {folder} is not in the plan")
        for other in found if area in layers else ():
            where = place(other) if other.count(".") > 1 else (area, folder)
            if where[0] == area and where[1] != folder and layer(*where) >= layer(area, folder):
                upward.append(f"{name} imports {other}")
    return sorted(upward)


def test_no_upward_imports() -> None:
    graph = module_graph({of(path): path.read_text(encoding="utf-8") for path in FILES})
    assert upward_imports(graph) == []


@pytest.mark.parametrize(
    ("who", "source"),
    [
        ("model/lag", "from .views import rows"),
        ("model/views/rows", "def f():\n    from ..health.rules import Rule"),
        ("model/health/rules", "from ..verdicts import rates"),
        ("model/unplanned/rules", "from ..lag import compute_lag"),
    ],
)
def test_upward_imports_are_found(who: str, source: str) -> None:
    others = dict.fromkeys(("model/lag", "model/views/rows", "model/health/rules", "model/verdicts/rates"), "")
    assert upward_imports(module_graph(others)) == []
    assert upward_imports(module_graph({**others, who: source}))


LOCAL_IMPORTS = {
    *("__init__", "__main__", "api"),  # a method loads what it needs
    *(f"cli/{name}" for name in ("main", "list", "describe", "lag")),  # they start light
    # What these run, and what the declarations of all commands import.
    *(f"cli/frame/{name}" for name in ("exit_status", "lazy_command", "options", "run_query", "selected_groups")),
    *("cli/query/members", "cli/query/offsets"),  # the headers on a terminal
    # What only --execute, --fleet, --from-file, --export, and internal topics need: a dry run starts light.
    *(f"cli/change/{name}" for name in ("apply_plan", "operation", "reset", "reset_request")),
    "cli/reset_offsets",
    "cli/completion/drop_ins",  # one tool
    *("config", "net"),  # TLS, SASL, profiles, and files: most clusters need none of them
    *(
        "admin/change/apply/writers/__init__",
        "admin/query/group_types/__init__",
        "admin/wire",
    ),  # one method of the port, one group type, one transport
    *(
        "admin/query/list_groups",
        "admin/query/select_groups",  # what ACLs hide
        "admin/query/group_offsets",
        "admin/change/plan/decide_reset",
        "admin/observe",
        "model/views/offsets",
        "protocol/error_codes",
    ),
    "protocol/embedded/registry",
    *("render/explain", "render/health/__init__", "render/jsonout", "render/named", "render/output"),  # one format
    *(
        "mcp/run",
        "files/location",
        *(f"history/run/{name}" for name in ("engine", "options", "hosts", "publish")),
    ),  # extras
    *(f"dropins/{name}" for name in ("command", "sentences", "views")),  # one tool
    "history/__init__",
    "history/load/store",  # a reader of the store does not load what writers need
    *("schemas/__init__", "schemas/compose", "schemas/contents", "schemas/views"),  # one schema
}
"""The areas and files that may import modules of kgroups inside functions. Other packages can be imported anywhere."""


def local_imports(who: str, source: str) -> Iterator[Import]:
    """Yield the imports of the package's own modules that stand inside functions."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        for each in ast.walk(node):
            # Unparsing every function would take most of the time of this test.
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and _has_import(lines, each):
                found = imports_of(who, ast.unparse(each))
                yield from (one._replace(line=each.lineno) for one in found if one.what.startswith("kgroups."))


def _has_import(lines: Sequence[str], function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("import" in line for line in lines[function.lineno - 1 : function.end_lineno])


def local_import_is_allowed(who: str) -> bool:
    return any(who == each or who.startswith(f"{each}/") for each in LOCAL_IMPORTS)


def test_imports_inside_functions_are_where_they_are_allowed() -> None:
    found = [each for path in FILES for each in local_imports(of(path), path.read_text(encoding="utf-8"))]
    assert len(found) > 50
    assert [str(each) for each in found if not local_import_is_allowed(each.who)] == []


def test_imports_inside_functions_are_found() -> None:
    source = "class C:\n    async def f(self):\n        import json\n        from ...model import lag\n"
    assert [each.what for each in local_imports("admin/query/describe", source)] == ["kgroups.model.lag"]
    assert not local_import_is_allowed("admin/query/describe")
    assert not list(local_imports("admin/query/describe", "if TYPE_CHECKING:\n    from ...model import lag\n"))


def test_no_import_cycles() -> None:
    found = cycles(module_graph({of(path): path.read_text(encoding="utf-8") for path in FILES}))
    assert [sorted(each) for each in found] == []


@pytest.mark.parametrize(
    "source",
    [
        "from .b import x",
        "from . import b",
        "import kgroups.admin.b",
        "from kgroups.admin import b",
        "def f():\n    from .b import x",
        "if TYPE_CHECKING:\n    from .b import x",
    ],
)
def test_import_cycles_are_found(source: str) -> None:
    sources = {"admin/a": source, "admin/b": "from .c import y", "admin/c": "from . import a", "admin/__init__": ""}
    names = {f"kgroups.admin.{name}" for name in "abc"}
    assert cycles(module_graph(sources)) == {frozenset(names)}
    assert cycles(module_graph({**sources, "admin/c": "from ..model import a"})) == set()


def test_no_module_has_a_catch_all_name() -> None:
    assert [str(path) for path in PACKAGE.rglob("*") if path.stem in VAGUE_NAMES] == []


def fresh(code: str, *arguments: str) -> str:
    """What a new Python, in which every warning is an error, prints."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


ALONE = """
import gc, importlib, sys
from functools import cache
from importlib.machinery import SourceFileLoader
# Each module runs many times. Compile it once, from source: a bytecode file hides warnings of the compiler.
SourceFileLoader.get_code = cache(lambda self, name: self.source_to_code(self.get_data(self.path), self.path))
gc.set_threshold(200_000)
for name in sys.argv[1:]:
    for loaded in [each for each in sys.modules if each.split(".")[0] == "kgroups"]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""


def test_every_module_can_be_imported_first_without_warning() -> None:
    """In one process, where each finds none of the others loaded: a circle of imports fails for one that begins it."""
    names = [f"kgroups/{of(path)}".removesuffix("/__init__").replace("/", ".") for path in FILES]
    left_out = {"kgroups.__main__"}
    if importlib.util.find_spec("gssapi") is None:  # built only where Kerberos's headers are
        left_out.add("kgroups.protocol.sasl.kerberos")
    fresh(ALONE, *(name for name in names if name not in left_out))


LOADED = """
import sys
module, *sys.argv[1:] = sys.argv[1:]
try:
    __import__(module, fromlist=["main"]).main()
except SystemExit as done:
    assert not done.code, done.code
print("LOADED", *sorted(sys.modules))
"""

SECURED = (
    "kgroups.config.aws",
    "kgroups.config.formats.jwt",
    "kgroups.config.security",
    "kgroups.net.authenticator",
    "kgroups.net.tls",
    "kgroups.net.token",
    "kgroups.protocol.apis.sasl_",
    "kgroups.protocol.sasl",
    "aws_msk_iam_sasl_signer",
    "cryptography",
    "gssapi",
    "scramp",
)
"""What TLS and SASL need, by the beginnings of the names: a plain connection pays for none of it."""

CONFIG = {"cryptography", "platformdirs", "tomllib", "kgroups.config.security", "kgroups.config.layers"}
"""What files and profiles need; a cluster that a flag names, and that is not secured, needs none of it."""

ACTS = {
    "kgroups.admin.client",
    "kgroups.admin.change.apply.remove_members",
    "kgroups.admin.change.plan.reset_request",
    "kgroups.model.operations.results",
    "kgroups.model.group_log",
    "kgroups.model.operations.reset",
    "kgroups.model.time_lag",
}
"""Modules that the interface names only as types: no command loads them for it."""

HEAVY = {
    *CONFIG,
    "jsonschema",
    "kio",
    "mcp",
    "prometheus_client",
    "rich",
    "tabulate",
    "confluent_kafka",
    "cramjam",
    "pyspark",
    "pyarrow",
    "re2",
}


def loaded(module: str, *arguments: str) -> set[str]:
    """The modules and packages that are there when a command has ended well."""
    return set(fresh(LOADED, module, *arguments).rpartition("LOADED")[2].split())


def of_cli(loaded: set[str]) -> set[str]:
    """Return the modules of cli, and those of applications by their whole name."""
    found = {name.removeprefix("kgroups.cli.") for name in loaded if name.startswith("kgroups.cli.")}
    return found | {name for name in loaded if name.startswith(APPLICATIONS)}


APPLICATIONS = tuple(f"kgroups.{name}" for name in ("watch", "exporter", "mcp", "dropins", "history", "sandbox"))

LAZY = {"commands", "frame", "frame.exit_status", "frame.lazy_command"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list", "--help"],
        ["describe", "--help"],
        ["lag", "--help"],
        ["reset-offsets", "--help"],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    found = loaded("kgroups.__main__", *arguments)
    assert {"kgroups", "click"} <= found
    assert found & {*HEAVY, "asyncio"} == set()


@pytest.mark.parametrize("tool", ["consumer_groups", "share_groups", "groups"])
def test_kafka_commands_import_even_less(tool: str) -> None:
    found = loaded(f"kgroups.dropins.{tool}", "--version")
    assert "kgroups" in found
    assert found & {*HEAVY, "asyncio", "click"} == set()


def test_help_of_all_commands_imports_none_of_them() -> None:
    assert of_cli(loaded("kgroups.__main__", "--help")) == {"main", *LAZY}
    found = loaded("kgroups.__main__", "history", "--help")
    assert {name for name in found if name.startswith(APPLICATIONS)} == {"kgroups.history", "kgroups.history.commands"}
    assert found & {*HEAVY, "asyncio"} == set()
    found = loaded("kgroups.__main__", "history", "show", "--help")
    assert {name for name in found if name.startswith("kgroups.history.commands.")} == {"kgroups.history.commands.show"}
    assert {name for name in found if name.startswith("kgroups.history.run.")} == {
        f"kgroups.history.run.{name}" for name in ("options", "schema", "spark_settings")
    }
    assert found & {*HEAVY, "asyncio"} == set()


VIEWS = {"--members": ("query", "query.members"), "--state": ("query", "query.members")}
"""Option -> the modules of the view that it selects."""


@pytest.mark.parametrize("version", ["4.3.1", "1.1.1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--state"],
        ["describe", "classic", "modern"],
        ["describe", "--all-groups", "--members"],
        ["describe", "--regex", ".*", "--state"],
    ],
    ids=" ".join,
)
def test_query_imports_only_what_it_needs(version: str, arguments: list[str]) -> None:
    fake = FakeCluster(2, version)
    fake.state.topic("t", [0, 1])
    held = FakeMember("m", {"t": (0, 1)})
    fake.state.group("classic", 0, state="Stable", members=(held,), commits={("t", 0): 1})
    if version == "4.3.1":
        fake.state.group("modern", 1, type="Consumer", state="Stable", members=(held,), commits={("t", 1): 1})
    else:
        fake.state.group("modern", 1, commits={("t", 1): 1})
    with serving(fake):
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())
        found = loaded("kgroups.__main__", *arguments, "-b", servers)
    assert "kgroups.admin.wire" in found
    pattern = {"re2"} if "--regex" in arguments else set()
    assert found & {*HEAVY, "dataclasses", "shutil", "json", "csv"} == pattern
    assert [name for name in found if any(name.startswith(secured) for secured in SECURED)] == []
    assert not [name for name in found if name.startswith("kgroups.") and "share" in name], "a kind that is not there"
    assert found & ACTS == set(), "nothing is changed"
    of_members = {"kgroups.model.views.member_rows", "kgroups.render.member_views"}
    assert not of_members & found or {"--members", "--state"} & {*arguments[1:]}
    shared = {
        "main",
        *LAZY,
        *(f"frame.{name}" for name in ("options", "group_options", "selected_groups")),
        *(f"frame.{name}" for name in ("output", "run_query", "progress")),
        *VIEWS.get(arguments[-1], ("query", "query.offsets", "query.stream_rows")),
        *("commands", f"commands.{arguments[0]}", "frame.command"),
    }
    assert of_cli(found) - shared == {arguments[0]}


def test_dry_run_of_a_reset_imports_nothing_that_writes() -> None:
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic("t", [0], start=10, end=100)
    fake.state.group("a", 0, commits={("t", 0): 50})
    with serving(fake):
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())
        found = loaded("kgroups.__main__", "reset-offsets", "a", "--all-topics", "--to-earliest", "-b", servers)
    writes = {name for name in found if name.startswith("kgroups.admin.change.apply.")}
    assert writes == {"kgroups.admin.change.apply.interruption"}
    others = ("undo_file", "fleet_change", "plan_source", "internal_topics")
    assert not {f"kgroups.cli.change.{name}" for name in others} & found
    assert {"kgroups.model.operations.plan_file", "kgroups.admin.fleet"} & found == set()


STARTUP = {"list": 1.7, "describe": 2.0}
"""The CPU time of a command in a new process, at most, in units of that of importing asyncio and click."""

IMPORTS = "import asyncio, click"


def cpu_time(*arguments: str, cache: Path) -> float:
    """Return the seconds of CPU that a new Python takes, with the bytecode in a folder of the test."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment, cwd=PACKAGE.parent)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("command", STARTUP)
def test_startup_takes_little_time(command: str, tmp_path: Path) -> None:
    """The least of several processes: what else runs on the machine only adds to the CPU time."""
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic("t", [0])
    fake.state.group("classic", 0, commits={("t", 0): 1})
    with serving(fake):
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())
        run = ("-m", "kgroups", command, "-b", servers, *(["classic"] if command == "describe" else []))
        for arguments in (("-c", IMPORTS), run):
            cpu_time(*arguments, cache=tmp_path)  # writes the bytecode
        least, unit = float("inf"), float("inf")
        for _ in range(25):
            unit = min(unit, cpu_time("-c", IMPORTS, cache=tmp_path))
            least = min(least, cpu_time(*run, cache=tmp_path))
            if least <= STARTUP[command] * unit:
                return
    raise AssertionError(f"{command}: {least / unit:.2f} times the CPU time of {IMPORTS!r}")


def test_entry_points_are_callable() -> None:
    scripts = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    tools = ("consumer-groups", "groups", "share-groups", "streams-groups", "streams-application-reset")
    assert set(scripts) == {"kgroups", *(f"kafka-{tool}" for tool in tools)}
    for where in scripts.values():
        module, _, function = where.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
