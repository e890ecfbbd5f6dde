"""Pictures of Gardens of Mars, drawn from a snapshot alone: `svg` for notebooks and pages, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

from garden_core import svg as draw
from garden_core.svg import LOOK, Look
from mars_env.board import COLOURS, DIRECTIONS, HEXES, RADIUS

Hex = tuple[int, int]

SPAN = range(-RADIUS, RADIUS + 1)
LETTERS = "bywgrn"  # one a colour; green is n, as g is grey


class Palette(NamedTuple):
    """The colours of a picture; flowers and their ground are listed by colour, liveries by player."""

    ink: str
    faint: str
    paper: str
    card: str
    edge: str
    sand: str
    rock: str
    free: str  # an empty hex that can be reached
    gold: str  # what can be chosen
    last: str  # what the last action changed
    flowers: tuple[str, ...] = ("#2f6fb5", "#f0bd27", "#ffffff", "#6f737a", "#c8322a", "#2a7d40")
    letters: tuple[str, ...] = ("#ffffff", "#33302d", "#33302d", "#ffffff", "#ffffff", "#ffffff")
    ground: tuple[str, ...] = ("#cbdef2", "#fbebb4", "#ffffff", "#d4d6da", "#f6cbc5", "#c8e6ca")
    livery: tuple[str, ...] = ("#6b3fa0", "#b85000", "#00737b", "#b02a72", "#4a3624")
    on_livery: str = "#ffffff"


LIGHT = Palette(
    ink="#33302d",
    faint="#665c53",
    paper="#f6f1ea",
    card="#ffffff",
    edge="#ddd3c8",
    sand="#e6c8ab",
    rock="#c99f7f",
    free="#f7e9db",
    gold="#8a5a00",
    last="#0b61c4",
)
DARK = Palette(
    ink="#f3ece4",
    faint="#b9aca0",
    paper="#211b17",
    card="#2e2621",
    edge="#54473d",
    sand="#6a4d3a",
    rock="#8a6a52",
    free="#84644d",
    gold="#ffd166",
    last="#8cc2ff",
    livery=("#9d7cff", "#d9903a", "#1fcfe8", "#f56696", "#e9e1d6"),
    on_livery="#14170f",
    ground=("#2c4a6b", "#6b571c", "#6b6560", "#3f4348", "#6e2b27", "#24512f"),
)


class Layout(NamedTuple):
    """Where the parts of a picture lie, and how large its words are."""

    width: int
    height: int
    dice: tuple[int, int]
    cards: tuple[int, int]
    columns: int  # of cards
    legend: tuple[int, int]
    status: tuple[int, int]
    small: int
    middle: int
    large: int


def _layout(compact: bool, num_players: int, lines: int) -> Layout:
    """Where the parts lie for so many players and lines of the status."""
    if not compact:
        return Layout(920, 640, (640, 26), (640, 92), 1, (644, 590), (28, 636 - 20 * lines), 12, 15, 26)
    below = 658 + -(-num_players // 2) * (COMPACT_CARD[1] + 8) + 22  # two cards in a row
    legend = below + 18 + 26 * lines
    return Layout(628, legend + 68, (28, 614), (18, 658), 2, (30, legend), (22, below), 18, 20, 30)


CARD, COMPACT_CARD = (252, 88), (292, 118)
SIZE = 31  # of a hex, from its centre to a corner
DASHES = "5 3"  # of edges for a second gardener
MIDDLE = (314, 296)  # of the board
PETALS = (5, 8, 6, 4, 7, 3)
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
        look: how it is drawn.

    Returns:
        An SVG document, 920 x 640 or, compact, 628 wide, that needs nothing from outside.
    """
    lines = textwrap.wrap(_status(snapshot, team), 56 if look.compact else 76)
    at = _layout(look.compact, snapshot["num_players"], len(lines))
    picture = _Picture(snapshot, look, DARK if look.dark else LIGHT, at)
    x, y = at.status
    status = "".join(
        draw.text(x, y + 1.3 * at.middle * number, line, at.middle, fill=picture.paint.ink)
        for number, line in enumerate(lines)
    )
    cards = [_card(picture, player) for player in range(snapshot["num_players"])]
    parts = (_board(picture), _dice(picture), *cards, _legend(picture), status)
    return draw.document(at.width, at.height, *parts, background=picture.paint.paper)


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
    names = " ".join(sorted({name for _, _, name in _gardeners(snapshot)}))
    numbers = " (player, which)" if _two_each(snapshot) else ""
    gardeners = f"{names} gardeners{numbers}" if names else "no gardeners yet"
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
        name = f"{'>' if player == _mover(snapshot) else ' '} player_{player}"
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


