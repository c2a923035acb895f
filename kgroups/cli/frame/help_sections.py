"""The sections of the options in the help of commands, in their order."""

from __future__ import annotations

from collections.abc import Mapping

OPTIONS, OTHER = "Options", "Other"
"""The section of options that are in no other one, and those of all commands, with ``--help``."""

SHARED = {
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

TITLES = tuple(SHARED)


def section_of(option: str, own: Mapping[str, str]) -> str:
    """Return the section of an option; ``Options`` if it is in no other one.

    :param own: the sections of the command, which take precedence.
    """
    for table in (own, SHARED):
        for title, options in table.items():
            if option in options.split():
                return title
    return OPTIONS
