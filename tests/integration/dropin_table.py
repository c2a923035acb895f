"""The invocations by which Kafka's own tools and ours are compared, as data: words as in a shell, one a line.

``@all`` stands for ``--group`` with each group that the Java tool can describe, ``@file3`` and ``@file4`` for plans in
its two forms of CSV. The groups named in a row of acts are created again before each side runs.
"""

from __future__ import annotations

from typing import NamedTuple

COMMAND_LINES = """
--help
--help --members
--version
--version --list
-version
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
--bootstrap-server b --list --group g
--bootstrap-server b --list --topic t
--bootstrap-server b --list --members
--bootstrap-server b --list --verbose
--bootstrap-server b --describe --group g --type classic
--bootstrap-server b --delete
--bootstrap-server b --delete --group g --topic t
--bootstrap-server b --delete --group g --all-groups
--bootstrap-server b --delete-offsets
--bootstrap-server b --delete-offsets --group g
--bootstrap-server b --delete-offsets --topic t
--bootstrap-server b --reset-offsets --to-latest --all-topics
--bootstrap-server b --reset-offsets --group g --all-topics --to-latest --dry-run --execute
--bootstrap-server b --reset-offsets --group g --all-topics --to-latest --to-earliest
--bootstrap-server b --reset-offsets --group g --all-topics --to-offset 1 --shift-by 1
--bootstrap-server b --reset-offsets --group g --all-topics --to-current --to-datetime 2024-01-01T00:00:00.000
--bootstrap-server b --reset-offsets --group g --by-duration PT1M --from-file f
--bootstrap-server b --reset-offsets --group g --all-groups --to-latest
--bootstrap-server b --nonsense
--bootstrap-server b --lis
--bootstrap-server b -l
--bootstrap-server b --list --group
--bootstrap-server
--bootstrap-server b --state
--bootstrap-server b --type
--bootstrap-server b --list --validate-regex a
--validate-regex a --validate-regex b
--validate-regex
--validate-regex 'orders-.*'
--validate-regex ''
--validate-regex '(?i)a|b'
--validate-regex='[a-z]+='
--validate-regex '('
--validate-regex ')'
--validate-regex '[a'
--validate-regex '*'
--validate-regex 'a**'
--validate-regex 'a{1001}'
--validate-regex '(?=a)'
--validate-regex '\\'
--validate-regex '\\8'
--validate-regex '[z-a]'
--validate-regex '(?P<n'
--validate-regex '(?P<n>a)(?P<n>b)'
--validate-regex '\\C'
--validate-regex '[[:foo:]]'
"""
"""Those that need no cluster; the tool's rules, and what joptsimple makes of words."""

QUESTIONS = """
--list
--list stray
-list
--list=never
--list --state
--list --state stable
--list --state=Empty,STABLE
--list --state dead
--list --type
--list --type classic
--list --type Consumer
--list --type --state
--list --state=stable, --type=classic,consumer
--describe @all
--describe @all --offsets
--describe @all --verbose
--describe @all --members
--describe @all --members --verbose
--describe @all --state
--describe @all --state --verbose
--describe --all-groups --members
--describe --all-groups --members --verbose
--describe --all-groups --state
--describe --all-groups --state --verbose
--describe --group orders-range
--describe --group orders-static --members
--describe --group orders-kip848 --members --verbose
--describe --group visitors-idle
--describe --group visitors-completing
--describe --group visitors-mixed --members --verbose
--describe --group payments-empty --group payments-empty --all-topics
--describe --group payments-empty --members
--describe --group payments-uncommitted --verbose
--describe --group ahead --timeout 20000
"""

OLD = """
--list
--describe @all
--describe --group orders-range --group orders-static --members
--describe @all --state
--describe --group payments-empty --offsets
--reset-offsets --group payments-empty --all-topics --to-earliest --dry-run
--reset-offsets --group payments-empty --topic payments:0,2 --shift-by -10 --dry-run
--reset-offsets --group payments-empty --all-topics --to-latest --export --dry-run
--reset-offsets --group payments-empty --from-file @file3 --dry-run
"""
"""Those that are put to the tools of 3.9.1 and 2.8.2 too."""

