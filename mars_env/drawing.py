"""Pictures of Gardens of Mars, drawn from a snapshot alone: `svg` for notebooks, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from math import cos, pi, sin, sqrt
from typing import Any

from garden_core import svg as draw
from garden_core.svg import LOOK, Look
from mars_env.board import COLOURS, HEXES, RADIUS

Hex = tuple[int, int]

SPAN = range(-RADIUS, RADIUS + 1)
LETTERS = "bywgrn"  # one a colour; green is n, as g is grey
GARDENERS = "ABCDE"  # one a player

WIDTH, HEIGHT = 900, 616
SIZE = 31  # of a hex, from its centre to a corner
MIDDLE = (314, 296)  # of the board
PANEL = 640  # where the panel begins
PANEL_WIDTH = 242
CARD_HEIGHT = 86

PETALS = (5, 8, 6, 4, 7, 3)
PAINT = ("#2f6fb5", "#f0bd27", "#ffffff", "#7f838a", "#d0392f", "#33904a")
GROUND = ("#cbdef2", "#fbebb4", "#ffffff", "#d4d6da", "#f6cbc5", "#c8e6ca")  # of a hex with such a flower
LIVERY = ("#6b3fa0", "#d96400", "#007c85", "#c2337f", "#5d4630")  # one a player
INK, FAINT, PAPER, SAND, ROCK = "#33302d", "#857a70", "#f6f1ea", "#e6c8ab", "#c99f7f"
FREE, GOLD = "#f3e1cf", "#b07800"  # a hex that can be reached: its ground if empty, its edge
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    5: [(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
    6: [(-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)],
}


def svg(snapshot: dict[str, Any], team: bool = False, look: Look = LOOK) -> str:
    """The state as a picture.

    Args:
        snapshot: the whole state, with the keys that `Game.snapshot` gives.
        team: whether the variant is cooperative, so that the lowest score is everybody's.
        look: how it is drawn; the hexes that legal actions name are highlighted.

    Returns:
        An SVG document, 900 x 616, that needs nothing from outside.
    """
    status = draw.text(28, HEIGHT - 22, _status(snapshot, team), 16, fill=INK)
    dice = _dice(snapshot["dice"])
    cards = [_card(snapshot, player) for player in range(snapshot["num_players"])]
    return draw.document(WIDTH, HEIGHT, _board(snapshot, look), dice, *cards, status, background=PAPER)


def text(snapshot: dict[str, Any], labels: Sequence[str] = (), team: bool = False) -> str:
    """The state as plain text that a person can play from.

    Args:
        snapshot: the whole state, with the keys that `Game.snapshot` gives.
        labels: the legal actions in words; they are listed, and the hexes that they name are marked.
        team: whether the variant is cooperative, so that the lowest score is everybody's.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    placing = snapshot["phase"] == "place"
    gardeners = f"{' '.join(GARDENERS[: snapshot['num_players']])} gardeners"
    reach = "first gardener, {.} second, <.> either" if _two_each(snapshot) else "the gardener can go there"
    lines = [_status(snapshot, team), "", *_rows(snapshot, () if placing else labels), ""]
    lines += [
        "flowers: " + ", ".join(f"{LETTERS[colour]} {name}" for colour, name in enumerate(COLOURS)),
        f"board:   . empty, + centre, ^ peak, {gardeners}, ? waits for a flower",
        "hex q,r: r is the row; the hexes of one q run down to the right from its number",
        f"reach:   (.) {reach}",
        "dice:    " + (" ".join(map(str, snapshot["dice"])) or "none"),
        "",
        f"{'player':<14}{'score':>5}   flowers left:" + "".join(f"{colour:>8}" for colour in COLOURS),
    ]
    for player, stock in enumerate(snapshot["stocks"]):
        name = f"{'>' if player == _mover(snapshot) else ' '} {_name(player)}"
        counts = "".join(f"{count:>8}" for count in stock)
        lines.append(f"{name:<14}{snapshot['scores'][player]:>5}{sum(stock):>16}{counts}")
    if placing and labels:
        lines += ["", f"legal: any free hex, {len(labels)} in all, written like: {labels[0]}"]
    elif labels:
        whole = "; ".join(label.replace(" ", "\xa0") for label in labels)  # a label is not broken over lines
        lines += [
            "",
            *textwrap.wrap(f"legal: {whole}", 100, subsequent_indent=" " * 7, break_on_hyphens=False),
        ]
    return "\n".join(lines).replace("\xa0", " ")


# ---- what both say


def _mover(snapshot: dict[str, Any]) -> int | None:
    return None if snapshot["phase"] == "over" else snapshot["current_player"]


def _name(player: int) -> str:
    """A player's name, after the letter of the own gardeners."""
    return f"{GARDENERS[player]} player_{player}"


