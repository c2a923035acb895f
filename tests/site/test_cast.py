"""The animated pictures of the site."""

from __future__ import annotations

import runpy
from xml.etree import ElementTree

from tests.documentation.pages import ROOT

PICTURE = '<svg class="rich-terminal" viewBox="0 0 {} {}" xmlns="http://www.w3.org/2000/svg"><text>{}</text></svg>'


def test_cast_shows_each_picture_in_its_size_for_the_same_time() -> None:
    cast = runpy.run_path(str(ROOT / "docs/site/cast.py"))["cast"]
    root = ElementTree.fromstring(cast([PICTURE.format(100, 50, "one"), PICTURE.format(80.5, 60, "two")]))
    style, *frames = root
    assert root.get("viewBox") == "0 0 100.0 60.0"
    assert [(frame.get("class"), frame.get("width"), frame[0].text) for frame in frames] == [
        ("frame", "100.0", "one"),
        ("frame", "80.5", "two"),
    ]
    text = style.text or ""
    assert "animation: shown 12s" in text and "50.000% { opacity: 0 }" in text
    assert "nth-of-type(1) { animation-delay: 0s }" in text and "nth-of-type(2) { animation-delay: 6s }" in text
    assert "prefers-reduced-motion" in text