def _status(snapshot: dict[str, Any], team: bool) -> str:
    if snapshot["phase"] != "over":
        to_do = {
            "place": "place a gardener; flowers are drawn after that",
            "move": "use one of the dice",
            "plant": "plant a flower on hex {},{}".format(*snapshot["pending"] or ("?", "?")),
        }
        return f"player_{snapshot['current_player']} to move: {to_do[snapshot['phase']]}"
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
    first = ", ".join(f"player_{player}" for player, score in enumerate(scores) if score == high)
    return f"highest score {high} ({first}), lowest {low}"


def _gardeners(snapshot: dict[str, Any]) -> Iterator[tuple[Hex, int, str]]:
    """(hex, player, name) of every gardener on the board; names are 0, 1, ... or 01, 02, 11, ... with two."""
    two = _two_each(snapshot)
    for player, hexes in enumerate(snapshot["gardeners"]):
        for number, (q, r) in enumerate(hexes, 1):
            yield (q, r), player, f"{player}{number}" if two else str(player)


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


class _Picture(NamedTuple):
    """What every part of a picture is drawn from."""

    snapshot: dict[str, Any]
    look: Look
    paint: Palette
    layout: Layout

    @property
    def least(self) -> float:
        """The smallest size of words."""
        return 16.0 if self.look.compact else 12.5


def _centre(q: int, r: int) -> tuple[float, float]:
    return MIDDLE[0] + SIZE * sqrt(3) * (q + r / 2), MIDDLE[1] + SIZE * 1.5 * r


def _hexagon(x: float, y: float, size: float, **attributes: str | float | None) -> str:
    corners = [(x + size * sin(k * pi / 3), y + size * cos(k * pi / 3)) for k in range(6)]
    return draw.polygon(corners, **attributes)


def _edge(colour: str, fill: str = "none") -> dict[str, Any]:
    return {"fill": fill, "stroke": colour, "stroke_width": 2.6}


def _board(picture: _Picture) -> str:
    snapshot, paint, look = picture.snapshot, picture.paint, picture.look
    last = _last_hexes(snapshot, look)
    parts, marks = [] if look.compact else _rim(paint), []
    for at in HEXES:
        shown = _hex(picture, at)
        if at in last:
            marks.append(
                _hexagon(*_centre(*at), SIZE - 2.4, stroke=paint.last, **draw.LAST, pointer_events="none")
            )
        first, second = ("{} {},{}".format(which, *at) for which in ("hex", "second hex"))
        if first in look.legal and second in look.legal:
            parts += [shown, _half_hex(picture, at, first), _half_hex(picture, at, second)]
        else:
            parts.append(draw.target(look, second if second in look.legal else first, shown))
    parts += [_badge(picture, group) for group in _groups(snapshot) if len(group) > 1]
    if snapshot["phase"] != "place" and _targets(look.legal)[1]:
        words = "solid edge: first gardener, dashed: second"
        parts.append(draw.text(28, 574, words, picture.layout.small, fill=paint.faint))
    return draw.tag("g", *parts, *marks)


