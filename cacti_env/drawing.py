"""Pictures of Cacti, drawn from a snapshot: `svg` for notebooks, `text` for terminals.

Both show what one seat may see (`snapshots.seen`), or everything to an onlooker.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from cacti_env.cards import MIDDLE, NUM_PLAYERS, Arrangement, Cards
from cacti_env.describing import cacti, find_arrangement
from cacti_env.snapshots import seen
from garden_core import svg as draw
from garden_core.svg import LOOK, Look

WIDTH, HEIGHT = 900, 640
INK, FAINT, PAPER, EDGE, BACK = "#33302d", "#857a70", "#f4f1e8", "#d9cfc0", "#7d8f69"
PAINT = ("#3f8f4f", "#d07a2d", "#2f7fa3", "#b8447a", "#8a6fc0", "#a0892a")  # one a type
GROUND = ("#dcefdc", "#f9e6d1", "#d6e9f1", "#f6dde9", "#e7e0f5", "#f1ebcb")
LIVERY = ("#6b3fa0", "#007c85")  # one a player
PANEL_TOP, PANEL_HEIGHT = 188, 200


def text(snapshot: dict[str, Any], cards: Cards, labels: Sequence[str] = (), seat: int | None = None) -> str:
    """The position as plain text that a person can play from.

    Args:
        snapshot: the whole state, with the keys that `Game.snapshot` gives.
        cards: the cards it is played with.
        labels: the legal actions in words; they are listed for whoever is asked, and for an onlooker.
        seat: who looks; None is an onlooker who sees everything.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    view = seen(snapshot, cards, seat)
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
    if labels and seat in (None, view["current_player"]):
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


def svg(snapshot: dict[str, Any], cards: Cards, seat: int | None = None, look: Look = LOOK) -> str:
    """The position as a picture; arguments as for `text`; the types and cards that legal actions name stand out.

    Returns:
        An SVG document, 900 x 640, that needs nothing from outside.
    """
    view = seen(snapshot, cards, seat)
    offered = look.legal
    return draw.document(
        WIDTH,
        HEIGHT,
        _table(view, cards, offered),
        *(_panel(view, cards, p, offered) for p in range(NUM_PLAYERS)),
        draw.text(28, HEIGHT - 24, _status(view), 16, fill=INK),
        background=PAPER,
    )


def _table(view: dict[str, Any], cards: Cards, offered: Mapping[str, int]) -> str:
    """The middle, the decks, the discards and the open Arrangement."""
    parts = [draw.text(28, 26, "Middle", 13, fill=FAINT)]
    row = [t for t, n in enumerate(view["middle"]) for _ in range(n)]
    for place, t in enumerate(row + [None] * (MIDDLE - len(row))):
        parts.append(_card(28 + 66 * place, 40, t, t is not None and f"grow {cards.types[t]}" in offered))
    parts.append(draw.text(388, 26, "Cacti deck", 13, fill=FAINT))
    parts.append(_back(388, 40, 58, 80, str(view["cards_left"])))
    parts.append(draw.text(478, 26, "Discards", 13, fill=FAINT))
    parts.append(_counts(484, 58, view["discards"], across=3))
    parts.append(draw.text(652, 26, f"Arrangement deck: {view['arrangements_left']} cards", 13, fill=FAINT))
    parts += [_basic(652, 40, k, cards, offered) for k in view["top"]]
    names = [(t, name) for t, name in enumerate(cards.types)]
    for place, (t, name) in enumerate(names):
        x = 38 + 140 * place
        parts += [_cactus(x, 156, 9, t), draw.text(x + 16, 156, name[:18], 13, fill=INK)]
    return draw.tag("g", *parts)


