"""Icons and colours of the picture of Botanicus."""

from __future__ import annotations

from typing import NamedTuple

from botanicus_env.wording import LEVELS
from garden_core.render import svg as draw


class Palette(NamedTuple):
    """The colours of a picture, by default light.

    Attributes:
        paper: background; `panel`: of a player or a track; `board`: of the spaces; `raised`: of the current and next column.
        tile: of a tile; `offered`: ground of clickable parts.
        ink, faint: of text; `edge`: of boxes and paths.
        legal: edge of clickable parts; `last`: edge of what the last action changed.
        livery: by player; `neutral`: of the neutral Flower; `on_livery`: of text on these.
        bed: soil; `reach`: soil in reach of the Gardener; `furrow`: lines on soil; `leaf`: leaves by level, I to IV.
        level: of chips by level, I to IV; `on_level`: of text on them.
        bud, petal, heart: of flowers; `pot`: of pots; `on_pot`: of text on pots.
        done: of scored parts; `on_done`: of text on it.
        coin, star, fur, sheet, steel, wood, boot: of icons; `line`: their edges; `rod`: of handles and masts.
    """

    paper: str = "#efe9da"
    panel: str = "#fffdf7"
    board: str = "#f6f2e6"
    raised: str = "#fffdf7"
    tile: str = "#e2ebd3"
    offered: str = "#fff0bf"
    ink: str = "#2b2823"
    faint: str = "#655d51"
    edge: str = "#cfc5b2"
    legal: str = "#e08a00"
    last: str = "#0b61c4"
    livery: tuple[str, ...] = ("#6527a3", "#9c4a08", "#03636a", "#d6007f")
    neutral: str = "#373531"
    on_livery: str = "#ffffff"
    bed: str = "#e7d8bf"
    reach: str = "#d9c29b"
    furrow: str = "#c3a97f"
    leaf: tuple[str, ...] = ("#7ba83a", "#569838", "#367f36", "#276a36")
    level: tuple[str, ...] = ("#eef3d6", "#cbe3a1", "#93c46e", "#f3a6c2")
    on_level: str = "#2b2823"
    bud: str = "#d9487d"
    petal: str = "#e8558a"
    heart: str = "#ffd34d"
    pot: str = "#8f4526"
    on_pot: str = "#ffffff"
    done: str = "#2f7136"
    on_done: str = "#ffffff"
    coin: str = "#f2c230"
    star: str = "#f7b32b"
    fur: str = "#8a5a34"
    sheet: str = "#4f7f4a"
    steel: str = "#5d86ad"
    wood: str = "#a8703a"
    boot: str = "#6a5a4c"
    line: str = "#3c352c"
    rod: str = "#3c352c"


LIGHT = Palette()
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


