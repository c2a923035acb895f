"""The store of history: folders of Parquet that any engine reads, and a manifest that says which of them are whole."""
