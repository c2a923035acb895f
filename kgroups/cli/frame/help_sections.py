"""The sections of the options in the help of commands, in their order."""

from __future__ import annotations

OPTIONS, OTHER = "Options", "Other"
"""The section of options that are in no other one, and those of all commands, with ``--help``."""

_SHARED = {
    "Selection": "--group --regex --all-groups --topic --all-topics --state --in-state --type --of-type "
    "--protocol-type --only-lagging --min --top --member --instance --all-members --empty-for --since --until --limit",
    "View": "--offsets --members --topology --summary --all-views --verbose --by --time --headroom --deep --deep-mib "
    "--deep-time --isolation --what-if --groups --configs --key --overridden",
    "Change": "--to-earliest --to-latest --to-current --to-offset --shift-by --skip-records --to-datetime "
    "--by-duration --from-file --to-group --create-group --exact --delete-internal-topic "
    "--delete-all-internal-topics --reason",
    "Safety": "--fleet --force --commit-window --when-empty --dry-run --execute --yes --undo-file --accept-mismatch "
    "--including-hidden-offsets",
    "Checks": "",
    "Metrics": "",
    "Server": "--listen --tls-certificate --tls-key --basic-auth --max-connections --dashboard --alerts --systemd-unit",
    "Store": "--store --cluster --all-clusters",
    OPTIONS: "",
    "Spark": "--engine --master --remote --conf --packages --py-files --spark-log",
    "Output": "--output --wide --no-headers --columns --sort --export",
    "Connection": "--bootstrap-server --command-config -X --profile --all-profiles --cluster-timeout --timeout "
    "--broker-timeout --transport --max-requests-per-second --debug",
    OTHER: "--quiet --color",
}
"""Section -> the options that all commands have in it."""

_OWN = {
    "describe": {"View": "--state"},
    "check": {
        "Checks": "--state --type --assignor --members --min-members --stopped --assigned --max-lag --max-topic-lag "
        "--max-partition-lag --max-time-lag --min-headroom --min-offset-headroom --max-commit-age --max-redeliveries "
        "--max-progress-age --trend --allow-uncommitted --skip-missing-topics --rules --window --samples --wait "
        "--interval --lint --isolation",
        "Output": "--junit --github --fail-on --verbose",
    },
    "exporter": {
        "Metrics": "--interval --max-age --keep --by --compat --max-series --time --headroom --exact --commit-age "
        "--isolation",
    },
    "mcp": {"Server": "--max-rows --max-bytes --show-records"},
    "history sql": {"Safety": "--untrusted --max-rows --max-time"},
    "reset-offsets": {"Change": "--isolation"},
    "watch": {"View": "--interval --count"},
    "lag": {"View": "--exact"},
    "history report": {"Output": "--file --force"},
    "explain": {"Selection": "--partition --lagging", "View": "--show-record --stuck-after"},
    "snapshot save": {"Selection": "--with-records", "Output": "--overwrite --systemd-unit --systemd-timer"},
    "history collect": {OTHER: "--systemd-unit"},
    "snapshot restore": {"Change": "--settings"},
    "diff": {"View": "--only"},
    "snapshot diff": {"View": "--only"},
}
"""Command -> the sections of its options that differ."""

TITLES = tuple(_SHARED)


def section_of(path: str, option: str) -> str:
    """Return the section of an option; ``Options`` if it is in no other one."""
    for table in (_OWN.get(path.removeprefix("kgroups "), {}), _SHARED):
        for title, options in table.items():
            if option in options.split():
                return title
    return OPTIONS


def listed() -> list[tuple[str, str]]:
    """Return each option in a table with its command; that of all commands is empty."""
    tables = {"": _SHARED, **_OWN}
    return [
        (command, option)
        for command, table in tables.items()
        for options in table.values()
        for option in options.split()
    ]
