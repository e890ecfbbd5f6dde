"""Pictures of Botanicus, drawn from a `View`: `svg` for notebooks, `text` for terminals."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partialmethod
from itertools import chain, zip_longest
from typing import Any

from botanicus_env import wording
from botanicus_env.icons import DARK, LIGHT, Palette, bloom, icon, moved, plant, soil
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
        # A line ends after ">" or before "+" and "or".
        paragraphs.append(re.sub(r"(?<!>) (?!\+ |or )", "\xa0", line))
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
    left = [*range(1, BOARD_COLUMNS + 1)] * (3 - view.round)  # the board is gone through twice
    return left[view.column - 1 :][:2]


# --- text ---

GARDENS_HEAD = (
    "row   0    1    2    3   basic and special task (score: points so far + full columns + coins // 3)"
)


def _fork(view: View) -> str:
    """The two ways that the track at hand has here; "" where it has only one, or none is at hand."""
    ahead = view.edges(view.at_hand) if view.asked == "track" else []
    if len(ahead) < 2:
        return ""
    nodes = view.tables.track(view.at_hand)
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
        cards = f"{hand} hidden"
        if not isinstance(hand, int):
            cards = ", ".join(map(_whole, view.cards(hand))) or "none"
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

SMALL, PLAIN = 12, 14  # sizes of text
BOARD, SPACE = 374, 83  # heights of a line of columns and of a space of the board
TRACK, NODE = 122, 29  # heights of a track and of a node
PANEL, ROW = 488, 56  # heights of a player's panel and of a row of a garden
DISC, FLOWER = (22, 22), (26, 14)  # sizes of a seat's disc and of a Flower from the side
LEGEND = {
    "coins": "coins",
    "points": "points",
    "animal": "animal",
    "card": "Garden card",
    "water": "water",
    "walk": "walk",
    "plant_2": "plant II",
    "prize": "prize",
    "pole": "Pole Position",
}

Parts = Iterator[str]
"""SVG elements."""
Box = tuple[float, float, float, float]
"""Left, top, width and height."""
Pair = tuple[float, float]
"""Left and top, or width and height."""


def svg(view: View, seat: int | None, look: Look) -> str:
    """Return the position as a picture; `view` as for `text`.

    Args:
        seat: the seat whose garden comes first in a compact picture; None: player_0's.
        look: style of the picture and marked actions.

    Returns:
        A self-contained SVG document, 1100 x 1000; compact ones are 430 wide.
    """
    picture = _Picture(view, look, DARK if look.dark else LIGHT, _last_place(view, look))
    return picture.document((seat or 0) if look.compact else 0)


def _last_place(view: View, look: Look) -> str:
    """What the last action changed; "player", if the position does not show that."""
    verb, _, what = look.last.partition(" ")
    if verb in ("flower", "neutral"):
        here = view.flowers[int(what)] or view.round == 3  # not in the column before
        return f"space {view.column if here else (view.column - 2) % BOARD_COLUMNS + 1} {what}"
    if verb == "advance":
        pieces = zip(TRACKS, view.tracks[look.by or 0], strict=True)
        known = [track for track, node in pieces if node == len(view.tables.track(track)) - 1]
        if look.by == view.current_player and view.at_hand in TRACKS:
            known = [view.at_hand]
        return f"track {known[0]}" if known else "player"
    if verb == "resolve":
        return "at hand" if view.at_hand else "player"
    return {"use": "discards", "sell": "discards", "bed": look.last, "pass": "player"}.get(verb, verb)


@dataclass(frozen=True)
class _Picture:
    """A picture and its parts; each part is drawn from 0, 0 to the right and down.

    Attributes:
        view: the position.
        look: style and marked actions.
        paint: colours.
        last: what the last action changed.
    """

    view: View
    look: Look
    paint: Palette
    last: str

    @property
    def wide(self) -> int:
        """The width without the margins."""
        return 406 if self.look.compact else 1068

    def document(self, seat: int) -> str:
        """The whole picture; a compact one has one column, and begins with the garden of a seat."""
        n = self.view.num_players
        if self.look.compact:
            width, height, panel = 430, 1416 + 498 * n, 406.0
            tops = 10, 104, *range(868, 1252, 128), *range(1256, 1256 + 498 * n, 498), 1276 + 498 * n
            places: list[Pair] = [(12, top) for top in tops]
        else:
            width, height, panel = 1100, 1000, 1078 / n - 10
            places = [(16, 10), (16, 60), (678, 60), (678, 188), (678, 316)]
            places += [*((16 + 1078 / n * player, 448) for player in range(n)), (16, 956)]
        panels = [self.panel((seat + i) % n, panel) for i in range(n)]
        parts = [self.status(), self.market(), *map(self.track, TRACKS), *panels, self.legend()]
        placed = [moved(x, y, part) for (x, y), part in zip(places, parts, strict=True)]
        return draw.document(width, height, *placed, background=self.paint.paper)

    # pieces

    def words(
        self,
        x: float,
        y: float,
        content: object,
        size: float = SMALL,
        fill: str = "",
        anchor: str | None = None,
        weight: str | None = None,
    ) -> str:
        """Write in the colour of ink, unless `fill` names another one."""
        fill = fill or self.paint.ink
        return draw.text(x, y, content, size, fill=fill, font_weight=weight, text_anchor=anchor)

    bold = partialmethod(words, weight="bold")
    centred = partialmethod(words, anchor="middle")
    bold_centred = partialmethod(words, anchor="middle", weight="bold")

    def lines(self, x: float, y: float, words: str, columns: int, *style: Any, **more: Any) -> list[str]:
        """Write words in lines of at most so many letters; the rest as for `words`."""
        lines = textwrap.wrap(words, columns)
        return [self.words(x, y + 18 * i, line, *style, **more) for i, line in enumerate(lines)]

    def heading(self, x: float, y: float, words: str) -> str:
        """Write the name of a part."""
        return self.bold(x, y, words, fill=self.paint.faint)

    def box(
        self,
        box: Box,
        fill: str,
        *parts: str,
        title: str = "",
        label: str = "",
        last: bool = False,
        edge: str = "",
        thick: float = 1,
        corner: float = 6,
    ) -> str:
        """A box and what is in it, drawn from its corner; clickable if the action `label` is legal; `last` is marked."""
        (x, y, width, height), paint, clickable = box, self.paint, label in self.look.legal
        if clickable:
            fill, edge, thick = paint.offered, paint.legal, 3
        ground = draw.box(0, 0, width, height, corner, edge or paint.edge, thick, fill)
        drawn = [draw.title(title) if title else "", ground]
        if last:
            place = {"x": -3, "y": -3, "width": width + 6, "height": height + 6, "rx": corner + 2}
            drawn.append(draw.tag("rect", **place, stroke=paint.last, **draw.LAST))
        drawn += parts
        return moved(x, y, *([draw.target(self.look, label, *drawn)] if clickable else drawn))

    def chip(self, box: Box, words: object, fill: str, ink: str = "", corner: float = 4, **style: Any) -> str:
        """A box with a word in its middle; `style` as for `box`."""
        middle = self.bold_centred(box[2] / 2, box[3] / 2, words, fill=ink)
        return self.box(box, fill, middle, corner=corner, **style)

    def name(self, x: float, y: float, words: str) -> str:
        """The name of a place in labels, centred at a point; "" unless the look has names."""
        width = 6 * len(words) + 5
        return (
            self.chip((x - width / 2, y - 8, width, 16), words, self.paint.panel) if self.look.names else ""
        )

    def livery(self, who: int | str) -> str:
        """The colour of a seat, or of the neutral Flower."""
        return self.paint.neutral if isinstance(who, str) else self.paint.livery[who]

    def piece(
        self, x: float, y: float, who: int | str, size: Pair = (18, 18), placed: bool = False, **style: Any
    ) -> str:
        """A piece or a Flower around x, y; of a Flower that has been placed, the outline."""
        paint, livery, (width, height) = self.paint, self.livery(who), size
        fill, ink, edge = (
            (paint.panel, paint.faint, livery) if placed else (livery, paint.on_livery, paint.panel)
        )
        box = x - width / 2, y - height / 2, width, height
        return self.chip(box, marker(who), fill, ink, height / 2, edge=edge, thick=1.5, **style)

    def points(self, box: Box, points: object, scored: bool, **style: Any) -> str:
        """Points in a box, which is dark if they have been scored."""
        paint = self.paint
        colours = (paint.done, paint.on_done) if scored else (paint.board, paint.ink)
        return self.chip(box, points, *colours, **style)

    def row(self, texts: Sequence[str]) -> tuple[float, str]:
        """Actions side by side, each as its icon and its number, around the height 0; their width first."""
        x, drawn = 0, ""
        for text in texts:
            kind, _, amount = text.partition(" ")
            if kind == "prize":
                amount = str(next(iter(self.view.prizes[PRIZES.index(amount)]), "–"))
            number = self.bold(x + 25, 0, amount, PLAIN)
            title = draw.title(wording.action(text))
            drawn += draw.tag("g", title, icon(kind, x + 11, 0, 22, self.paint), number)
            x += 29 + 8 * len(amount)
        return max(1, x - 4), drawn

    def gains(self, texts: Sequence[str], x: float, y: float, width: float, most: float = 1.0) -> str:
        """Actions side by side around x, y, within a width, up to `most` times as large."""
        needed, drawn = self.row(texts)
        scale = min(most, width / needed)
        return moved(x - scale * needed / 2, y, drawn, scale=scale)

    # the status

    @draw.group
    def status(self) -> Parts:
        """The status, the actions at hand and pending, and the pass; at the end the result."""
        view, who, status, width = self.view, self.view.current_player, _status(self.view), self.wide
        when, _, what = status.partition("; ")[0].partition(": ")
        if view.asked == "over":
            who = max(view.stack, key=lambda player: view.scores[player])
            when, what = status, f"player_{who} is first with {view.scores[who]}"
        head = self.lines(0, 10, when, width // 7, PLAIN, self.paint.faint)
        below = 13 + 18 * len(head)
        yield from head
        yield self.piece(11, below, who, DISC)
        yield from self.lines(30, below, what, (width - 30) // 8, 15, weight="bold")
        if "pass" in self.look.legal:
            yield self.chip((width - 56, -4, 56, 28), "pass", "", label="pass", corner=14)
        yield moved(*(0, 55) if self.look.compact else (662, 4), self.waiting())

    @draw.group
    def waiting(self) -> Parts:
        """The action at hand and those pending, each in a box."""
        view, paint, x = self.view, self.paint, 0.0
        waiting = [*chain(*reversed(view.pending))]
        if view.at_hand:
            waiting.insert(0, view.hand_action)
        kinds = [kind for kind, _ in waiting]
        for place, (kind, amount) in enumerate(waiting):
            held, (width, drawn) = place < bool(view.at_hand), self.row([f"{kind} {amount}"])
            yield self.box(
                (x, 0, width + 16, 34),
                paint.raised if held else paint.board,
                moved(8, 17, drawn),
                title=_on_hand(view).partition(";")[0] if held else "",
                label=f"resolve {kind}" if kinds.index(kind) == place else "",  # equal kinds are one action
                edge=paint.ink if held else "",
                last=held and self.last == "at hand",
            )
            x += width + 22

    # the board

    @draw.group
    def market(self) -> Parts:
        """The order of turns, the Garden cards and the columns, in one line or, if there is little room, in two."""
        width, in_line = self.wide - 416, BOARD_COLUMNS
        if self.look.compact:
            width, in_line = self.wide, BOARD_COLUMNS // 2
        yield self.box((0, 0, width, BOARD * (BOARD_COLUMNS // in_line) + 4), self.paint.panel, corner=8)
        yield self.stacks()
        step = (width - 54) / in_line
        for place in range(BOARD_COLUMNS):
            line, across = divmod(place, in_line)
            yield moved(54 + step * across, BOARD * line, self.column(place + 1, step - 4))

    @draw.group
    def stacks(self) -> Parts:
        """The last stack of Flowers, top first, as outlines where they have been placed since; the Garden cards."""
        view, paint = self.view, self.paint
        yield self.heading(8, 14, "order")
        for place, player in enumerate(view.stack):
            yield self.piece(25, 38 + 20 * place, player, FLOWER, player not in view.order)
        yield self.heading(8, 164, "cards") + icon("card", 25, 198, 44, paint)
        yield self.bold_centred(25, 232, view.pile_left, PLAIN)
        yield self.heading(8, 262, "used")
        yield self.chip(
            (11, 277, 28, 38),
            sum(view.discards),
            paint.board,
            title=", ".join(view.cards(view.discards)),
            last=self.last == "discards",
        )

    @draw.group
    def column(self, column: int, width: float) -> Parts:
        """A column of the board below its number."""
        now, near = (column in _near_columns(self.view)[:end] for end in (1, 2))
        colours = (self.paint.ink, self.paint.panel) if now else (self.paint.panel, self.paint.ink)
        words = f"{column} now" if now else f"{column} next" if near else column
        yield self.chip((0, 5, width, 18), words, *colours, edge=colours[0])
        for space in range(SPACES):
            yield moved(0, 26 + (SPACE + 4) * space, self.space(column, space, width, now, near))

    def space(self, column: int, space: int, width: float, now: bool, near: bool) -> str:
        """A space with its action, its tile and, in the current column, the Flowers and the cost of another one."""
        view, paint, verb = self.view, self.paint, "neutral" if self.view.asked == "neutral" else "flower"
        flowers, laid, more = view.flowers[space] if now else [], view.tile(column, space), ""
        room = width - 32 if flowers else width - 4
        if flowers:
            more = self.flowers(flowers, view.flower_cost(space), width)
        elif laid:
            more = self.box(
                (2, 46, width - 4, 34), paint.tile, self.gains([laid], width / 2 - 2, 17, width - 10)
            )
        printed = view.tables.board[column - 1][space]
        return self.box(
            (0, 0, width, SPACE),
            paint.raised if near else paint.board,
            self.gains([printed], 2 + room / 2, 22 if more else SPACE / 2, room, 1.3),
            more,
            self.name(10, 11, str(space)) if near else "",
            label=f"{verb} {space}" if now else "",
            edge=paint.ink if now else "",
            last=self.last == f"space {column} {space}",
        )

    @draw.group
    def flowers(self, flowers: Sequence[int | str], cost: int, width: float) -> Parts:
        """Flowers on top of one another, the last one in full, and the cost of another one."""
        for place, who in enumerate(flowers, 1):
            yield self.piece(width - 17, SPACE + 3 - 14 * place, who, FLOWER)
        yield bloom(width - 17, SPACE - 9 - 14 * len(flowers), self.livery(flowers[-1]), self.paint)
        yield self.words(5, 60, f"pay {cost}" if cost else "free")

    # the tracks

    def track(self, name: str) -> str:
        """A track from left to right, its forks one above the other, with its prizes."""
        view, paint = self.view, self.paint
        nodes = view.tables.track(name)
        places = self.places(nodes)
        parts = [icon(name, 19, 15, 20, paint), self.bold(34, 15, f"{name} track")]
        if name in PRIZES:
            left = ", ".join(map(str, view.prizes[PRIZES.index(name)]))
            parts.append(self.words(396, 15, f"prizes: {left or 'none left'}", anchor="end"))
        parts += [self.edges(nodes, places), *(self.node(name, *place) for place in places.items())]
        label = f"resolve {name}" if view.asked == "start" else ""
        edge = paint.ink if view.at_hand == name else ""
        return self.box((0, 0, 406, TRACK), paint.panel, *parts, label=label, edge=edge, corner=8)

    def places(self, nodes: tuple[Node, ...]) -> dict[int, Box]:
        """The boxes of the nodes: nodes that are equally many steps from the start are above one another."""
        by_step, places, x = stages(nodes), {}, 10.0
        wanted = [24, *(max(38, 6 + self.row(node.gains)[0]) for node in nodes[1:])]
        widths = [max(wanted[number] for number in stage) for stage in by_step]
        gaps = [1 + any(edge.cost for n in stage for edge in nodes[n].edges) for stage in by_step[:-1]]
        shrink = min(1.0, (386 - 7 * len(gaps)) / sum(widths))
        gap = (386 - shrink * sum(widths)) / sum(gaps)
        for stage, across, following in zip(by_step, widths, [*gaps, 0], strict=True):
            for i, number in enumerate(stage):
                height = NODE if number else 6 + 19 * self.view.num_players
                middle = 25 + (TRACK - 15) * (i + 0.5) / len(stage)
                places[number] = x, middle - height / 2, shrink * across, height
            x += shrink * across + gap * following
        return places

    @draw.group
    def edges(self, nodes: tuple[Node, ...], places: dict[int, Box]) -> Parts:
        """The ways between the nodes, with their costs; those that pass by other nodes are bent."""
        paint, costs = self.paint, []
        for number, edges in enumerate(ways(nodes)):
            for way, (to, cost) in enumerate(edges):
                (left, top, width, height), (end, down, _, other) = places[number], places[to]
                start, a, b = left + width, top + height / 2, down + other / 2
                half, targets = (start + end) / 2, {to for to, _ in edges}
                bent = len(targets) < len(edges) or any(start < x < end for x, *_ in places.values())
                bend = bent * (-50 if way < len(edges) - 1 else 50)
                path = f"M{start:g} {a:g}C{half:g} {a + bend:g} {half:g} {b + bend:g} {end:g} {b:g}"
                yield draw.tag("path", d=path, fill="none", stroke=paint.faint, stroke_width=2.5)
                if cost:
                    box = half - 9.5, (a + b) / 2 + 0.75 * bend - 9.5, 19.0, 19.0
                    title = f"this way costs {count(cost, 'coin')}"
                    costs.append(
                        self.chip(box, cost, paint.coin, LIGHT.ink, 9.5, title=title, edge=paint.line)
                    )
        yield from costs

    def node(self, track: str, number: int, box: Box) -> str:
        """A node with its gains and the pieces above it; at the start they are inside."""
        view, paint, (_, _, width, height) = self.view, self.paint, box
        nodes, middle = view.tables.track(track), width / 2
        parts = [self.gains(nodes[number].gains, middle, height / 2, width - 6)]
        here = [p for p, pieces in enumerate(view.tracks) if pieces[TRACKS.index(track)] == number]
        for i, player in enumerate(here):
            x, y = (middle + 18 * i - 9 * (len(here) - 1), -6) if number else (12, 12.5 + 19 * player)
            parts.append(self.piece(x, y, player))
        targets = zip(view.edges(track), ("upper", "lower"), strict=False) if view.at_hand == track else ()
        legal = (way for (to, _), way in targets if to == number and f"advance {way}" in self.look.legal)
        way = next(legal, "")
        return self.box(
            box,
            paint.tile if number == len(nodes) - 1 else paint.board,
            *parts,
            self.name(middle, -6 if way == "upper" else 33, way) if way else "",
            title=wording.step(nodes, number),
            label=f"advance {way}",
            last=self.last == f"track {track}" and self.look.by in here,
            corner=11,
        )

    # the players

    def panel(self, player: int, width: float) -> str:
        """What belongs to a player; others' actions are not marked in it."""
        look, last = self.look, self.last if player == self.look.by else ""
        own = look if player == self.view.current_player else look._replace(legal={})
        return _Panel(self.view, own, self.paint, last, player, width).whole()

    @draw.group
    def legend(self) -> Parts:
        """The names of icons, and what else the picture does not explain."""
        in_line, faint = 3 if self.look.compact else len(LEGEND), self.paint.faint
        for place, (kind, words) in enumerate(LEGEND.items()):
            x, y = self.wide / in_line * (place % in_line), 24 * (place // in_line)
            yield icon(kind, x + 10, y, 21, self.paint) + self.words(x + 25, y, words, fill=faint)
        columns = ", ".join(map("{} {}".format, LEVELS[1:], self.view.tables.columns))
        notes = (
            f"full column of a garden, by its highest plant: {columns} · tasks: first the basic, then the "
            "special one · animals: points of the first to fifth"
        )
        yield from self.lines(0, y + 26, notes, self.wide // 6, fill=faint)


@dataclass(frozen=True)
class _Panel(_Picture):
    """The panel of a player, and its parts.

    Attributes:
        player: the seat.
        width: of the panel.
    """

    player: int
    width: float

    @property
    def pitch(self) -> float:
        """How far the columns of the garden are apart."""
        return min(62.0, self.width / 7.2)

    def whole(self) -> str:
        """Name, score, counts, garden, tasks, and what the player holds."""
        view, paint, player, width = self.view, self.paint, self.player, self.width
        asked = view.asked != "over" and player == view.current_player
        return self.box(
            (0, 0, width, PANEL),
            paint.panel,
            self.piece(21, 21, player, DISC, last=self.last == "player"),
            self.bold(40, 21, f"player_{player}", 16),
            self.bold(width - 12, 21, view.scores[player], 26, anchor="end"),
            moved(12, 54, self.row([f"coins {view.coins[player]}", f"card {view.num_cards(player)}"])[1]),
            moved(width - 133, 54, self.animals()),
            moved(20, 90, self.garden()),
            moved(12, 398, self.held()),
            edge=self.livery(player) if asked else "",
            thick=3 if asked else 1,
            corner=8,
        )

    @draw.group
    def animals(self) -> Parts:
        """The points of the animals; those that have scored are dark."""
        yield icon("animal", 0, 0, 20, self.paint)
        for place, points in enumerate(self.view.tables.animals):
            done = place < self.view.animals[self.player]
            title = f"animal {place + 1}: {count(points, 'point')}" + ", scored" * done
            yield self.points((15.5 + 21.5 * place, -10, 20, 20), points, done, corner=10, title=title)

    @draw.group
    def garden(self) -> Parts:
        """The beds and crossings with the numbers of rows and columns, the points of full columns, the tasks."""
        view, paint, pitch = self.view, self.paint, self.pitch
        yield self.box((-4, -4, 4 * pitch - 1, ROWS * ROW), paint.board, corner=8)
        for row in range(ROWS):
            yield self.centred(-13, ROW * row + 24, row, fill=paint.faint)
        for column in range(COLUMNS):
            x, y = pitch * (column + 0.5) - 4.5, ROWS * ROW + 9
            yield self.centred(x, -13, column, fill=paint.faint)
            points = view.column_points(view.gardens[self.player], column)
            yield self.points((x - 13, y - 9, 26, 18), points or "–", points > 0)
        yield from map(self.bed, range(BEDS))
        yield from map(self.crossing, range(len(CROSSINGS)))
        yield from self.tasks(4 * pitch + 2)

    def tasks(self, x: float) -> Parts:
        """The basic and the special task of each row, from x to the right, and a heading for the columns' points."""
        view, own, width = self.view, self.view.tasks[self.player], self.width - 27 - x
        given = ROWS - own.count(-1)
        yield self.heading(x, -13, "tasks") + self.heading(x, ROWS * ROW + 9, "full columns")
        for row, number in enumerate(own):
            basic, special = view.tables.basic[row], view.tables.special[number] if number >= 0 else None
            yield self.task((x, ROW * row, width, 22), "basic", basic, view.basic_done[self.player][row])
            last = self.last == "assign" and given - (given == ROWS) <= row + 1 <= given
            box = x, ROW * row + 24, width, 22
            yield self.task(box, "special", special, view.special_done[self.player][row], last)

    def bed(self, number: int) -> str:
        """A bed and its plant, its soil darker if the Gardener reaches it; "" where there is none."""
        level, paint = self.view.gardens[self.player][number], self.paint
        if level < 0:
            return ""
        row, column = divmod(number, COLUMNS)
        near, name = number in self.view.reach(self.player), f"{row},{column}"
        width, height = self.pitch - 9, ROW - 9
        what, drawn = "empty bed", soil(0, 0, width, height, paint)
        if level:
            what, numeral = f"plant {LEVELS[level]}", self.bold_centred(width / 2, height - 7, LEVELS[level])
            drawn = plant(level, width / 2, 18, 30, paint) + numeral
        return self.box(
            (self.pitch * column, ROW * row, width, height),
            paint.reach if near else paint.bed,
            drawn,
            self.name(width / 2, 13, name),
            title=f"{what} at {name}" + ", in reach" * near,
            label=f"bed {name}",
            last=self.last == f"bed {name}",
            edge=paint.furrow,
        )

    def crossing(self, number: int) -> str:
        """A crossing: the Gardener, a way to go there with its price, or a dot."""
        view, paint, (r, c) = self.view, self.paint, CROSSINGS[number]
        steps, name, label = DISTANCE[view.gardeners[self.player], number], f"{r},{c}", f"walk {r},{c}"
        if not steps:
            drawn = self.piece(0, 0, self.player, DISC, title=f"Gardener at {name}", last=self.last == "walk")
            drawn += icon("hat", 0, -12, 24, paint)
        elif label in self.look.legal:
            words = name if self.look.names else steps if view.asked == "start" else ""
            drawn = self.chip((-13.5, -13.5, 27, 27), words, "", label=label, corner=13.5)
        else:
            drawn = self.box((-2.5, -2.5, 5, 5), paint.edge) + self.name(0, 0, name)
        return moved(self.pitch * (c + 1) - 4.5, ROW * (r + 1) - 4.5, drawn)

    def task(
        self,
        box: Box,
        sort: str,
        task: Task | None,
        done: bool = False,
        last: bool = False,
        label: str = "",
    ) -> str:
        """A task, basic or special: the plants that it asks for and its points."""
        paint, (_, _, width, height) = self.paint, box
        fill = paint.board if sort == "basic" else paint.tile
        words, parts = f"{sort} task: not yet assigned", [self.centred(width / 2, height / 2, "?")]
        if task:
            words = f"{sort} task: {wording.task(task)}" + ", done" * done
            points = self.points((width - 22, height / 2 - 9, 20, 18), task.points, done)
            parts = [moved(2, height / 2, self.wanted(task, width - 25)), points]
        if label:
            parts.append(self.name(width / 2, height, label.removeprefix("assign ")))
        return self.box(
            box, fill, *parts, title=words, label=label, last=last, edge=paint.done if done else ""
        )

    @draw.group
    def wanted(self, task: Task, width: float) -> Parts:
        """The plants that a task asks for, one chip each."""
        plants = [level for level, n in enumerate(task.plants, 1) for _ in range(n)]
        pitch = min(24.0, width / max(4, len(plants)))
        for place, level in enumerate(plants):
            box, fill = (pitch * place, -8.5, pitch - 1, 17), self.paint.level[level - 1]
            yield self.chip(box, LEVELS[level], fill, self.paint.on_level, edge=self.paint.faint)

    @draw.group
    def held(self) -> Parts:
        """The tasks to assign, at the end the score sheet, else the hand."""
        view, hand, width = self.view, self.view.hands[self.player], self.width - 24
        if view.asked == "over":
            for place, (what, points) in enumerate(view.score_sheet(self.player).items()):
                yield self.words(width / 2 * (place // 3), 8 + 24 * (place % 3), f"{what} {points}", 13)
        elif dealt := view.unassigned(self.player):
            yield self.heading(0, 0, f"special task for row {view.tasks[self.player].index(-1)}")
            for place, (j, number) in enumerate(dealt.items()):
                box = width / 3 * (place % 3), 11 + 34 * (place // 3), width / 3 - 4, 29
                yield self.task(box, "special", view.tables.special[number], label=f"assign {j}")
        elif isinstance(hand, int):
            yield self.heading(0, 0, count(hand, "hidden card"))
        else:
            yield from self.hand(hand)

    def hand(self, hand: Sequence[int]) -> Parts:
        """Cards in hand by kind, with their actions and numbers; below them, the button to sell one."""
        board = self.paint.board
        cards = [(n, card.action) for n, card in zip(hand, self.view.tables.cards, strict=True) if n]
        yield self.heading(0, 0, "cards in hand" if cards else "no cards in hand")
        pitch = min(52, (self.width - 18) / max(len(cards), 1))
        for place, (n, action) in enumerate(cards):
            parts = [self.gains([action], 23, 14, 42), self.centred(23, 32, f"x{n}")]
            yield self.box((pitch * place, 12, 46, 40), board, *parts, label=f"use {action}")
            if f"sell {action}" in self.look.legal:
                box = pitch * place, 55, 46, 27
                yield self.chip(box, f"sell +{COINS_FOR_SALE}", board, label=f"sell {action}")
