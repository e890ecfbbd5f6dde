"""Icons and colours of the picture of Botanicus.

An icon is drawn in a square of 24 units around 0,0; `icon` puts it where it is wanted, in the size that is wanted.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import NamedTuple

from garden_core import svg as draw

__all__ = ["DARK", "LIGHT", "Palette", "bloom", "icon", "plant", "soil", "tick"]


class Palette(NamedTuple):
    """The colours of a picture.

    Attributes:
        paper: behind everything; `panel`: of a player or a track; `board`: of the spaces; `raised`: of what comes next.
        tile: of a tile; `offered`: under what one can click.
        ink, faint: of text; `edge`: of boxes and paths.
        legal: edge of what one can click; `last`: edge of what the last action changed.
        livery: one a player; `neutral`: of the neutral Flower; `on_livery`: of text on these.
        bed: soil; `reach`: soil in reach of the Gardener; `furrow`: lines on soil; `leaf`: leaves by level, I to IV.
        level: of chips by level, I to IV; `on_level`: of text on them.
        bud, petal, heart: of flowers; `pot`: of pots; `on_pot`: of text on pots.
        done: of what has scored; `on_done`: of text on it.
        coin, star, fur, sheet, steel, wood, boot: of icons; `line`: their edges; `rod`: of handles and masts.
    """

    paper: str
    panel: str
    board: str
    raised: str
    tile: str
    offered: str
    ink: str
    faint: str
    edge: str
    legal: str
    last: str
    livery: tuple[str, str, str, str]
    neutral: str
    on_livery: str
    bed: str
    reach: str
    furrow: str
    leaf: tuple[str, str, str, str]
    level: tuple[str, str, str, str]
    on_level: str
    bud: str
    petal: str
    heart: str
    pot: str
    on_pot: str
    done: str
    on_done: str
    coin: str
    star: str
    fur: str
    sheet: str
    steel: str
    wood: str
    boot: str
    line: str
    rod: str


LIGHT = Palette(
    paper="#efe9da",
    panel="#fffdf7",
    board="#f6f2e6",
    raised="#fffdf7",
    tile="#e2ebd3",
    offered="#fff0bf",
    ink="#2b2823",
    faint="#655d51",
    edge="#cfc5b2",
    legal="#e08a00",
    last="#0b61c4",
    livery=("#6527a3", "#9c4a08", "#03636a", "#d6007f"),
    neutral="#373531",
    on_livery="#ffffff",
    bed="#e7d8bf",
    reach="#d9c29b",
    furrow="#c3a97f",
    leaf=("#7ba83a", "#569838", "#367f36", "#276a36"),
    level=("#eef3d6", "#cbe3a1", "#93c46e", "#f3a6c2"),
    on_level="#2b2823",
    bud="#d9487d",
    petal="#e8558a",
    heart="#ffd34d",
    pot="#8f4526",
    on_pot="#ffffff",
    done="#2f7136",
    on_done="#ffffff",
    coin="#f2c230",
    star="#f7b32b",
    fur="#8a5a34",
    sheet="#4f7f4a",
    steel="#5d86ad",
    wood="#a8703a",
    boot="#6a5a4c",
    line="#3c352c",
    rod="#3c352c",
)
DARK = Palette(
    paper="#161a17",
    panel="#222823",
    board="#1d231f",
    raised="#2b332d",
    tile="#34432f",
    offered="#4d4216",
    ink="#f0ece1",
    faint="#b5b0a2",
    edge="#48524a",
    legal="#ffb52e",
    last="#6fb1ff",
    livery=("#9d7cff", "#d9903a", "#1fcfe8", "#f56696"),
    neutral="#f2f1ea",
    on_livery="#14170f",
    bed="#3a3126",
    reach="#54452f",
    furrow="#75603f",
    leaf=("#a5cf5b", "#83c35f", "#63b060", "#4f9c58"),
    level=("#e9efcf", "#bddb92", "#84b864", "#f29dbb"),
    on_level="#14170f",
    bud="#ff86ac",
    petal="#ff8fb4",
    heart="#ffdf6b",
    pot="#bf6c44",
    on_pot="#120d08",
    done="#8ed08f",
    on_done="#10180f",
    coin="#f2c84b",
    star="#ffc64d",
    fur="#c9976a",
    sheet="#5d8f58",
    steel="#86b2dc",
    wood="#c88f57",
    boot="#b7a593",
    line="#12140f",
    rod="#c3beb0",
)


def icon(kind: str, x: float, y: float, size: float, palette: Palette) -> str:
    """Return the icon of a kind of action, in a square of `size` around x, y."""
    if kind.startswith("plant_"):
        return plant(int(kind[-1]), x, y, size, palette, pot=True)
    return _placed(x, y, size, _DRAWN[kind](palette))


def plant(level: int, x: float, y: float, size: float, palette: Palette, *, pot: bool = False) -> str:
    """Return a plant of a level, told by its shape: a sprout, a seedling, a bush with buds, in full bloom.

    In a pot it bears its level in the size of text that fits into a pot.
    """
    drawn = _GROWN[level - 1](palette)
    if not pot:
        return _placed(x, y, size, drawn)
    shape = draw.polygon(
        [(-10, 0), (10, 0), (7.5, 12), (-7.5, 12)], fill=palette.pot, stroke=palette.line, stroke_width=0.8
    )
    above = draw.tag("g", drawn, transform="translate(0 -6) scale(0.62)")
    numeral = draw.text(
        x,
        y + 0.26 * size,
        ("I", "II", "III", "IV")[level - 1],
        max(12, 0.46 * size),
        text_anchor="middle",
        font_weight="bold",
        fill=palette.on_pot,
    )
    return _placed(x, y, size, above, shape) + numeral


def bloom(x: float, y: float, radius: float, paint: str, palette: Palette) -> str:
    """Return a flower's head, seen from above."""
    return draw.tag(
        "g", _petals(radius, paint, palette.line, palette.heart), transform=f"translate({x:g} {y:g})"
    )


