"""Command lines that are put to ``kafka-streams-application-reset`` and to the Java tool of that name, one a line.

``@idle`` is an application without members, ``@in`` and ``@more`` are what it reads.
"""

from __future__ import annotations

COMMAND_LINES = """
--help
--version
--dry-run
--application-id
--application-id a --nonsense
--application-id a -l
--application-id a --dry
--application-id a --input-topics
--application-id a --to-offset 1 --to-datetime x
--application-id a --to-offset 1 --by-duration x
--application-id a --to-latest --to-earliest
--application-id a --to-latest --from-file f
--application-id a --shift-by 1 --from-file f
--application-id a --shift-by 1 --to-offset 2 --to-latest
--application-id a --by-duration P1D --shift-by 1
--application-id a --config-file f --command-config g
"""
"""Those that need no cluster; what they print on stdout is equal, and on stderr the sentence and the usage."""

DRY_RUNS = """
--application-id @idle
--application-id=@idle
-application-id @idle stray
--application-id no-such-application
--application-id no-such-application --force
--application-id @idle --to-offset x
--application-id @idle --input-topics @in
--application-id @idle --input-topics @in,@more
--application-id @idle --input-topics @in --input-topics @more --to-earliest
--application-id @idle --input-topics @in,,@in
--application-id @idle --input-topics=
--application-id @idle --input-topics ,
--application-id no-such-application --input-topics @in --to-latest
--application-id no-such-application --input-topics @in --shift-by -5
--application-id @idle --input-topics @in --to-latest
--application-id @idle --input-topics @in --to-offset 7
--application-id @idle --input-topics @in --to-offset 0
--application-id @idle --input-topics @in --to-offset 30
--application-id @idle --input-topics @in --to-offset 500
--application-id @idle --input-topics @in --to-offset -3
--application-id @idle --input-topics @in --shift-by 5
--application-id @idle --input-topics @in --shift-by -11
--application-id @idle --input-topics @in --shift-by 19
--application-id @idle --input-topics @in --to-datetime 1970-01-01T00:00:00.000
--application-id @idle --input-topics @in --to-datetime 2100-01-01T00:00:00.000Z
--application-id @idle --input-topics @in --by-duration P1D
--application-id @idle --input-topics @in --from-file @file
--application-id @idle --input-topics @in,no-such-topic
--application-id @idle --input-topics no-such-topic
--application-id @idle --input-topics __consumer_offsets
--application-id @idle --intermediate-topics @in
--application-id @idle --intermediate-topics no-such-topic,@more --input-topics @in
--application-id @idle --intermediate-topics @in,@more --input-topics @more --to-offset 3
--application-id @idle --intermediate-topics @idle-b-repartition
--application-id @idle --input-topics @idle-a-changelog,@in
--application-id @idle --internal-topics @idle-a-changelog
--application-id @idle --internal-topics @idle-d-subscription-response-topic,@idle-b-repartition
--application-id @idle --config-file @settings
--application-id @idle --command-config @settings
"""
"""With ``--dry-run``: stdout and the exit code are equal."""

REFUSED = """
--application-id @idle --application-id other
--application-id @idle --config-file /no/such/file
--application-id @idle --command-config /no/such/file
--application-id @idle --input-topics @in --to-datetime 2026
--application-id @idle --input-topics @in --to-datetime 2026-13-01T00:00:00.000
--application-id @idle --input-topics @in --to-datetime 2026-01-01Tx
--application-id @idle --input-topics @in --by-duration x
--application-id @idle --input-topics @in --to-offset x
--application-id @idle --input-topics @in --to-offset 1 --to-offset 2
--application-id @idle --input-topics @in --shift-by 1.5
--application-id @idle --input-topics @in --from-file /no/such/file
--application-id @idle --input-topics @in,@more --from-file @within
--application-id @idle --input-topics @more --from-file @within
--application-id @idle --internal-topics @in
--application-id @idle --internal-topics @idle-a-changelog,@idle-topic --input-topics @in
--application-id @idle --internal-topics other-a-changelog
"""
"""With ``--dry-run``: stdout, the exit code, and the sentences on stderr are equal."""

ACTS = """
--application-id @1
--application-id @1 --input-topics @in,@more
--application-id @1 --input-topics @in --to-offset 7 --internal-topics @1-a-changelog
--application-id @1 --input-topics @in --shift-by 3
--application-id @1 --input-topics @in --from-file @file
--application-id @1 --input-topics @in --intermediate-topics @more
--application-id @1 --input-topics @in,no-such-topic --to-latest
--application-id @1 --input-topics @1-a-changelog
--application-id @1 --intermediate-topics @in --internal-topics @1-b-repartition,@1-a-changelog --force
--application-id @new --input-topics @in
"""
"""``@1`` is an application that is made for this row alone, ``@new`` one that does not exist."""
