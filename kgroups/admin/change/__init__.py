"""Changes of groups and their offsets.

A reset in its order: ``lookups``, ``plan_reset`` (with ``reset_request`` and ``restore``), ``revalidate``, and
``apply_offsets`` (with ``writers``). ``write_in_chunks`` does the last two for some hundred groups at a time, and
``delete_in_chunks`` the same with the deletion of groups.
"""
