"""The version of the package; this module imports nothing, so every layer can import it."""

__version__ = "0.1.0"
