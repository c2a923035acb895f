"""The client data in group metadata other than topics and partitions, one file per protocol.

They are loaded only for groups with such data.
"""
