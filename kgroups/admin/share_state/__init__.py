"""The state of share groups in ``__share_group_state``, read over the wire."""
