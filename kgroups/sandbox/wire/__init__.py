"""Requests of members and of topic creation, one file per Kafka API.

As in :mod:`kgroups.protocol.apis`, but only for the sandbox: kgroups itself never joins a group.
"""