RESETS = """
--group payments-empty --all-topics --to-earliest --dry-run
--group payments-empty --all-topics --to-earliest
--group payments-empty --all-topics --to-latest --dry-run
--group payments-empty --all-topics --to-current --dry-run
--group payments-empty --all-topics --to-offset 5 --dry-run
--group payments-empty --all-topics --to-offset 5 --to-offset 6 --dry-run
--group payments-empty --all-topics --to-offset 500 --dry-run
--group payments-empty --all-topics --to-offset=-5 --dry-run
--group payments-empty --all-topics --shift-by -10 --dry-run
--group payments-empty --all-topics --shift-by 1000 --dry-run
--group payments-empty --all-topics --to-datetime 1970-01-01T00:00:00.000 --dry-run
--group payments-empty --all-topics --to-datetime 1970-01-02T00:00:00.000+02:00 --dry-run
--group payments-empty --all-topics --to-datetime 2100-01-01T00:00:00.000Z --dry-run
--group payments-empty --all-topics --by-duration P1D --dry-run
--group payments-empty --all-topics --by-duration PT0S --dry-run
--group payments-empty --topic payments:0,2 --to-earliest --dry-run
--group payments-empty --topic payments:, --to-earliest --dry-run
--group payments-empty --topic payments --topic payments --to-earliest --dry-run
--group payments-empty --topic payments --topic clicks --to-latest --dry-run
--group payments-empty --topic clicks --to-current --dry-run
--group payments-empty --group ahead --all-topics --to-current --dry-run
--group data-lost --all-topics --to-current --dry-run
--group data-lost --all-topics --to-offset 0 --dry-run
--group ahead --all-topics --shift-by 0 --dry-run
--group no-such-group --topic payments --to-earliest --dry-run
--group no-such-group --all-topics --to-earliest --dry-run
--group payments-empty --from-file @file3 --dry-run
--group payments-empty --from-file @file4 --dry-run
--group payments-empty --group ahead --from-file @file4 --dry-run
--group payments-empty --all-topics --to-latest --export --dry-run
--group payments-empty --group ahead --all-topics --to-latest --export --dry-run
--group no-such-group --all-topics --to-earliest --export --dry-run
"""
"""After ``--reset-offsets``."""

ACTS = """
--reset-offsets --group dropin-reset --all-topics --to-earliest --execute
--reset-offsets --group dropin-reset --topic payments:1 --to-offset 7 --execute
--reset-offsets --group dropin-reset --all-topics --shift-by 3 --execute --export
--reset-offsets --group dropin-reset --from-file @file3 --execute
--delete --group dropin-delete
--delete --group dropin-delete --group dropin-more
--delete-offsets --group dropin-forget --topic payments
--delete-offsets --group dropin-forget --topic payments:0,1
--delete-offsets --group dropin-forget --topic payments:0,0 --topic payments:,
--delete-offsets --group dropin-forget --topic payments:0 --topic clicks
"""

