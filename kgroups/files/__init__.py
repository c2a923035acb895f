"""Files by name, on this machine, in an object store, or in HDFS."""
