"""Query and change consumer groups: each module takes a Cluster and returns an Outcome of the model."""