def soil(x: float, y: float, width: float, height: float, palette: Palette) -> str:
    """Return the furrows of an empty bed."""
    paths = [
        f"M{x + 6:g} {y + height * part:g}q{(width - 12) / 4:g} -4 {(width - 12) / 2:g} 0t{(width - 12) / 2:g} 0"
        for part in (0.36, 0.56, 0.76)
    ]
    return _stroke("".join(paths), palette.furrow, 1.6)


def tick(x: float, y: float, palette: Palette) -> str:
    """Return the mark of what is done."""
    return draw.tag(
        "circle", cx=x, cy=y, r=7, fill=palette.done, stroke=palette.panel, stroke_width=1.5
    ) + _stroke(f"M{x - 3.2:g} {y:g}l2.4 2.6l4.2 -5", palette.on_done, 1.8)


def _placed(x: float, y: float, size: float, *parts: str) -> str:
    return draw.tag("g", *parts, transform=f"translate({x:g} {y:g}) scale({size / 24:.3g})")


def _shape(path: str, fill: str, line: str, thick: float = 1) -> str:
    return draw.tag("path", d=path, fill=fill, stroke=line, stroke_width=thick)


def _stroke(path: str, line: str, thick: float) -> str:
    return draw.tag(
        "path",
        d=path,
        fill="none",
        stroke=line,
        stroke_width=thick,
        stroke_linecap="round",
        stroke_linejoin="round",
    )


def _circle(x: float, y: float, radius: float, fill: str, line: str | None = None, thick: float = 1) -> str:
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=fill, stroke=line, stroke_width=line and thick)


def _petals(radius: float, paint: str, line: str, heart: str, petals: int = 6) -> str:
    out, size = 0.58 * radius, 0.42 * radius
    disc = f"a{size:.3g} {size:.3g} 0 1 0 {2 * size:.3g} 0a{size:.3g} {size:.3g} 0 1 0 {-2 * size:.3g} 0"
    turns = [2 * pi * k / petals for k in range(petals)]
    ring = "".join(f"M{out * sin(turn) - size:.2f} {-out * cos(turn):.2f}{disc}" for turn in turns)
    return _shape(ring, paint, line, 0.7) + _circle(0, 0, 0.34 * radius, heart, line, 0.7)


