"""Pictures of Cacti, drawn from what one seat sees (`snapshots.seen`): `svg` for notebooks and pages, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

from cacti_env.cards import MIDDLE, NUM_PLAYERS, Arrangement, Cards
from cacti_env.describing import cacti, find_arrangement
from cacti_env.snapshots import HALVES
from garden_core import svg as draw
from garden_core.svg import LOOK, Look


class Palette(NamedTuple):
    """The colours of a picture; cacti and the ground of their cards are listed by type, liveries by player."""

    ink: str
    faint: str
    paper: str
    card: str
    edge: str
    back: str
    gold: str  # what can be chosen
    last: str  # what the last action changed
    grounds: tuple[str, ...]
    outline: str = "#33302d"
    cacti: tuple[str, ...] = ("#2a7a3c", "#d9771f", "#3680b0", "#9c2a5e", "#b09ae0", "#ecd95a")
    livery: tuple[str, ...] = ("#6b3fa0", "#00737b")
    on_livery: str = "#ffffff"


LIGHT = Palette(
    ink="#33302d",
    faint="#665c53",
    paper="#f4f1e8",
    card="#ffffff",
    edge="#d9cfc0",
    back="#5d6f4c",
    gold="#8a5a00",
    last="#0b61c4",
    grounds=("#dcefdc", "#f9e6d1", "#d6e9f1", "#f6dde9", "#ece6f8", "#f7f1cf"),
)
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


def text(view: dict[str, Any], cards: Cards, labels: Sequence[str] = ()) -> str:
    """The position as plain text that a person can play from.

    Args:
        view: what is shown, as `snapshots.seen` gives it.
        cards: the cards it is played with.
        labels: the legal actions in words, which are listed.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    width = 13 if len(cards.types) < 6 else 12

    def row(name: str, counts: Sequence[int] | None) -> str:
        numbers = "" if counts is None else "".join(f"{n or '-':>{width}}" for n in counts)
        return f"{name:<26}{numbers}"

    lines = [_status(view), "", row("", None) + "".join(f"{name:>{width}}" for name in cards.types)]
    lines.append(row("middle", view["middle"]))
    for p in range(NUM_PLAYERS):
        lines.append(row(f"player_{p}: Nursery", view["nurseries"][p]))
        special = view["special"][p]
        lines.append(row("  under Special Planter", special) if special else "  Special Planter not used")
    lines += [row("discards", view["discards"]), ""]
    lines.append(f"Cacti deck: {view['cards_left']} cards{_next_cards(view, cards)}")
    lines.append(f"Arrangement deck: {view['arrangements_left']} cards" + (", top:" if view["top"] else ""))
    lines += [f"  {_told(k, cards)}" for k in view["top"]]
    for p in range(NUM_PLAYERS):
        bonus = "hidden" if view["bonus"][p] is None else cards.types[view["bonus"][p]]
        lines += ["", f"player_{p}: {_score(view, p)}", f"  = {_sheet(view, p)}", f"  Bonus Planter: {bonus}"]
        lines += [f"  in hand: {card}" for card in _hand(view, cards, p)]
        lines += _listed("  planted: ", [_planted(card, cards) for card in view["planted"][p]])
    if labels:
        lines += ["", *_listed("legal: ", labels)]
    return "\n".join(line.rstrip() for line in lines).replace("\xa0", " ")


# --- what both say ---


def _status(view: dict[str, Any]) -> str:
    last = " (last turn)" if view["last_turn"] else ""
    if view["asked"] != "over":
        unused = view["special"][view["current_player"]] is None
        special = ", plant or use the Special Planter" if unused else " or plant"
        what = {
            "action": f"to grow{special}",
            "response": f"to respond to player_{view['active_player']}: grow or plant",
            "last_card": "to take or leave the opening card",
        }[view["asked"]]
        return f"player_{view['current_player']} {what}{last}"
    cap = f"stopped by the cap of {view['decisions']} decisions, scored as it stands"
    return f"{cap if view['truncated'] else 'game over'}: {view['scores'][0]} to {view['scores'][1]}"


