"""Records out of ``__consumer_offsets``, as Arrow batches; and as a Spark data source."""
