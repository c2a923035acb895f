"""The sections and the examples of a command: one source for the help, the man page, and the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from kgroups.render.views import View

from .command import EXIT_CODES, Command

Record = tuple[str, str]
"""The names of an option with its metavar, and its help."""


def write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command in sections, and its examples."""
    for title, records in sections(command, context):
        with formatter.section(title):
            formatter.write_dl(records)
    if shown := examples(context):
        with formatter.section("Examples"):
            for number, (sentence, line) in enumerate(shown):
                if number:
                    formatter.write_paragraph()
                formatter.write_text(f"{sentence}:")
                formatter.write(f"{'':{formatter.current_indent}}$ {line}\n")


def sections(command: click.Command, context: click.Context) -> list[tuple[str, Sequence[Record]]]:
    """Return the sections of a command in their order; ``Options`` alone if it has no other."""
    found: dict[str, list[Record]] = {}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or not isinstance(param, click.Option):
            continue
        if "--columns" in param.opts and (columns := _columns(context)):
            record = record[0], f"{record[1].rstrip('.')}: {columns}."
        found.setdefault(section_of_option(param, context), []).append(record)
    if set(found) <= {OPTIONS, OTHER}:
        return [(OPTIONS, [*found.get(OPTIONS, ()), *found.get(OTHER, ())])]
    return [(title, found[title]) for title in TITLES if title in found]


def section_of_option(option: click.Option, context: click.Context) -> str:
    """Return the section of an option of a command."""
    own = context.command.sections if isinstance(context.command, Command) else {}
    return OTHER if "--help" in option.opts else section_of(option.opts[-1], own)


def examples(context: click.Context) -> tuple[Record, ...]:
    """Return the examples of a command: a sentence and a command line each."""
    return context.command.examples if isinstance(context.command, Command) else ()


def exit_codes(context: click.Context) -> tuple[Record, ...]:
    """Return the exit codes of a command, and their meanings."""
    return context.command.exits if isinstance(context.command, Command) else EXIT_CODES


def _columns(context: click.Context) -> str:
    """Return the columns of each view."""
    return "; ".join(prefix + ", ".join(column.key for column in view.columns) for prefix, view in _views(context))


def _views(context: click.Context) -> Iterator[tuple[str, View]]:
    """Yield the views of a command, each with the option that selects it if there are several."""
    shown = [each for each in context.command.views if each.in_help] if isinstance(context.command, Command) else []
    for each in shown:
        if view := each.resolve(context):
            yield f"with {each.option}: " if each.option and len(shown) > 1 else "", view


OPTIONS, OTHER = "Options", "Other"
"""The section of options that are in no other one, and those of all commands, with ``--help``."""

SHARED = {
    "Selection": "--group --regex --all-groups --topic --all-topics --state --in-state --type --of-type --exclude "
    "--protocol-type --host --client-id --coordinator --only-lagging --min-lag --top --member --instance --all-members "
    "--empty-for --since --until --limit --positions",
    "Matching": "--from --to --topic-map --allow --method --mm2 --mm2-source --mm2-target --mm2-separator "
    "--mm2-policy --mm2-syncs --including-streams --header --max-mib --max-seconds",
    "View": "--offsets --members --topology --summary --all-views --verbose --by --time --headroom --deep --deep-mib "
    "--deep-time --isolation --what-if --groups --configs --key --overridden",
    "Change": "--to-earliest --to-latest --to-current --to-offset --shift-by --skip-records --to-datetime "
    "--by-duration --from-file --partial --to-group --create-group --exact --delete-internal-topic "
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
