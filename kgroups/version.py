"""The version of the package. Nothing is imported here, so that every layer may import it."""

__version__ = "0.1.0"
