"""The report on a time span of history: one HTML file with charts in SVG, which needs no network.

:mod:`.gather` asks the engine for :mod:`.data`, :mod:`.page` renders the data as HTML, and :mod:`.file` writes the
file. Only :mod:`.gather` needs an engine.
"""
