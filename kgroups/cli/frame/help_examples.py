"""Examples in the help of commands: a sentence and a command line each."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "kgroups list": (
        ("List the groups of a cluster", "kgroups list -b localhost:9092"),
        ("List the groups that have no members", "kgroups list --state empty"),
        ("List share groups with all columns, as JSON", "kgroups list --type share --wide -o json"),
    ),
    "kgroups describe": (
        ("Show the offsets and the lag of two groups", "kgroups describe orders payments"),
        ("Show the members of groups by a pattern", "kgroups describe --regex 'orders-.*' --members"),
        ("Show the offsets of all groups on a topic, as CSV", "kgroups describe --topic clicks -o csv"),
    ),
    "kgroups lag": (
        ("Show the ten groups with the largest lag", "kgroups lag --all-groups --top 10"),
        (
            "Show how old the first unread records of a group are, and when they will be deleted",
            "kgroups lag orders --by partition --headroom",
        ),
        ("Show lagging topics, sorted by lag", "kgroups lag --all-groups --by topic --only-lagging --sort=-lag,group"),
    ),
    "kgroups watch": (
        ("Watch all groups", "kgroups watch"),
        ("Watch groups of several clusters, every five seconds", "kgroups watch --profile 'eu-*' --interval 5s"),
        ("Write three refreshes as lines of JSON", "kgroups watch --count 3 | cat"),
    ),
    "kgroups exporter": (
        ("Serve metrics of all groups", "kgroups exporter --all-groups --listen :9308"),
        ("Serve metrics with one series per topic", "kgroups exporter --regex 'orders-.*' --by topic"),
        ("Print alert rules for Prometheus", "kgroups exporter --alerts"),
    ),
    "kgroups mcp": (
        ("Serve the groups of one cluster", "kgroups mcp -b localhost:9092"),
        ("Serve several clusters, and the history in a store", "kgroups mcp --profile 'eu-*' --store history"),
    ),
    "kgroups check": (
        ("Fail if the lag of a group exceeds a limit", "kgroups check orders --max-lag 1000"),
        ("Wait for the members of a deployment", "kgroups check orders --min-members 3 --wait 2m"),
        ("Check by a rules file, with a report for CI", "kgroups check --rules rules.toml --junit report.xml"),
    ),
    "kgroups explain": (
        ("Explain why a group does not make progress", "kgroups explain orders"),
        ("Explain why a partition is not consumed", "kgroups explain orders --partition clicks:3"),
        ("Show which partitions move if a member joins", "kgroups explain orders --what-if members=+1"),
    ),
    "kgroups reset-offsets": (
        ("Show the plan of a reset, without changes", "kgroups reset-offsets orders --all-topics --to-earliest"),
        ("Reset to one hour ago", "kgroups reset-offsets orders --topic clicks --to-datetime -1h --execute"),
        ("Undo a reset", "kgroups reset-offsets --from-file undo.json --execute"),
    ),
    "kgroups delete-offsets": (
        ("Show which committed offsets would be deleted", "kgroups delete-offsets orders --topic clicks"),
        ("Delete those of two partitions", "kgroups delete-offsets orders --topic clicks:0,1 --execute"),
    ),
    "kgroups delete": (
        ("Show what would be deleted", "kgroups delete --regex 'test-.*'"),
        ("Delete a group in a script", "kgroups delete orders-old --execute --yes"),
        ("Delete a group on several clusters", "kgroups delete orders-old --profile 'eu-*' --fleet --execute"),
    ),
    "kgroups remove-members": (
        ("Show which members would be removed", "kgroups remove-members orders --all-members"),
        ("Remove a static member", "kgroups remove-members orders --instance worker-3 --execute"),
    ),
    "kgroups settings show": (
        ("Show the settings of a group, and where they come from", "kgroups settings show orders --key 'consumer.*'"),
        ("Show what is set for groups, as JSON", "kgroups settings show --all-groups --overridden -o json"),
    ),
    "kgroups settings diff": (
        ("Compare all groups of a file with it", "kgroups settings diff -f settings.toml"),
        ("Also report values that are not in the file", "kgroups settings diff -f settings.toml --exact"),
    ),
    "kgroups settings set": (
        ("Show the plan of a change", "kgroups settings set consumer.session.timeout.ms=60000 'orders-*'"),
        ("Set what a file contains", "kgroups settings set -f settings.toml --execute"),
        ("Undo a change", "kgroups settings set -f undo.json --execute"),
    ),
    "kgroups settings unset": (
        ("Show the plan to remove a value", "kgroups settings unset consumer.session.timeout.ms orders"),
        ("Remove all values of a group", "kgroups settings unset '*' orders --execute"),
    ),
    "kgroups snapshot save": (
        ("Save the state of all groups", "kgroups snapshot save monday.snapshot --all-groups"),
        (
            "Save some groups, with the records at their offsets",
            "kgroups snapshot save a.snapshot 'a-*' --with-records",
        ),
    ),
    "kgroups snapshot show": (
        ("Show what a file contains", "kgroups snapshot show monday.snapshot"),
        ("Show the saved offsets, as CSV", "kgroups snapshot show monday.snapshot --offsets -o csv"),
    ),
    "kgroups snapshot diff": (
        ("Compare the cluster with a file", "kgroups snapshot diff monday.snapshot"),
        ("Compare the offsets in two files", "kgroups snapshot diff monday.snapshot friday.snapshot --only offsets"),
    ),
    "kgroups snapshot restore": (
        ("Show what would be restored", "kgroups snapshot restore monday.snapshot"),
        ("Restore a deleted group", "kgroups snapshot restore monday.snapshot orders --create-group --execute"),
        (
            "Restore settings of all groups in the file",
            "kgroups snapshot restore monday.snapshot --settings --execute",
        ),
    ),
    "kgroups diff": (
        ("Compare the groups of two clusters, by their profiles", "kgroups diff east west"),
        (
            "Compare the offsets of some groups with a snapshot",
            "kgroups diff east east.snapshot 'orders-*' --only offsets",
        ),
    ),
    "kgroups config check": (
        ("Test the connection to each broker", "kgroups config check -b localhost:9092"),
        ("Test a profile", "kgroups config check --profile prod"),
    ),
    "kgroups config show": (
        ("Show the effective settings", "kgroups config show"),
        ("Show those of a file", "kgroups config show --command-config client.properties"),
    ),
    "kgroups profile list": (
        ("List the profiles", "kgroups profile list"),
        ("List them as JSON", "kgroups profile list -o json"),
    ),
    "kgroups profile show": (
        ("Show the default profile", "kgroups profile show"),
        ("Show another profile", "kgroups profile show prod"),
    ),
    "kgroups profile add": (
        ("Name a cluster", "kgroups profile add dev -b localhost:9092"),
        ("Name a cluster with a client configuration", "kgroups profile add prod --command-config prod.properties"),
        ("Take the password from a variable", "kgroups profile add test -b b1:9093 -X 'sasl.password=${env:PASSWORD}'"),
    ),
    "kgroups profile remove": (
        ("Remove a profile", "kgroups profile remove dev"),
        ("Show what is left", "kgroups profile list"),
    ),
    "kgroups profile rename": (
        ("Rename a profile", "kgroups profile rename dev test"),
        ("Show it by its new name", "kgroups profile show test"),
    ),
    "kgroups profile import": (
        ("Import all clusters of rpk", "kgroups profile import rpk"),
        ("Import one cluster from a file of kaf", "kgroups profile import kaf kaf.yaml --only prod"),
    ),
    "kgroups profile use": (
        ("Use a profile by default", "kgroups profile use prod"),
        ("Use a profile once, without a default", "kgroups list --profile prod"),
    ),
    "kgroups completion": (
        ("Complete commands in this bash", 'eval "$(kgroups completion bash)"'),
        ("Print the script for fish", "kgroups completion fish"),
    ),
    "kgroups sandbox up": (
        ("Start one broker", "kgroups sandbox up"),
        ("Start three brokers of a version", "kgroups sandbox up --brokers 3 --version 3.9.1"),
        ("Start a broker with ACLs, and a user without permissions", "kgroups sandbox up --security --user ann"),
    ),
    "kgroups sandbox env": (
        ("Use the sandbox in this shell", 'eval "$(kgroups sandbox env)"'),
        ("Print the lines for a sandbox", "kgroups sandbox env --name other"),
    ),
    "kgroups sandbox down": (
        ("Stop the sandbox", "kgroups sandbox down"),
        ("Stop all sandboxes", "kgroups sandbox down --all"),
    ),
    "kgroups sandbox status": (
        ("Show all sandboxes", "kgroups sandbox status"),
        ("Show one sandbox", "kgroups sandbox status --name other"),
    ),
    "kgroups sandbox seed": (
        ("Create groups in every state", "kgroups sandbox seed"),
        ("Add share groups", "kgroups sandbox seed --kind share"),
        ("Create a thousand groups", "kgroups sandbox seed --groups 1000"),
    ),
    "kgroups history collect": (
        ("Collect what is new, once", "kgroups history collect --store history"),
        (
            "Collect every minute, and keep 30 days",
            "kgroups history collect --store history --interval 1m --retention 30d",
        ),
        ("Collect several clusters into one store", "kgroups history collect --store history --profile 'eu-*'"),
    ),
    "kgroups history show": (
        ("Show the commits of the last hour", "kgroups history show commits --store history --since 1h"),
        ("Show those of one group, as CSV", "kgroups history show commits --store history --group orders -o csv"),
    ),
    "kgroups history rebalances": (
        ("Show the rebalances of a day", "kgroups history rebalances --store history --since 1d"),
        ("Show those of one group", "kgroups history rebalances --store history --group orders"),
    ),
    "kgroups history lag": (
        ("Show the lag of a group over time", "kgroups history lag --store history --group orders"),
        ("Show the lag of the last two hours", "kgroups history lag --store history --since 2h"),
    ),
    "kgroups history stale": (
        ("Show groups by their last activity", "kgroups history stale --store history"),
        ("Show the first ten", "kgroups history stale --store history --limit 10"),
    ),
    "kgroups history sql": (
        (
            "Count the commits of each group",
            'kgroups history sql "select `group`, count(*) from commits group by 1" --store history',
        ),
        ("Read a query from another program", 'kgroups history sql "$(cat query.sql)" --store history'),
        (
            "Run a query of unknown origin, with limits",
            'kgroups history sql "$QUERY" --store history --untrusted --max-rows 100',
        ),
    ),
    "kgroups history report": (
        ("Write a report of a week", "kgroups history report --store history --since 7d --file report.html"),
        ("Replace an older report", "kgroups history report --store history --file report.html --force"),
    ),
    "kgroups history land": (
        ("Import records of a dump", "kgroups history land dump.parquet --store history"),
        (
            "Import them for the cluster with this ID",
            "kgroups history land dump.parquet --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
    "kgroups history dump": (
        ("Write the log as JSON lines", "kgroups history dump"),
        ("Write the log to Parquet files", "kgroups history dump --parquet dump"),
    ),
    "kgroups history compact": (
        ("Merge small files", "kgroups history compact --store history"),
        ("Merge those of one cluster", "kgroups history compact --store history --cluster kJlQT0csR_e4EeMiXXuU4Q"),
    ),
    "kgroups history expire": (
        ("Delete what is older than 30 days", "kgroups history expire --store history --older-than 30d"),
        ("Delete what is older than a date", "kgroups history expire --store history --older-than 2026-01-01"),
    ),
    "kgroups history materialize": (
        ("Prepare a store", "kgroups history materialize --store history"),
        (
            "Prepare the data of one cluster",
            "kgroups history materialize --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
    "kgroups history test": (
        ("Test a store, and compare it with the cluster", "kgroups history test --store history"),
        ("Test a store without a cluster", "kgroups history test --store history --store-only"),
    ),
    "kgroups history publish": (
        ("Register the tables in a catalog of Iceberg", "kgroups history publish --store history --iceberg catalog"),
        ("Write the logs of Delta tables", "kgroups history publish --store history --delta"),
    ),
    "kgroups schema": (
        ("List the schemas of outputs and files", "kgroups schema"),
        ("Print that of kgroups describe", "kgroups schema kgroups/offsets/v1"),
        ("Print that of rules files, for an editor", "kgroups schema rules"),
    ),
    "kgroups history schema": (
        ("Print the schema of a table", "kgroups history schema commits"),
        ("Print all schemas", "kgroups history schema"),
    ),
    "kgroups history upgrade": (
        ("Convert a store in place", "kgroups history upgrade --store history"),
        ("Test it afterwards", "kgroups history test --store history --store-only"),
    ),
}
"""Command -> its examples."""