ERRORS = """
--describe --group no-such-group
--describe --group no-such-group --members
--describe --group no-such-group --group orders-range --state
--describe --group connect-like
--describe --group connect-like --members
--describe --group billing-deleted-topic
--list --timeout soon
--list --timeout 1000 --timeout 2000
--list --command-config /no/such/file
--delete --group orders-range
--delete --group orders-kip848
--delete --group no-such-group --group orders-range
--delete-offsets --group orders-range --topic orders
--delete-offsets --group orders-kip848 --topic orders:0
--delete-offsets --group orders-range --topic no-such-topic:0
--delete-offsets --group no-such-group --topic orders
--delete-offsets --group no-such-group --topic orders:0
--delete-offsets --group payments-empty --topic payments:99
--delete-offsets --group payments-empty --topic payments:-1
--delete-offsets --group payments-empty --topic payments:x
--delete-offsets --group payments-empty --topic a:b:c
--delete-offsets --group payments-empty --group ahead --topic payments:0
--reset-offsets --group orders-range --all-topics --to-earliest --dry-run
--reset-offsets --group orders-kip848 --all-topics --to-earliest --execute
--reset-offsets --group orders-static --topic orders --to-earliest --execute
--reset-offsets --group visitors-completing --topic orders --to-earliest --dry-run
--reset-offsets --group orders-range --group payments-empty --all-topics --to-earliest --dry-run
--reset-offsets --group orders-range --from-file @file3 --dry-run
--reset-offsets --group connect-like --topic payments --to-earliest --dry-run
--reset-offsets --all-groups --topic clicks --to-latest --dry-run
--reset-offsets --group payments-empty --all-topics --to-offset x --dry-run
--reset-offsets --group payments-empty --all-topics --shift-by 99999999999999999999 --dry-run
--reset-offsets --group payments-empty --all-topics --to-datetime yesterday --dry-run
--reset-offsets --group payments-empty --all-topics --to-datetime '' --dry-run
--reset-offsets --group payments-empty --all-topics --to-datetime 2024-13-01T00:00:00.000 --dry-run
--reset-offsets --group payments-empty --all-topics --to-datetime 2024-01-01T00:00:00.000+99:00 --dry-run
--reset-offsets --group payments-empty --all-topics --to-datetime 2024-01-01T00:00:00.000X --dry-run
--reset-offsets --group payments-empty --all-topics --by-duration soon --dry-run
--reset-offsets --group payments-empty --all-topics --by-duration P1Y --dry-run
--reset-offsets --group payments-empty --from-file /no/such/file --dry-run
--reset-offsets --group payments-empty --from-file /tmp --dry-run
--reset-offsets --group payments-empty --group no-such-group --from-file @file4 --dry-run
--reset-offsets --group payments-empty --topic no-such-topic --to-latest --dry-run
--reset-offsets --group payments-empty --topic no-such-topic:0 --to-offset 5 --dry-run
--reset-offsets --group payments-empty --topic payments:99 --to-latest --dry-run
--reset-offsets --group payments-empty --topic payments:98,99 --shift-by 5 --dry-run
--reset-offsets --group payments-empty --topic clicks:0 --shift-by 5 --dry-run
--reset-offsets --group payments-empty --topic payments: --to-latest --dry-run
--reset-offsets --group payments-empty --topic payments:99,98,99 --to-latest --dry-run
--reset-offsets --group payments-empty --topic payments:2,1,1 --to-offset 5000 --dry-run
--reset-offsets --group payments-empty --topic payments:1 --topic payments --to-offset 5 --dry-run
--reset-offsets --group payments-empty --topic payments:2,2 --shift-by 5000 --dry-run
--reset-offsets --group orders-range --topic orders:0,0 --to-offset 5 --dry-run
--delete-offsets --group no-such-group --topic no-such-topic
--delete-offsets --group no-such-group --topic payments:,
"""
"""What fails against a cluster: Kafka's sentences are on stderr here, with exit code 1, whatever its own exit code."""

UNREACHABLE = """
--list
--describe --group g
--describe --all-groups
--delete --group g --group h
--delete --all-groups
--delete-offsets --group g --topic t
--reset-offsets --group g --all-topics --to-latest --dry-run
"""
"""Without a broker at the address."""

GROUPS_COMMAND_LINES = """
--help
--version
--list
--bootstrap-server b
--bootstrap-server b --list --share --streams
--bootstrap-server b --list --consumer --share
--bootstrap-server b --list --consumer --group-type classic
--bootstrap-server b --list --streams --protocol x
--bootstrap-server b --list --group-type nonsense
--bootstrap-server b --list --group
--nonsense
"""

GROUPS_QUESTIONS = """
--list
--list --consumer
--list --share
--list --streams
--list --group-type classic
--list --group-type CONSUMER
--list --group-type share
--list --protocol consumer
--list --protocol connect
--list --protocol ''
--list --group-type classic --protocol consumer
"""
"""Of ``kafka-groups``."""


class Text(NamedTuple):
    """A plan for ``--from-file``."""

    file3: str = "payments,0,1\npayments,2,500\n"
    file4: str = "payments-empty,payments,0,1\nahead,clicks,0,77\nnobody,clicks,0,5\n"


def rows(table: str) -> list[str]:
    return table.strip().splitlines()
