"""Command lines that are put to ``kafka-streams-groups`` and to the Java tool of that name, one a line.

``@busy``, ``@idle`` and ``@other`` are groups of :mod:`tests.integration.streams_groups`, ``@topic`` is what they read.
"""

from __future__ import annotations

COMMAND_LINES = """
--help
--version
--list
--describe --group g
--bootstrap-server b
--bootstrap-server b --list --describe --group g
--bootstrap-server b --describe
--bootstrap-server b --describe --members
--bootstrap-server b --describe --group g --members --offsets
--bootstrap-server b --describe --group g --members --state --verbose
--bootstrap-server b --describe --group g --state Stable
--bootstrap-server b --describe --group g --topology --state
--bootstrap-server b --list --topology
--bootstrap-server b --describe --group g --all-groups
--bootstrap-server b --describe --group g --input-topic t
--bootstrap-server b --list --group g
--bootstrap-server b --list --input-topic t
--bootstrap-server b --list --members
--bootstrap-server b --list --verbose
--bootstrap-server b --list --execute
--bootstrap-server b --delete
--bootstrap-server b --delete --group g --input-topic t
--bootstrap-server b --delete --group g --all-input-topics
--bootstrap-server b --delete --group g --all-groups
--bootstrap-server b --delete --group g --dry-run
--bootstrap-server b --delete --group g --delete-internal-topic t
--bootstrap-server b --list --delete-all-internal-topics
--bootstrap-server b --delete-offsets
--bootstrap-server b --delete-offsets --group g
--bootstrap-server b --delete-offsets --input-topic t
--bootstrap-server b --delete-offsets --group g --group h --input-topic t
--bootstrap-server b --delete-offsets --all-groups --input-topic t
--bootstrap-server b --reset-offsets --to-latest --all-input-topics --dry-run
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-latest
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-latest --dry-run --execute
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-latest --to-earliest --dry-run
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-offset 1 --shift-by 1 --dry-run
--bootstrap-server b --reset-offsets --group g --by-duration PT1M --from-file f --dry-run
--bootstrap-server b --reset-offsets --group g --all-groups --to-latest --dry-run
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-latest --dry-run --delete-all-internal-topics
--bootstrap-server b --reset-offsets --group g --all-input-topics --to-latest --dry-run --delete-internal-topic t
--bootstrap-server b --nonsense
--bootstrap-server b --lis
--bootstrap-server b -l
--bootstrap-server b --list --group
--bootstrap-server
--bootstrap-server b --state
"""
"""Those that need no cluster."""

QUESTIONS = """
--list
-list
--list=never
--list --state
--list --state stable
--list --state=Empty,STABLE
--list --state reconciling
--list --state nonsense
--describe --group @busy
--describe --group @busy --offsets
--describe --group @busy --verbose
--describe --group @busy --members
--describe --group @busy --members --verbose
--describe --group @busy --state
--describe --group @busy --state --verbose
--describe --group @idle
--describe --group @idle --verbose
--describe --group @idle --members
--describe --group @idle --members --verbose
--describe --group @idle --state
--describe --group @idle --state --verbose
--describe --group @idle --group @busy --state
--describe --group @idle --group @busy --members
--describe --group @idle --group @busy
--describe --all-groups
--describe --all-groups --verbose
--describe --all-groups --members
--describe --all-groups --state
--describe --all-groups --state --verbose --timeout 20000
"""

RESETS = """
--group @idle --all-input-topics --to-earliest --dry-run
--group @idle --all-input-topics --to-latest --dry-run
--group @idle --all-input-topics --to-current --dry-run
--group @idle --all-input-topics --to-offset 5 --dry-run
--group @idle --all-input-topics --to-offset 500 --dry-run
--group @idle --all-input-topics --shift-by -5 --dry-run
--group @idle --all-input-topics --shift-by 1000 --dry-run
--group @idle --all-input-topics --to-datetime 1970-01-01T00:00:00.000 --dry-run
--group @idle --all-input-topics --to-datetime 2100-01-01T00:00:00.000Z --dry-run
--group @idle --all-input-topics --by-duration P1D --dry-run
--group @idle --input-topic @topic --to-earliest --dry-run
--group @idle --input-topic @topic:0,2 --to-earliest --dry-run
--group @idle --input-topic @topic:0 --input-topic @topic:1 --shift-by 1 --dry-run
--group @idle --group @other --all-input-topics --to-current --dry-run
--group @idle --from-file @file3 --dry-run
--group @idle --group @other --from-file @file4 --dry-run
--group @idle --all-input-topics --to-latest --export --dry-run
--group @idle --group @other --all-input-topics --to-latest --export --dry-run
--group @idle --all-input-topics
--group @idle --to-earliest --dry-run
--group @idle --all-input-topics --dry-run
--group @idle --all-input-topics --to-offset x --dry-run
"""
"""After ``--reset-offsets``."""

NEWER_QUESTIONS = """
--describe --group @busy --topology
--describe --group @idle --group @busy --topology --verbose
--describe --all-groups --topology
"""
"""From Kafka 4.4 on."""

ACTS = """
--reset-offsets --group @1 --all-input-topics --to-earliest --execute
--reset-offsets --group @1 --input-topic @topic:1 --to-offset 7 --execute
--reset-offsets --group @1 --all-input-topics --shift-by 3 --execute --delete-all-internal-topics
--reset-offsets --group @1 --all-input-topics --to-latest --execute --delete-internal-topic @1-store-changelog
--delete --group @1
--delete --group @1 --group @2 --delete-all-internal-topics
--delete-offsets --group @1 --input-topic @topic
--delete-offsets --group @1 --input-topic @topic:0,1
--delete-offsets --group @1 --all-input-topics
"""
"""``@1`` and ``@2`` are groups that are made for this row alone."""

REFUSED = """
--reset-offsets --group @idle --input-topic @topic:1,0,0 --to-offset 5 --dry-run
--describe --group @idle --group no-such-group
--describe --group no-such-group --members
--describe --group payments-empty
--delete --group no-such-group
--delete --group @busy
--delete --group @busy --group no-such-group --delete-all-internal-topics
--delete-offsets --group @busy --input-topic @topic
--delete-offsets --group no-such-group --input-topic @topic:0
--delete-offsets --group no-such-group --all-input-topics
--reset-offsets --group @busy --all-input-topics --to-earliest --dry-run
--reset-offsets --group @idle --input-topic no-such-topic --to-earliest --dry-run
--reset-offsets --group no-such-group --all-input-topics --to-earliest --dry-run
--reset-offsets --group @idle --from-file /no/such/file --dry-run
"""
"""What fails: on stdout there, whatever the exit code; on stderr here, with exit code 1."""
