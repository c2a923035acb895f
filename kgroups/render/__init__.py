"""Render the model as text. Text from the cluster is escaped for terminals; heavy libraries are imported on demand."""
