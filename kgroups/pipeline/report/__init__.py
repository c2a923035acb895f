"""The report on a time span of history: one HTML file with plotly charts, which needs no network.

:mod:`.gather` aggregates the derived tables in Spark into :mod:`.data`, :mod:`.page` renders the data as HTML, and
:mod:`.file` writes the file. Only :mod:`.gather` needs Spark.
"""