def _status(snapshot: dict[str, Any], team: bool) -> str:
    if snapshot["phase"] != "over":
        to_do = {
            "place": "place a gardener on any free hex",
            "move": "use one of the dice",
            "plant": "plant a flower on hex {},{}".format(*snapshot["pending"] or ("?", "?")),
        }
        return f"{_name(snapshot['current_player'])} to move: {to_do[snapshot['phase']]}"
    cap = f"stopped by the cap of {snapshot['decisions']} decisions, scored as it stands"
    return f"{cap if snapshot['truncated'] else 'game over'}: {_result(snapshot['scores'], team)}"


def _result(scores: Sequence[int], team: bool) -> str:
    high, low = max(scores), min(scores)
    if len(scores) == 1:
        return f"score {high}"
    if team:
        return f"the team scores {low}, the lowest score"
    if high == low:
        return f"every score is {high}"
    first = ", ".join(_name(player) for player, score in enumerate(scores) if score == high)
    return f"highest score {high} ({first}), lowest {low}"


def _gardeners(snapshot: dict[str, Any]) -> Iterator[tuple[Hex, int, str]]:
    """(hex, player, name) of every gardener on the board; names are A, B, ... or A1, A2, B1, ... with two."""
    two = _two_each(snapshot)
    for player, hexes in enumerate(snapshot["gardeners"]):
        for number, (q, r) in enumerate(hexes, 1):
            yield (q, r), player, GARDENERS[player] + (str(number) if two else "")


def _two_each(snapshot: dict[str, Any]) -> bool:
    return any(len(hexes) > 1 for hexes in snapshot["gardeners"])


def _targets(labels: Iterable[str]) -> tuple[set[Hex], set[Hex]]:
    """The hexes that labels name for the first gardener and for the second."""
    found: tuple[set[Hex], set[Hex]] = (set(), set())
    for label in labels:
        *words, last = label.split()
        if words and words[-1] == "hex":
            q, r = last.split(",")
            found[words[0] == "second"].add((int(q), int(r)))
    return found


def _top(q: int) -> int:
    """The smallest r on the board for this q."""
    return max(-RADIUS, -RADIUS - q)


# ---- text


def _rows(snapshot: dict[str, Any], labels: Sequence[str]) -> list[str]:
    """The board, one line for each r; the hexes of one q run down to the right from its number."""
    first, second = _targets(labels)
    content = {(0, 0): "+"} | {(q, r): "^" for q, r in snapshot["peaks"]}
    content |= {(q, r): LETTERS[colour] for q, r, colour in snapshot["flowers"]}
    for at, _, name in _gardeners(snapshot):
        content[at] = name + ("?" if list(at) == snapshot["pending"] else content.get(at, ""))
    rows = []
    for r in range(-RADIUS - 1, RADIUS + 1):
        row = ["q:  " if r < -RADIUS else f"r={r:>2}"] + [" "] * 60
        for q in SPAN:
            inside = content.get((q, r), ".")
            if (q, r) in first:
                inside = f"<{inside}>" if (q, r) in second else f"({inside})"
            elif (q, r) in second:
                inside = f"{{{inside}}}"
            start = 26 + 4 * q + 2 * r
            if (q, r) in HEXES:
                row[start : start + 3] = f"{inside:^3}"
            elif r == _top(q) - 1:
                row[start : start + 3] = f"{q:>2}\\"
        rows.append("".join(row).rstrip())
    return rows


# ---- picture


def _centre(q: int, r: int) -> tuple[float, float]:
    return MIDDLE[0] + SIZE * sqrt(3) * (q + r / 2), MIDDLE[1] + SIZE * 1.5 * r


def _hexagon(x: float, y: float, size: float, **attributes: str | float | None) -> str:
    corners = [(x + size * sin(k * pi / 3), y + size * cos(k * pi / 3)) for k in range(6)]
    return draw.polygon(corners, **attributes)


def _edge(colour: str, fill: str = "none") -> dict[str, Any]:
    return {"fill": fill, "stroke": colour, "stroke_width": 2.2}


