"""Pictures of Cacti, drawn from what one seat sees (`snapshots.seen`): `svg` for notebooks and pages, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from math import cos, pi, sin
from types import SimpleNamespace
from typing import Any, NamedTuple

from cacti_env.cards import MIDDLE, NUM_PLAYERS, Arrangement, Cards
from cacti_env.describing import cacti, counted, find_arrangement, left_over
from cacti_env.snapshots import HALVES
from garden_core.render import svg as draw
from garden_core.render.svg import Look

Parts = Iterator[str]
"""SVG elements."""


class Palette(NamedTuple):
    """The colours of a picture, by default light; cacti and the ground of their cards are by type, liveries by player."""

    ink: str = "#33302d"
    faint: str = "#665c53"
    paper: str = "#f4f1e8"
    card: str = "#ffffff"
    edge: str = "#d9cfc0"
    back: str = "#5d6f4c"
    gold: str = "#8a5a00"  # edge of clickable parts
    last: str = "#0b61c4"  # what the last action changed
    grounds: tuple[str, ...] = ("#dcefdc", "#f9e6d1", "#d6e9f1", "#f6dde9", "#ece6f8", "#f7f1cf")
    outline: str = "#33302d"
    cacti: tuple[str, ...] = ("#2a7a3c", "#d9771f", "#3680b0", "#9c2a5e", "#b09ae0", "#ecd95a")
    livery: tuple[str, ...] = ("#6b3fa0", "#00737b")
    on_livery: str = "#ffffff"


LIGHT = Palette()
DARK = Palette(
    ink="#f3ece4",
    faint="#b9aca0",
    paper="#1f1c18",
    card="#2d2924",
    edge="#544c42",
    back="#4c5c3d",
    gold="#ffd166",
    last="#6fb1ff",
    grounds=("#1f4429", "#5a3a18", "#1c4058", "#552039", "#40365c", "#57501c"),
    outline="#171411",
    cacti=("#3f9a55", "#e58a35", "#3d97cf", "#d45b93", "#c9b8f4", "#f2e47a"),
    livery=("#9d7cff", "#1fcfe8"),
    on_livery="#14170f",
)


def text(view: SimpleNamespace, cards: Cards, labels: Sequence[str]) -> str:
    """Return the position as plain text that a person can play from.

    Args:
        view: what one seat sees, the keys of `snapshots.seen` as attributes.
        cards: the printed cards.
        labels: labels of the legal actions to list.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    width = 13 if len(cards.types) < 6 else 12

    def row(name: str, entries: Sequence[object]) -> str:
        return f"{name:<26}" + "".join(f"{entry or '-':>{width}}" for entry in entries)

    lines = [_status(view), "", row("", cards.types), row("middle", view.middle)]
    for p in range(NUM_PLAYERS):
        lines.append(row(f"player_{p}: Nursery", view.nurseries[p]))
        special = view.special[p]
        lines.append(row("  under Special Planter", special) if special else "  Special Planter not used")
    ahead = [cards.types[t] for t in view.deck or ()]
    ahead_words = f", next: {', '.join(ahead[:3])}" if ahead else ""
    lines += [
        row("discards", view.discards),
        "",
        f"Cacti deck: {view.cards_left} cards{ahead_words}{' ...' if len(ahead) > 3 else ''}",
        f"Arrangement deck: {view.arrangements_left} cards{', top:' if view.top else ''}",
        *(f"  {_basic_in_words(k, cards)}" for k in view.top),
    ]
    for p in range(NUM_PLAYERS):
        bonus = "hidden" if view.bonus[p] is None else cards.types[view.bonus[p]]
        lines += ["", f"player_{p}: {_score(view, p)}", f"  = {_sheet(view, p)}", f"  Bonus Planter: {bonus}"]
        if view.starting_in_hand[p]:
            lines.append(f"  in hand: starting: {_in_words(cards.starting, cards)}")
        for k in view.basic_in_hand[p]:
            card = "a Basic Arrangement, hidden" if k is None else _basic_in_words(k, cards)
            lines.append(f"  in hand: {card}")
        lines += _listed("  planted: ", [_planted(card, cards) for card in view.planted[p]])
    if labels:
        lines += ["", *_listed("legal: ", labels)]
    return "\n".join(line.rstrip() for line in lines).replace("\xa0", " ")


# --- words of text and picture ---


