"""Pictures of Botanicus, drawn from a `View`: `svg` for notebooks, `text` for terminals."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partialmethod
from itertools import accumulate, chain, zip_longest
from typing import NamedTuple

from botanicus_env import wording
from botanicus_env.icons import DARK, LIGHT, Palette, bloom, icon, plant, soil, tick
from botanicus_env.rules import COINS_FOR_SALE, DISTANCE
from botanicus_env.tables import (
    BEDS,
    BOARD_COLUMNS,
    COLUMNS,
    CROSSINGS,
    PRIZES,
    ROWS,
    SPACES,
    TRACKS,
    Node,
    Task,
    stages,
    ways,
)
from botanicus_env.view import View
from botanicus_env.wording import LEVELS, count, marker
from garden_core.render import svg as draw
from garden_core.render.svg import Look

Parts = Iterator[str]
"""SVG elements."""
LINE = 100  # columns of the text at most


def text(view: View, labels: Sequence[str]) -> str:
    """Return the position as plain text that a person can play from.

    Args:
        view: the position.
        labels: labels of the legal actions to list.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    paragraphs = [_status(view), _fork(view)]
    if view.asked == "over":
        for player in range(view.num_players):
            parts = view.score_sheet(player)
            sheet = " + ".join(f"{part} {points}" for part, points in parts.items())
            paragraphs.append(f"player_{player}: {sum(parts.values())} = {sheet}")
    paragraphs += ["\n", *_column_lines(view), _tiles_ahead(view)]
    for number, track in enumerate(TRACKS):
        line = f"{track} track: {wording.track_line(view.tables.track(track), _pieces(view, number))}"
        paragraphs.append(
            re.sub(r"(?<!>) (?!\+ |or )", "\xa0", line)
        )  # broken after ">", before "+" and "or"
    paragraphs += [_stock(view), "\n", GARDENS_HEAD]
    for player in range(view.num_players):
        paragraphs += _garden(view, player)
    if labels:
        paragraphs += ["\n", f"legal: {'; '.join(map(_whole, labels))}"]
    lines = []
    for words in filter(None, paragraphs):
        indent = " " * (7 if words.startswith("legal: ") else 4)
        lines += textwrap.wrap(words, LINE, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return "\n".join(line.rstrip() for line in lines).replace("\xa0", " ")


def _whole(words: str) -> str:
    """Return words with no-break spaces, which are not broken over lines; `text` makes the spaces plain in the end."""
    return words.replace(" ", "\xa0")


# --- used by both text and picture ---


def _status(view: View) -> str:
    """Return the time, the choices of the player to move, the order of turns, and the actions at hand and pending."""
    if view.asked == "over":
        capped = f"stopped by the cap of {view.decisions} decisions"
        order = ", ".join(map(marker, view.stack))
        return f"{capped if view.truncated else 'game over'}; level scores rank in the order {order}"
    player, last = view.current_player, view.round == 3
    first = ["walk"] * bool(view.coins[player] and not view.walked)
    first += ["play a card"] * bool(view.num_cards(player) and not view.played)
    then = "choose a track for the last step, or pass" if last else "place the Flower"
    what = {
        "assign": f"assign a special task to row {ROWS - view.tasks[player].count(-1)}",
        "neutral": "place the neutral Flower",
        "choose": "choose what comes next",
        "track": "move on the track or stop",
        "start": f"{', '.join(first)} or {then}" if first else then,
    }.get(view.asked, view.asked)
    when = "last turn" if last else f"round {view.round}, column {view.column}"
    order = ", ".join(map(marker, view.order))
    text = [f"{when}: player_{player} to {what}", f"still to play: {order}" if order else "", _on_hand(view)]
    return "; ".join(filter(None, text))


def _on_hand(view: View) -> str:
    """The action at hand and those pending; "" if there are none."""
    text = []
    if view.hand_action:
        kind, left = view.hand_action
        words = wording.action(f"{kind} {left}")
        if kind in TRACKS:
            more = "" if left else ", further ones for 3 coins each"
            words = f"{kind} track, {count(left, 'step')} left{more}, {view.steps_taken} taken"
        text.append(f"at hand: {words}")
    waiting = [wording.action(f"{kind} {amount}") for group in view.pending for kind, amount in group]
    if waiting:
        text.append("pending: " + ", ".join(waiting))
    return "; ".join(text)


def _near_columns(view: View) -> list[int]:
    """The current column and the next; none in the last turn."""
    following = [] if (view.round, view.column) == (2, BOARD_COLUMNS) else [view.column % BOARD_COLUMNS + 1]
    return [] if view.round == 3 else [view.column, *following]


# --- text ---

GARDENS_HEAD = (
    "row"
    + "".join(f"{column:>4} " for column in range(COLUMNS))
    + "  basic and special task (score: points so far + full columns + coins // 3)"
)


def _fork(view: View) -> str:
    """The two ways that the track at hand has here; "" where it has only one, or none is at hand."""
    ahead = view.edges(view.hand_action[0]) if view.asked == "track" else []
    if len(ahead) < 2:
        return ""
    nodes = view.tables.track(view.hand_action[0])
    upper, lower = (wording.target(nodes, to) + wording.for_coins(cost) for to, cost in ahead)
    return f"upper way: {upper}; lower way: {lower}"


def _column_lines(view: View) -> list[str]:
    """The current column and the next, side by side if they fit."""
    blocks = []
    for column in _near_columns(view):
        head = "Flowers in [ ] from bottom to top" if column == view.column else "the next"
        spaces = (f"  {space}: {_space(view, column, space)}" for space in range(SPACES))
        blocks.append([f"column {column}, {head}", *spaces])
    width = 2 + max(map(len, blocks[0])) if blocks else 0
    beside = ["".join(f"{line:<{width}}" for line in lines).rstrip() for lines in zip(*blocks, strict=True)]
    return beside if max(map(len, beside), default=0) <= LINE else [*chain(*blocks)]


def _space(view: View, column: int, space: int) -> str:
    text = wording.action(view.tables.board[column - 1][space])
    if laid := view.tile(column, space):
        text += f" + tile {wording.action(laid)}"
    flowers = view.flowers[space]
    if column != view.column or not flowers:
        return text
    cost = view.flower_cost(space)
    return f"{text} [{' '.join(map(marker, flowers))}]" + (f", costs {count(cost, 'coin')}" if cost else "")


def _tiles_ahead(view: View) -> str:
    """The tiles of this round beyond the next column; "" if there are none."""
    columns = []
    for column in range(view.column + 2 + view.column % 2, BOARD_COLUMNS + 1, 2):
        tiles = (view.tile(column, space) for space in range(SPACES))
        columns.append(
            f"{column}: " + ", ".join(_whole(wording.action(laid)) if laid else "-" for laid in tiles)
        )
    return f"tiles ahead, {'; '.join(columns)}" if columns else ""


def _pieces(view: View, track: int) -> dict[int, str]:
    """The markers of the pieces on a track, by node."""
    nodes = [pieces[track] for pieces in view.tracks]
    return {node: " ".join(marker(p) for p, at in enumerate(nodes) if at == node) for node in nodes}


def _stock(view: View) -> str:
    stacks = zip(PRIZES, view.prizes, strict=True)
    prizes = ", ".join(f"{name} {' '.join(map(str, values)) or 'none left'}" for name, values in stacks)
    cards = f"{view.pile_left} in pile, discarded {', '.join(view.cards(view.discards)) or 'none'}"
    return f"prizes: {prizes}; Garden cards: {cards}"


def _garden(view: View, player: int) -> list[str]:
    """One player's counts, hand or tasks to assign, and garden; beds in the Gardener's reach are in brackets."""
    hand, near, special = view.hands[player], view.reach(player), view.tables.special
    dealt = [_whole(f"{j}: {wording.task(special[task])}") for j, task in view.unassigned(player).items()]
    if dealt:  # before the first turn, so there is little else to show
        held = f"to assign: {'; '.join(dealt)}"
    else:
        r, c = CROSSINGS[view.gardeners[player]]
        known = [] if isinstance(hand, int) else view.cards(hand)
        cards = f"{hand} hidden" if isinstance(hand, int) else ", ".join(map(_whole, known)) or "none"
        counts = f"{count(view.coins[player], 'coin')}, {count(view.animals[player], 'animal')}"
        held = f"{counts}, Gardener at {r},{c} reaches ( ), cards: {cards}"
    lines = [f"{marker(player)} player_{player}: score {view.scores[player]}, {held}"]
    given = [special[task] for task in view.tasks[player] if task >= 0]
    basic = _tasks(view.tables.basic, view.basic_done[player])
    both = zip_longest(basic, _tasks(given, view.special_done[player]), fillvalue="")
    width = 2 + max(map(len, basic))
    for row, (task, other) in enumerate(both):
        beds = range(COLUMNS * row, COLUMNS * (row + 1))
        marks = "".join(_bed(view.gardens[player][bed], bed in near) for bed in beds)
        lines.append(f"  {row}{marks}  {task:<{width}}{other}")
    return lines


def _tasks(tasks: Sequence[Task], done: Sequence[bool]) -> list[str]:
    """Tasks in words, with a mark on those that are done; there can be fewer than rows."""
    return [wording.task(task) + " done" * over for task, over in zip(tasks, done, strict=False)]


def _bed(level: int, near: bool) -> str:
    """A bed in five columns: its level, "." if it is empty, blank if it does not exist."""
    text = "" if level < 0 else LEVELS[level] or "."
    return f"{f'({text})':>5}" if near and text else f"{text:>4} "


# --- picture ---

WIDTH, HEIGHT, COMPACT_WIDTH = 1100, 1000, 430
MARGIN = 16
SMALL, PLAIN, LARGE = 12, 14, 18  # sizes of text
BOARD = 378  # height of the board
SPACE = 83  # height of a space of the board
TRACK = 122  # height of a track
PANEL = 488  # height of a player's panel
ROW = 56  # height of a row of a garden
LEGEND = {
    "coins": "coins",
    "points": "points",
    "animal": "animal",
    "card": "Garden card",
    "water": "water",
    "walk": "walk",
    "plant_2": "plant II",
    "money": "money track",
    "wheelbarrow": "wheelbarrow track",
    "shovel": "shovel track",
    "prize": "prize",
    "pole": "Pole Position",
}


def svg(view: View, seat: int | None, look: Look) -> str:
    """Return the position as a picture; `view` as for `text`.

    Args:
        seat: the seat whose garden comes first in a compact picture; None: player_0's.
        look: style of the picture and marked actions.

    Returns:
        A self-contained SVG document, 1100 x 1000; compact ones are 430 wide.
    """
    return _Picture(view, look, DARK if look.dark else LIGHT).document(seat or 0)


def _disc(
    x: float, y: float, radius: float, fill: str, edge: str | None = None, thick: float | None = None
) -> str:
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=fill, stroke=edge, stroke_width=thick)