# --- plants, growing from 0,12 ---


def _leaf(x: float, y: float, across: float, up: float, fill: str, line: str) -> str:
    """A leaf from its stalk at x, y to its tip."""
    return _shape(
        f"M{x:g} {y:g}q{across * 0.15:g} {up:g} {across:g} {up:g}q{-across * 0.1:g} {-up * 0.95:g} {-across:g} {-up:g}z",
        fill,
        line,
        0.7,
    )


def _sprout(palette: Palette) -> str:
    green, line = palette.leaf[0], palette.line
    return _stroke("M0 11V3", green, 2) + _leaf(0, 4, -8, -6, green, line) + _leaf(0, 4, 8, -6, green, line)


def _seedling(palette: Palette) -> str:
    green, line = palette.leaf[1], palette.line
    low = _leaf(0, 8, -9, -5, green, line) + _leaf(0, 8, 9, -5, green, line)
    high = _leaf(0, 0, -8, -7, green, line) + _leaf(0, 0, 8, -7, green, line)
    return _stroke("M0 12V-2", green, 2) + low + high


def _bush(palette: Palette) -> str:
    green, line = palette.leaf[2], palette.line
    leaves = "".join(
        _leaf(0, y, across, up, green, line)
        for y, across, up in ((10, -10, -4), (10, 10, -4), (4, -10, -6), (4, 10, -6))
    )
    bud = _shape("M0 -11C5 -7 5 -2 0 1C-5 -2 -5 -7 0 -11z", palette.bud, line, 0.7)
    cup = _shape("M-4.6 -4Q0 1 4.6 -4Q4 2.6 0 2.6Q-4 2.6 -4.6 -4z", green, line, 0.7)
    return _stroke("M0 12V0", green, 2) + leaves + bud + cup


def _in_bloom(palette: Palette) -> str:
    green, line = palette.leaf[3], palette.line
    leaves = _leaf(0, 11, -10, -5, green, line) + _leaf(0, 11, 10, -5, green, line)
    head = draw.tag("g", _petals(9.5, palette.petal, line, palette.heart), transform="translate(0 -3.5)")
    return _stroke("M0 12V2", green, 2) + leaves + head


_GROWN = (_sprout, _seedling, _bush, _in_bloom)


# --- things ---


def _coin(palette: Palette) -> str:
    return _circle(0, 0, 10, palette.coin, palette.line) + _circle(0, 0, 6.6, "none", palette.line, 0.8)


def _star(palette: Palette) -> str:
    corners = [
        ((11 if k % 2 == 0 else 5) * sin(k * pi / 5), -(11 if k % 2 == 0 else 5) * cos(k * pi / 5))
        for k in range(10)
    ]
    return draw.polygon(
        corners, fill=palette.star, stroke=palette.line, stroke_width=1, stroke_linejoin="round"
    )


def _paw(palette: Palette) -> str:
    toes = ((-8, -1), (-3.4, -7), (3.4, -7), (8, -1))
    pad = _shape(
        "M0 -1C5 -1 9 6 6 9C4 11 2 9 0 9C-2 9 -4 11 -6 9C-9 6 -5 -1 0 -1z", palette.fur, palette.line, 0.8
    )
    return pad + "".join(
        draw.tag(
            "ellipse", cx=x, cy=y, rx=2.5, ry=3.3, fill=palette.fur, stroke=palette.line, stroke_width=0.8
        )
        for x, y in toes
    )


def _card(palette: Palette) -> str:
    back = draw.tag(
        "rect", x=-7.5, y=-10.5, width=15, height=21, rx=2.5, fill=palette.sheet, stroke=palette.line
    )
    inside = draw.tag(
        "rect",
        x=-5.4,
        y=-8.4,
        width=10.8,
        height=16.8,
        rx=1.5,
        fill="none",
        stroke=palette.heart,
        stroke_width=0.8,
    )
    head = draw.tag("g", _petals(4.6, "#ffffff", palette.line, palette.heart, 5))
    return back + inside + head


