"""``kafka-streams-application-reset``: its options, and their rules in the order of the Java tool's checks."""

from __future__ import annotations

from .command import Tool
from .joptsimple import Option, ParsedOptions, Takes
from .rules import reject_combinations, reject_others

SCENARIOS = ("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "shift-by")
LISTS = ("input-topics", "intermediate-topics", "internal-topics")
"""Options with comma-separated topics."""

ABOUT = """\
This tool helps to quickly reset an application in order to reprocess its data from scratch.
* This tool resets offsets of input topics to the earliest available offset (by default), or to a specific defined \
position* This tool deletes the internal topics that were created by Kafka Streams (topics starting with \
"<application.id>-").
The tool finds these internal topics automatically. If the topics flagged automatically for deletion by the dry-run \
are unsuitable, you can specify a subset with the "--internal-topics" option.
* This tool will not delete output topics (if you want to delete them, you need to do it yourself with the \
bin/kafka-topics.sh command).
* This tool will not clean up the local state on the stream application instances (the persisted stores used to cache \
aggregation results).
You need to call KafkaStreams#cleanUp() in your application or manually delete them from the directory specified by \
"state.dir" configuration (${java.io.tmpdir}/kafka-streams/<application.id> by default).
* When long session timeout has been configured, active members could take longer to get expired on the broker thus \
blocking the reset job to complete. Use the "--force" option could remove those left-over members immediately. Make \
sure to stop all stream applications when this option is specified to avoid unexpected disruptions.

*** Important! You will get wrong output if you don't clean up the local stores after running the reset tool!

*** Warning! This tool makes irreversible changes to your application. It is strongly recommended that you run this \
once with "--dry-run" to preview your changes before making them.

"""

OPTIONS = (
    Option("help", is_help=True),
    Option("version", is_help=True),
    Option("application-id", Takes.VALUE, required=True),
    Option("bootstrap-server", Takes.VALUE),
    *(Option(name, Takes.VALUE) for name in LISTS),
    *(Option(name, Takes.VALUE) for name in ("to-offset", "to-datetime", "by-duration")),
    *(Option(name) for name in ("to-earliest", "to-latest")),
    *(Option(name, Takes.VALUE) for name in ("from-file", "shift-by", "config-file", "command-config")),
    Option("force"),
    Option("dry-run"),
)


def check(parsed: ParsedOptions) -> None:
    """Check the rules.

    :raises OptionError: if options are mutually exclusive.
    """
    reject_others(parsed, SCENARIOS)
    reject_combinations(parsed, "config-file", ("command-config",))


TOOL = Tool(
    "kafka-streams-application-reset",
    "application",
    OPTIONS,
    check,
    {"application-id": "application_changes:reset"},
    about=ABOUT,
)
main = TOOL.run

if __name__ == "__main__":
    main()