def _titled(words: str, *parts: str) -> str:
    """Group parts under a title in words."""
    return draw.tag("g", draw.title(words), *parts)


def _fitted(x: float, y: float, width: float, needed: float, drawn: str) -> str:
    """Move a drawing around 0,0 to x, y, and shrink it if it needs more than the width."""
    scale = min(1.0, width / needed)
    smaller = f" scale({scale:.3g})" if scale < 1 else ""
    return draw.tag("g", drawn, transform=f"translate({x:.2f} {y:.2f}){smaller}")


def _last_space(view: View, last: str) -> tuple[int, int]:
    """Column and space where the last action put a Flower; (0, 0) for another action."""
    verb, _, what = last.partition(" ")
    if verb not in ("flower", "neutral"):
        return 0, 0
    space, column = int(what), view.column
    if view.round < 3 and view.flowers[space]:
        return column, space
    return (column - 1 if view.round < 3 and column > 1 else 8), space


Place = tuple[float, float, float]
"""Middle x, middle y and width of a node."""


class Garden(NamedTuple):
    """A player's garden: where its first bed is, how far apart its beds are, their size, and where the tasks begin."""

    player: int
    x: float
    y: float
    pitch: float
    bed: float
    tasks: float

    def middle(self, column: int) -> float:
        """Return where the middle of a column is."""
        return self.x + self.pitch * column + self.bed / 2


