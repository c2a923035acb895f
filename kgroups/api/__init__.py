"""kgroups for Python programs: :class:`Cluster` for those that wait, :class:`AsyncCluster` for those that do not."""
