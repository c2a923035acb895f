"""What members and producers of test worlds say over the wire, beside what admins ask: one file per Kafka API.

In the style of :mod:`kgroups.protocol.apis`, but here because kgroups itself never joins a group.
"""