def _score(view: dict[str, Any], player: int) -> str:
    if view["scores"][player] is None:
        points = sum(view["sheets"][player].values())
        return f"{points} {'point' if points == 1 else 'points'} on the table"
    return f"score {view['scores'][player]}" + ("" if view["asked"] == "over" else " if the game ended now")


def _sheet(view: dict[str, Any], player: int) -> str:
    """The parts of a score, as far as they are open, and what the penalty or the rest comes from."""
    total = ""
    for part, points in view["sheets"][player].items():
        total += f" {'-' if part == 'left_over' else '+'} {part.replace('_', ' ')} {abs(points)}"
    total = total.removeprefix(" + ")
    if view["bonus"][player] is None:
        return f"{total} (the rest is counted in the end)"
    if not view["sheets"][player]["left_over"]:
        return total
    left = [n for t, n in enumerate(view["nurseries"][player]) if n and t != view["bonus"][player]]
    return f"{total} (cacti {sum(left)} x types {len(left)})"


def _listed(head: str, items: Sequence[str]) -> list[str]:
    """Lines of `items`, none of which is broken over two; no line if there are none."""
    whole = "; ".join(item.replace(" ", "\xa0") for item in items)
    return textwrap.wrap(f"{head}{whole}", 100, subsequent_indent=" " * len(head)) if items else []


def _asked_for(arrangement: Arrangement, cards: Cards) -> str:
    return f"{cacti(arrangement.cost, cards)} = {arrangement.points}"


def _told(k: int, cards: Cards) -> str:
    basic = cards.basic[k]
    return f"basic {k}: upper {_asked_for(basic.upper, cards)}, lower {_asked_for(basic.lower, cards)}"


def _planted(card: Sequence[Any], cards: Cards) -> str:
    name = "starting" if card[0] == "starting" else f"basic {card[0]} {card[1]}"
    return f"{name} = {find_arrangement(card, cards).points}"


def _hand(view: dict[str, Any], cards: Cards, player: int) -> Iterator[str]:
    if view["starting_in_hand"][player]:
        yield f"starting: {_asked_for(cards.starting, cards)}"
    for k in view["basic_in_hand"][player]:
        yield "a Basic Arrangement, hidden" if k is None else _told(k, cards)


def _next_cards(view: dict[str, Any], cards: Cards) -> str:
    if not view["deck"]:
        return ""
    shown = view["deck"][:3]
    return ", next: " + ", ".join(cards.types[t] for t in shown) + (" ..." if len(view["deck"]) > 3 else "")


# --- picture ---

CARD, HALF = (58, 80), (210, 42)  # width and height
PLANTED, PLANTED_LARGE = (104, 32), (158, 47)  # of a planted Arrangement with its gap
PANEL, TOP = 244, 178  # of a wide picture: height of a panel, and where the first begins


class _Picture(NamedTuple):
    """What every part of a picture is drawn from."""

    view: dict[str, Any]
    cards: Cards
    look: Look
    paint: Palette

    def words(
        self, x: float, y: float, words: object, size: float = 13, **attributes: str | float | None
    ) -> str:
        """Write in the main colour, unless `fill` says otherwise."""
        return draw.text(x, y, words, size, **{"fill": self.paint.ink, **attributes})

    def head(self, x: float, y: float, words: str) -> str:
        """Write what a part of the table is called."""
        return self.words(x, y, words, fill=self.paint.faint)

    def middle(self, x: float, y: float, words: object, size: float, **attributes: str | float | None) -> str:
        """Write bold around a point."""
        return self.words(x, y, words, size, text_anchor="middle", font_weight="bold", **attributes)


def svg(view: dict[str, Any], cards: Cards, look: Look = LOOK) -> str:
    """The position as a picture.

    Args:
        view: what is shown, as `snapshots.seen` gives it.
        cards: the cards it is played with.
        look: how it is drawn.

    Returns:
        An SVG document, 980 x 720 or, compact, 440 wide, that needs nothing from outside.
    """
    picture = _Picture(view, cards, look, DARK if look.dark else LIGHT)
    return (_compact if look.compact else _wide)(picture)


