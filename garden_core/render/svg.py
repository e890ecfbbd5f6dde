"""Helpers to write SVG, and `to_pixels` to paint it into an array.

Every helper returns one element as a string; nested strings make a picture. Helpers escape texts and round numbers. All
pictures use one font, `FONT`, which is a dependency, so `to_pixels` gives the same array on every machine.
"""

from __future__ import annotations

import functools
import html
import io
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec

import numpy as np

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Look(NamedTuple):
    """Style of a picture.

    Attributes:
        legal: number of each marked action by its label; `target` draws the element to click.
        last: label of the last action, whose place is marked; "" for none.
        by: the seat that took it.
        dark: light on dark.
        compact: for a width of about 400 pixels.
        names: show on each place its name in action labels.
        says: description of each marked action by its label.
    """

    legal: Mapping[str, int] = NOTHING
    last: str = ""
    by: int | None = None
    dark: bool = False
    compact: bool = False
    names: bool = False
    says: Mapping[str, str] = NOTHING


LOOK = Look()
"""The default style."""
FONT = "Lato, 'Helvetica Neue', Arial, sans-serif"
LAST: Mapping[str, Any] = MappingProxyType(
    {"fill": "none", "stroke_width": 2.5, "stroke_dasharray": "6 3", "data_last": 1}
)
"""Attributes of the edge around what the last action changed."""


def tag(name: str, *children: str, **attributes: str | float | None) -> str:
    """Return the element `name` around children, which must be SVG; `text` and `title` escape words.

    `font_size=9` is written font-size="9", and `class_` class; attributes that are None are omitted.
    """
    start = name
    for key, value in attributes.items():
        if value is not None:
            start += f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
    return f"<{start}>{''.join(children)}</{name}>" if children else f"<{start}/>"


P = ParamSpec("P")


def group(parts: Callable[P, Iterable[str]]) -> Callable[P, str]:
    """Decorate a function that yields elements to return them as one group."""

    @functools.wraps(parts)
    def grouped(*args: P.args, **kwargs: P.kwargs) -> str:
        return tag("g", *parts(*args, **kwargs))

    return grouped


def text(x: float, y: float, content: object, size: float, **attributes: str | float | None) -> str:
    """Return a line of text with its capitals centred on the height y; it begins at x unless `text_anchor` differs."""
    return tag("text", _escaped(content), x=x, y=y + 0.36 * size, font_size=size, **attributes)


def title(words: object) -> str:
    """Return the tooltip of the element that contains it."""
    return tag("title", _escaped(words))


def target(look: Look, label: str, *children: str) -> str:
    """Return the element to click for the action with this label: `data-action` is its number, the tooltip describes it.

    The tooltip replaces those of the children. If the action is not marked, return a plain group.
    """
    if label not in look.legal:
        return tag("g", *children)
    inside = re.sub("<title>[^<]*</title>", "", "".join(children))
    words = title(look.says.get(label, label))
    return tag("g", words, inside, data_action=look.legal[label], tabindex=0, role="button")


def polygon(corners: Iterable[tuple[float, float]], **attributes: str | float | None) -> str:
    """Return a closed polygon through (x, y) corners."""
    return tag("polygon", points=" ".join(f"{_plain(x)},{_plain(y)}" for x, y in corners), **attributes)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    corner: float,
    edge: str,
    thick: float,
    fill: str = "#ffffff",
) -> str:
    """Return a rectangle with round corners and an edge."""
    place = {"x": x, "y": y, "width": width, "height": height, "rx": corner}
    return tag("rect", **place, fill=fill, stroke=edge, stroke_width=thick)


def document(width: float, height: float, *children: str, background: str = "#ffffff") -> str:
    """Return a complete, self-contained picture of width x height pixels."""
    return tag(
        "svg",
        tag("rect", width=width, height=height, fill=background),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        width=width,
        height=height,
        font_family=FONT,
    )


def height_of(svg: str) -> float:
    """Return height / width of a picture made by `document`."""
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]
    return float(height) / float(width)


def to_pixels(svg: str, width: int | None = None) -> np.ndarray:
    """Paint an SVG document as `to_png`; return uint8 (H, W, 3)."""
    from PIL import Image

    return np.array(Image.open(io.BytesIO(to_png(svg, width))).convert("RGB"))


def to_png(svg: str, width: int | None = None) -> bytes:
    """Paint an SVG document as PNG.

    `width` is in pixels, with proportional height; None keeps the document's own size. All text is in Lato, regular or
    bold; the machine's fonts are ignored.
    """
    try:
        import font_lato
        import resvg_py
    except ImportError as error:
        raise ImportError("pictures as pixels need: pip install resvg-py font-lato pillow") from error
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        width=width,
        background="white",
        skip_system_fonts=True,
        font_files=[font_lato.font_files["Lato"], font_lato.font_files["LatoBold"]],
        font_family="Lato",
        sans_serif_family="Lato",
        serif_family="Lato",  # fallback of missing families
    )


def _escaped(value: object) -> str:
    return html.escape(_plain(value), quote=False).replace('"', "&quot;")


def _plain(value: object) -> str:
    return f"{round(value, 2) + 0.0:g}" if isinstance(value, float) else str(value)