_ICONS = {
    "coins": """
<circle cx="0" cy="0" r="10" fill="{coin}" stroke="{line}" stroke-width="1"/>
<circle cx="0" cy="0" r="6.6" fill="none" stroke="{line}" stroke-width="0.8"/>
""",
    "points": """
<polygon points="0,-11 2.94,-4.05 10.46,-3.4 4.76,1.55 6.47,8.9 0,5 -6.47,8.9 -4.76,1.55 -10.46,-3.4
 -2.94,-4.05" fill="{star}" stroke="{line}" stroke-width="1" stroke-linejoin="round"/>
""",
    "animal": """
<path d="M0 -1C5 -1 9 6 6 9C4 11 2 9 0 9C-2 9 -4 11 -6 9C-9 6 -5 -1 0 -1z" fill="{fur}" stroke="{line}"
 stroke-width="0.8"/>
<ellipse cx="-8" cy="-1" rx="2.5" ry="3.3" fill="{fur}" stroke="{line}" stroke-width="0.8"/>
<ellipse cx="-3.4" cy="-7" rx="2.5" ry="3.3" fill="{fur}" stroke="{line}" stroke-width="0.8"/>
<ellipse cx="3.4" cy="-7" rx="2.5" ry="3.3" fill="{fur}" stroke="{line}" stroke-width="0.8"/>
<ellipse cx="8" cy="-1" rx="2.5" ry="3.3" fill="{fur}" stroke="{line}" stroke-width="0.8"/>
""",
    "card": """
<rect x="-7.5" y="-10.5" width="15" height="21" rx="2.5" fill="{sheet}" stroke="{line}"/>
<rect x="-5.4" y="-8.4" width="10.8" height="16.8" rx="1.5" fill="none" stroke="{heart}"
 stroke-width="0.8"/>
<g>
<path d="M-1.93 -2.67a1.93 1.93 0 1 0 3.86 0a1.93 1.93 0 1 0 -3.86 0M0.61 -0.82a1.93 1.93 0 1 0 3.86 0a1.93
 1.93 0 1 0 -3.86 0M-0.36 2.16a1.93 1.93 0 1 0 3.86 0a1.93 1.93 0 1 0 -3.86 0M-3.50 2.16a1.93 1.93 0 1 0
 3.86 0a1.93 1.93 0 1 0 -3.86 0M-4.47 -0.82a1.93 1.93 0 1 0 3.86 0a1.93 1.93 0 1 0 -3.86 0" fill="#ffffff"
 stroke="{line}" stroke-width="0.7"/>
<circle cx="0" cy="0" r="1.56" fill="{heart}" stroke="{line}" stroke-width="0.7"/>
</g>
""",
    "prize": """
<path d="M-5 3L-7 11.5L-2.6 9.5L0 11.5L2.6 9.5L7 11.5L5 3z" fill="{bud}" stroke="{line}"
 stroke-width="0.8"/>
<circle cx="0" cy="-2.5" r="8.3" fill="{star}" stroke="{line}" stroke-width="1"/>
<circle cx="0" cy="-2.5" r="5" fill="{panel}" stroke="{line}" stroke-width="0.7"/>
""",
    "water": """
<path d="M-1.5 -3C-1 -10 6 -10 6 -3M7.6 0C12 0 12 7 8.2 8" fill="none" stroke="{rod}" stroke-width="1.6"
 stroke-linecap="round" stroke-linejoin="round"/>
<path d="M-4.6 5L-10.2 -4.2L-8 -5.4L-4.2 1z" fill="{steel}" stroke="{line}" stroke-width="1"/>
<path d="M-11.6 -3.2L-6.9 -6.2" fill="none" stroke="{rod}" stroke-width="1.8" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M-4 -3H7L8.5 10H-5.5z" fill="{steel}" stroke="{line}" stroke-width="1"/>
""",
    "walk": """
<g transform="translate(-4.6 3) rotate(-10)">
<ellipse cx="0" cy="-2.4" rx="3.3" ry="4.8" fill="{boot}" stroke="{line}" stroke-width="0.8"/>
<ellipse cx="0" cy="5.4" rx="2.5" ry="2.3" fill="{boot}" stroke="{line}" stroke-width="0.8"/>
</g>
<g transform="translate(4.8 -3) rotate(10)">
<ellipse cx="0" cy="-2.4" rx="3.3" ry="4.8" fill="{boot}" stroke="{line}" stroke-width="0.8"/>
<ellipse cx="0" cy="5.4" rx="2.5" ry="2.3" fill="{boot}" stroke="{line}" stroke-width="0.8"/>
</g>
""",
    "money": """
<path d="M-3.4 -5C-11 2 -11 11 -4 11H4C11 11 11 2 3.4 -5z" fill="{wood}" stroke="{line}" stroke-width="1"/>
<path d="M-3.4 -5L-5.4 -10.5L-1.8 -9L0 -11L1.8 -9L5.4 -10.5L3.4 -5z" fill="{wood}" stroke="{line}"
 stroke-width="1"/>
<circle cx="0" cy="3.6" r="4.2" fill="{coin}" stroke="{line}" stroke-width="0.8"/>
""",
    "wheelbarrow": """
<path d="M11.4 -5.6H5.6L-4 5M5 1.5L7 9.5" fill="none" stroke="{rod}" stroke-width="1.8"
 stroke-linecap="round" stroke-linejoin="round"/>
<path d="M-10.5 -6.5H6L2.4 2.4H-6z" fill="{wood}" stroke="{line}" stroke-width="1"/>
<circle cx="-5.4" cy="7" r="4" fill="{panel}" stroke="{rod}" stroke-width="2"/>
<circle cx="-5.4" cy="7" r="1" fill="{rod}"/>
""",
    "shovel": """
<g transform="rotate(35)">
<path d="M-1.1 1.5V-7.5H1.1V1.5z" fill="{wood}" stroke="{line}" stroke-width="0.8"/>
<path d="M-3.6 -11.2H3.6V-7.4H-3.6z" fill="{wood}" stroke="{line}" stroke-width="0.8"/>
<path d="M-4.4 1.5H4.4V6.6Q4 10.6 0 12Q-4 10.6 -4.4 6.6z" fill="{steel}" stroke="{line}" stroke-width="1"/>
</g>
""",
    "pole": """
<path d="M-7 -11V11.5" fill="none" stroke="{rod}" stroke-width="2" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M-6.5 -10.5H9L5.4 -5L9 0.5H-6.5z" fill="{star}" stroke="{line}" stroke-width="1"/>
""",
    "level_1": """
<path d="M0 11V3" fill="none" stroke="{leaf[0]}" stroke-width="2" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M0 4q-1.2 -6 -8 -6q0.8 5.7 8 6z" fill="{leaf[0]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 4q1.2 -6 8 -6q-0.8 5.7 -8 6z" fill="{leaf[0]}" stroke="{line}" stroke-width="0.7"/>
""",
    "level_2": """
<path d="M0 12V-2" fill="none" stroke="{leaf[1]}" stroke-width="2" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M0 8q-1.35 -5 -9 -5q0.9 4.75 9 5z" fill="{leaf[1]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 8q1.35 -5 9 -5q-0.9 4.75 -9 5z" fill="{leaf[1]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 0q-1.2 -7 -8 -7q0.8 6.65 8 7z" fill="{leaf[1]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 0q1.2 -7 8 -7q-0.8 6.65 -8 7z" fill="{leaf[1]}" stroke="{line}" stroke-width="0.7"/>
""",
    "level_3": """
<path d="M0 12V0" fill="none" stroke="{leaf[2]}" stroke-width="2" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M0 10q-1.5 -4 -10 -4q1 3.8 10 4z" fill="{leaf[2]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 10q1.5 -4 10 -4q-1 3.8 -10 4z" fill="{leaf[2]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 4q-1.5 -6 -10 -6q1 5.7 10 6z" fill="{leaf[2]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 4q1.5 -6 10 -6q-1 5.7 -10 6z" fill="{leaf[2]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 -11C5 -7 5 -2 0 1C-5 -2 -5 -7 0 -11z" fill="{bud}" stroke="{line}" stroke-width="0.7"/>
<path d="M-4.6 -4Q0 1 4.6 -4Q4 2.6 0 2.6Q-4 2.6 -4.6 -4z" fill="{leaf[2]}" stroke="{line}"
 stroke-width="0.7"/>
""",
    "level_4": """
<path d="M0 12V2" fill="none" stroke="{leaf[3]}" stroke-width="2" stroke-linecap="round"
 stroke-linejoin="round"/>
<path d="M0 11q-1.5 -5 -10 -5q1 4.75 10 5z" fill="{leaf[3]}" stroke="{line}" stroke-width="0.7"/>
<path d="M0 11q1.5 -5 10 -5q-1 4.75 -10 5z" fill="{leaf[3]}" stroke="{line}" stroke-width="0.7"/>
<g transform="translate(0 -3.5)">
<path d="M-3.99 -5.51a3.99 3.99 0 1 0 7.98 0a3.99 3.99 0 1 0 -7.98 0M0.78 -2.76a3.99 3.99 0 1 0 7.98 0a3.99
 3.99 0 1 0 -7.98 0M0.78 2.75a3.99 3.99 0 1 0 7.98 0a3.99 3.99 0 1 0 -7.98 0M-3.99 5.51a3.99 3.99 0 1 0
 7.98 0a3.99 3.99 0 1 0 -7.98 0M-8.76 2.76a3.99 3.99 0 1 0 7.98 0a3.99 3.99 0 1 0 -7.98 0M-8.76 -2.76a3.99
 3.99 0 1 0 7.98 0a3.99 3.99 0 1 0 -7.98 0" fill="{petal}" stroke="{line}" stroke-width="0.7"/>
<circle cx="0" cy="0" r="3.23" fill="{heart}" stroke="{line}" stroke-width="0.7"/>
</g>
""",
    "bloom": """
<path d="M-3.57 -4.93a3.57 3.57 0 1 0 7.14 0a3.57 3.57 0 1 0 -7.14 0M0.70 -2.47a3.57 3.57 0 1 0 7.14 0a3.57
 3.57 0 1 0 -7.14 0M0.70 2.46a3.57 3.57 0 1 0 7.14 0a3.57 3.57 0 1 0 -7.14 0M-3.57 4.93a3.57 3.57 0 1 0
 7.14 0a3.57 3.57 0 1 0 -7.14 0M-7.84 2.47a3.57 3.57 0 1 0 7.14 0a3.57 3.57 0 1 0 -7.14 0M-7.84 -2.47a3.57
 3.57 0 1 0 7.14 0a3.57 3.57 0 1 0 -7.14 0" fill="{petal}" stroke="{line}" stroke-width="0.7"/>
<circle cx="0" cy="0" r="2.89" fill="{heart}" stroke="{line}" stroke-width="0.7"/>
""",
    "hat": """
<ellipse cx="0" cy="3" rx="11" ry="3" fill="{wood}" stroke="{line}"/>
<path d="M-6 2q6 -10 12 0z" fill="{wood}" stroke="{line}"/>
""",
    "pot": """
<polygon points="-10,0 10,0 7.5,12 -7.5,12" fill="{pot}" stroke="{line}" stroke-width="0.8"/>
""",
}
"""SVG of each icon in a square of 24 units around 0,0; fields of `Palette` are in braces. Lines are joined without a space.

The shape of a plant shows its level: `level_1` is a sprout, then a seedling, a bush with buds, and a plant in full bloom;
they grow from 0,12. `bloom` is a flower's head, seen from above.
"""