@dataclass(frozen=True)
class _Picture:
    """A picture and its parts; each part is drawn from x, y to the right and down."""

    view: View
    look: Look
    paint: Palette

    def document(self, seat: int) -> str:
        """The whole picture; a compact one begins with the garden of a seat."""
        width, height, parts = self.compact(seat) if self.look.compact else self.full()
        return draw.document(width, height, *parts, background=self.paint.paper)

    def full(self) -> tuple[float, float, list[str]]:
        """Everything side by side, with its width and height."""
        players, market, across = self.view.num_players, 590, WIDTH - 2 * MARGIN
        width = (across - 10 * (players - 1)) / players
        right = MARGIN + market + 10
        parts = [
            self.status_line(MARGIN, 10, across),
            self.market(MARGIN, 60, market),
            *(self.track(i, right, 60 + (TRACK + 6) * i, WIDTH - MARGIN - right) for i in range(len(TRACKS))),
            *(self.panel(player, MARGIN + (width + 10) * player, 448, width) for player in range(players)),
            self.legend(MARGIN, 448 + PANEL + 20, across),
        ]
        return WIDTH, HEIGHT, parts

    def compact(self, seat: int) -> tuple[float, float, list[str]]:
        """Everything in one column, the garden of a seat first, with its width and height."""
        width, players = COMPACT_WIDTH - 2 * 12, self.view.num_players
        end = 1264 + (PANEL + 10) * players
        parts = [
            self.status_line(12, 10, width),
            self.market(12, 104, width),
            self.other_columns(12, 114 + BOARD, width),
            *(self.track(i, 12, 880 + (TRACK + 6) * i, width) for i in range(len(TRACKS))),
            *(self.panel((seat + i) % players, 12, 1268 + (PANEL + 10) * i, width) for i in range(players)),
            self.legend(12, end + 22, width),
        ]
        return COMPACT_WIDTH, end + 190, parts

    # pieces

    def words(
        self,
        x: float,
        y: float,
        content: object,
        size: float = SMALL,
        fill: str | None = None,
        anchor: str | None = None,
        weight: str | None = None,
    ) -> str:
        """Write in the colour of ink, unless `fill` names another one."""
        fill = fill or self.paint.ink
        return draw.text(x, y, content, size, fill=fill, font_weight=weight, text_anchor=anchor)

    bold = partialmethod(words, weight="bold")
    centred = partialmethod(words, anchor="middle")
    bold_centred = partialmethod(words, anchor="middle", weight="bold")

    def heading(self, x: float, y: float, words: str) -> str:
        """Write the name of a part."""
        return self.bold(x, y, words, fill=self.paint.faint)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        edge: str | None = None,
        thick: float = 1,
        corner: float = 6,
        offered: bool = False,
    ) -> str:
        """A box; with a thick edge and a light ground if it is clickable."""
        if offered:
            fill, edge, thick = self.paint.offered, self.paint.legal, 3
        return draw.box(x, y, width, height, corner, edge or self.paint.edge, thick, fill)

    def chip(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: object,
        fill: str,
        edge: str | None = None,
        thick: float = 1,
        corner: float = 4,
        ink: str | None = None,
        size: float = SMALL,
        weight: str | None = "bold",
    ) -> str:
        """A box with words in its middle."""
        middle = self.words(x + width / 2, y + height / 2, words, size, ink, "middle", weight)
        return self.box(x, y, width, height, fill, edge, thick, corner) + middle

    def ring(self, x: float, y: float, width: float, height: float, corner: float = 8) -> str:
        """The mark of the last action, around a box."""
        return draw.tag(
            "rect",
            x=x - 3,
            y=y - 3,
            width=width + 6,
            height=height + 6,
            rx=corner,
            stroke=self.paint.last,
            **draw.LAST,
        )

    def target(self, label: str, *parts: str) -> str:
        """The clickable element for the action with this label."""
        return draw.target(self.look, label, *parts)

    def name(self, x: float, y: float, words: object) -> str:
        """The name of a place in labels, centred at a point; "" unless the look has names."""
        if not self.look.names:
            return ""
        width = 6.2 * len(str(words)) + 4
        return self.chip(x - width / 2, y - 8, width, 16, words, self.paint.panel, thick=0.7, weight=None)

    def livery(self, who: int | str) -> str:
        """The colour of a seat, or of the neutral Flower."""
        return self.paint.neutral if isinstance(who, str) else self.paint.livery[who]

    def marker(self, x: float, y: float, radius: float, who: int | str) -> str:
        """A disc with its seat, N on what is neutral."""
        disc = _disc(x, y, radius, self.livery(who), self.paint.panel, 1.5)
        return disc + self.bold_centred(x, y, marker(who), max(SMALL, 1.05 * radius), self.paint.on_livery)

    def gain(self, text: str, x: float, y: float, size: float = 24) -> str:
        """An action as its icon and its number, from x to the right around the height y."""
        kind, _, amount = text.partition(" ")
        words = wording.action(text)
        if kind == "prize":
            left = self.view.prizes[PRIZES.index(amount)]
            amount = str(left[0]) if left else "–"
            words += f" ({count(left[0], 'point')})" if left else " (none left)"
        number = self.bold(x + size + 3, y, amount, PLAIN if size < 28 else LARGE)
        return _titled(words, icon(kind, x + size / 2, y, size, self.paint), number)

    def gain_width(self, text: str, size: float = 24) -> float:
        """The width of `gain`."""
        kind, _, amount = text.partition(" ")
        if kind == "prize":
            amount = str(max(self.view.prizes[PRIZES.index(amount)], default=0))
        return size + 3 + (8 if size < 28 else 10.5) * len(amount)

    def gains_centred(self, texts: Sequence[str], x: float, y: float, width: float, size: float = 22) -> str:
        """Actions side by side around x, y, within a width."""
        widths = [self.gain_width(text, size) + 4 for text in texts]
        needed = sum(widths) - 4
        lefts = accumulate(widths, initial=-needed / 2)
        gains = [self.gain(text, left, 0, size) for text, left in zip(texts, lefts, strict=False)]
        return _fitted(x, y, width, max(1.0, needed), "".join(gains))

    # the status

    @draw.group
    def status_line(self, x: float, y: float, width: float) -> Parts:
        """The status, the action at hand and those pending; in two lines or three."""
        view, paint, status = self.view, self.paint, _status(self.view)
        if view.asked == "over":
            lines = textwrap.wrap(status, int(width / 7))
            for i, line in enumerate(lines):
                yield self.words(x, y + 10 + 18 * i, line, PLAIN, paint.faint)
            down = y + 13 + 18 * len(lines)
            first = max(view.stack, key=lambda player: view.scores[player])
            yield self.marker(x + 11, down, 11, first)
            yield self.bold(x + 30, down, f"player_{first} is first with {view.scores[first]}", 15)
            return
        when, _, what = status.partition("; ")[0].partition(": ")
        yield self.bold(x, y + 10, when[0].upper() + when[1:], PLAIN, paint.faint)
        yield self.marker(x + 11, y + 31, 11, view.current_player)
        for i, line in enumerate(textwrap.wrap(what, int((width - 30) / 7.6))):
            yield self.bold(x + 30, y + 31 + 18 * i, line, 15)
        right, compact = x + width, self.look.compact
        if "pass" in self.look.legal:
            top = y - 5 if compact else y + 4
            button = self.chip(right - 56, top, 56, 28, "pass", paint.offered, paint.legal, 3, 14, size=PLAIN)
            yield self.target("pass", button)
            right -= 0 if compact else 70
        yield from self.waiting(right, y + (72 if compact else 18))

    def waiting(self, right: float, y: float) -> Parts:
        """The action at hand and those pending, each in a box, up to a right edge."""
        view, paint, legal = self.view, self.paint, set(self.look.legal)
        boxes = [(kind, amount, True) for group in view.pending for kind, amount in reversed(group)]
        boxes += [(*view.hand_action, False)] if view.hand_action else []
        for kind, amount, pending in boxes:
            text, label = f"{kind} {amount}", f"resolve {kind}"
            width = self.gain_width(text) + 16
            right -= width + 6
            offered = pending and label in legal
            if pending:
                note, fill, edge = f"pending: {wording.action(text)}", paint.board, paint.edge
                legal.discard(label)  # of several actions of one kind, the first one is offered
            else:
                note, fill, edge = _on_hand(view).partition(";")[0], paint.raised, paint.ink
            ground = self.box(right, y - 17, width, 34, fill, edge, offered=offered)
            drawn = _titled(note, ground, self.gain(text, right + 8, y))
            if not pending and self.look.last.startswith("resolve "):
                drawn += self.ring(right, y - 17, width, 34)
            yield self.target(label, drawn) if offered else drawn

    # the board

    @draw.group
    def market(self, x: float, y: float, width: float) -> Parts:
        """The order of turns, the piles and the columns: the current one and the next, in full width the others too, narrower."""
        near = sorted(_near_columns(self.view))
        columns = near if self.look.compact else range(1, 9)
        yield self.box(x, y, width, BOARD, self.paint.panel, corner=8)
        yield self.order(x + 8, y)
        yield self.piles(x + 8, y + 150)
        if not columns:
            yield self.words(x + 80, y + 180, "No column is open in the last turn.", PLAIN)
        left, room = x + 66, width - 72 - 4 * (len(columns) - 1)
        narrow = 41 if near else room / 8
        broad = (room - narrow * (len(columns) - len(near))) / (len(near) or 1)
        for column in columns:
            across = broad if column in near else narrow
            yield self.column(column, left, y, across, column in near)
            left += across + 4

    @draw.group
    def other_columns(self, x: float, y: float, width: float) -> Parts:
        """The columns that a compact market leaves out."""
        columns = sorted({*range(1, 9)} - {*_near_columns(self.view)})
        across = (width - 16 - 4 * (len(columns) - 1)) / len(columns)
        yield self.box(x, y, width, BOARD, self.paint.panel, corner=8)
        for place, column in enumerate(columns):
            yield self.column(column, x + 8 + (across + 4) * place, y, across, False)

    @draw.group
    def order(self, x: float, y: float) -> Parts:
        """The last stack, top first; a Flower that has been placed since is an outline."""
        view, paint = self.view, self.paint
        names = ", ".join(map(marker, view.order)) or "none"
        yield draw.title(f"still to play in this column, in order: {names}")
        yield self.heading(x, y + 14, "order")
        for place, player in enumerate(view.stack):
            top = y + 31 + 20 * place
            if player in view.order:
                yield self.slab(x + 2, top, player)
            else:
                edge = self.livery(player)
                yield self.chip(
                    x + 2, top, 38, 14, marker(player), paint.panel, edge, 1.5, ink=paint.faint, weight=None
                )

    def slab(self, x: float, y: float, who: int | str) -> str:
        """A Flower seen from the side."""
        ink, line = self.paint.on_livery, self.paint.line
        return self.chip(x, y, 38, 14, marker(who), self.livery(who), line, 0.8, ink=ink)

    @draw.group
    def stack(self, x: float, bottom: float, flowers: Sequence[int | str]) -> Parts:
        """Flowers on top of one another, the last one in full."""
        yield draw.title(f"Flowers from bottom to top: {', '.join(map(marker, flowers))}")
        for who in flowers:
            bottom -= 14
            yield self.slab(x, bottom, who)
        yield bloom(x + 19, bottom - 5, self.livery(flowers[-1]), self.paint)

    @draw.group
    def piles(self, x: float, y: float) -> Parts:
        """Garden cards: the pile and the discards."""
        left, used = self.view.pile_left, sum(self.view.discards)
        kinds = ", ".join(self.view.cards(self.view.discards))
        yield self.heading(x, y + 14, "cards")
        yield _titled(
            f"{left} Garden cards in the pile",
            icon("card", x + 21, y + 48, 44, self.paint),
            self.bold_centred(x + 21, y + 82, left, PLAIN),
        )
        yield self.heading(x, y + 112, "used")
        place = x + 7, y + 127, 28, 38
        yield _titled(
            f"{used} discarded" + (f": {kinds}" if kinds else ""),
            self.chip(*place, used, self.paint.board, size=PLAIN),
        )
        if self.look.last.startswith(("use ", "sell ")):
            yield self.ring(*place)

    @draw.group
    def column(self, column: int, x: float, y: float, width: float, near: bool) -> Parts:
        """A column of the board below its number."""
        view, paint = self.view, self.paint
        current = column == view.column and view.round < 3
        words = f"column {column} {'now' if current else 'next'}" if near else column
        ink = paint.panel if current else paint.ink if near else paint.faint
        if current:
            yield self.box(x, y + 5, width, 18, paint.ink, paint.ink)
        yield self.bold_centred(x + width / 2, y + 14, words, fill=ink)
        for space in range(SPACES):
            yield self.space(column, space, x, y + 26 + (SPACE + 4) * space, width, near, current)

    def space(
        self, column: int, space: int, x: float, y: float, width: float, near: bool, current: bool
    ) -> str:
        """A space with its action, its tile and, in the current column, the Flowers and the cost of another one."""
        view, paint, legal = self.view, self.paint, self.look.legal
        label = next((n for n in (f"flower {space}", f"neutral {space}") if current and n in legal), "")
        flowers = view.flowers[space] if current else []
        printed, laid = view.tables.board[column - 1][space], view.tile(column, space)
        fill, edge = paint.raised if near else paint.board, paint.faint if current else None
        size, margin = (30, 4) if near else (24, 1)
        room = width - (44 if current else 2 * margin)
        down = 22 if laid or flowers else SPACE / 2
        parts = [
            self.box(x, y, width, SPACE, fill, edge, offered=bool(label)),
            self.gains_centred([printed], x + margin + room / 2, y + down, room, size),
        ]
        if flowers:
            parts += [self.cost(space, x + 8, y + 60), self.stack(x + width - 44, y + SPACE - 5, flowers)]
        elif laid:
            left, across = (x + 6, room - 4) if near else (x + 1, room)
            parts.append(self.tile(laid, space, left, y + 45, across))
        if near:
            parts.append(self.name(x + 11, y + 12, space))
        if _last_space(view, self.look.last) == (column, space):
            parts.append(self.ring(x, y, width, SPACE))
        return self.target(label, *parts)

    @draw.group
    def cost(self, space: int, x: float, y: float) -> Parts:
        """The cost of a Flower on an occupied space."""
        cost = self.view.flower_cost(space)
        yield draw.title(f"a Flower here costs {count(cost, 'coin')}")
        if cost:
            yield self.words(x, y, "pay")
            yield icon("coins", x + 36, y, 20, self.paint)
            yield self.bold(x + 50, y, cost, PLAIN)
        else:
            yield self.words(x + 2, y, "free", PLAIN)

    @draw.group
    def tile(self, laid: str, space: int, x: float, y: float, width: float) -> Parts:
        """A tile: with spots on the upper spaces, with stripes on the lower ones."""
        faint, height, free = self.paint.faint, 33, width
        spotted = space < 2
        yield draw.title(f"{'spotted' if spotted else 'striped'} tile: {wording.action(laid)}")
        yield self.box(x, y, width, height, self.paint.tile, corner=5)
        if width > 50:
            free -= 12
            for down in range(0, 28, 7):
                if spotted:
                    yield _disc(x + width - 5, y + 6 + down, 1.6, faint)
                else:
                    stripe = f"M{x + width - 8:.1f} {y + 9 + down:.1f}l6 -5"
                    yield draw.tag("path", d=stripe, stroke=faint, stroke_width=1.4)
        yield self.gains_centred([laid], x + free / 2, y + height / 2, free, 24)

    # the tracks

    def track(self, number: int, x: float, y: float, width: float) -> str:
        """A track from left to right, its forks one above the other, and the prizes at its end."""
        view, name = self.view, TRACKS[number]
        nodes = self.view.tables.track(name)
        moving = bool(view.hand_action) and view.hand_action[0] == name
        whole = f"resolve {name}" if view.asked == "start" else ""
        offered, edge = whole in self.look.legal, self.paint.ink if moving else None
        parts = [
            self.box(x, y, width, TRACK, self.paint.panel, edge, corner=8, offered=offered),
            icon(name, x + 19, y + 15, 20, self.paint),
            self.bold(x + 34, y + 15, f"{name} track", 13),
        ]
        if name in PRIZES:
            parts.append(self.prizes(name, x + width - 10, y + 15))
        places = self.places(nodes, x + 10, y + 31, width - 20, TRACK - 35)
        parts.append(self.edges(nodes, places, y + 31, TRACK - 35))
        ahead = view.edges(name) if moving else []
        targets: dict[int, str] = {}
        for (to, _), way in zip(ahead, ("upper", "lower"), strict=False):
            if f"advance {way}" in self.look.legal:
                targets.setdefault(to, way)
        for node, place in enumerate(places):
            low = y + 80 < place[1] < y + TRACK - 28  # in a lower way, and its pieces fit below it
            drawn = self.node(number, node, place, node in targets, low)
            if node in targets:
                way = targets[node]
                drawn += self.name(place[0], place[1] + (-20 if way == "upper" else 21), way)
                drawn = self.target(f"advance {way}", drawn)
            parts.append(drawn)
        return self.target(whole, *parts)

    def prizes(self, name: str, right: float, y: float) -> str:
        """The Prize tokens of a stack, top first, up to a right edge."""
        paint, left = self.paint, self.view.prizes[PRIZES.index(name)]
        if not left:
            return self.words(right, y, "no prizes left", fill=paint.faint, anchor="end")
        drawn, x = "", right - 11
        for value in reversed(left[1:]):
            drawn += _disc(x, y, 10.5, paint.board, paint.edge) + self.centred(x, y, value)
            x -= 22
        drawn += _disc(x, y, 10.5, paint.offered, paint.edge) + self.bold_centred(x, y, left[0])
        drawn += icon("prize", x - 23, y, 20, paint)
        return _titled(f"{name} prizes, top first: {' '.join(map(str, left))}", drawn)

    def places(self, nodes: tuple[Node, ...], x: float, y: float, width: float, height: float) -> list[Place]:
        """The places of the nodes: nodes that are equally many steps from the start are above one another."""
        lanes = [set[int]() for _ in nodes]
        for edges in ways(nodes):
            for (to, _), lane in zip(edges, (-1, 1) if len(edges) > 1 else (0,), strict=False):
                lanes[to].add(lane)
        wanted = [max(38.0, 5 + sum(self.gain_width(gain, 22) + 4 for gain in node.gains)) for node in nodes]
        wanted[0] = 42
        by_step = stages(nodes)
        widths = [max(wanted[number] for number in stage) for stage in by_step]
        shrink = min(1.0, (width - 7 * (len(widths) - 1)) / sum(widths))
        gaps = [1 + any(edge.cost for n in stage for edge in nodes[n].edges) for stage in by_step[:-1]]
        gap = (width - shrink * sum(widths)) / sum(gaps)
        places: list[Place] = [(0, 0, 0)] * len(nodes)
        for stage, across, following in zip(by_step, widths, [*gaps, 0], strict=True):
            across *= shrink
            apart = [0.4 * sum(lanes[n]) if len(lanes[n]) == 1 else 0 for n in stage]
            if len({*apart}) < len(stage):
                apart = [(2 * i + 1) / len(stage) - 1 for i in range(len(stage))]
            for number, side in zip(stage, apart, strict=True):
                places[number] = (x + across / 2, y + height * (1 + side) / 2, across)
            x += across + gap * following
        return places

    @draw.group
    def edges(self, nodes: tuple[Node, ...], places: Sequence[Place], y: float, height: float) -> Parts:
        """The ways between the nodes, with their costs."""
        paint, costs = self.paint, []
        for (a, b, width), edges in zip(places, ways(nodes), strict=True):
            for way, (to, cost) in enumerate(edges):
                c, d, other = places[to]
                start, end, up = a + width / 2, c - other / 2, len(edges) == 2 and way == 0
                half = (start + end) / 2
                if any(start < place[0] < end for place in places):
                    level = y + height * (0.18 if up else 0.92)
                    path = f"M{start:.1f} {b:.1f}C{start + 12:.1f} {b:.1f} {start + 4:.1f} {level:.1f} {start + 22:.1f} {level:.1f}"
                    path += (
                        f"H{end - 22:.1f}C{end - 4:.1f} {level:.1f} {end - 12:.1f} {d:.1f} {end:.1f} {d:.1f}"
                    )
                else:
                    bend = 0 if b != d or len(edges) == 1 else -14 if up else 14
                    level = (b + d) / 2 + 0.75 * bend
                    path = f"M{start:.1f} {b:.1f}C{half:.1f} {b + bend:.1f} {half:.1f} {d + bend:.1f} {end:.1f} {d:.1f}"
                yield draw.tag("path", d=path, fill="none", stroke=paint.faint, stroke_width=2.5, data_edge=1)
                if cost:
                    coin = _disc(half, level, 9.5, paint.coin, paint.line)
                    number = self.bold_centred(half, level, cost, fill=LIGHT.ink)
                    costs.append(_titled(f"this way costs {count(cost, 'coin')}", coin, number))
        yield from costs

    @draw.group
    def node(self, track: int, number: int, place: Place, offered: bool, low: bool) -> Parts:
        """A node with its gains and the pieces on it, above it or, on the lower way, below it."""
        view, (x, y, width) = self.view, place
        here = [player for player, pieces in enumerate(view.tracks) if pieces[track] == number]
        nodes = self.view.tables.track(TRACKS[track])
        left, words, fill = x - width / 2, wording.step(nodes, number), self.paint.board
        if number == 0:
            half, down = (14, 0) if view.num_players == 2 else (24, 10)
            yield draw.title(words)
            yield self.box(left, y - half, width, 2 * half, fill, corner=12)
            for player in here:
                lower, right = divmod(player, 2)
                yield self.marker(x - 9.5 + 19 * right, y + (2 * lower - 1) * down, 9.5, player)
            return
        if number == len(nodes) - 1:
            words, fill = f"end: {words}", self.paint.tile
        yield draw.title(words)
        yield self.box(left, y - 14, width, 29, fill, offered=offered, corner=10)
        yield self.gains_centred(nodes[number].gains, x, y, width - 6)
        if self.last_node() == (track, number):
            yield self.ring(left, y - 14, width, 29)
        for i, player in enumerate(here):
            middle = x - 9 * (len(here) - 1) + 18 * i
            yield self.marker(middle, y + (19.5 if low else -20), 9, player)

    def last_node(self) -> tuple[int, int]:
        """Track and node to which the last action led, if the position shows it; else (-1, 0)."""
        view, look = self.view, self.look
        if look.by is None or not look.last.startswith("advance"):
            return -1, 0
        pieces = view.tracks[look.by]
        if look.by == view.current_player and view.hand_action and view.hand_action[0] in TRACKS:
            number = TRACKS.index(view.hand_action[0])
            return number, pieces[number]
        ends = [len(self.view.tables.track(name)) - 1 for name in TRACKS]
        return next(((i, end) for i, end in enumerate(ends) if pieces[i] == end), (-1, 0))

    # the players

    @draw.group
    def panel(self, player: int, x: float, y: float, width: float) -> Parts:
        """One player's garden, tasks, hand and counts."""
        view, paint = self.view, self.paint
        asked = view.asked != "over" and player == view.current_player
        edge, thick = (self.livery(player), 3) if asked else (paint.edge, 1)
        pitch = 37 if width < 300 else 46 if width < 380 else 54 if width < 450 else 62
        left = x + 20
        garden = Garden(player, left, y + 90, pitch, pitch - 9, left + 4 * pitch + 2)
        yield self.box(x, y, width, PANEL, paint.panel, edge, thick, corner=8)
        yield self.marker(x + 21, y + 21, 12, player)
        if self.last_elsewhere(player):
            yield self.ring(x + 10, y + 10, 22, 22, 14)
        yield self.bold(x + 40, y + 21, f"player_{player}", 16)
        yield self.bold(x + width - 12, y + 21, view.scores[player], 26, anchor="end")
        yield self.holdings(player, x + 12, y + 54, width - 24)
        yield self.ground(garden)
        yield from (self.bed(garden, bed) for bed in range(BEDS))
        yield from (self.crossing(garden, number) for number in range(len(CROSSINGS)))
        yield self.full_columns(garden)
        yield self.tasks(garden, x + width - 7 - garden.tasks)
        yield self.below(player, x + 12, garden.y + ROWS * ROW + 28, width - 24)

    def last_elsewhere(self, player: int) -> bool:
        """Whether the last action was this player's and left nothing on the picture to mark."""
        last = self.look.last
        return self.look.by == player and (
            last == "pass"
            or (last.startswith("advance") and self.last_node()[0] < 0)
            or (last.startswith("resolve") and not self.view.hand_action)
        )

    def acts(self, player: int, label: str) -> bool:
        """Whether an action is legal and is this player's."""
        return label in self.look.legal and player == self.view.current_player

    @draw.group
    def holdings(self, player: int, x: float, y: float, width: float) -> Parts:
        """Coins, cards and the five places of the animals."""
        paint, coins, cards = self.paint, self.view.coins[player], self.view.num_cards(player)
        for kind, n, what, left, gap in (
            ("coins", coins, "coin", 11, 15),
            ("card", cards, "Garden card", 60, 12),
        ):
            number = self.bold(x + left + gap, y, n, 16)
            yield _titled(count(n, what), icon(kind, x + left, y, 22, paint), number)
        yield icon("animal", x + width - 121, y, 20, paint)
        for place, points in enumerate(self.view.tables.animals):
            words, middle = f"animal {place + 1}: {count(points, 'point')}", x + width - 95.5 + 21.5 * place
            fill, ink, weight = paint.board, paint.ink, None
            if place < self.view.animals[player]:
                words, fill, ink, weight = f"{words}, scored", paint.done, paint.on_done, "bold"
            number = self.words(middle, y, points, SMALL, ink, "middle", weight)
            yield _titled(words, _disc(middle, y, 10, fill, paint.edge), number)

    @draw.group
    def ground(self, garden: Garden) -> Parts:
        """The paths of a garden, with the numbers of rows and columns."""
        x, y, faint = garden.x, garden.y, self.paint.faint
        yield self.box(x - 4, y - 4, 4 * garden.pitch - 1, ROWS * ROW, self.paint.board, corner=8)
        for column in range(COLUMNS):
            yield self.centred(garden.middle(column), y - 13, column, fill=faint)
        for row in range(ROWS):
            yield self.centred(x - 13, y + ROW * row + 24, row, fill=faint)

    def bed(self, garden: Garden, bed: int) -> str:
        """A bed and its plant, its soil darker if the Gardener reaches it; "" where there is none."""
        view, paint, player, size = self.view, self.paint, garden.player, garden.bed
        level = view.gardens[player][bed]
        if level < 0:
            return ""
        row, column = divmod(bed, COLUMNS)
        x, y, height = garden.x + garden.pitch * column, garden.y + ROW * row, ROW - 9
        middle, name = garden.middle(column), f"{row},{column}"
        near = bed in view.reach(player)
        offered = self.acts(player, f"bed {name}")
        parts = [
            self.box(x, y, size, height, paint.reach if near else paint.bed, paint.furrow, offered=offered)
        ]
        if not level:
            parts.append(soil(x, y, size, height, paint))
        elif size >= 50:  # the level is next to the plant, else below it
            parts.append(plant(level, middle - 6.5, y + 23, 38, paint))
            parts.append(self.bold_centred(x + size - 9, y + height - 15, LEVELS[level]))
        else:
            parts.append(plant(level, middle, y + 18, 30, paint))
            parts.append(self.bold_centred(middle, y + height - 7, LEVELS[level]))
        parts.append(self.name(middle, y + 13, name))
        if self.look.last == f"bed {name}" and self.look.by == player:
            parts.append(self.ring(x, y, size, height))
        what = f"plant {LEVELS[level]}" if level else "empty bed"
        drawn = _titled(f"{what} at {name}" + ", in reach" * near, *parts)
        return self.target(f"bed {name}", drawn) if offered else drawn

    def crossing(self, garden: Garden, number: int) -> str:
        """A crossing: the Gardener, a way to go there with its price, or a dot."""
        paint, look, player = self.paint, self.look, garden.player
        r, c = CROSSINGS[number]
        x, y = garden.x + garden.pitch * (c + 1) - 4.5, garden.y + ROW * (r + 1) - 4.5
        steps, name = DISTANCE[self.view.gardeners[player], number], f"{r},{c}"
        if not steps:
            crown = f"M{x - 6:.1f} {y - 10:.1f}q6 -10 12 0z"
            parts = [
                self.marker(x, y, 11, player),
                draw.tag("ellipse", cx=x, cy=y - 9, rx=11, ry=3, fill=paint.wood, stroke=paint.line),
                draw.tag("path", d=crown, fill=paint.wood, stroke=paint.line),
            ]
            if look.by == player and look.last.startswith("walk"):
                parts.append(self.ring(x - 13, y - 18, 26, 30, 16))
            return _titled(f"Gardener at {name}", *parts)
        if not self.acts(player, f"walk {name}"):
            return _disc(x, y, 2.5, paint.edge) + self.name(x, y, name)
        disc = _disc(x, y, 13.5 if look.compact else 12.5, paint.offered, paint.legal, 2.5)
        price = steps if self.view.asked == "start" else ""
        words, weight = (name, None) if look.names else (price, "bold")
        return self.target(f"walk {name}", disc, self.words(x, y, words, anchor="middle", weight=weight))

    @draw.group
    def full_columns(self, garden: Garden) -> Parts:
        """The points of the columns of a garden as it is, below them."""
        paint, y = self.paint, garden.y + ROWS * ROW + 9
        for column in range(COLUMNS):
            points = self.view.column_points(self.view.gardens[garden.player], column)
            x = garden.middle(column)
            words, number = "not full", self.centred(x, y, "–", 13, paint.faint)
            if points:
                words = f"full, {count(points, 'point')} now"
                number = self.chip(
                    x - 13, y - 9, 26, 18, points, paint.done, paint.done, 1, 9, paint.on_done, 13
                )
            yield _titled(f"column {column}: {words}", number)
        yield self.heading(garden.tasks, y, "full columns")

    @draw.group
    def tasks(self, garden: Garden, width: float) -> Parts:
        """The basic and the special task of each row: side by side if there is room, else one above the other."""
        view, player, x, y = self.view, garden.player, garden.tasks, garden.y
        heads, across, height, right, down, top = ["basic and special"], width, 22, 0.0, 24, 0
        if width > 200:
            heads, across, height, down, top = ["basic task", "special task"], (width - 6) / 2, 31, 0, 8
            right = across + 6
        for place, words in enumerate(heads):
            yield self.heading(x + right * place, y - 13, words if width > 95 else "tasks")
        own = view.tasks[player]
        given = [row for row in range(ROWS) if own[row] >= 0]
        for row, basic in enumerate(view.tables.basic):
            special = view.tables.special[own[row]] if row in given else None
            both = (("basic", basic, view.basic_done), ("special", special, view.special_done))
            for place, (sort, task, done) in enumerate(both):
                spot = x + right * place, y + ROW * row + top + down * place, across, height
                yield self.task(task, *spot, sort, done[player][row])
        if self.look.by == player and self.look.last.startswith("assign"):
            assigned = (
                given[-2:] if len(given) == ROWS else given[-1:]
            )  # the last one is assigned automatically
            for row in assigned:
                yield self.ring(x + right, y + ROW * row + top + down, across, height)

    @draw.group
    def task(
        self, task: Task | None, x: float, y: float, width: float, height: float, sort: str, done: bool
    ) -> Parts:
        """A task, basic or special: the plants that it asks for and its points."""
        paint, middle = self.paint, y + height / 2
        edge, thick = (paint.done, 1.5) if done else (paint.edge, 1)
        words = f"{sort} task: {wording.task(task)}" if task else "special task not yet assigned"
        yield draw.title(words + ", done" * done)
        yield self.box(x, y, width, height, paint.board if sort == "basic" else paint.tile, edge, thick, 5)
        if task is None:
            yield self.centred(x + width / 2, middle, "?", PLAIN)
            return
        yield self.wanted(task, x + 2, middle, width - 24)
        if done:
            yield self.box(x + width - 21, middle - 9, 19, 18, paint.done, paint.done, corner=5)
            yield tick(x + 3, y + 2, paint)
        yield self.bold_centred(x + width - 11.5, middle, task.points, 13, paint.on_done if done else None)

    def wanted(self, task: Task, x: float, y: float, width: float) -> str:
        """The plants that a task asks for, one chip each."""
        plants = [level for level, n in enumerate(task.plants, 1) for _ in range(n)]
        pitch = max(13.8, min(24.0, width / max(4, len(plants))))
        chips = [self.level(level, pitch * place, 0, pitch - 1, 17) for place, level in enumerate(plants)]
        return _fitted(x, y, width, pitch * len(plants), "".join(chips))

    def level(self, level: int, x: float, y: float, width: float, height: float) -> str:
        """A chip with a level, to the right of x, around the height y."""
        paint, top = self.paint, y - height / 2
        fill = paint.level[level - 1]
        return self.chip(x, top, width, height, LEVELS[level], fill, paint.faint, 0.7, ink=paint.on_level)

    def below(self, player: int, x: float, y: float, width: float) -> str:
        """Below a garden: the tasks to assign, at the end the score sheet, else the hand."""
        hand = self.view.hands[player]
        if self.view.asked == "over":
            return self.sheet(player, x, y, width)
        if self.view.unassigned(player):
            return self.dealt(player, x, y, width)
        if isinstance(hand, int):
            return self.backs(hand, x, y, width)
        return self.hand(player, hand, x, y, width)

    @draw.group
    def dealt(self, player: int, x: float, y: float, width: float) -> Parts:
        """The special tasks that are not yet assigned, by their places among those dealt."""
        yield self.heading(x, y, f"special task for row {self.view.tasks[player].index(-1)}")
        across = min(120.0, (width - 8) / 3)
        for place, (j, number) in enumerate(self.view.unassigned(player).items()):
            row, column = divmod(place, 3)
            a, b = x + (across + 4) * column, y + 11 + 34 * row
            label, task, right = f"assign {j}", self.view.tables.special[number], a + across - 9.5
            offered = self.acts(player, label)
            drawn = _titled(
                f"special task: {wording.task(task)}",
                self.box(a, b, across, 29, self.paint.tile, offered=offered),
                self.wanted(task, a + 2, b + 14.5, across - 20),
                self.bold_centred(right, b + 14.5, task.points, 13),
                self.name(right, b + 28, j),
            )
            yield self.target(label, drawn) if offered else drawn

    @draw.group
    def backs(self, cards: int, x: float, y: float, width: float) -> Parts:
        """Hidden cards: their backs and how many they are."""
        yield draw.title(count(cards, "hidden card"))
        yield self.heading(x, y, "cards in hand" if cards else "no cards in hand")
        pitch = min(26.0, (width - 60) / max(cards, 1))
        for i in range(cards):
            yield icon("card", x + 17 + pitch * i, y + 36, 44, self.paint)
        if cards:
            yield self.bold(x + 34 + pitch * cards, y + 36, cards, LARGE)

    @draw.group
    def hand(self, player: int, hand: Sequence[int], x: float, y: float, width: float) -> Parts:
        """Cards in hand by kind, with their actions and numbers; below them, the button to sell one."""
        board, top, size = self.paint.board, y + 12, 46.0
        cards = [(n, card.action) for n, card in zip(hand, self.view.tables.cards, strict=True) if n]
        yield self.heading(x, y, "cards in hand" if cards else "no cards in hand")
        pitch = min(52.0, (width + 6) / max(len(cards), 1))
        for place, (n, action) in enumerate(cards):
            left, use, sell = x + pitch * place, f"use {action}", f"sell {action}"
            middle, offered = left + size / 2, self.acts(player, use)
            words = wording.action(action) + (f" (x{n})" if n > 1 else "")
            drawn = [
                self.box(left, top, size, 40, board, offered=offered),
                self.gains_centred([action], middle, top + (14 if n > 1 else 20), size - 4, 24),
            ]
            if n > 1:
                drawn.append(self.centred(middle, top + 32, f"x{n}"))
            card = _titled(words, *drawn)
            yield self.target(use, card) if offered else card
            if self.acts(player, sell):
                below = top + 56.5
                yield self.target(
                    sell,
                    self.box(left, top + 43, size, 27, board, offered=True, corner=9),
                    self.bold(left + 9, below, f"+{COINS_FOR_SALE}"),
                    icon("coins", left + size - 14, below, 15, self.paint),
                )

    @draw.group
    def sheet(self, player: int, x: float, y: float, width: float) -> Parts:
        """The parts of a score and their sum."""
        sheet = self.view.score_sheet(player)
        across = (width - 16) / 2
        for place, (what, points) in enumerate([*sheet.items(), ("score", sum(sheet.values()))]):
            column, row = divmod(place, 3)
            a, b = x + (across + 16) * column, y + 8 + 24 * row
            write, edge = (self.bold, self.paint.ink) if what == "score" else (self.words, self.paint.edge)
            yield write(a, b, what, 13)
            yield self.bold(a + across, b, points, 14, anchor="end")
            yield draw.tag("path", d=f"M{a:.1f} {b + 11:.1f}h{across:.1f}", stroke=edge)

    @draw.group
    def legend(self, x: float, y: float, width: float) -> Parts:
        """The names of the icons, and the points of a full column of a garden."""
        faint, compact, left = self.paint.faint, self.look.compact, x
        in_line = 3 if compact else len(LEGEND)
        spare = (width - sum(28 + 6.1 * len(words) for words in LEGEND.values())) / (len(LEGEND) - 1)
        for place, (kind, words) in enumerate(LEGEND.items()):
            line, across = divmod(place, in_line)
            if compact:
                left = x + width / in_line * across
            yield icon(kind, left + 10, y + 24 * line, 20 if "plant" not in kind else 24, self.paint)
            yield self.words(left + 25, y + 24 * line, words, fill=faint)
            left += 28 + 6.1 * len(words) + spare
        y += 26 * -(-len(LEGEND) // in_line)
        yield self.words(x, y, "full column of a garden, by its highest plant:", fill=faint)
        left, down = (x, y + 22) if compact else (x + 264, y)
        for level, points in enumerate(self.view.tables.columns, 1):
            yield self.level(level, left, down, 20, 18)
            yield self.bold(left + 24, down, points)
            left += 46
        notes = "tasks: first the basic, then the special one · animals: points of the first to fifth"
        right, down, anchor = (x, y + 44, None) if compact else (x + width, y, "end")
        yield self.words(right, down, notes, fill=faint, anchor=anchor)