def _half_hex(picture: _Picture, at: Hex, label: str) -> str:
    """Where one clicks a hex that both gardeners can go to: its upper half for the first, its lower half for the second."""
    x, y = _centre(*at)
    second = label.startswith("second")
    size, down = SIZE - 2.4, 1 if second else -1
    side, corner = size * sqrt(3) / 2, down * size / 2
    half = [(x - side, y + 0.8 * down), (x - side, y + corner), (x, y + 2 * corner)]
    half += [(x + side, y + corner), (x + side, y + 0.8 * down)]
    edge = _edge(picture.paint.gold) | ({"stroke_dasharray": DASHES} if second else {})
    return draw.target(picture.look, label, draw.polygon(half, **edge, pointer_events="all"))


def _rim(paint: Palette) -> list[str]:
    """The numbers around the edge, each in line with its hexes."""
    parts = []
    for n in SPAN:
        x, y = _centre(min(RADIUS, RADIUS - n) + 1, n)
        parts.append(
            draw.text(*_centre(n, _top(n) - 1), f"q {n}", 12, text_anchor="middle", fill=paint.faint)
        )
        parts.append(draw.text(x - 12, y, f"r {n}", 12, text_anchor="middle", fill=paint.faint))
    return parts


def _hex(picture: _Picture, at: Hex) -> str:
    """A hex with what stands on it."""
    snapshot, paint = picture.snapshot, picture.paint
    x, y = _centre(*at)
    flower = next((colour for q, r, colour in snapshot["flowers"] if (q, r) == at), None)
    gardener = next(((player, name) for place, player, name in _gardeners(snapshot) if place == at), None)
    waiting, peak = [*at] == snapshot["pending"], [*at] in snapshot["peaks"]
    first, second = ("{} {},{}".format(which, *at) in picture.look.legal for which in ("hex", "second hex"))
    chosen = first or second
    ground = paint.rock if peak else paint.free if chosen else paint.sand
    parts = [_hexagon(x, y, SIZE - 1, fill=ground if flower is None else paint.ground[flower])]
    if at == (0, 0):
        parts.append(draw.tag("circle", cx=x, cy=y, r=15, fill="none", stroke=paint.ink, stroke_width=2))
        parts.append(draw.tag("circle", cx=x, cy=y, r=6, fill=paint.ink))
    if peak:
        snow = [(x - 7, y - 6), (x, y - 17), (x + 7, y - 6), (x, y - 2)]
        parts.append(draw.polygon([(x - 19, y + 13), (x, y - 17), (x + 19, y + 13)], fill="#5d4636"))
        parts.append(draw.polygon(snow, fill="#ffffff"))
    if first != second and snapshot["phase"] != "place":  # any free hex is a target then: no edges
        parts.append(
            _hexagon(x, y, SIZE - 2.4, **_edge(paint.gold), stroke_dasharray=DASHES if second else None)
        )
    if waiting:
        parts.append(_hexagon(x, y, SIZE - 2.4, **_edge(paint.ink, paint.card)))
        parts.append(draw.text(x + 14, y, "?", 20, text_anchor="middle", font_weight="bold", fill=paint.ink))
    aside, beside = waiting or flower is not None, 16 if picture.look.compact else 14
    up = 9 if picture.look.names else 0  # the coordinates stand below
    if flower is not None:
        parts.append(
            _flower(picture, *((x - 10, y - 8, beside) if gardener else (x, y - up / 2, 19)), flower)
        )
    if gardener:
        place = (
            (x - 7, y - up, beside) if waiting else (x + 9, y + 7 - up, beside) if aside else (x, y - up, 16)
        )
        parts.append(_gardener(picture, *place, *gardener))
    if picture.look.names:
        parts.append(_coordinates(picture, x, y, at))
    words = [f"hex {at[0]},{at[1]}"]
    words += ["centre"] * (at == (0, 0)) + ["peak"] * peak
    words += [f"{COLOURS[flower]} flower"] if flower is not None else []
    words += [f"gardener of player_{gardener[0]}"] if gardener else []
    return draw.tag("g", draw.title(", ".join(words)), *parts)


