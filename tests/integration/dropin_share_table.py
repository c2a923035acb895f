"""The invocations by which ``kafka-share-groups`` and Kafka's own are compared: as in ``dropin_table``."""

from __future__ import annotations

COMMAND_LINES = """
--help
--help --members
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
--bootstrap-server b --describe --group g --all-groups
--bootstrap-server b --describe --group g --topic t
--bootstrap-server b --describe --delete --group g
--bootstrap-server b --list --group g
--bootstrap-server b --list --topic t
--bootstrap-server b --list --members
--bootstrap-server b --list --verbose
--bootstrap-server b --delete
--bootstrap-server b --delete --group g --topic t
--bootstrap-server b --delete --group g --all-groups
--bootstrap-server b --delete --group g --members
--bootstrap-server b --delete-offsets
--bootstrap-server b --delete-offsets --group g
--bootstrap-server b --delete-offsets --topic t
--bootstrap-server b --delete-offsets --all-groups --topic t
--bootstrap-server b --delete-offsets --group g --all-topics
--bootstrap-server b --reset-offsets
--bootstrap-server b --reset-offsets --to-latest --all-topics
--bootstrap-server b --reset-offsets --group g --all-topics
--bootstrap-server b --reset-offsets --group g --to-latest --all-topics --topic t
--bootstrap-server b --reset-offsets --group g --all-topics --to-latest --dry-run --execute
--bootstrap-server b --reset-offsets --dry-run
--bootstrap-server b --reset-offsets --all-groups --all-topics --to-latest --dry-run
--bootstrap-server b --reset-offsets --group g --dry-run
--bootstrap-server b --reset-offsets --group g --to-latest --execute
--bootstrap-server b --reset-offsets --group g --all-topics --dry-run
--bootstrap-server b --reset-offsets --group g --topic t --execute
--bootstrap-server b --reset-offsets --group g --all-topics --to-latest --to-earliest --dry-run
--bootstrap-server b --reset-offsets --group g --all-topics --to-latest --to-datetime x --execute
--bootstrap-server b --reset-offsets --group g --all-topics --to-earliest --to-datetime x --execute
--bootstrap-server b --reset-offsets --group g --all-groups --all-topics --to-latest --dry-run
--bootstrap-server b --reset-offsets --group g --all-topics --to-offset 1
--bootstrap-server b --reset-offsets --group g --all-topics --to-offset 1 --to-current --dry-run
--bootstrap-server b --reset-offsets --group g --all-topics --from-file f --dry-run
--bootstrap-server b --reset-offsets --group g --topic t --from-file f --dry-run
--bootstrap-server b --reset-offsets --group g --from-file f --to-latest --dry-run
--bootstrap-server b --reset-offsets --group g --all-topics --export --dry-run
--bootstrap-server b --reset-offsets --group g --all-topics --shift-by 1 --dry-run
--bootstrap-server b --export
--bootstrap-server b --execute
--bootstrap-server b --nonsense
--bootstrap-server b --type
"""
"""Those that need no cluster."""

NEWER_COMMAND_LINES = """
--bootstrap-server b --delete --group g --all-topics
"""
"""The same, from Kafka 4.4 on: tools of 4.3 look for the cluster."""

QUESTIONS = """
--list
--list --state
--list --state stable
--list --state=Empty,STABLE
--list --state empty,
--list --state dead
--list --state foo
--list --state assigning
--describe @all
--describe @all --verbose
--describe @all --members
--describe @all --members --verbose
--describe @all --state
--describe @all --state --verbose
--describe --all-groups
--describe --all-groups --state --verbose
--describe --group sharers-idle --verbose
--describe --group sharers-idle --members
--describe --group sharers-live --group sharers-live --timeout 20000
"""

RESETS = """
--group sharers-idle --all-topics --to-earliest --dry-run
--group sharers-idle --all-topics --to-latest --dry-run
--group sharers-idle --topic sharers-log --to-latest --dry-run
--group sharers-idle --topic sharers-log:0,2 --to-earliest --dry-run
--group sharers-idle --topic sharers-log:, --to-earliest --dry-run
--group sharers-idle --topic sharers-log:0,2 --topic sharers-more --to-latest --dry-run
--group sharers-idle --topic sharers-more --all-topics --to-latest --dry-run
--group sharers-idle --all-topics --to-datetime 1970-01-01T00:00:00.000 --dry-run
--group sharers-idle --all-topics --to-datetime 2100-01-01T00:00:00.000Z --dry-run
--group sharers-idle --topic sharers-log:x --to-latest --dry-run
--group sharers-nobody --topic sharers-log --to-earliest --dry-run
--group sharers-nobody --all-topics --to-earliest --dry-run
"""
"""After ``--reset-offsets``."""

