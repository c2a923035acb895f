"""Contrast of the style sheet, as WCAG 2.2 computes and requires it."""

from __future__ import annotations

import re

import pytest

from kgroups.history.report.charts import OTHER
from kgroups.history.report.page import asset

COLORS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", asset("style.css"))
}
BACKGROUNDS = ("page", "card", "hover")
TEXT = ("ink", "soft", "muted", "accent", "critical", "warning", "good")
GRAPHICS = tuple(f"c{number}" for number in range(OTHER + 1))


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_colors() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_contrast_is_sufficient(theme: int, background: str) -> None:
    behind = COLORS[background][theme]
    for least, names in ((4.5, TEXT), (3, GRAPHICS)):
        low = {name: found for name in names if (found := contrast(COLORS[name][theme], behind)) < least}
        assert low == {}


def test_every_color_is_a_variable_of_both_themes() -> None:
    """A color that is written elsewhere would escape the test of contrast; print has its own."""
    screen, _, _ = asset("style.css").partition("@media print")
    written = re.findall(r"#[0-9a-f]{3,6}\b", screen)
    assert sorted(written) == sorted(color for both in COLORS.values() for color in both)