def _panel(view: dict[str, Any], cards: Cards, player: int, offered: Mapping[str, int]) -> str:
    """One player's Nursery, planters, hand and planted Arrangements."""
    top = PANEL_TOP + player * (PANEL_HEIGHT + 12)
    asked = view["asked"] != "over" and player == view["current_player"]
    active = view["asked"] != "over" and player == view["active_player"]
    own = offered if asked else LOOK.legal
    edge, thick = (LIVERY[player], 3) if asked else (EDGE, 1.5)
    points, _, unit = _score(view, player).removeprefix("score ").partition(" ")
    parts = [
        draw.box(20, top, WIDTH - 40, PANEL_HEIGHT, 10, edge, thick),
        draw.tag("circle", cx=46, cy=top + 26, r=12, fill=LIVERY[player]),
        draw.text(46, top + 26, player, 13, text_anchor="middle", font_weight="bold", fill="#ffffff"),
        draw.text(66, top + 26, f"player_{player}", 16, font_weight="bold" if asked else None, fill=INK),
        draw.text(150, top + 26, "turn" if active else "", 13, fill=LIVERY[player]),
        draw.text(
            250,
            top + 26,
            points,
            24,
            text_anchor="end",
            font_weight="bold",
            fill=INK,
        ),
        draw.text(258, top + 27, unit or "points", 12, fill=FAINT),
        draw.text(34, top + 178, _sheet(view, player), 12, fill=INK),
        draw.text(34, top + 58, "Nursery", 13, fill=FAINT),
        _counts(42, top + 84, view["nurseries"][player], across=3),
        draw.text(190, top + 58, "Special Planter", 13, fill=FAINT),
        _special(190, top + 70, view["special"][player], any(o.startswith("special") for o in own)),
        draw.text(300, top + 58, "Bonus Planter", 13, fill=FAINT),
        _bonus(310, top + 70, view["bonus"][player]),
        draw.text(412, top + 26, "Hand", 13, fill=FAINT),
    ]
    y = top + 40
    if view["starting_in_hand"][player]:
        parts.append(_starting(412, y, cards, own))
        y += 58
    for k in view["basic_in_hand"][player]:
        parts.append(_back(412, y, 216, 90, "hidden") if k is None else _basic(412, y, k, cards, own))
    parts.append(draw.text(652, top + 26, "Planted", 13, fill=FAINT))
    rows = max(8, -(-len(view["planted"][player]) // 2))
    for place, card in enumerate(view["planted"][player]):
        left, down = 652 + 116 * (place // rows), 44 + 152 / rows * (place % rows)
        parts.append(draw.text(left, top + down, _planted(card, cards), min(12, 120 / rows), fill=INK))
    return draw.tag("g", *parts)


def _card(x: float, y: float, t: int | None, stands_out: bool) -> str:
    if t is None:
        return draw.box(x, y, 58, 80, 7, EDGE, 1, PAPER)
    edge, thick = (PAINT[t], 3) if stands_out else (EDGE, 1.5)
    return draw.box(x, y, 58, 80, 7, edge, thick, GROUND[t]) + _cactus(x + 29, y + 40, 22, t)


def _back(x: float, y: float, width: float, height: float, label: str) -> str:
    return draw.box(x, y, width, height, 7, INK, 1, BACK) + draw.text(
        x + width / 2, y + height / 2, label, 16, text_anchor="middle", font_weight="bold", fill="#ffffff"
    )


def _counts(x: float, y: float, counts: Iterable[int], across: int) -> str:
    """A cactus and a number for each type."""
    parts = []
    for t, n in enumerate(counts):
        left, top = x + 48 * (t % across), y + 40 * (t // across)
        parts.append(_cactus(left, top, 12, t, faint=n == 0))
        parts.append(
            draw.text(left + 16, top, n, 14, font_weight="bold" if n else None, fill=INK if n else FAINT)
        )
    return draw.tag("g", *parts)


def _special(x: float, y: float, under: list[int] | None, stands_out: bool) -> str:
    if under is None:
        edge, thick = ("#b07800", 2.5) if stands_out else (EDGE, 1.5)
        return draw.box(x, y, 90, 80, 7, edge, thick) + draw.text(
            x + 45, y + 40, "not used", 13, text_anchor="middle", fill=FAINT
        )
    t = max(range(len(under)), key=under.__getitem__)
    return (
        draw.box(x, y, 90, 80, 7, EDGE, 1.5, GROUND[t])
        + _cactus(x + 28, y + 40, 17, t)
        + draw.text(x + 56, y + 40, under[t], 20, font_weight="bold", fill=INK)
    )


def _bonus(x: float, y: float, t: int | None) -> str:
    if t is None:
        return _back(x, y, 74, 80, "?")
    return draw.box(x, y, 74, 80, 7, EDGE, 1.5, GROUND[t]) + _cactus(x + 37, y + 40, 20, t)


def _basic(x: float, y: float, k: int, cards: Cards, offered: Mapping[str, int]) -> str:
    """A Basic Arrangement with both halves; a half that can be planted stands out."""
    parts = []
    for number, half in enumerate(("upper", "lower")):
        stands_out = f"plant basic {k} {half}" in offered
        parts.append(_half(x, y + 45 * number, f"{k}", getattr(cards.basic[k], half), stands_out))
    return draw.tag("g", *parts)


def _starting(x: float, y: float, cards: Cards, offered: Mapping[str, int]) -> str:
    return _half(x, y, "S", cards.starting, "plant starting" in offered)


def _half(x: float, y: float, name: str, arrangement: Arrangement, stands_out: bool) -> str:
    edge, thick = ("#b07800", 2.5) if stands_out else (EDGE, 1.5)
    parts = [draw.box(x, y, 216, 43, 6, edge, thick), draw.text(x + 8, y + 21, name, 12, fill=FAINT)]
    asked = [(t, n) for t, n in enumerate(arrangement.cost) if n]
    for place, (t, n) in enumerate(asked):
        left = x + 36 + place * min(46, 150 / len(asked))
        parts.append(_cactus(left, y + 21, 9, t))
        parts.append(draw.text(left + 11, y + 21, n, 13, fill=INK))
    points = draw.text(
        x + 204, y + 21, arrangement.points, 17, text_anchor="end", font_weight="bold", fill=INK
    )
    return draw.tag("g", *parts, points)


def _cactus(x: float, y: float, radius: float, t: int, faint: bool = False) -> str:
    """A cactus, distinct in colour and shape: round, paddles, column, star, pair, drop."""
    paint: dict[str, Any] = {
        "fill": PAINT[t],
        "stroke": INK,
        "stroke_width": 1,
        "opacity": 0.35 if faint else None,
    }
    r = radius

    def oval(dx: float, dy: float, rx: float, ry: float) -> str:
        return draw.tag("ellipse", cx=x + dx * r, cy=y + dy * r, rx=rx * r, ry=ry * r, **paint)

    if t == 0:
        return oval(0, 0, 0.9, 0.9) + oval(0, 0, 0.4, 0.9)
    if t == 1:
        return oval(0, 0.4, 0.5, 0.6) + oval(-0.5, -0.45, 0.38, 0.5) + oval(0.5, -0.45, 0.38, 0.5)
    if t == 2:
        arms = draw.tag(
            "path",
            fill="none",
            stroke=PAINT[t],
            stroke_width=0.3 * r,
            opacity=paint["opacity"],
            d=f"M{x - 0.75 * r:.2f} {y - 0.4 * r:.2f}v{0.5 * r:.2f}h{1.5 * r:.2f}v{-0.6 * r:.2f}",
        )
        return arms + draw.tag(
            "rect", x=x - 0.28 * r, y=y - r, width=0.56 * r, height=2 * r, rx=0.28 * r, **paint
        )
    if t == 3:
        corners = [(1.0 if k % 2 else 0.45, pi * k / 6) for k in range(12)]
        return draw.polygon([(x + a * r * sin(w), y + a * r * cos(w)) for a, w in corners], **paint)
    if t == 4:
        return oval(-0.45, 0.1, 0.42, 0.85) + oval(0.45, -0.1, 0.42, 0.85)
    return draw.polygon(
        [(x, y - r), (x + 0.75 * r, y + 0.3 * r), (x, y + r), (x - 0.75 * r, y + 0.3 * r)], **paint
    )
