"""The questions: each file takes a Cluster and returns an Outcome of the model."""
