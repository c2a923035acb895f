"""Kafka's own command lines, under their own names: ``kafka-consumer-groups``, ``kafka-share-groups`` and others.

They take the Java tools' flags and print their text, of the version below, byte for byte on stdout. What differs is
that a failure goes to stderr and makes the exit code 1, and that it takes no good row with it.

Not click: it reads ``-list``, ``--flag=``, values that begin with a dash, and flags given twice otherwise than Java's
parser.
"""

VERSION = "4.3.1"
"""The version of Kafka whose tools these are."""
