"""``kgroups-history``: the tables of a store as a Spark data source."""
