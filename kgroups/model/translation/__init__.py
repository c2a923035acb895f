"""Where a group continues on another cluster, by the records around its offset or by what copied them."""