def _rosette(palette: Palette) -> str:
    tails = _shape("M-5 3L-7 11.5L-2.6 9.5L0 11.5L2.6 9.5L7 11.5L5 3z", palette.bud, palette.line, 0.8)
    return (
        tails
        + _circle(0, -2.5, 8.3, palette.star, palette.line)
        + _circle(0, -2.5, 5, palette.panel, palette.line, 0.7)
    )


def _can(palette: Palette) -> str:
    body = _shape("M-4 -3H7L8.5 10H-5.5z", palette.steel, palette.line)
    spout = _shape("M-4.6 5L-10.2 -4.2L-8 -5.4L-4.2 1z", palette.steel, palette.line)
    rose = _stroke("M-11.6 -3.2L-6.9 -6.2", palette.rod, 1.8)
    handle = _stroke("M-1.5 -3C-1 -10 6 -10 6 -3M7.6 0C12 0 12 7 8.2 8", palette.rod, 1.6)
    return handle + spout + rose + body


def _boots(palette: Palette) -> str:
    def sole(x: float, y: float, turn: float) -> str:
        big = draw.tag(
            "ellipse", cx=0, cy=-2.4, rx=3.3, ry=4.8, fill=palette.boot, stroke=palette.line, stroke_width=0.8
        )
        heel = draw.tag(
            "ellipse", cx=0, cy=5.4, rx=2.5, ry=2.3, fill=palette.boot, stroke=palette.line, stroke_width=0.8
        )
        return draw.tag("g", big, heel, transform=f"translate({x:g} {y:g}) rotate({turn:g})")

    return sole(-4.6, 3, -10) + sole(4.8, -3, 10)


def _bag(palette: Palette) -> str:
    sack = _shape("M-3.4 -5C-11 2 -11 11 -4 11H4C11 11 11 2 3.4 -5z", palette.wood, palette.line)
    top = _shape("M-3.4 -5L-5.4 -10.5L-1.8 -9L0 -11L1.8 -9L5.4 -10.5L3.4 -5z", palette.wood, palette.line)
    return sack + top + _circle(0, 3.6, 4.2, palette.coin, palette.line, 0.8)


def _wheelbarrow(palette: Palette) -> str:
    handle = _stroke("M11.4 -5.6H5.6L-4 5M5 1.5L7 9.5", palette.rod, 1.8)
    tray = _shape("M-10.5 -6.5H6L2.4 2.4H-6z", palette.wood, palette.line)
    return (
        handle + tray + _circle(-5.4, 7, 4, palette.panel, palette.rod, 2) + _circle(-5.4, 7, 1, palette.rod)
    )


def _shovel(palette: Palette) -> str:
    blade = _shape("M-4.4 1.5H4.4V6.6Q4 10.6 0 12Q-4 10.6 -4.4 6.6z", palette.steel, palette.line)
    shaft = _shape("M-1.1 1.5V-7.5H1.1V1.5z", palette.wood, palette.line, 0.8)
    grip = _shape("M-3.6 -11.2H3.6V-7.4H-3.6z", palette.wood, palette.line, 0.8)
    return draw.tag("g", shaft, grip, blade, transform="rotate(35)")


def _flag(palette: Palette) -> str:
    mast = _stroke("M-7 -11V11.5", palette.rod, 2)
    cloth = _shape("M-6.5 -10.5H9L5.4 -5L9 0.5H-6.5z", palette.star, palette.line)
    return mast + cloth


_DRAWN = {
    "coins": _coin,
    "points": _star,
    "animal": _paw,
    "card": _card,
    "prize": _rosette,
    "water": _can,
    "walk": _boots,
    "money": _bag,
    "wheelbarrow": _wheelbarrow,
    "shovel": _shovel,
    "pole": _flag,
}