def _coordinates(picture: _Picture, x: float, y: float, at: Hex) -> str:
    words, size, paint = f"{at[0]},{at[1]}", picture.least, picture.paint
    width = 0.56 * size * len(words) + 4
    below = y + SIZE - 15
    return draw.box(
        x - width / 2, below - 0.6 * size, width, 1.2 * size, 4, "none", 0, paint.paper
    ) + draw.text(x, below, words, size, text_anchor="middle", fill=paint.ink)


def _groups(snapshot: dict[str, Any]) -> list[set[Hex]]:
    """The groups of flowers of one colour."""
    flowers, groups = {(q, r): colour for q, r, colour in snapshot["flowers"]}, []
    seen: set[Hex] = set()
    for at, colour in flowers.items():
        if at in seen:
            continue
        group, rim = {at}, [at]
        while rim:
            q, r = rim.pop()
            near = {(q + dq, r + dr) for dq, dr in DIRECTIONS}
            new = {other for other in near if flowers.get(other) == colour} - group
            rim += new
            group |= new
        groups.append(group)
        seen |= group
    return groups


def _badge(picture: _Picture, group: set[Hex]) -> str:
    """The size of a group, beside its uppermost flower."""
    paint, size = picture.paint, picture.least
    x, y = _centre(*min(group, key=lambda at: (at[1], at[0])))
    x, y = x + 17, y - 16
    return draw.tag("circle", cx=x, cy=y, r=0.75 * size, fill=paint.ink) + draw.text(
        x, y, len(group), size, text_anchor="middle", font_weight="bold", fill=paint.paper
    )


def _last_hexes(snapshot: dict[str, Any], look: Look) -> set[Hex]:
    """Where the last action was: the hex that it names, or those where its player's gardeners stand on such a flower."""
    first, second = _targets([look.last] if look.last else [])
    if not look.last.startswith("plant "):
        return first | second
    colour = COLOURS.index(look.last.removeprefix("plant "))
    flowers = {(q, r) for q, r, planted in snapshot["flowers"] if planted == colour}
    return flowers & {at for at, player, _ in _gardeners(snapshot) if player == look.by}


def _flower(picture: _Picture, x: float, y: float, radius: float, colour: int) -> str:
    """A flower, distinct in colour, number of petals and letter."""
    paint = picture.paint
    petals = PETALS[colour]
    half = pi / petals
    reach = radius / (cos(half) + sin(half))  # where two petals meet; a petal is half a circle
    corners = [(x + reach * sin(k * 2 * half), y - reach * cos(k * 2 * half)) for k in range(petals + 1)]
    arc = f"A{reach * sin(half):.2f} {reach * sin(half):.2f} 0 0 1"
    path = " ".join(f"{arc if k else 'M'} {a:.2f} {b:.2f}" for k, (a, b) in enumerate(corners)) + "Z"
    return draw.tag("path", d=path, fill=paint.flowers[colour], stroke="#33302d", stroke_width=1) + draw.text(
        x,
        y,
        LETTERS[colour],
        max(picture.least, 0.95 * radius),
        text_anchor="middle",
        font_weight="bold",
        fill=paint.letters[colour],
    )


def _gardener(picture: _Picture, x: float, y: float, radius: float, player: int, name: str) -> str:
    """A gardener: a disc with its player's number, and its own behind it where each has two."""
    size, paint = max(picture.least, radius * (1.2 if len(name) == 1 else 1)), picture.paint.livery[player]
    ink = picture.paint.on_livery
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=paint, stroke=ink, stroke_width=2) + draw.text(
        x, y, name, size, text_anchor="middle", font_weight="bold", fill=ink
    )


