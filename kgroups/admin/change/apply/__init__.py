"""Apply planned changes: check each group again, save what was there, and write.

Offsets, in this order: ``write_in_chunks`` (some hundred groups at a time), ``apply_offsets``, ``revalidate``,
``writers``, and ``verify_offsets``. ``delete_in_chunks`` does the same with the deletion of groups.
"""
