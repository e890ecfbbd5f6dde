"""Pictures of Gardens of Mars, drawn from a snapshot alone: `svg` for notebooks and pages, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

from garden_core.render import svg as draw
from garden_core.render.svg import LOOK, Look
from mars_env.board import COLOURS, HEXES, INDEX, RADIUS
from mars_env.describing import connected

Parts = Iterator[str]
"""SVG elements."""
Hex = tuple[int, int]

SPAN = range(-RADIUS, RADIUS + 1)
LETTERS = "bywgrn"  # one for each colour; green is n, as g is grey


class Palette(NamedTuple):
    """The colours of a picture, by default light; flowers and their ground are by colour, liveries by player."""

    ink: str = "#33302d"
    faint: str = "#665c53"
    paper: str = "#f6f1ea"
    card: str = "#ffffff"
    edge: str = "#ddd3c8"
    sand: str = "#e6c8ab"
    rock: str = "#c99f7f"
    free: str = "#f7e9db"  # an empty hex that can be reached
    gold: str = "#8a5a00"  # edge of clickable parts
    last: str = "#0b61c4"  # what the last action changed
    flowers: tuple[str, ...] = ("#2f6fb5", "#f0bd27", "#ffffff", "#6f737a", "#c8322a", "#2a7d40")
    letters: tuple[str, ...] = ("#ffffff", "#33302d", "#33302d", "#ffffff", "#ffffff", "#ffffff")
    ground: tuple[str, ...] = ("#cbdef2", "#fbebb4", "#ffffff", "#d4d6da", "#f6cbc5", "#c8e6ca")
    livery: tuple[str, ...] = ("#6b3fa0", "#b85000", "#00737b", "#b02a72", "#4a3624")
    on_livery: str = "#ffffff"


LIGHT = Palette()
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


# --- words of text and picture ---


def text(snapshot: dict[str, Any], labels: Sequence[str] = (), team: bool = False) -> str:
    """Return the state as plain text that a person can play from.

    Args:
        snapshot: the whole state, as returned by `Game.snapshot`.
        labels: labels of the legal actions to list; the hexes that they name are marked.
        team: whether the variant is cooperative, so that all share the lowest score.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    placing, two = snapshot["phase"] == "place", _two_each(snapshot)
    names = " ".join(sorted(name for _, name in _gardeners(snapshot).values()))
    reach = f"reach:   (.) {'first gardener, {.} second, <.> either' if two else 'the gardener can go there'}"
    each = " (player, which)" if two else ", 0b on blue"
    gardeners = f"{names} gardeners{each}" if names else "no gardeners yet"
    lines = [
        _status(snapshot, team),
        "",
        *_rows(snapshot, () if placing else labels),
        "",
        "flowers: " + ", ".join(f"{letter} {name}" for letter, name in zip(LETTERS, COLOURS, strict=True)),
        f"board:   . empty, + centre, ^ peak, {gardeners}, ? waits for a flower",
        "hex q,r: r is the row; the hexes of one q run down to the right from its number",
        *([reach] if labels and not placing else []),
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
        lines.append("")
        lines += textwrap.wrap(f"legal: {whole}", 100, subsequent_indent=" " * 7, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0", " ")


def _mover(snapshot: dict[str, Any]) -> int | None:
    return None if snapshot["phase"] == "over" else snapshot["current_player"]


def _status(snapshot: dict[str, Any], team: bool) -> str:
    if snapshot["phase"] == "over":
        cap = f"stopped by the cap of {snapshot['decisions']} decisions, scored as it stands"
        return f"{cap if snapshot['truncated'] else 'game over'}: {_result(snapshot['scores'], team)}"
    to_do = {
        "place": "place a gardener; flowers are drawn after that",
        "move": "use one of the dice",
        "plant": "plant a flower on hex {},{}".format(*snapshot["pending"] or ("?", "?")),
    }
    return f"player_{snapshot['current_player']} to move: {to_do[snapshot['phase']]}"


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


def _gardeners(snapshot: dict[str, Any]) -> dict[Hex, tuple[int, str]]:
    """Player and name of every gardener by its hex; names are 0, 1, ... or 01, 02, 11, ... with two each."""
    two = _two_each(snapshot)
    return {
        (q, r): (player, f"{player}{number}" if two else str(player))
        for player, hexes in enumerate(snapshot["gardeners"])
        for number, (q, r) in enumerate(hexes, 1)
    }


def _two_each(snapshot: dict[str, Any]) -> bool:
    return any(len(hexes) > 1 for hexes in snapshot["gardeners"])


def _targets(labels: Iterable[str]) -> tuple[set[Hex], set[Hex]]:
    """The hexes that labels name for the first gardener and for the second."""
    targets: tuple[set[Hex], set[Hex]] = (set(), set())
    for label in labels:
        *words, last = label.split()
        if words and words[-1] == "hex":
            q, r = last.split(",")
            targets[words[0] == "second"].add((int(q), int(r)))
    return targets


def _top(q: int) -> int:
    """The smallest r on the board for this q."""
    return max(-RADIUS, -RADIUS - q)


def _rows(snapshot: dict[str, Any], labels: Sequence[str]) -> list[str]:
    """The board, one line for each r; the hexes of one q run down to the right from its number."""
    first, second = _targets(labels)
    content = {(0, 0): "+"} | {(q, r): "^" for q, r in snapshot["peaks"]}
    content |= {(q, r): LETTERS[colour] for q, r, colour in snapshot["flowers"]}
    for at, (_, name) in _gardeners(snapshot).items():
        content[at] = name + ("?" if list(at) == snapshot["pending"] else content.get(at, ""))
    rows = []
    for r in range(-RADIUS - 1, RADIUS + 1):
        row = ["q:  " if r < -RADIUS else f"r={r:>2}"] + [" "] * 60
        for q in SPAN:
            left, right = ("  ", "()", "{}", "<>")[((q, r) in first) + 2 * ((q, r) in second)]
            inside = f"{left}{content.get((q, r), '.')}{right}".strip()
            start = 26 + 4 * q + 2 * r
            if (q, r) in HEXES:
                row[start : start + 3] = f"{inside:^3}"
            elif r == _top(q) - 1:
                row[start : start + 3] = f"{q:>2}\\"
        rows.append("".join(row).rstrip())
    return rows


# --- picture ---


class Layout(NamedTuple):
    """The places of the parts of a picture, and the sizes of its words."""

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
    """Return the layout for a number of players and of status lines."""
    if not compact:
        return Layout(920, 640, (640, 26), (640, 92), 1, (644, 590), (28, 636 - 20 * lines), 12, 15, 26)
    below = 658 + -(-num_players // 2) * (COMPACT_CARD[1] + 8) + 22  # two cards in a row
    legend = below + 18 + 26 * lines
    return Layout(628, legend + 68, (28, 614), (18, 658), 2, (30, legend), (22, below), 18, 20, 30)


CARD, COMPACT_CARD = (252, 88), (292, 118)
SIZE = 31  # of a hex, from its centre to a corner
INSIDE = SIZE - 2.4  # of an edge drawn inside it
DASHES = "5 3"  # of edges for a second gardener
MIDDLE = (314, 296)  # of the board
PETALS = (5, 8, 6, 4, 7, 3)
PIPS = {1: "    o    ", 2: "o       o", 3: "o   o   o", 4: "o o   o o", 5: "o o o o o", 6: "o oo oo o"}
"""Three rows of three places."""


def svg(snapshot: dict[str, Any], team: bool = False, look: Look = LOOK) -> str:
    """Return the state as a picture.

    Args:
        snapshot: the whole state, as returned by `Game.snapshot`.
        team: whether the variant is cooperative, so that all share the lowest score.
        look: style of the picture and marked actions.

    Returns:
        A self-contained SVG document, 920 x 640 or, compact, 628 wide.
    """
    lines = textwrap.wrap(_status(snapshot, team), 56 if look.compact else 76)
    at, players = _layout(look.compact, snapshot["num_players"], len(lines)), range(snapshot["num_players"])
    picture = _Picture(snapshot, look, DARK if look.dark else LIGHT, at, 16.0 if look.compact else 12.5)
    x, y = at.status
    parts = [picture.board(), picture.dice(), *map(picture.card, players), picture.legend()]
    for number, line in enumerate(lines):
        parts.append(draw.text(x, y + 1.3 * at.middle * number, line, at.middle, fill=picture.paint.ink))
    return draw.document(at.width, at.height, *parts, background=picture.paint.paper)


def _centre(q: int, r: int) -> tuple[float, float]:
    return MIDDLE[0] + SIZE * sqrt(3) * (q + r / 2), MIDDLE[1] + SIZE * 1.5 * r


def _hexagon(at: Hex, size: float, **attributes: str | float | None) -> str:
    x, y = _centre(*at)
    corners = [(x + size * sin(k * pi / 3), y + size * cos(k * pi / 3)) for k in range(6)]
    return draw.polygon(corners, **attributes)


def _disc(x: float, y: float, radius: float, **attributes: str | float) -> str:
    return draw.tag("circle", cx=x, cy=y, r=radius, **attributes)


def _edge(colour: str, fill: str = "none") -> dict[str, Any]:
    return {"fill": fill, "stroke": colour, "stroke_width": 2.6}


def _bold(x: float, y: float, words: object, size: float, fill: str, anchor: str = "middle") -> str:
    return draw.text(x, y, words, size, text_anchor=anchor, font_weight="bold", fill=fill)


def _label(at: Hex, second: bool) -> str:
    return f"{'second ' if second else ''}hex {at[0]},{at[1]}"


def _groups(snapshot: dict[str, Any]) -> Iterator[list[Hex]]:
    """The groups of flowers of one colour."""
    flowers = {INDEX[q, r]: colour for q, r, colour in snapshot["flowers"]}
    while flowers:
        first, colour = next(iter(flowers.items()))
        group = connected(first, {hex_ for hex_, each in flowers.items() if each == colour})
        yield [HEXES[hex_] for hex_ in group]
        flowers = {hex_: each for hex_, each in flowers.items() if hex_ not in group}


class _Picture(NamedTuple):
    """A picture and its parts."""

    snapshot: dict[str, Any]
    look: Look
    paint: Palette
    layout: Layout
    least: float  # smallest size of words

    @draw.group
    def board(self) -> Parts:
        """The hexes, clickable if legal, and the size of each group."""
        paint, legal, last, marks = self.paint, self.look.legal, self.last_hexes(), []
        if not self.look.compact:
            for n in SPAN:  # numbers around the edge, each in line with its hexes
                middle: dict[str, Any] = {"text_anchor": "middle", "fill": paint.faint}
                x, y = _centre(min(RADIUS, RADIUS - n) + 1, n)
                yield draw.text(*_centre(n, _top(n) - 1), f"q {n}", 12, **middle)
                yield draw.text(x - 12, y, f"r {n}", 12, **middle)
        gardeners = _gardeners(self.snapshot)
        flowers = {(q, r): colour for q, r, colour in self.snapshot["flowers"]}
        for at in HEXES:
            hex_ = self.hex(at, flowers.get(at), gardeners.get(at))
            if at in last:
                marks.append(_hexagon(at, INSIDE, stroke=paint.last, **draw.LAST, pointer_events="none"))
            first, second = _label(at, False), _label(at, True)
            if first in legal and second in legal:
                yield hex_
                yield self.half_hex(at, False)
                yield self.half_hex(at, True)
            else:
                yield draw.target(self.look, second if second in legal else first, hex_)
        for group in _groups(self.snapshot):
            if len(group) > 1:  # its size, next to its uppermost flower
                x, y = _centre(*min(group, key=lambda at: (at[1], at[0])))
                yield _disc(x + 17, y - 16, 0.75 * self.least, fill=paint.ink)
                yield _bold(x + 17, y - 16, len(group), self.least, paint.paper)
        if self.snapshot["phase"] != "place" and _targets(legal)[1]:
            words = "solid edge: first gardener, dashed: second"
            yield draw.text(28, 574, words, self.layout.small, fill=paint.faint)
        yield from marks

    def last_hexes(self) -> set[Hex]:
        """The hexes of the last action: the one that it names, or those with such a flower and a gardener of its player."""
        last = self.look.last
        if not last.startswith("plant "):
            return set.union(*_targets([last] if last else []))
        colour = COLOURS.index(last.removeprefix("plant "))
        flowers = {(q, r) for q, r, planted in self.snapshot["flowers"] if planted == colour}
        return flowers & {
            at for at, (player, _) in _gardeners(self.snapshot).items() if player == self.look.by
        }

    def half_hex(self, at: Hex, second: bool) -> str:
        """Half of a hex that both gardeners can reach: clicking the upper half moves the first, the lower half the second."""
        x, y = _centre(*at)
        down = 1 if second else -1
        side, corner = INSIDE * sqrt(3) / 2, down * INSIDE / 2
        half = [(x - side, y + 0.8 * down), (x - side, y + corner), (x, y + 2 * corner)]
        half += [(x + side, y + corner), (x + side, y + 0.8 * down)]
        edge = _edge(self.paint.gold) | {"stroke_dasharray": DASHES if second else None}
        return draw.target(self.look, _label(at, second), draw.polygon(half, **edge, pointer_events="all"))

    @draw.group
    def hex(self, at: Hex, flower: int | None, gardener: tuple[int, str] | None) -> Parts:
        """A hex and what is on it."""
        snapshot, paint = self.snapshot, self.paint
        x, y = _centre(*at)
        waiting, peak, planted = [*at] == snapshot["pending"], [*at] in snapshot["peaks"], flower is not None
        title = _label(at, False) + ", centre" * (at == (0, 0)) + ", peak" * peak
        title += f", {COLOURS[flower]} flower" if flower is not None else ""
        yield draw.title(title + (f", gardener of player_{gardener[0]}" if gardener else ""))
        first, second = (_label(at, which) in self.look.legal for which in (False, True))
        ground = paint.rock if peak else paint.free if first or second else paint.sand
        yield _hexagon(at, SIZE - 1, fill=ground if flower is None else paint.ground[flower])
        if at == (0, 0):
            yield _disc(x, y, 15, fill="none", stroke=paint.ink, stroke_width=2)
            yield _disc(x, y, 6, fill=paint.ink)
        if peak:
            snow = [(x - 7, y - 6), (x, y - 17), (x + 7, y - 6), (x, y - 2)]
            yield draw.polygon([(x - 19, y + 13), (x, y - 17), (x + 19, y + 13)], fill="#5d4636")
            yield draw.polygon(snow, fill="#ffffff")
        if first != second and snapshot["phase"] != "place":  # any free hex is a target then: no edges
            yield _hexagon(at, INSIDE, **_edge(paint.gold), stroke_dasharray=DASHES if second else None)
        if waiting:
            yield _hexagon(at, INSIDE, **_edge(paint.ink, paint.card))
            yield _bold(x + 14, y, "?", 20, paint.ink)
        small = 16 if self.look.compact else 14
        up = 9 if self.look.names else 0  # the coordinates are below
        if flower is not None:
            yield self.flower(*((x - 10, y - 8, small) if gardener else (x, y - up / 2, 19)), flower)
        if gardener:
            aside, down, radius = (-7, 0, small) if waiting else (9, 7, small) if planted else (0, 0, 16)
            yield self.gardener(x + aside, y + down - up, radius, *gardener)
        if self.look.names:
            words, size, below = f"{at[0]},{at[1]}", self.least, y + SIZE - 15
            width = 0.56 * size * len(words) + 4
            yield draw.box(x - width / 2, below - 0.6 * size, width, 1.2 * size, 4, "none", 0, paint.paper)
            yield draw.text(x, below, words, size, text_anchor="middle", fill=paint.ink)

    def flower(self, x: float, y: float, radius: float, colour: int) -> str:
        """A flower, distinct in colour, number of petals and letter."""
        petals = PETALS[colour]
        half = pi / petals
        reach = radius / (cos(half) + sin(half))  # where two petals meet; a petal is half a circle
        arc, path = f"A{reach * sin(half):.2f} {reach * sin(half):.2f} 0 0 1", "M"
        for k in range(petals + 1):
            path += f" {x + reach * sin(k * 2 * half):.2f} {y - reach * cos(k * 2 * half):.2f} {arc}"
        path = path.removesuffix(f" {arc}") + "Z"
        size, fill = max(self.least, 0.95 * radius), self.paint.flowers[colour]
        letter = _bold(x, y, LETTERS[colour], size, self.paint.letters[colour])
        return draw.tag("path", d=path, fill=fill, stroke="#33302d", stroke_width=1) + letter

    def gardener(self, x: float, y: float, radius: float, player: int, name: str) -> str:
        """A gardener: a disc with its player's number, and its own behind it where each has two."""
        size, ink = max(self.least, radius * (1.2 if len(name) == 1 else 1)), self.paint.on_livery
        disc: dict[str, Any] = {"fill": self.paint.livery[player], "stroke": ink, "stroke_width": 2}
        return _disc(x, y, radius, **disc) + _bold(x, y, name, size, ink)

    @draw.group
    def dice(self) -> Parts:
        """The dice; those that can be given up are clickable."""
        paint, (x, y), values = self.paint, self.layout.dice, self.snapshot["dice"]
        words = "Dice on the table" if values else "No dice on the table"
        yield draw.text(x, y, words, max(13, self.layout.small), fill=paint.faint)
        side = 40 if self.look.compact else 34
        left, top = (x + 190, y - side / 2) if self.look.compact else (x, y + 16)
        for number, value in enumerate(values):
            corner = left + (side + 7.5) * number
            label = (
                f"give up die {value}" if value not in values[:number] else ""
            )  # equal dice are one action
            edge, thick = (paint.gold, 3) if label in self.look.legal else (paint.ink, 1.5)
            shown = [draw.title(f"die {value}"), draw.box(corner, top, side, side, 7, edge, thick)]
            for place, pip in enumerate(PIPS[value]):
                if pip == "o":
                    cx, cy = corner + side / 2 + 9 * (place % 3 - 1), top + side / 2 + 9 * (place // 3 - 1)
                    shown.append(_disc(cx, cy, 3.2, fill="#33302d"))
            yield draw.target(self.look, label, *shown)

    @draw.group
    def card(self, player: int) -> Parts:
        """One player's card: name, score, flowers left by colour."""
        paint, look, layout = self.paint, self.look, self.layout
        width, height = COMPACT_CARD if look.compact else CARD
        row, column = divmod(player, layout.columns)
        x, y = layout.cards[0] + column * (width + 8), layout.cards[1] + row * (height + 8)
        moving = player == _mover(self.snapshot)
        edge, thick, weight = (paint.livery[player], 4, "bold") if moving else (paint.edge, 1.5, None)
        who = f"player_{player}" + (" to move" if moving else "")
        head = y + (34 if look.compact else 26)
        yield draw.box(x, y, width, height, 10, edge, thick, paint.card)
        yield self.gardener(x + 26, head, 15, player, str(player))
        yield draw.text(x + 50, head, who, layout.middle, font_weight=weight, fill=paint.ink)
        score = self.snapshot["scores"][player]
        yield _bold(x + width - 14, head, score, layout.large, paint.ink, "end")
        if look.last.startswith("give up") and look.by == player:
            yield _disc(x + 26, head, 19, stroke=paint.last, **draw.LAST)
        step, below = (width - 16) / len(COLOURS), y + height - (30 if look.compact else 24)
        size = (0.62 if look.compact else 0.75) * layout.small
        for colour, count in enumerate(self.snapshot["stocks"][player]):
            across = x + 10 + size + step * colour
            label = f"plant {COLOURS[colour]}" if moving else ""
            shown = [draw.title(f"{COLOURS[colour]} flowers left: {count}")]
            if label in look.legal:
                place = across - 1.5 * size, below - 1.8 * size, step - 2, 3.6 * size
                shown.append(draw.box(*place, 6, paint.gold, 2.6, paint.card))
            shown.append(self.flower(across, below, 1.15 * size, colour))
            ink = paint.ink if count else paint.faint
            shown.append(draw.text(across + 1.4 * size, below, count, layout.small, fill=ink))
            yield draw.target(look, label, *shown)

    @draw.group
    def legend(self) -> Parts:
        """The names of the colours."""
        (x, y), size = self.layout.legend, self.layout.small
        step = (self.layout.width - x - 10) / 3
        for colour, name in enumerate(COLOURS):
            left, down = x + step * (colour % 3), y + 1.9 * size * (colour // 3)
            yield self.flower(left + 8, down, 0.8 * size, colour)
            yield draw.text(left + 12 + size, down, name, size, fill=self.paint.ink)
