"""What clients put inside group metadata besides topics and partitions, one file a protocol.

A group that has none of it loads none of them.
"""
