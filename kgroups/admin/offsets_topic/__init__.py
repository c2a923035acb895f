"""The records of groups in ``__consumer_offsets``, read over the wire."""