def _wide(picture: _Picture) -> str:
    width, height = 980, TOP + NUM_PLAYERS * (PANEL + 12) + 34
    view = picture.view
    parts = [
        _middle(picture, 24, 20),
        _deck(picture, 386, 20),
        _discards(picture, 476, 20),
        _arrangement_deck(picture, 738, 20),
        _legend(picture, 34, 148, (width - 60) / len(picture.cards.types)),
    ]
    for player in range(NUM_PLAYERS):
        y = TOP + player * (PANEL + 12)
        parts += [
            _frame(picture, player, 16, y, width - 32, PANEL),
            _nursery(picture, player, 34, y + 58),
            _special(picture, player, 34, y + 118),
            _bonus(picture, player, 164, y + 118),
            _final(picture, player, 250, y + 118),
            _hand_cards(picture, player, 370, y + 58),
            _planted_cards(picture, player, 630, y + 58, 2, 4, PLANTED_LARGE),
            _sheet_line(picture, player, 34, y + PANEL - 14),
        ]
    parts.append(picture.words(24, height - 18, _status(view), 16))
    return draw.document(width, height, *parts, background=picture.paint.paper)


def _compact(picture: _Picture) -> str:
    view, width = picture.view, 440
    across = 4 if len(picture.cards.types) == 4 else 3  # types in a line
    parts = [
        _middle(picture, 14, 20),
        _deck(picture, 368, 20),
        _discards(picture, 14, 142),
        _arrangement_deck(picture, 218, 142),
        _legend(picture, 24, 262, (width - 30) / across, across),
    ]
    y = 276 + 26 * -(-len(picture.cards.types) // across)
    for player in range(NUM_PLAYERS):
        rows = -(-len(view["planted"][player]) // 4)
        height = 290 + PLANTED[1] * rows
        parts += [
            _frame(picture, player, 6, y, width - 12, height),
            _nursery(picture, player, 20, y + 58),
            _special(picture, player, 20, y + 118),
            _bonus(picture, player, 150, y + 118),
            _hand_cards(picture, player, 218, y + 58),
            _planted_cards(picture, player, 18, y + 232, 4, max(rows, 1), PLANTED),
            *(
                picture.words(20, y + height - 26 + 15 * i, line, 12)
                for i, line in enumerate(textwrap.wrap(_sheet(view, player), 72))
            ),
        ]
        y += height + 10
    status = textwrap.wrap(_status(view), 50)
    parts += [picture.words(14, y + 12 + 20 * i, line, 15) for i, line in enumerate(status)]
    return draw.document(width, y + 14 + 20 * len(status), *parts, background=picture.paint.paper)


def _middle(picture: _Picture, x: float, y: float) -> str:
    """The cards in the middle; one clicks those of a type to grow it."""
    parts, place = [picture.head(x, y, "Middle")], 0
    for t, n in enumerate(picture.view["middle"]):
        label = f"grow {picture.cards.types[t]}"
        stands_out = label in picture.look.legal
        drawn = [_card(picture, x + 66 * (place + i), y + 14, t, stands_out) for i in range(n)]
        if stands_out:  # between the cards one can click too
            left, wide = x + 66 * place, 66 * (n - 1) + CARD[0]
            gaps = {"x": left, "y": y + 14, "width": wide, "height": CARD[1]}
            drawn.insert(0, draw.tag("rect", **gaps, fill="none", pointer_events="all"))
        parts.append(draw.target(picture.look, label, *drawn) if drawn else "")
        place += n
    for empty in range(place, MIDDLE):
        parts.append(draw.box(x + 66 * empty, y + 14, *CARD, 7, picture.paint.edge, 1, picture.paint.paper))
    return draw.tag("g", *parts)


def _deck(picture: _Picture, x: float, y: float) -> str:
    """The Cacti deck, where the opening card of the last turn is taken."""
    left, label = picture.view["cards_left"], "take card"
    back = _back(picture, x, y + 14, *CARD, left, label in picture.look.legal)
    words = draw.title(f"Cacti deck: {left} {'card' if left == 1 else 'cards'}")
    return picture.head(x, y, "Cacti deck") + draw.target(picture.look, label, words, back)


def _discards(picture: _Picture, x: float, y: float) -> str:
    """The discards; one clicks them to leave the opening card of the last turn."""
    label, paint = "leave card", picture.paint
    across = (2 if len(picture.cards.types) < 5 else 3) if picture.look.compact else 4
    place = x - 4, y + 14, 48.0 * across + 8, 40.0 * -(-len(picture.cards.types) // across)
    shown = draw.title("discards")
    if label in picture.look.legal:
        shown += draw.box(*place, 7, paint.gold, 2.6, paint.card)
    shown += _counts(picture, x + 14, y + 34, picture.view["discards"], across)
    if picture.look.last == label:
        shown += _last(picture, *place)
    return picture.head(x, y, "Discards") + draw.target(picture.look, label, shown)


def _arrangement_deck(picture: _Picture, x: float, y: float) -> str:
    left = picture.view["arrangements_left"]
    parts = [picture.head(x, y, f"Arrangement deck: {left} {'card' if left == 1 else 'cards'}")]
    parts += [_basic(picture, x, y + 14, k) for k in picture.view["top"]]
    return draw.tag("g", *parts)


def _legend(picture: _Picture, x: float, y: float, step: float, across: int = 6) -> str:
    parts = []
    for t, name in enumerate(picture.cards.types):
        left, down = x + step * (t % across), y + 26 * (t // across)
        shown = name if len(name) <= 18 else f"{name[:17]}…"
        parts += [_cactus(picture.paint, left, down, 9, t), picture.words(left + 16, down, shown)]
    return draw.tag("g", *parts)


def _frame(picture: _Picture, player: int, x: float, y: float, width: float, height: float) -> str:
    """A player's panel: who it is, what is asked of the player, the score."""
    view, paint = picture.view, picture.paint
    asked = view["asked"] != "over" and player == view["current_player"]
    active = view["asked"] != "over" and player == view["active_player"]
    edge, thick = (paint.livery[player], 4) if asked else (paint.edge, 1.5)
    points, _, unit = _score(view, player).removeprefix("score ").partition(" ")
    doing = "responds" if asked and not active else "to act" if asked else "turn" if active else ""
    parts = [
        draw.box(x, y, width, height, 10, edge, thick, paint.card),
        draw.tag("circle", cx=x + 28, cy=y + 26, r=13, fill=paint.livery[player]),
        picture.middle(x + 28, y + 26, player, 14, fill=paint.on_livery),
        picture.words(x + 48, y + 26, f"player_{player}", 16, font_weight="bold" if asked else None),
        picture.words(x + 124, y + 26, doing, font_weight="bold", fill=paint.ink),
    ]
    right = x + width - 16 if picture.look.compact else x + 290
    parts.append(picture.words(right, y + 26, points, 24, text_anchor="end", font_weight="bold"))
    aside = {"text_anchor": "end"} if picture.look.compact else {}
    beside = right - 10 - 14 * len(points) if picture.look.compact else right + 8
    parts.append(picture.words(beside, y + 27, unit or "points", 12, fill=paint.faint, **aside))
    return draw.tag("g", *parts)


def _nursery(picture: _Picture, player: int, x: float, y: float) -> str:
    """The Nursery: a cactus and a number for each type, in one line."""
    types = picture.cards.types
    step = min(50.0, (192 if picture.look.compact else 310) / len(types))
    parts = [picture.head(x, y, "Nursery")]
    for t, n in enumerate(picture.view["nurseries"][player]):
        left = x + 12 + step * t
        parts.append(_count(picture, left, y + 28, t, n, 11 if step > 40 else 7))
        if picture.look.last == f"grow {types[t]}" and picture.look.by == player:
            parts.append(_last(picture, left - 14, y + 12, step - 2, 33))
    if picture.look.last == "take card" and picture.look.by == player:  # of what type is not told
        parts.append(_last(picture, x - 2, y + 12, step * len(types) - 2, 33))
    return draw.tag("g", *parts)


def _special(picture: _Picture, player: int, x: float, y: float) -> str:
    """The Special Planter: what lies under it, or what one clicks to use it."""
    view, paint, types = picture.view, picture.paint, picture.cards.types
    under, own = view["special"][player], player == view["current_player"]
    parts = [picture.head(x, y, "Special Planter")]
    if under is not None:
        t = max(range(len(under)), key=under.__getitem__)
        parts.append(draw.box(x, y + 14, 100, 76, 7, paint.edge, 1.5, paint.grounds[t]))
        parts.append(_cactus(paint, x + 32, y + 52, 18, t))
        parts.append(picture.words(x + 62, y + 52, under[t], 20, font_weight="bold"))
        parts.append(draw.title(f"Special Planter: {under[t]} {types[t]}"))
        if picture.look.last.startswith("special ") and picture.look.by == player:
            parts.append(_last(picture, x, y + 14, 100, 76))
        return draw.tag("g", *parts)
    labels = [f"special {name}" if own else "" for name in types]
    chosen = [t for t, label in enumerate(labels) if label in picture.look.legal]
    edge, thick = (paint.gold, 2.6) if chosen else (paint.edge, 1.5)
    parts.append(draw.box(x, y + 14, 100, 76, 7, edge, thick, paint.card))
    if not chosen:
        parts.append(picture.words(x + 50, y + 52, "not used", text_anchor="middle", fill=paint.faint))
    for i, t in enumerate(chosen):
        left, down = x + 19 + 31 * (i % 3), y + (52 if len(chosen) < 4 else 34 + 36 * (i // 3))
        ground = draw.box(left - 15, down - 16, 30, 32, 6, paint.edge, 1, paint.grounds[t])
        parts.append(draw.target(picture.look, labels[t], ground, _cactus(paint, left, down, 11, t)))
    return draw.tag("g", *parts)


def _bonus(picture: _Picture, player: int, x: float, y: float) -> str:
    t, paint = picture.view["bonus"][player], picture.paint
    if t is None:
        shown = draw.title("Bonus Planter: hidden") + _back(picture, x, y + 14, CARD[0], 76, "?")
    else:
        shown = draw.title(f"Bonus Planter: {picture.cards.types[t]}")
        shown += draw.box(x, y + 14, CARD[0], 76, 7, paint.edge, 1.5, paint.grounds[t])
        shown += _cactus(paint, x + 29, y + 52, 19, t)
    return draw.tag("g", picture.head(x, y, "Bonus"), shown)


def _hand_cards(picture: _Picture, player: int, x: float, y: float) -> str:
    view, own = picture.view, player == picture.view["current_player"]
    held = view["starting_in_hand"][player] or view["basic_in_hand"][player]
    parts, down = [picture.head(x, y, "Hand" if held else "Hand: empty")], y + 14
    if view["starting_in_hand"][player]:
        parts.append(_half(picture, x, down, "starting", picture.cards.starting, "starting", own))
        down += 52
    for k in view["basic_in_hand"][player]:
        hidden = k is None
        parts.append(
            _back(picture, x, down, HALF[0], 88, "hidden") if hidden else _basic(picture, x, down, k)
        )
    return draw.tag("g", *parts)


def _final(picture: _Picture, player: int, x: float, y: float) -> str:
    """The score sheet, once the game is over."""
    if picture.view["asked"] != "over":
        return ""
    parts = [picture.head(x, y, "Score")]
    for row, (part, points) in enumerate(picture.view["sheets"][player].items()):
        down = y + 22 + 17 * row
        parts.append(picture.words(x, down, part.replace("_", " ")))
        parts.append(picture.words(x + 96, down, points, text_anchor="end"))
    return draw.tag("g", *parts)


def _planted_cards(
    picture: _Picture, player: int, x: float, y: float, across: int, rows: int, size: tuple[int, int]
) -> str:
    """The planted Arrangements: what they asked for, and their points; smaller or closer if there are many."""
    planted = picture.view["planted"][player]
    parts = [picture.head(x, y, "Planted" if planted else "Nothing planted yet")]
    if len(planted) > across * rows and size == PLANTED_LARGE:
        across, rows, size = across * 3 // 2, rows * 3 // 2, PLANTED
    step = min(size[1], rows * size[1] / max(1, -(-len(planted) // across)))
    latest = _latest(picture, player)
    for place, card in enumerate(planted):
        left, top = x + size[0] * (place % across), y + 14 + step * (place // across)
        parts.append(_planted_card(picture, card, left, top, size[0] - 4, step - 4))
        if place == latest:
            parts.append(_last(picture, left, top, size[0] - 4, step - 4))
    return draw.tag("g", *parts)


def _planted_card(
    picture: _Picture, card: Sequence[Any], x: float, y: float, width: float, height: float
) -> str:
    """One planted Arrangement."""
    arrangement, paint = find_arrangement(card, picture.cards), picture.paint
    unit, middle = width / 100, y + height / 2
    parts = [draw.title(_planted(card, picture.cards))]
    parts.append(draw.box(x, y, width, height, 5, paint.edge, 1.2, paint.paper))
    parts.append(_cost(picture, x + 4 * unit, middle, 76 * unit, arrangement, 7.5 * unit))
    points = {"text_anchor": "end", "font_weight": "bold"}
    parts.append(picture.words(x + width - 7, middle, arrangement.points, max(15, 12 * unit), **points))
    return draw.tag("g", *parts)


def _latest(picture: _Picture, player: int) -> int:
    """The place of the Arrangement that the last action planted, -1 for none."""
    last, planted = picture.look.last, picture.view["planted"][player]
    if picture.look.by != player or not last.startswith("plant ") or not planted:
        return -1
    return len(planted) - 1


def _sheet_line(picture: _Picture, player: int, x: float, y: float) -> str:
    return picture.words(x, y, _sheet(picture.view, player), 12)


def _last(picture: _Picture, x: float, y: float, width: float, height: float) -> str:
    """The mark of what the last action changed, around a box."""
    return draw.tag(
        "rect", x=x, y=y, width=width, height=height, rx=6, stroke=picture.paint.last, **draw.LAST
    )


def _card(picture: _Picture, x: float, y: float, t: int, stands_out: bool) -> str:
    paint = picture.paint
    edge, thick = (paint.gold, 3) if stands_out else (paint.edge, 1.5)
    title = draw.title(picture.cards.types[t])
    return (
        title
        + draw.box(x, y, *CARD, 7, edge, thick, paint.grounds[t])
        + _cactus(paint, x + 29, y + 40, 22, t)
    )


def _back(
    picture: _Picture,
    x: float,
    y: float,
    width: float,
    height: float,
    label: object,
    stands_out: bool = False,
) -> str:
    paint = picture.paint
    edge, thick = (paint.gold, 3) if stands_out else (paint.outline, 1)
    return draw.box(x, y, width, height, 7, edge, thick, paint.back) + picture.middle(
        x + width / 2, y + height / 2, label, 16, fill="#ffffff"
    )


def _count(picture: _Picture, x: float, y: float, t: int, n: int, radius: float) -> str:
    fill = picture.paint.ink if n else picture.paint.faint
    number = picture.words(x + radius + 3, y, n, 14, font_weight="bold" if n else None, fill=fill)
    words = draw.title(f"{n} {picture.cards.types[t]}")
    return draw.tag("g", words, _cactus(picture.paint, x, y, radius, t, faint=n == 0), number)


def _counts(picture: _Picture, x: float, y: float, counts: Sequence[int], across: int) -> str:
    """A cactus and a number for each type."""
    places = [(x + 48 * (t % across), y + 40 * (t // across)) for t in range(len(counts))]
    return "".join(
        _count(picture, *place, t, n, 11) for t, (place, n) in enumerate(zip(places, counts, strict=True))
    )


def _basic(picture: _Picture, x: float, y: float, k: int) -> str:
    """A Basic Arrangement with both halves."""
    parts = []
    for number, half in enumerate(HALVES):
        arrangement, place = getattr(picture.cards.basic[k], half), (x, y + 44 * number)
        name = f"{k} {half}" if picture.look.names else f"{k}"
        parts.append(_half(picture, *place, name, arrangement, f"basic {k} {half}"))
    return draw.tag("g", *parts)


def _half(
    picture: _Picture, x: float, y: float, name: str, arrangement: Arrangement, which: str, own: bool = True
) -> str:
    """What an Arrangement asks for, and its points; one clicks it to plant it, if it is one's own."""
    paint, label = picture.paint, f"plant {which}" if own else ""
    edge, thick = (paint.gold, 3) if label in picture.look.legal else (paint.edge, 1.5)
    words = draw.title(f"{which}: {_asked_for(arrangement, picture.cards)}")
    parts = [words, draw.box(x, y, *HALF, 6, edge, thick, paint.card), picture.head(x + 8, y + 21, name)]
    first = 30 if len(name) < 3 else 18 + 6.2 * len(name)
    parts.append(_cost(picture, x + first, y + 21, HALF[0] - 30 - first, arrangement, 10))
    end = {"text_anchor": "end", "font_weight": "bold"}
    parts.append(picture.words(x + HALF[0] - 10, y + 21, arrangement.points, 18, **end))
    return draw.target(picture.look, label, *parts)


def _cost(
    picture: _Picture, x: float, y: float, width: float, arrangement: Arrangement, radius: float
) -> str:
    """The cacti that an Arrangement asks for, from x to the right, with their number if it is not 1; smaller if there are many."""
    asked = [(t, n) for t, n in enumerate(arrangement.cost) if n]
    radius *= min(1.0, width / sum(radius * (4.2 if n > 1 else 2.7) for _, n in asked))
    parts = []
    for t, n in asked:
        parts.append(_cactus(picture.paint, x + radius, y, radius, t))
        if n > 1:
            parts.append(picture.words(x + 2.25 * radius, y, n, max(12, 1.3 * radius)))
        x += radius * (4.2 if n > 1 else 2.7)
    return draw.tag("g", *parts)


def _cactus(paint: Palette, x: float, y: float, radius: float, t: int, faint: bool = False) -> str:
    """A cactus, distinct in colour and shape: round, paddles, column, star, pair, drop."""
    drawn: dict[str, Any] = {
        "fill": paint.cacti[t],
        "stroke": paint.outline,
        "stroke_width": 1,
        "opacity": 0.35 if faint else None,
    }
    r = radius

    def oval(dx: float, dy: float, rx: float, ry: float) -> str:
        return draw.tag("ellipse", cx=x + dx * r, cy=y + dy * r, rx=rx * r, ry=ry * r, **drawn)

    if t == 0:
        return oval(0, 0, 0.9, 0.9) + oval(0, 0, 0.4, 0.9)
    if t == 1:
        return oval(0, 0.4, 0.5, 0.6) + oval(-0.5, -0.45, 0.38, 0.5) + oval(0.5, -0.45, 0.38, 0.5)
    if t == 2:
        arms = draw.tag(
            "path",
            fill="none",
            stroke=paint.cacti[t],
            stroke_width=0.3 * r,
            opacity=drawn["opacity"],
            d=f"M{x - 0.75 * r:.2f} {y - 0.4 * r:.2f}v{0.5 * r:.2f}h{1.5 * r:.2f}v{-0.6 * r:.2f}",
        )
        return arms + draw.tag(
            "rect", x=x - 0.28 * r, y=y - r, width=0.56 * r, height=2 * r, rx=0.28 * r, **drawn
        )
    if t == 3:
        corners = [(1.0 if k % 2 else 0.45, pi * k / 6) for k in range(12)]
        return draw.polygon([(x + a * r * sin(w), y + a * r * cos(w)) for a, w in corners], **drawn)
    if t == 4:
        return oval(-0.45, 0.1, 0.42, 0.85) + oval(0.45, -0.1, 0.42, 0.85)
    return draw.polygon(
        [(x, y - r), (x + 0.75 * r, y + 0.3 * r), (x, y + r), (x - 0.75 * r, y + 0.3 * r)], **drawn
    )