def _board(snapshot: dict[str, Any], look: Look) -> str:
    placing = snapshot["phase"] == "place"  # any free hex is a target then: no edges
    first, second = _targets(look.legal)
    peaks = {(q, r) for q, r in snapshot["peaks"]}
    flowers = {(q, r): colour for q, r, colour in snapshot["flowers"]}
    gardeners = {at: (player, name) for at, player, name in _gardeners(snapshot)}
    parts = []
    for n in SPAN:  # the numbers around the edge, each in line with its hexes
        x, y = _centre(min(RADIUS, RADIUS - n) + 1, n)
        parts.append(draw.text(*_centre(n, _top(n) - 1), f"q {n}", 11, text_anchor="middle", fill=FAINT))
        parts.append(draw.text(x - 12, y, f"r {n}", 11, text_anchor="middle", fill=FAINT))
    for at in HEXES:
        x, y = _centre(*at)
        ground = ROCK if at in peaks else FREE if at in first | second else SAND
        parts.append(_hexagon(x, y, SIZE - 1, fill=GROUND[flowers[at]] if at in flowers else ground))
        if at == (0, 0):
            parts.append(draw.tag("circle", cx=x, cy=y, r=15, fill="none", stroke=INK, stroke_width=2))
            parts.append(draw.tag("circle", cx=x, cy=y, r=6, fill=INK))
        if at in peaks:
            snow = [(x - 7, y - 6), (x, y - 17), (x + 7, y - 6), (x, y - 2)]
            parts.append(draw.polygon([(x - 19, y + 13), (x, y - 17), (x + 19, y + 13)], fill="#6e5646"))
            parts.append(draw.polygon(snow, fill="#ffffff"))
        if at in first and not placing:
            parts.append(_hexagon(x, y, SIZE - 2.2, **_edge(GOLD)))
        if at in second and not placing:
            parts.append(_hexagon(x, y, SIZE - 6, **_edge(INK), stroke_dasharray="3"))
        if [*at] == snapshot["pending"]:
            parts.append(_hexagon(x, y, SIZE - 2.2, **_edge(INK, "#ffffff")))
            parts.append(draw.text(x + 14, y, "?", 20, text_anchor="middle", font_weight="bold", fill=INK))
            parts.append(_gardener(x - 7, y, 14, *gardeners[at]))
        elif at in flowers and at in gardeners:
            parts += [_flower(x - 10, y - 8, 14, flowers[at]), _gardener(x + 9, y + 7, 13, *gardeners[at])]
        elif at in flowers:
            parts.append(_flower(x, y, 19, flowers[at]))
        elif at in gardeners:
            parts.append(_gardener(x, y, 16, *gardeners[at]))
    if second and not placing:
        parts.append(draw.text(28, 572, "solid edge: first gardener, dashed: second", 11, fill=FAINT))
    return draw.tag("g", *parts)


def _flower(x: float, y: float, radius: float, colour: int) -> str:
    """A flower, distinct in colour, number of petals and letter."""
    petals = PETALS[colour]
    half = pi / petals
    reach = radius / (cos(half) + sin(half))  # where two petals meet; a petal is half a circle
    corners = [(x + reach * sin(k * 2 * half), y - reach * cos(k * 2 * half)) for k in range(petals + 1)]
    arc = f"A{reach * sin(half):.2f} {reach * sin(half):.2f} 0 0 1"
    path = " ".join(f"{arc if k else 'M'} {a:.2f} {b:.2f}" for k, (a, b) in enumerate(corners)) + "Z"
    ink = INK if COLOURS[colour] in ("yellow", "white") else "#ffffff"
    return draw.tag("path", d=path, fill=PAINT[colour], stroke=INK, stroke_width=1) + draw.text(
        x, y, LETTERS[colour], 0.95 * radius, text_anchor="middle", font_weight="bold", fill=ink
    )


def _gardener(x: float, y: float, radius: float, player: int, name: str) -> str:
    size = radius * (1.2 if len(name) == 1 else 0.95)
    return draw.tag(
        "circle", cx=x, cy=y, r=radius, fill=LIVERY[player], stroke="#ffffff", stroke_width=2
    ) + draw.text(x, y, name, size, text_anchor="middle", font_weight="bold", fill="#ffffff")


def _dice(values: Sequence[int]) -> str:
    parts = [draw.text(PANEL, 26, "Dice on the table" if values else "No dice on the table", 13, fill=FAINT)]
    for number, value in enumerate(values):
        x, y = PANEL + 41.5 * number, 43
        parts.append(draw.box(x, y, 34, 34, 7, INK, 1.5))
        for a, b in PIPS[value]:
            parts.append(draw.tag("circle", cx=x + 17 + 9 * a, cy=y + 17 + 9 * b, r=3.2, fill=INK))
    return draw.tag("g", *parts)


def _card(snapshot: dict[str, Any], player: int) -> str:
    """One player's panel: who, score, flowers left by colour."""
    x, y = PANEL, 96 + player * (CARD_HEIGHT + 10)
    score = snapshot["scores"][player]
    moving = player == _mover(snapshot)
    edge, thick, weight = (LIVERY[player], 3, "bold") if moving else ("#ddd3c8", 1.5, None)
    parts = [
        draw.box(x, y, PANEL_WIDTH, CARD_HEIGHT, 10, edge, thick),
        _gardener(x + 26, y + 27, 15, player, GARDENERS[player]),
        draw.text(x + 50, y + 27, f"player_{player}", 16, font_weight=weight, fill=INK),
        draw.text(x + PANEL_WIDTH - 14, y + 27, score, 26, text_anchor="end", font_weight="bold", fill=INK),
    ]
    if moving:
        parts.append(draw.text(x + 122, y + 27, "to move", 13, fill=LIVERY[player]))
    for colour, count in enumerate(snapshot["stocks"][player]):
        across = x + 18 + 38 * colour
        parts.append(_flower(across, y + 63, 9.5, colour))
        parts.append(draw.text(across + 11, y + 63, count, 12, fill=INK if count else FAINT))
    return draw.tag("g", *parts)
