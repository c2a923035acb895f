"""A page about a span of history: gathered in Spark, drawn by plotly, one HTML file that needs no network.

:mod:`.data` is what the page is made from, :mod:`.gather` makes that of the derived tables, :mod:`.page` makes the page
of it, and :mod:`.file` puts it where it was asked for. Only :mod:`.gather` needs Spark.
"""
