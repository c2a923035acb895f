"""The live cluster as tables: asked as every command asks it, given as Arrow batches; and as a Spark data source."""
