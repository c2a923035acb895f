"""Put pictures of a terminal into one SVG that shows them one after the other, without a script."""

from __future__ import annotations

import re
from collections.abc import Sequence

SECONDS = 6
"""How long each picture is shown."""


def cast(pictures: Sequence[str]) -> str:
    """Return pictures, SVGs with a ``viewBox``, as one that is animated.

    Only the first picture is shown to readers who prefer reduced motion.
    """
    sizes = [_size(picture) for picture in pictures]
    width, height = (max(numbers) for numbers in zip(*sizes, strict=True))
    frames = "\n".join(
        picture.replace('class="rich-terminal"', f'class="frame" width="{size[0]}" height="{size[1]}"', 1)
        for picture, size in zip(pictures, sizes, strict=True)
    )
    return f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">\n{_style(len(pictures))}\n{frames}\n</svg>\n'


def _size(picture: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert found, picture[:200]
    return float(found[1]), float(found[2])


def _style(count: int) -> str:
    delays = "".join(
        f" .frame:nth-of-type({number + 1}) {{ animation-delay: {number * SECONDS}s }}" for number in range(count)
    )
    return (
        f"<style>.frame {{ opacity: 0; animation: shown {count * SECONDS}s step-end infinite }}{delays}"
        f" @keyframes shown {{ 0% {{ opacity: 1 }} {100 / count:.3f}% {{ opacity: 0 }} }}"
        " @media (prefers-reduced-motion) { .frame { animation: none } .frame:nth-of-type(1) { opacity: 1 } }</style>"
    )