def _dice(picture: _Picture) -> str:
    paint, (x, y) = picture.paint, picture.layout.dice
    values = picture.snapshot["dice"]
    words = "Dice on the table" if values else "No dice on the table"
    parts = [draw.text(x, y, words, max(13, picture.layout.small), fill=paint.faint)]
    side = 40 if picture.look.compact else 34
    left, top = (x + 190, y - side / 2) if picture.look.compact else (x, y + 16)
    for number, value in enumerate(values):
        corner = left + (side + 7.5) * number
        label = f"give up die {value}" if value not in values[:number] else ""  # equal dice are one action
        edge, thick = (paint.gold, 3) if label in picture.look.legal else (paint.ink, 1.5)
        shown = [draw.title(f"die {value}"), draw.box(corner, top, side, side, 7, edge, thick, "#ffffff")]
        for a, b in PIPS[value]:
            middle = corner + side / 2 + 9 * a, top + side / 2 + 9 * b
            shown.append(draw.tag("circle", cx=middle[0], cy=middle[1], r=3.2, fill="#33302d"))
        parts.append(draw.target(picture.look, label, *shown))
    return draw.tag("g", *parts)


def _card(picture: _Picture, player: int) -> str:
    """One player's card: who, score, flowers left by colour."""
    snapshot, paint, layout = picture.snapshot, picture.paint, picture.layout
    width, height = COMPACT_CARD if picture.look.compact else CARD
    row, column = divmod(player, layout.columns)
    x, y = layout.cards[0] + column * (width + 8), layout.cards[1] + row * (height + 8)
    moving = player == _mover(snapshot)
    edge, thick, weight = (paint.livery[player], 4, "bold") if moving else (paint.edge, 1.5, None)
    who = f"player_{player}" + (" to move" if moving else "")
    head = y + (34 if picture.look.compact else 26)
    parts = [
        draw.box(x, y, width, height, 10, edge, thick, paint.card),
        _gardener(picture, x + 26, head, 15, player, str(player)),
        draw.text(x + 50, head, who, layout.middle, font_weight=weight, fill=paint.ink),
        draw.text(
            x + width - 14,
            head,
            snapshot["scores"][player],
            layout.large,
            text_anchor="end",
            font_weight="bold",
            fill=paint.ink,
        ),
    ]
    if picture.look.last.startswith("give up") and picture.look.by == player:
        parts.append(draw.tag("circle", cx=x + 26, cy=head, r=19, stroke=paint.last, **draw.LAST))
    step, below = (width - 16) / len(COLOURS), y + height - (30 if picture.look.compact else 24)
    size = 0.62 * layout.small if picture.look.compact else 0.75 * layout.small
    for colour, count in enumerate(snapshot["stocks"][player]):
        across = x + 10 + size + step * colour
        label = f"plant {COLOURS[colour]}" if moving else ""
        shown = [draw.title(f"{COLOURS[colour]} flowers left: {count}")]
        if label in picture.look.legal:
            place = across - 1.5 * size, below - 1.8 * size, step - 2, 3.6 * size
            shown.append(draw.box(*place, 6, paint.gold, 2.6, paint.card))
        ink = paint.ink if count else paint.faint
        shown.append(_flower(picture, across, below, 1.15 * size, colour))
        shown.append(draw.text(across + 1.4 * size, below, count, layout.small, fill=ink))
        parts.append(draw.target(picture.look, label, *shown))
    return draw.tag("g", *parts)


def _legend(picture: _Picture) -> str:
    """The names of the colours."""
    paint, layout = picture.paint, picture.layout
    x, y = layout.legend
    step = (layout.width - x - 10) / 3
    parts = []
    for colour, name in enumerate(COLOURS):
        left, down = x + step * (colour % 3), y + 1.9 * layout.small * (colour // 3)
        parts.append(_flower(picture, left + 8, down, 0.8 * layout.small, colour))
        parts.append(draw.text(left + 12 + layout.small, down, name, layout.small, fill=paint.ink))
    return draw.tag("g", *parts)