NEWER_RESETS = """
--group sharers-idle --topic sharers-log:0,1 --topic sharers-more --to-current --dry-run
--group sharers-ahead --all-topics --to-current --dry-run
--group sharers-nobody --topic sharers-log --to-current --dry-run
--group sharers-nobody --all-topics --to-current --dry-run
--group sharers-idle --all-topics --to-offset 7 --dry-run
--group sharers-idle --topic sharers-log:0,2 --to-offset 100000 --dry-run
--group sharers-idle --topic sharers-log:1 --to-offset -3 --dry-run
--group sharers-nobody --topic sharers-log --to-offset 4 --dry-run
--group sharers-idle --all-topics --to-earliest --export --dry-run
--group sharers-idle --topic sharers-log:1 --to-latest --dry-run --export
--group sharers-nobody --all-topics --to-latest --dry-run --export
--group sharers-idle --from-file @file3 --dry-run
--group sharers-idle --from-file @file3 --dry-run --export
--group sharers-nobody --from-file @file3 --dry-run
"""
"""The same, from Kafka 4.4 on. ``@file3`` is a plan in CSV."""

NEWER_ERRORS = """
--reset-offsets --group sharers-idle --from-file @file4 --dry-run
--reset-offsets --group sharers-idle --all-topics --to-offset x --dry-run
--reset-offsets --group sharers-idle --from-file /no/such/file --dry-run
--reset-offsets --group sharers-live --from-file @file3 --dry-run
--reset-offsets --group sharers-idle --topic no-such-topic --to-current --dry-run
--reset-offsets --group sharers-idle --topic sharers-log:99 --to-offset 1 --dry-run
"""

NEWER_ACTS = """
--reset-offsets --group sharing-reset --all-topics --to-offset 3 --execute
--reset-offsets --group sharing-reset --from-file @file3 --execute
--reset-offsets --group sharing-reset --all-topics --to-current --execute --export
--reset-offsets --group sharing-new --from-file @file3 --execute
"""

ERRORS = """
--list --timeout soon
--list --command-config /no/such/file
--describe --group no-such-group
--describe --group no-such-group --members
--describe --group sharers-idle --group no-such-group --state
--describe --group payments-empty
--delete --group sharers-live
--delete --group no-such-group
--delete --group payments-empty --group sharers-live
--delete-offsets --group sharers-live --topic sharers-log
--delete-offsets --group no-such-group --topic sharers-log
--delete-offsets --group payments-empty --topic payments
--delete-offsets --group a --group b --topic payments
--reset-offsets --group sharers-live --all-topics --to-earliest --dry-run
--reset-offsets --group sharers-live --all-topics --to-earliest --execute
--reset-offsets --group sharers-idle --topic no-such-topic --to-earliest --dry-run
--reset-offsets --group sharers-idle --topic no-such-topic:0 --to-earliest --dry-run
--reset-offsets --group sharers-idle --topic sharers-log:99 --to-earliest --dry-run
--reset-offsets --group sharers-idle --topic sharers-log:98,99,98 --to-earliest --dry-run
--reset-offsets --group sharers-idle --all-topics --to-datetime soon --dry-run
--reset-offsets --group sharers-idle --all-topics --to-datetime 2024-13-01T00:00:00.000 --dry-run
--reset-offsets --group a --group b --all-topics --to-earliest --dry-run
"""
"""As the ERRORS of ``dropin_table``."""

UNREACHABLE = """
--list
--describe --group g
--delete --group g
--delete-offsets --group g --topic t
--reset-offsets --group g --all-topics --to-latest --dry-run
"""

ACTS = """
--reset-offsets --group sharing-reset --all-topics --to-earliest --execute
--reset-offsets --group sharing-reset --topic sharers-log:1 --to-latest --execute
--reset-offsets --group sharing-new --topic sharers-more --to-earliest --execute
--delete --group sharing-delete
--delete --group sharing-delete --group sharing-more
--delete-offsets --group sharing-forget --topic sharers-log
--delete-offsets --group sharing-forget --topic sharers-log --topic sharers-more
"""
"""For each side, the groups whose names begin with dropin are created again, except the new one."""