def moved(x: float, y: float, *parts: str, scale: float = 1.0) -> str:
    """Return parts with their origin at x, y, in another size."""
    size = "" if scale == 1 else f" scale({scale:.3g})"
    return f'<g transform="translate({x:g} {y:g}){size}">{"".join(parts)}</g>'


def icon(kind: str, x: float, y: float, size: float, palette: Palette) -> str:
    """Return the icon of a kind of action, in a square of `size` around x, y.

    Planting is a plant in a pot that shows the level.
    """
    if not kind.startswith("plant_"):
        return moved(x, y, _coloured(kind, palette), scale=size / 24)
    level = int(kind[-1])
    grown = moved(0, -6, _coloured(f"level_{level}", palette), scale=0.62)
    numeral = draw.text(
        x,
        y + 0.26 * size,
        LEVELS[level],
        max(13, 0.46 * size),
        text_anchor="middle",
        font_weight="bold",
        fill=palette.on_pot,
    )
    return moved(x, y, grown, _coloured("pot", palette), scale=size / 24) + numeral


def plant(level: int, x: float, y: float, size: float, palette: Palette) -> str:
    """Return a plant of a level, in a square of `size` around x, y."""
    return moved(x, y, _coloured(f"level_{level}", palette), scale=size / 24)


def bloom(x: float, y: float, petal: str, palette: Palette) -> str:
    """Return a flower's head of radius 8.5 with petals of a colour."""
    return moved(x, y, _coloured("bloom", palette._replace(petal=petal)))


def soil(x: float, y: float, width: float, height: float, palette: Palette) -> str:
    """Return the furrows of an empty bed."""
    half = (width - 12) / 2
    paths = [
        f"M{x + 6:g} {y + height * part:g}q{half / 2:g} -4 {half:g} 0t{half:g} 0"
        for part in (0.36, 0.56, 0.76)
    ]
    return _stroke("".join(paths), palette.furrow, 1.6)


def _coloured(name: str, palette: Palette) -> str:
    return _ICONS[name].replace("\n", "").format_map(palette._asdict())


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