def _status(view: SimpleNamespace) -> str:
    if view.asked == "over":
        cap = f"stopped by the cap of {view.decisions} decisions, scored as it stands"
        return f"{cap if view.truncated else 'game over'}: {view.scores[0]} to {view.scores[1]}"
    unused = view.special[view.current_player] is None
    what = {
        "action": f"to grow{', plant or use the Special Planter' if unused else ' or plant'}",
        "response": f"to respond to player_{view.active_player}: grow or plant",
        "last_card": "to take or leave the opening card",
    }[view.asked]
    return f"player_{view.current_player} {what}{' (last turn)' if view.last_turn else ''}"


def _score(view: SimpleNamespace, player: int) -> str:
    if view.scores[player] is None:
        return f"{counted(sum(view.sheets[player].values()), 'point')} on the table"
    return f"score {view.scores[player]}" + ("" if view.asked == "over" else " if the game ended now")


def _sheet(view: SimpleNamespace, player: int) -> str:
    """The parts of a score, as far as they are open, and how the penalty comes about."""
    total = ""
    for part, points in view.sheets[player].items():
        total += f" {'-' if part == 'left_over' else '+'} {part.replace('_', ' ')} {abs(points)}"
    total = total.removeprefix(" + ")
    if view.bonus[player] is None:
        return f"{total} (the rest is counted in the end)"
    left = left_over(view.nurseries[player], view.bonus[player])
    return f"{total} (cacti {sum(left)} x types {len(left)})" if left else total


def _listed(head: str, items: Sequence[str]) -> list[str]:
    """Lines of `items`, none of which is broken over two; no line if there are none."""
    whole = "; ".join(item.replace(" ", "\xa0") for item in items)
    return textwrap.wrap(f"{head}{whole}", 100, subsequent_indent=" " * len(head)) if items else []


def _in_words(arrangement: Arrangement, cards: Cards) -> str:
    return f"{cacti(arrangement.cost, cards)} = {arrangement.points}"


def _basic_in_words(k: int, cards: Cards) -> str:
    basic = cards.basic[k]
    return f"basic {k}: upper {_in_words(basic.upper, cards)}, lower {_in_words(basic.lower, cards)}"


def _planted(card: Sequence[Any], cards: Cards) -> str:
    name = "starting" if card[0] == "starting" else f"basic {card[0]} {card[1]}"
    return f"{name} = {find_arrangement(card, cards).points}"


# --- picture ---

CARD, HALF = (58, 80), (210, 42)  # width and height
PLANTED, PLANTED_LARGE = (104, 32), (158, 47)  # of a planted Arrangement with its gap


def svg(view: SimpleNamespace, cards: Cards, look: Look, by_value: bool) -> str:
    """Return the position as a picture.

    Args:
        view: what one seat sees, the keys of `snapshots.seen` as attributes.
        cards: the printed cards.
        look: style of the picture and marked actions.
        by_value: whether actions plant what is offered, instead of a card of the data file.

    Returns:
        A self-contained SVG document, 980 x 724 or, compact, 440 wide.
    """
    return _Picture(view, cards, look, DARK if look.dark else LIGHT, by_value).document()


