"""The store of history: directories of Parquet files that any engine can read, and a manifest of the complete ones."""
