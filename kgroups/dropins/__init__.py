"""Drop-in replacements of Kafka's tools, under the same names: ``kafka-consumer-groups`` and others.

They accept the flags of the Java tools, and their stdout equals, byte for byte, the stdout of the Java tools of a
release (:mod:`.releases`). The differences: a failure is printed to stderr, sets exit code 1, and does not suppress the
rows of other groups.

The options are not parsed by click, which treats ``-list``, ``--flag=``, values that begin with a dash, and repeated
flags differently from Java's parser.
"""
