"""Register the files of a store as Iceberg or Delta tables, without copying them and without Spark."""