class _Picture(NamedTuple):
    """A picture and its parts; each of them is drawn from x, y to the right and down."""

    view: SimpleNamespace
    cards: Cards
    look: Look
    paint: Palette
    by_value: bool

    def document(self) -> str:
        """The whole picture: the table, each player's panel, the status."""
        types = len(self.cards.types)
        if self.look.compact:
            width, table = 440, [(14, 20), (368, 20), (14, 142), (218, 142)]
            across = 4 if types == 4 else 3
            legend = self.legend(24, 262, (width - 30) / across, across)
            y = 276 + 26 * -(-types // across)
            status = textwrap.wrap(_status(self.view), 50)
        else:
            width, table = 980, [(24, 20), (386, 20), (476, 20), (738, 20)]
            legend = self.legend(34, 148, (width - 60) / types, types)
            y, status = 178, [_status(self.view)]
        drawers = self.middle, self.deck, self.discards, self.arrangement_deck
        parts = [drawer(*place) for drawer, place in zip(drawers, table, strict=True)]
        parts.append(legend)
        for player in range(NUM_PLAYERS):
            height = self.panel_height(player)
            parts += self.panel(player, y, width, height)
            y += height + (10 if self.look.compact else 12)
        x, down, size = (14, y + 12, 15) if self.look.compact else (24, y + 16, 16)
        parts += [self.words(x, down + 20 * i, line, size) for i, line in enumerate(status)]
        return draw.document(width, y + 14 + 20 * len(status), *parts, background=self.paint.paper)

    def panel_height(self, player: int) -> int:
        """The height of a player's panel; a compact one grows with the planted Arrangements."""
        return 290 + PLANTED[1] * -(-len(self.view.planted[player]) // 4) if self.look.compact else 244

    def panel(self, player: int, y: float, width: float, height: float) -> Parts:
        """All that belongs to a player."""
        if self.look.compact:
            edge, x, bonus, hand, planted, foot, columns = 6, 20, 150, (218, 58), (18, 232), 26, 72
        else:
            edge, x, bonus, hand, planted, foot, columns = 16, 34, 164, (370, 58), (630, 58), 14, 980
        yield self.frame(player, edge, y, width - 2 * edge, height)
        yield self.nursery(player, x, y + 58)
        yield self.special(player, x, y + 118)
        yield self.bonus(player, bonus, y + 118)
        if self.view.asked == "over" and not self.look.compact:
            yield self.final(player, 250, y + 118)
        yield self.hand(player, hand[0], y + hand[1])
        yield self.planted(player, planted[0], y + planted[1])
        for i, line in enumerate(textwrap.wrap(_sheet(self.view, player), columns)):
            yield self.words(x, y + height - foot + 15 * i, line, 12)

    # parts of the table

    @draw.group
    def middle(self, x: float, y: float) -> Parts:
        """The cards in the middle; clicking a type grows it."""
        yield self.head(x, y, "Middle")
        place = 0
        for t, n in enumerate(self.view.middle):
            name, left = self.cards.types[t], x + 66 * place
            label, gaps = f"grow {name}", ""
            chosen = label in self.look.legal
            if chosen:  # the gaps between the cards are clickable too
                gaps = draw.tag(
                    "rect",
                    x=left,
                    y=y + 14,
                    width=66 * (n - 1) + CARD[0],
                    height=CARD[1],
                    fill="none",
                    pointer_events="all",
                )
            drawn = [
                draw.title(name) + self.card(left + 66 * i, y + 14, *CARD, t, 22, chosen) for i in range(n)
            ]
            if drawn:
                yield draw.target(self.look, label, gaps, *drawn)
            place += n
        for empty in range(place, MIDDLE):
            yield draw.box(x + 66 * empty, y + 14, *CARD, 7, self.paint.edge, 1, self.paint.paper)

    def deck(self, x: float, y: float) -> str:
        """The Cacti deck; clicking it takes the opening card of the last turn."""
        left, label = self.view.cards_left, "take card"
        back = self.back(x, y + 14, *CARD, left, label in self.look.legal)
        words = draw.title(f"Cacti deck: {counted(left, 'card')}")
        return self.head(x, y, "Cacti deck") + draw.target(self.look, label, words, back)

    def discards(self, x: float, y: float) -> str:
        """The discards; clicking them leaves the opening card of the last turn."""
        label, types = "leave card", len(self.cards.types)
        across = (2 if types < 5 else 3) if self.look.compact else 4
        place = x - 4, y + 14, 48.0 * across + 8, 40.0 * -(-types // across)
        shown = draw.title("discards")
        if label in self.look.legal:
            shown += draw.box(*place, 7, self.paint.gold, 2.6, self.paint.card)
        for t, n in enumerate(self.view.discards):
            shown += self.amount(x + 14 + 48 * (t % across), y + 34 + 40 * (t // across), t, n, 11)
        if self.look.last == label:
            shown += self.last(*place)
        return self.head(x, y, "Discards") + draw.target(self.look, label, shown)

    @draw.group
    def arrangement_deck(self, x: float, y: float) -> Parts:
        """The Arrangement deck, whose top card is open."""
        yield self.head(x, y, f"Arrangement deck: {counted(self.view.arrangements_left, 'card')}")
        for k in self.view.top:
            yield self.basic(x, y + 14, k, "open")

    @draw.group
    def legend(self, x: float, y: float, step: float, across: int) -> Parts:
        """The names of the types."""
        for t, name in enumerate(self.cards.types):
            left, down = x + step * (t % across), y + 26 * (t // across)
            yield self.cactus(left, down, 9, t)
            yield self.words(left + 16, down, name if len(name) <= 18 else f"{name[:17]}…")

    # parts of a player's panel

    @draw.group
    def frame(self, player: int, x: float, y: float, width: float, height: float) -> Parts:
        """A player's panel: name, score and what the player must do."""
        view, paint, compact = self.view, self.paint, self.look.compact
        asked = view.asked != "over" and player == view.current_player
        active = view.asked != "over" and player == view.active_player
        edge, thick = (paint.livery[player], 4) if asked else (paint.edge, 1.5)
        points, _, unit = _score(view, player).removeprefix("score ").partition(" ")
        doing = "responds" if asked and not active else "to act" if asked else "turn" if active else ""
        yield draw.box(x, y, width, height, 10, edge, thick, paint.card)
        yield draw.tag("circle", cx=x + 28, cy=y + 26, r=13, fill=paint.livery[player])
        yield self.words(x + 28, y + 26, player, 14, paint.on_livery, "middle", bold=True)
        yield self.words(x + 48, y + 26, f"player_{player}", 16, bold=asked)
        yield self.words(x + 124, y + 26, doing, bold=True)
        right = x + width - 16 if compact else x + 290
        yield self.words(right, y + 26, points, 24, anchor="end", bold=True)
        end = right - 10 - 14 * len(points) if compact else right + 8
        yield self.words(end, y + 27, unit or "points", 12, paint.faint, "end" if compact else None)

    @draw.group
    def nursery(self, player: int, x: float, y: float) -> Parts:
        """The Nursery: a cactus and a number for each type, in one line."""
        types, last = self.cards.types, self.last_by(player)
        step = min(50.0, (192 if self.look.compact else 310) / len(types))
        yield self.head(x, y, "Nursery")
        for t, n in enumerate(self.view.nurseries[player]):
            left = x + 12 + step * t
            yield self.amount(left, y + 28, t, n, 11 if step > 40 else 7)
            if last == f"grow {types[t]}":
                yield self.last(left - 14, y + 12, step - 2, 33)
        if last == "take card":  # its type is not shown
            yield self.last(x - 2, y + 12, step * len(types) - 2, 33)

    @draw.group
    def special(self, player: int, x: float, y: float) -> Parts:
        """The Special Planter: the cacti under it, or the types that can be chosen."""
        paint, types, under = self.paint, self.cards.types, self.view.special[player]
        yield self.head(x, y, "Special Planter")
        if under is not None:
            n = max(under)
            t = under.index(n)
            yield self.card(x, y + 14, 100, 76, t, 18, across=32)
            yield self.words(x + 62, y + 52, n, 20, bold=True)
            yield draw.title(f"Special Planter: {n} {types[t]}")
            if self.last_by(player).startswith("special "):
                yield self.last(x, y + 14, 100, 76)
            return
        labels = [f"special {name}" for name in types] if player == self.view.current_player else []
        chosen = [t for t, label in enumerate(labels) if label in self.look.legal]
        yield draw.box(x, y + 14, 100, 76, 7, *self.edge(bool(chosen), 2.6), paint.card)
        if not chosen:
            yield self.words(x + 50, y + 52, "not used", fill=paint.faint, anchor="middle")
        for i, t in enumerate(chosen):
            left, down = x + 19 + 31 * (i % 3), y + (52 if len(chosen) < 4 else 34 + 36 * (i // 3))
            ground = draw.box(left - 15, down - 16, 30, 32, 6, paint.edge, 1, paint.grounds[t])
            yield draw.target(self.look, labels[t], ground, self.cactus(left, down, 11, t))

    @draw.group
    def bonus(self, player: int, x: float, y: float) -> Parts:
        """The Bonus Planter."""
        t, size = self.view.bonus[player], (CARD[0], 76)
        yield self.head(x, y, "Bonus")
        yield draw.title(f"Bonus Planter: {'hidden' if t is None else self.cards.types[t]}")
        yield self.back(x, y + 14, *size, "?") if t is None else self.card(x, y + 14, *size, t, 19)

    @draw.group
    def hand(self, player: int, x: float, y: float) -> Parts:
        """The Arrangements in hand."""
        starting, basic = self.view.starting_in_hand[player], self.view.basic_in_hand[player]
        yield self.head(x, y, "Hand" if starting or basic else "Hand: empty")
        down = y + 14
        own = player == self.view.current_player
        if starting:
            yield self.half(x, down, "starting", self.cards.starting, "starting", own)
            down += 52
        for k in basic:
            yield (
                self.back(x, down, HALF[0], 88, "hidden")
                if k is None
                else self.basic(x, down, k, "hand", own)
            )

    @draw.group
    def final(self, player: int, x: float, y: float) -> Parts:
        """The score sheet, once the game is over."""
        yield self.head(x, y, "Score")
        for row, (part, points) in enumerate(self.view.sheets[player].items()):
            down = y + 22 + 17 * row
            yield self.words(x, down, part.replace("_", " "))
            yield self.words(x + 96, down, points, anchor="end")

    @draw.group
    def planted(self, player: int, x: float, y: float) -> Parts:
        """The planted Arrangements: cost and points; smaller or closer if there are many."""
        planted = self.view.planted[player]
        yield self.head(x, y, "Planted" if planted else "Nothing planted yet")
        if self.look.compact:
            across, rows, (wide, high) = 4, len(planted), PLANTED
        else:
            across, rows, (wide, high) = (2, 4, PLANTED_LARGE) if len(planted) <= 8 else (3, 6, PLANTED)
        step = min(high, rows * high / max(1, -(-len(planted) // across)))
        width, height, unit = wide - 4, step - 4, (wide - 4) / 100
        for place, card in enumerate(planted):
            left, top = x + wide * (place % across), y + 14 + step * (place // across)
            middle, arrangement = top + height / 2, find_arrangement(card, self.cards)
            yield draw.tag(
                "g",
                draw.title(_planted(card, self.cards)),
                draw.box(left, top, width, height, 5, self.paint.edge, 1.2, self.paint.paper),
                self.cost(left + 4 * unit, middle, 76 * unit, arrangement, 7.5 * unit),
                self.words(
                    left + width - 7, middle, arrangement.points, max(15, 12 * unit), anchor="end", bold=True
                ),
            )
            if place == len(planted) - 1 and self.last_by(player).startswith("plant "):
                yield self.last(left, top, width, height)

    # pieces of these

    def words(
        self,
        x: float,
        y: float,
        words: object,
        size: float = 13,
        fill: str | None = None,
        anchor: str | None = None,
        bold: bool = False,
    ) -> str:
        """Write in the colour of ink, unless `fill` names another one."""
        fill, weight = fill or self.paint.ink, "bold" if bold else None
        return draw.text(x, y, words, size, fill=fill, text_anchor=anchor, font_weight=weight)

    def head(self, x: float, y: float, words: str) -> str:
        """Write the name of a part of the table."""
        return self.words(x, y, words, fill=self.paint.faint)

    def edge(self, chosen: bool, thick: float = 3) -> tuple[str, float]:
        """Colour and width of the edge of a card, which is thick if it is clickable."""
        return (self.paint.gold, thick) if chosen else (self.paint.edge, 1.5)

    def last_by(self, player: int) -> str:
        """The label of the last action if it was this player's, else ""."""
        return self.look.last if self.look.by == player else ""

    def last(self, x: float, y: float, width: float, height: float) -> str:
        """Mark what the last action changed, around a box."""
        return draw.tag(
            "rect", x=x, y=y, width=width, height=height, rx=6, stroke=self.paint.last, **draw.LAST
        )

    def card(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        t: int,
        radius: float,
        chosen: bool = False,
        across: float = CARD[0] / 2,
    ) -> str:
        """A card with one cactus, whose centre is `across` to the right of the card's left edge."""
        ground = draw.box(x, y, width, height, 7, *self.edge(chosen), self.paint.grounds[t])
        return ground + self.cactus(x + across, y + height / 2, radius, t)

    def back(
        self, x: float, y: float, width: float, height: float, label: object, chosen: bool = False
    ) -> str:
        """The back of a card, with words."""
        edge, thick = (self.paint.gold, 3) if chosen else (self.paint.outline, 1)
        return draw.box(x, y, width, height, 7, edge, thick, self.paint.back) + self.words(
            x + width / 2, y + height / 2, label, 16, "#ffffff", "middle", bold=True
        )

    @draw.group
    def amount(self, x: float, y: float, t: int, n: int, radius: float) -> Parts:
        """A cactus and a number."""
        yield draw.title(f"{n} {self.cards.types[t]}")
        yield self.cactus(x, y, radius, t, faint=n == 0)
        fill = None if n else self.paint.faint
        yield self.words(x + radius + 3, y, n, 14, fill, bold=n > 0)

    @draw.group
    def basic(self, x: float, y: float, k: int, place: str, own: bool = True) -> Parts:
        """A Basic Arrangement with both halves; `place` names it in actions by value."""
        for number, half in enumerate(HALVES):
            name = f"{k} {half}" if self.look.names else f"{k}"
            arrangement = getattr(self.cards.basic[k], half)
            which = f"{place if self.by_value else f'basic {k}'} {half}"
            yield self.half(x, y + 44 * number, name, arrangement, which, own)

    def half(
        self, x: float, y: float, name: str, arrangement: Arrangement, which: str, own: bool = True
    ) -> str:
        """An Arrangement's cost and points; the player to move clicks it to plant it."""
        label = f"plant {which}" if own else ""
        first = 30 if len(name) < 3 else 18 + 6.2 * len(name)
        return draw.target(
            self.look,
            label,
            draw.title(f"{which}: {_in_words(arrangement, self.cards)}"),
            draw.box(x, y, *HALF, 6, *self.edge(label in self.look.legal), self.paint.card),
            self.head(x + 8, y + 21, name),
            self.cost(x + first, y + 21, HALF[0] - 30 - first, arrangement, 10),
            self.words(x + HALF[0] - 10, y + 21, arrangement.points, 18, anchor="end", bold=True),
        )

    @draw.group
    def cost(self, x: float, y: float, width: float, arrangement: Arrangement, radius: float) -> Parts:
        """The cost of an Arrangement: each type with its number if that is not 1; smaller if there are many."""
        asked = [(t, n, 4.2 if n > 1 else 2.7) for t, n in enumerate(arrangement.cost) if n]
        radius *= min(1.0, width / sum(radius * room for _, _, room in asked))
        for t, n, room in asked:
            yield self.cactus(x + radius, y, radius, t)
            if n > 1:
                yield self.words(x + 2.25 * radius, y, n, max(12, 1.3 * radius))
            x += radius * room

    def cactus(self, x: float, y: float, r: float, t: int, faint: bool = False) -> str:
        """A cactus, distinct in colour and shape: round, paddles, column, star, pair, drop."""
        colour, outline, opacity = self.paint.cacti[t], self.paint.outline, 0.35 if faint else None
        drawn: dict[str, Any] = {"fill": colour, "stroke": outline, "stroke_width": 1, "opacity": opacity}

        def oval(dx: float, dy: float, rx: float, ry: float) -> str:
            return draw.tag("ellipse", cx=x + dx * r, cy=y + dy * r, rx=rx * r, ry=ry * r, **drawn)

        if t == 0:
            return oval(0, 0, 0.9, 0.9) + oval(0, 0, 0.4, 0.9)
        if t == 1:
            return oval(0, 0.4, 0.5, 0.6) + oval(-0.5, -0.45, 0.38, 0.5) + oval(0.5, -0.45, 0.38, 0.5)
        if t == 2:
            path = f"M{x - 0.75 * r:.2f} {y - 0.4 * r:.2f}v{0.5 * r:.2f}h{1.5 * r:.2f}v{-0.6 * r:.2f}"
            stroke: dict[str, Any] = {"stroke": colour, "stroke_width": 0.3 * r, "opacity": opacity}
            trunk = {"x": x - 0.28 * r, "y": y - r, "width": 0.56 * r, "height": 2 * r, "rx": 0.28 * r}
            return draw.tag("path", fill="none", **stroke, d=path) + draw.tag("rect", **trunk, **drawn)
        if t == 3:
            star = [(1.0 if k % 2 else 0.45, pi * k / 6) for k in range(12)]
            return draw.polygon([(x + a * r * sin(w), y + a * r * cos(w)) for a, w in star], **drawn)
        if t == 4:
            return oval(-0.45, 0.1, 0.42, 0.85) + oval(0.45, -0.1, 0.42, 0.85)
        drop = [(0, -1), (0.75, 0.3), (0, 1), (-0.75, 0.3)]
        return draw.polygon([(x + dx * r, y + dy * r) for dx, dy in drop], **drawn)
