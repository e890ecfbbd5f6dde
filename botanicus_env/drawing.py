"""Pictures of Botanicus, drawn from what one seat sees (`snapshots.seen`): `svg` for notebooks, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from botanicus_env import describing, wording
from botanicus_env.icons import DARK, LIGHT, Palette, bloom, icon, plant, soil, tick
from botanicus_env.rules import COINS_FOR_SALE
from botanicus_env.snapshots import View
from botanicus_env.tables import (
    BEDS,
    COLUMNS,
    CROSSINGS,
    PRIZES,
    ROWS,
    SPACES,
    TRACKS,
    Node,
    Tables,
    Task,
    stages,
    ways,
)
from botanicus_env.wording import LEVELS, count, marker
from garden_core.render import svg as draw
from garden_core.render.svg import LOOK, Look

LINE = 100  # columns of the text at most


def text(view: View, tables: Tables, labels: Sequence[str] = ()) -> str:
    """The position as plain text that a person can play from.

    Args:
        view: what is shown, as `snapshots.seen` gives it.
        tables: what is printed.
        labels: the legal actions in words, which are listed.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    lines = _wrapped(_status(view))
    if view["asked"] == "over":
        for player, parts in enumerate(describing.score_sheet(view, tables)):
            sheet = " + ".join(f"{part} {points}" for part, points in parts.items())
            lines += _wrapped(f"player_{player}: {sum(parts.values())} = {sheet}")
    lines += ["", *_column_lines(view, tables)]
    ahead = _tiles_ahead(view, tables)
    lines += _wrapped(f"tiles ahead, {ahead}" if ahead else "")
    for number, track in enumerate(TRACKS):
        text = _whole(f"{track} track: {wording.track_line(tables.track(track), _pieces(view, number))}")
        for space, before in ((">\xa0", "> "), ("\xa0+\xa0", " +\xa0"), ("\xa0or\xa0", " or\xa0")):
            text = text.replace(space, before)
        lines += _wrapped(text)
    lines += [*_wrapped(_stock(view)), "", GARDENS_HEAD]
    for player in range(view["num_players"]):
        lines += _garden(view, tables, player)
    if labels:
        whole = "; ".join(map(_whole, labels))
        lines += ["", *_wrapped(f"legal: {whole}", " " * 7)]
    return "\n".join(line.rstrip() for line in lines).replace("\xa0", " ")


def _wrapped(words: str, indent: str = "    ") -> list[str]:
    """Return lines of at most LINE columns, the later ones indented; none for no words."""
    return textwrap.wrap(words, LINE, subsequent_indent=indent, break_on_hyphens=False)


def _whole(words: str) -> str:
    """Return words that are not broken over lines: `text` makes their no-break spaces plain in the end."""
    return words.replace(" ", "\xa0")


# --- used by both text and picture ---


def _status(view: View) -> str:
    """When it is, what the player to move can do, the order of turns, and the actions at hand and pending."""
    if view["asked"] == "over":
        capped = f"stopped by the cap of {view['decisions']} decisions"
        order = ", ".join(map(marker, view["stack"]))
        return f"{capped if view['truncated'] else 'game over'}; level scores rank in the order {order}"
    player, last = view["current_player"], view["round"] == 3
    if view["asked"] == "start":
        choices = ["walk"] if view["coins"][player] and not view["walked"] else []
        choices += ["play a card"] if describing.held(view, player) and not view["played"] else []
        choices.append("choose a track for the last step, or pass" if last else "place the Flower")
        what = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    else:
        what = {
            "assign": f"assign a special task to row {sum(task >= 0 for task in view['tasks'][player])}",
            "neutral": "place the neutral Flower",
            "choose": "choose what comes next",
            "track": "move on the track or stop",
            "plant": "plant",
            "water": "water",
            "walk": "walk",
        }[view["asked"]]
    when = "last turn" if last else f"round {view['round']}, column {view['column']}"
    order = ", ".join(map(marker, view["order"]))
    text = [f"{when}: player_{player} to {what}", f"order: {order}" if order else "", _on_hand(view)]
    return "; ".join(filter(None, text))


def _on_hand(view: View) -> str:
    """The action at hand and those pending; "" if there are none."""
    text = []
    if view["hand_action"]:
        kind, left = view["hand_action"]
        words = wording.action(f"{kind} {left}")
        if kind in TRACKS:
            more = "" if left else ", further ones for 3 coins each"
            words = f"{kind} track, {count(left, 'step')} left{more}, {view['steps_taken']} taken"
        text.append(f"at hand: {words}")
    waiting = [wording.action(f"{kind} {amount}") for group in view["pending"] for kind, amount in group]
    if waiting:
        text.append("pending: " + ", ".join(waiting))
    return "; ".join(text)


def _near_columns(view: View) -> list[int]:
    """The current column and the next, in the order of the board; none in the last turn."""
    if view["round"] == 3:
        return []
    column = view["column"]
    if column < 8:
        return [column, column + 1]
    return [1, 8] if view["round"] == 1 else [8]


# --- text ---

GARDENS_HEAD = (
    "row"
    + "".join(f"{column:>4} " for column in range(COLUMNS))
    + "  basic and special task (score: points so far + full columns + coins // 3)"
)


def _column_lines(view: View, tables: Tables) -> list[str]:
    """The current column and the next, side by side if they fit."""
    near, current = _near_columns(view), view["column"]
    if not near:
        return []
    heads = {current: "Flowers in [ ] from bottom to top"}
    heads |= {column: "the next" for column in near if column != current}
    blocks = [
        [f"column {column}, {head}", *(f"  {s}: {_space(view, tables, column, s)}" for s in range(SPACES))]
        for column, head in heads.items()
    ]
    width = 2 + max(map(len, blocks[0]))
    if len(blocks) == 2 and width + max(map(len, blocks[1])) <= LINE:
        return [f"{left:<{width}}{right}" for left, right in zip(*blocks, strict=True)]
    return [line for block in blocks for line in block]


def _space(view: View, tables: Tables, column: int, space: int) -> str:
    text = wording.action(tables.board[column - 1][space])
    laid = _tile(view, tables, column, space)
    if laid:
        text += f" + tile {laid}"
    flowers = view["flowers"][space]
    if column != view["column"] or not flowers:
        return text
    cost = describing.flower_cost(view, tables, space)
    return f"{text} [{' '.join(map(marker, flowers))}]" + (f", costs {count(cost, 'coin')}" if cost else "")


def _tile(view: View, tables: Tables, column: int, space: int) -> str:
    """The action of the tile on a space in words; "" where there is none."""
    laid = describing.tile(view, tables, column, space)
    return wording.action(laid) if laid else ""


def _tiles_ahead(view: View, tables: Tables) -> str:
    """The tiles of this round beyond the next column."""
    return "; ".join(
        f"{column}: " + ", ".join(_whole(_tile(view, tables, column, s) or "-") for s in range(SPACES))
        for column in range(view["column"] + 2, 9)
        if column % 2 == 0
    )


def _pieces(view: View, track: int) -> dict[int, str]:
    """The markers of the pieces on a track, by node."""
    here: dict[int, list[str]] = {}
    for player, nodes in enumerate(view["tracks"]):
        here.setdefault(nodes[track], []).append(marker(player))
    return {node: " ".join(markers) for node, markers in here.items()}


def _stock(view: View) -> str:
    stacks = zip(PRIZES, view["prizes"], strict=True)
    prizes = ", ".join(f"{name} {' '.join(map(str, values)) or 'none left'}" for name, values in stacks)
    cards = f"{view['pile_left']} in pile, {sum(view['discards'])} discarded"
    return f"prizes: {prizes}; Garden cards: {cards}"


def _garden(view: View, tables: Tables, player: int) -> list[str]:
    """One player's counts, hand or tasks to assign, and garden; beds in the Gardener's reach are in brackets."""
    own, hand = view["tasks"][player], view["hands"][player]
    dealt = [
        _whole(f"{j}: {wording.task(tables.special[task])}")
        for j, task in enumerate(view["dealt"][player])
        if task not in own
    ]
    if dealt:  # before the first turn, so there is little else to show
        held = f"to assign: {'; '.join(dealt)}"
    else:
        r, c = CROSSINGS[view["gardeners"][player]]
        cards = f"{hand} hidden"
        if not isinstance(hand, int):
            cards = ", ".join(map(_whole, describing.cards(tables, hand))) or "none"
        counts = f"{count(view['coins'][player], 'coin')}, {count(view['animals'][player], 'animal')}"
        held = f"{counts}, Gardener at {r},{c} reaches ( ), cards: {cards}"
    lines = _wrapped(f"{marker(player)} player_{player}: score {view['scores'][player]}, {held}")
    near = describing.reach(view["gardeners"][player])
    basic = _tasks(tables.basic, view["basic_done"][player])
    special = _tasks([tables.special[task] for task in own if task >= 0], view["special_done"][player])
    width = 2 + max(map(len, basic))
    for row, task in enumerate(basic):
        beds = range(COLUMNS * row, COLUMNS * (row + 1))
        marks = "".join(_bed(view["gardens"][player][bed], bed in near) for bed in beds)
        lines.append(f"  {row}{marks}  {task:<{width}}{special[row] if row < len(special) else ''}")
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


class Scene(NamedTuple):
    """The data that every part of a picture is drawn from."""

    view: View
    tables: Tables
    paint: Palette
    look: Look


def svg(view: View, tables: Tables, seat: int | None = None, look: Look = LOOK) -> str:
    """The position as a picture; `view` and `tables` as for `text`.

    Args:
        seat: the seat whose garden comes first in a compact picture; None: player_0's.
        look: how it is drawn.

    Returns:
        An SVG document that needs nothing from outside, 1100 x 1000; if it is compact, 430 wide.
    """
    scene = Scene(view, tables, DARK if look.dark else LIGHT, look)
    width, height, parts = _compact(scene, seat or 0) if look.compact else _wide(scene)
    return draw.document(width, height, *parts, background=scene.paint.paper)


def _wide(scene: Scene) -> tuple[float, float, list[str]]:
    """Everything side by side, with its width and height."""
    players, market, across = scene.view["num_players"], 590, WIDTH - 2 * MARGIN
    width = (across - 10 * (players - 1)) / players
    right = MARGIN + market + 10
    parts = [_status_line(scene, MARGIN, 10, across), _market(scene, MARGIN, 60, market)]
    for number in range(len(TRACKS)):
        parts.append(_track(scene, number, right, 60 + (TRACK + 6) * number, WIDTH - MARGIN - right))
    parts += [_panel(scene, p, MARGIN + (width + 10) * p, 448, width) for p in range(players)]
    parts.append(_legend(scene, MARGIN, 448 + PANEL + 20, across, 12))
    return WIDTH, HEIGHT, parts


def _compact(scene: Scene, seat: int) -> tuple[float, float, list[str]]:
    """Everything below one another, the garden of a seat first, with its width and height."""
    width, players, y = COMPACT_WIDTH - 2 * 12, scene.view["num_players"], 104.0
    parts = [_status_line(scene, 12, 10, width)]
    for columns in (_market, _other_columns):
        parts.append(columns(scene, 12, y, width))
        y += BOARD + 10
    for number in range(len(TRACKS)):
        parts.append(_track(scene, number, 12, y, width))
        y += TRACK + 6
    for i in range(players):
        parts.append(_panel(scene, (seat + i) % players, 12, y + 4, width))
        y += PANEL + 10
    return COMPACT_WIDTH, y + 190, [*parts, _legend(scene, 12, y + 22, width, 3)]


# helpers


def _words(
    x: float,
    y: float,
    content: object,
    size: float,
    fill: str,
    anchor: str | None = None,
    weight: str | None = None,
) -> str:
    return draw.text(x, y, content, size, fill=fill, font_weight=weight, text_anchor=anchor)


def _bold(x: float, y: float, content: object, size: float, fill: str, anchor: str | None = None) -> str:
    return _words(x, y, content, size, fill, anchor, "bold")


def _heading(scene: Scene, x: float, y: float, words: str) -> str:
    return _bold(x, y, words, SMALL, scene.paint.faint)


def _chip(
    x: float,
    y: float,
    width: float,
    height: float,
    corner: float,
    edge: str,
    thick: float,
    fill: str,
    words: object,
    ink: str,
    *,
    size: float = SMALL,
    weight: str | None = "bold",
) -> str:
    """A box with words in its middle."""
    middle = _words(x + width / 2, y + height / 2, words, size, ink, "middle", weight)
    return draw.box(x, y, width, height, corner, edge, thick, fill) + middle


def _disc(
    x: float, y: float, radius: float, fill: str, edge: str | None = None, thick: float | None = None
) -> str:
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=fill, stroke=edge, stroke_width=thick)


def _titled(words: str, *parts: str) -> str:
    """Parts whose title says in words what they are."""
    return draw.tag("g", draw.title(words), *parts)


def _target(scene: Scene, label: str, *parts: str) -> str:
    return draw.target(scene.look, label, *parts)


def _box(
    scene: Scene,
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str,
    edge: str | None = None,
    offered: bool = False,
    corner: float = 6,
) -> str:
    """A box, its edge thick and its ground light if one can click it."""
    paint = scene.paint
    if offered:
        return draw.box(x, y, width, height, corner, paint.legal, 3, paint.offered)
    return draw.box(x, y, width, height, corner, edge or paint.edge, 1, fill)


def _ring(scene: Scene, x: float, y: float, width: float, height: float, corner: float = 8) -> str:
    """The mark of the last action, around a box."""
    place = {"x": x - 3, "y": y - 3, "width": width + 6, "height": height + 6, "rx": corner}
    return draw.tag("rect", **place, stroke=scene.paint.last, **draw.LAST)


def _name(scene: Scene, x: float, y: float, words: object) -> str:
    """The name of a place in labels, around a point; nothing unless names are asked for."""
    if not scene.look.names:
        return ""
    paint, width = scene.paint, 6.2 * len(str(words)) + 4
    return _chip(
        x - width / 2, y - 8, width, 16, 4, paint.edge, 0.7, paint.panel, words, paint.ink, weight=None
    )


def _livery(scene: Scene, who: int | str) -> str:
    return scene.paint.neutral if isinstance(who, str) else scene.paint.livery[who]


def _marker(scene: Scene, x: float, y: float, radius: float, who: int | str) -> str:
    """A disc with its seat, N on what is neutral."""
    disc = _disc(x, y, radius, _livery(scene, who), scene.paint.panel, 1.5)
    return disc + _bold(x, y, marker(who), max(SMALL, 1.05 * radius), scene.paint.on_livery, "middle")


def _gain(scene: Scene, text: str, x: float, y: float, size: float = 24) -> str:
    """An action as its icon and its number, from x to the right around the height y."""
    kind, _, amount = text.partition(" ")
    words = wording.action(text)
    if kind == "prize":
        left = scene.view["prizes"][PRIZES.index(amount)]
        amount = str(left[0]) if left else "–"
        words += f" ({count(left[0], 'point')})" if left else " (none left)"
    number = _bold(x + size + 3, y, amount, PLAIN if size < 28 else LARGE, scene.paint.ink)
    return _titled(words, icon(kind, x + size / 2, y, size, scene.paint), number)


def _gain_width(scene: Scene, text: str, size: float = 24) -> float:
    kind, _, amount = text.partition(" ")
    if kind == "prize":
        amount = str(max(scene.view["prizes"][PRIZES.index(amount)], default=0))
    return size + 3 + (8 if size < 28 else 10.5) * len(amount)


def _fitted(x: float, y: float, width: float, needed: float, drawn: str) -> str:
    """Move a drawing around 0,0 to x, y, and shrink it if it needs more than the width."""
    scale = min(1.0, width / needed)
    smaller = f" scale({scale:.3g})" if scale < 1 else ""
    return draw.tag("g", drawn, transform=f"translate({x:.2f} {y:.2f}){smaller}")


def _gains_centred(
    scene: Scene, texts: Sequence[str], x: float, y: float, width: float, size: float = 22
) -> str:
    """Actions side by side around x, y, within a width."""
    widths = [_gain_width(scene, text, size) + 4 for text in texts]
    needed, drawn = sum(widths) - 4, ""
    left = -needed / 2
    for text, wide in zip(texts, widths, strict=True):
        drawn += _gain(scene, text, left, 0, size)
        left += wide
    return _fitted(x, y, width, max(1.0, needed), drawn)


# what is to be done


@draw.group
def _status_line(scene: Scene, x: float, y: float, width: float) -> Iterator[str]:
    """The status, the action at hand and those pending; in two lines or three."""
    view, paint, status = scene.view, scene.paint, _status(scene.view)
    if view["asked"] == "over":
        lines = textwrap.wrap(status, int(width / 7))
        for i, line in enumerate(lines):
            yield _words(x, y + 10 + 18 * i, line, PLAIN, paint.faint)
        down, score = y + 13 + 18 * len(lines), max(view["scores"])
        first = next(player for player in view["stack"] if view["scores"][player] == score)
        yield _marker(scene, x + 11, down, 11, first)
        yield _bold(x + 30, down, f"player_{first} is first with {score}", 15, paint.ink)
        return
    when, _, what = status.partition("; ")[0].partition(": ")
    yield _bold(x, y + 10, when[0].upper() + when[1:], PLAIN, paint.faint)
    yield _marker(scene, x + 11, y + 31, 11, view["current_player"])
    lines = textwrap.wrap(what, int((width - 30) / 7.6))
    for i, line in enumerate(lines):
        yield _bold(x + 30, y + 31 + 18 * i, line, 15, paint.ink)
    right, compact = x + width, scene.look.compact
    if "pass" in scene.look.legal:
        left, top = right - 56, y - 5 if compact else y + 4
        button = _chip(left, top, 56, 28, 14, paint.legal, 3, paint.offered, "pass", paint.ink, size=PLAIN)
        yield _target(scene, "pass", button)
        right -= 0 if compact else 70
    yield from _waiting(scene, right, y + (72 if compact else 18))


def _waiting(scene: Scene, right: float, y: float) -> Iterator[str]:
    """The action at hand and those pending, each in a box, up to a right edge."""
    view, paint, legal = scene.view, scene.paint, set(scene.look.legal)
    boxes = [(kind, amount, True) for group in view["pending"] for kind, amount in reversed(group)]
    boxes += [(*view["hand_action"], False)] if view["hand_action"] else []
    for kind, amount, pending in boxes:
        text, label = f"{kind} {amount}", f"resolve {kind}"
        width = _gain_width(scene, text) + 16
        right -= width + 6
        offered = pending and label in legal
        if pending:
            note, fill, edge = f"pending: {wording.action(text)}", paint.board, paint.edge
            legal.discard(label)  # of several actions of one kind, the first one is offered
        else:
            note, fill, edge = _on_hand(view).partition(";")[0], paint.raised, paint.ink
        ground = _box(scene, right, y - 17, width, 34, fill=fill, edge=edge, offered=offered)
        drawn = _titled(note, ground, _gain(scene, text, right + 8, y))
        if not pending and scene.look.last.startswith("resolve "):
            drawn += _ring(scene, right, y - 17, width, 34)
        yield _target(scene, label, drawn) if offered else drawn


# the board


@draw.group
def _market(scene: Scene, x: float, y: float, width: float) -> Iterator[str]:
    """The order of turns, the piles and the columns: the current one and the next wide, in full width the others narrow."""
    near, compact = _near_columns(scene.view), scene.look.compact
    columns = near if compact else range(1, 9)
    yield draw.box(x, y, width, BOARD, 8, scene.paint.edge, 1, scene.paint.panel)
    yield _order(scene, x + 8, y)
    yield _piles(scene, x + 8, y + 150)
    if not columns:
        note = "No column is open in the last turn."
        yield _words(x + 80, y + 180, note, PLAIN, scene.paint.ink)
    left, room = x + 66, width - 72 - 4 * (len(columns) - 1)
    narrow = 41 if near else room / 8
    wide = (room - narrow * (len(columns) - len(near))) / (len(near) or 1)
    for column in columns:
        across = wide if column in near else narrow
        yield _column(scene, column, left, y, across, column in near)
        left += across + 4


@draw.group
def _other_columns(scene: Scene, x: float, y: float, width: float) -> Iterator[str]:
    """The columns that a compact market leaves out."""
    columns = [column for column in range(1, 9) if column not in _near_columns(scene.view)]
    across = (width - 16 - 4 * (len(columns) - 1)) / len(columns)
    yield draw.box(x, y, width, BOARD, 8, scene.paint.edge, 1, scene.paint.panel)
    for place, column in enumerate(columns):
        yield _column(scene, column, x + 8 + (across + 4) * place, y, across, False)


@draw.group
def _order(scene: Scene, x: float, y: float) -> Iterator[str]:
    """The last stack, top first; a Flower that has been placed since is an outline."""
    view, paint = scene.view, scene.paint
    names = ", ".join(map(marker, view["order"])) or "nobody"
    yield draw.title(f"still to play in this column, in order: {names}")
    yield _heading(scene, x, y + 14, "order")
    for place, player in enumerate(view["stack"]):
        left, top, edge = x + 2, y + 31 + 20 * place, _livery(scene, player)
        if player in view["order"]:
            yield _slab(scene, left, top, player)
        else:
            yield _chip(
                left, top, 38, 14, 4, edge, 1.5, paint.panel, marker(player), paint.faint, weight=None
            )


def _slab(scene: Scene, x: float, y: float, who: int | str) -> str:
    """A Flower seen from the side."""
    paint = scene.paint
    return _chip(x, y, 38, 14, 4, paint.line, 0.8, _livery(scene, who), marker(who), paint.on_livery)


@draw.group
def _stack(scene: Scene, x: float, bottom: float, flowers: Sequence[int | str]) -> Iterator[str]:
    """Flowers on top of one another, the last one in full."""
    yield draw.title(f"Flowers from bottom to top: {', '.join(map(marker, flowers))}")
    for who in flowers:
        bottom -= 14
        yield _slab(scene, x, bottom, who)
    yield bloom(x + 19, bottom - 5, _livery(scene, flowers[-1]), scene.paint)


@draw.group
def _piles(scene: Scene, x: float, y: float) -> Iterator[str]:
    """Garden cards: the pile and the discards."""
    view, paint = scene.view, scene.paint
    left, used = view["pile_left"], sum(view["discards"])
    kinds = ", ".join(describing.cards(scene.tables, view["discards"]))
    yield _heading(scene, x, y + 14, "cards")
    yield _titled(
        f"{left} Garden cards in the pile",
        icon("card", x + 21, y + 48, 44, paint),
        _bold(x + 21, y + 82, left, PLAIN, paint.ink, "middle"),
    )
    yield _heading(scene, x, y + 112, "used")
    yield _titled(
        f"{used} discarded" + (f": {kinds}" if kinds else ""),
        _chip(x + 7, y + 127, 28, 38, 4, paint.edge, 1, paint.board, used, paint.ink, size=PLAIN),
    )
    if scene.look.last.startswith(("use ", "sell ")):
        yield _ring(scene, x + 7, y + 127, 28, 38)


@draw.group
def _column(scene: Scene, column: int, x: float, y: float, width: float, wide: bool) -> Iterator[str]:
    """A column of the board below its number."""
    view, paint = scene.view, scene.paint
    current = column == view["column"] and view["round"] < 3
    words = f"column {column} {'now' if current else 'next'}" if wide else column
    ink = paint.panel if current else paint.ink if wide else paint.faint
    if current:
        yield draw.box(x, y + 5, width, 18, 6, paint.ink, 1, paint.ink)
    yield _bold(x + width / 2, y + 14, words, SMALL, ink, "middle")
    for space in range(SPACES):
        top = y + 26 + (SPACE + 4) * space
        yield _space_drawn(scene, column, space, x, top, width, wide, current)


def _space_drawn(
    scene: Scene, column: int, space: int, x: float, y: float, width: float, wide: bool, current: bool
) -> str:
    """A space with its action, its tile and, in the current column, the Flowers and what another one costs."""
    view, paint, legal = scene.view, scene.paint, scene.look.legal
    label = next((n for n in (f"flower {space}", f"neutral {space}") if current and n in legal), "")
    flowers = view["flowers"][space] if current else []
    printed, laid = scene.tables.board[column - 1][space], describing.tile(view, scene.tables, column, space)
    fill, edge = paint.raised if wide else paint.board, paint.faint if current else None
    size, margin = (30, 4) if wide else (24, 1)
    room = width - (44 if current else 2 * margin)
    down = 22 if laid or flowers else SPACE / 2
    parts = [
        _box(scene, x, y, width, SPACE, fill=fill, edge=edge, offered=bool(label)),
        _gains_centred(scene, [printed], x + margin + room / 2, y + down, room, size),
    ]
    if flowers:
        parts += [_cost(scene, space, x + 8, y + 60), _stack(scene, x + width - 44, y + SPACE - 5, flowers)]
    elif laid:
        left, across = (x + 6, room - 4) if wide else (x + 1, room)
        parts.append(_tile_drawn(scene, laid, space, left, y + 45, across))
    if wide:
        parts.append(_name(scene, x + 11, y + 12, space))
    if _last_space(view, scene.look.last) == (column, space):
        parts.append(_ring(scene, x, y, width, SPACE))
    return _target(scene, label, *parts)


@draw.group
def _cost(scene: Scene, space: int, x: float, y: float) -> Iterator[str]:
    """The cost of a Flower on an occupied space."""
    cost, ink = describing.flower_cost(scene.view, scene.tables, space), scene.paint.ink
    yield draw.title(f"a Flower here costs {count(cost, 'coin')}")
    if cost:
        yield _words(x, y, "pay", SMALL, ink)
        yield icon("coins", x + 36, y, 20, scene.paint)
        yield _bold(x + 50, y, cost, PLAIN, ink)
    else:
        yield _words(x + 2, y, "free", PLAIN, ink)


@draw.group
def _tile_drawn(scene: Scene, laid: str, space: int, x: float, y: float, width: float) -> Iterator[str]:
    """A tile: with spots on the upper spaces, with stripes on the lower ones."""
    paint, height, free = scene.paint, 33, width
    spotted = space < 2
    yield draw.title(f"{'spotted' if spotted else 'striped'} tile: {wording.action(laid)}")
    yield draw.box(x, y, width, height, 5, paint.edge, 1, paint.tile)
    if width > 50:
        free -= 12
        for down in range(0, 28, 7):
            if spotted:
                yield _disc(x + width - 5, y + 6 + down, 1.6, paint.faint)
            else:
                stripe = f"M{x + width - 8:.1f} {y + 9 + down:.1f}l6 -5"
                yield draw.tag("path", d=stripe, stroke=paint.faint, stroke_width=1.4)
    yield _gains_centred(scene, [laid], x + free / 2, y + height / 2, free, 24)


def _last_space(view: View, last: str) -> tuple[int, int]:
    """Column and space where the last action put a Flower; (0, 0) for another action."""
    verb, _, what = last.partition(" ")
    if verb not in ("flower", "neutral"):
        return 0, 0
    space, column = int(what), view["column"]
    if view["round"] < 3 and view["flowers"][space]:
        return column, space
    return (column - 1 if view["round"] < 3 and column > 1 else 8), space


# the tracks


def _track(scene: Scene, number: int, x: float, y: float, width: float) -> str:
    """A track from the left to the right, its forks one above the other, and the prizes at its end."""
    view, paint, name = scene.view, scene.paint, TRACKS[number]
    nodes = scene.tables.track(name)
    moving = bool(view["hand_action"]) and view["hand_action"][0] == name
    whole = f"resolve {name}" if view["asked"] == "start" else ""
    offered, edge = whole in scene.look.legal, paint.ink if moving else None
    parts = [
        _box(scene, x, y, width, TRACK, fill=paint.panel, edge=edge, corner=8, offered=offered),
        icon(name, x + 19, y + 15, 20, paint),
        _bold(x + 34, y + 15, f"{name} track", 13, paint.ink),
    ]
    if name in PRIZES:
        parts.append(_prizes(scene, name, x + width - 10, y + 15))
    places = _places(scene, nodes, x + 10, y + 31, width - 20, TRACK - 35)
    parts.append(_edges(scene, nodes, places, y + 31, TRACK - 35))
    ahead = describing.edges(view, scene.tables, name) if moving else []
    targets: dict[int, str] = {}
    for (to, _), way in zip(ahead, ("upper", "lower"), strict=False):
        if f"advance {way}" in scene.look.legal:
            targets.setdefault(to, way)
    for node, place in enumerate(places):
        low = y + 80 < place[1] < y + TRACK - 28  # in a lower way, and its pieces fit below it
        drawn = _node(scene, number, node, place, node in targets, low)
        if node in targets:
            way = targets[node]
            drawn += _name(scene, place[0], place[1] + (-20 if way == "upper" else 21), way)
            drawn = _target(scene, f"advance {way}", drawn)
        parts.append(drawn)
    return _target(scene, whole, *parts)


def _prizes(scene: Scene, name: str, right: float, y: float) -> str:
    """The Prize tokens of a stack, top first, up to a right edge."""
    paint, left = scene.paint, scene.view["prizes"][PRIZES.index(name)]
    if not left:
        return _words(right, y, "no prizes left", SMALL, paint.faint, "end")
    drawn, x = "", right - 11
    for value in reversed(left[1:]):
        drawn += _disc(x, y, 10.5, paint.board, paint.edge) + _words(x, y, value, SMALL, paint.ink, "middle")
        x -= 22
    drawn += _disc(x, y, 10.5, paint.offered, paint.edge) + _bold(x, y, left[0], SMALL, paint.ink, "middle")
    drawn += icon("prize", x - 23, y, 20, paint)
    return _titled(f"{name} prizes, top first: {' '.join(map(str, left))}", drawn)


Place = tuple[float, float, float]
"""Of a node: its middle and its width."""


def _places(
    scene: Scene, nodes: tuple[Node, ...], x: float, y: float, width: float, height: float
) -> list[Place]:
    """The places of the nodes: nodes that are as many steps from the start are above one another."""
    lanes = [set[int]() for _ in nodes]
    for edges in ways(nodes):
        for (to, _), lane in zip(edges, (-1, 1) if len(edges) > 1 else (0,), strict=False):
            lanes[to].add(lane)
    wanted = [max(38.0, 5 + sum(_gain_width(scene, gain, 22) + 4 for gain in node.gains)) for node in nodes]
    wanted[0] = 42
    by_step = stages(nodes)
    widths = [max(wanted[number] for number in stage) for stage in by_step]
    shrink = min(1.0, (width - 7 * (len(widths) - 1)) / sum(widths))
    gaps = [1 + any(edge.cost for n in stage for edge in nodes[n].edges) for stage in by_step[:-1]]
    gap = (width - shrink * sum(widths)) / sum(gaps)
    places: list[Place] = [(0, 0, 0)] * len(nodes)
    for stage, wide, following in zip(by_step, widths, [*gaps, 0], strict=True):
        wide *= shrink
        apart = [0.4 * sum(lanes[n]) if len(lanes[n]) == 1 else 0 for n in stage]
        if len({*apart}) < len(stage):
            apart = [(2 * i + 1) / len(stage) - 1 for i in range(len(stage))]
        for number, side in zip(stage, apart, strict=True):
            places[number] = (x + wide / 2, y + height * (1 + side) / 2, wide)
        x += wide + gap * following
    return places


@draw.group
def _edges(
    scene: Scene, nodes: tuple[Node, ...], places: Sequence[Place], y: float, height: float
) -> Iterator[str]:
    """The ways between the nodes, with what they cost."""
    paint, costs = scene.paint, []
    for (a, b, wide), edges in zip(places, ways(nodes), strict=True):
        for way, (to, cost) in enumerate(edges):
            c, d, other = places[to]
            start, end, up = a + wide / 2, c - other / 2, len(edges) == 2 and way == 0
            half = (start + end) / 2
            if any(start < place[0] < end for place in places):
                level = y + height * (0.18 if up else 0.92)
                path = f"M{start:.1f} {b:.1f}C{start + 12:.1f} {b:.1f} {start + 4:.1f} {level:.1f} {start + 22:.1f} {level:.1f}"
                path += f"H{end - 22:.1f}C{end - 4:.1f} {level:.1f} {end - 12:.1f} {d:.1f} {end:.1f} {d:.1f}"
            else:
                bend = 0 if b != d or len(edges) == 1 else -14 if up else 14
                level = (b + d) / 2 + 0.75 * bend
                path = f"M{start:.1f} {b:.1f}C{half:.1f} {b + bend:.1f} {half:.1f} {d + bend:.1f} {end:.1f} {d:.1f}"
            yield draw.tag("path", d=path, fill="none", stroke=paint.faint, stroke_width=2.5, data_edge=1)
            if cost:
                coin = _disc(half, level, 9.5, paint.coin, paint.line)
                number = _bold(half, level, cost, SMALL, LIGHT.ink, "middle")
                costs.append(_titled(f"this way costs {count(cost, 'coin')}", coin, number))
    yield from costs


@draw.group
def _node(scene: Scene, track: int, number: int, place: Place, offered: bool, low: bool) -> Iterator[str]:
    """A node with what it gives and the pieces on it, above it or, on the lower way, below it."""
    view, paint, (x, y, wide) = scene.view, scene.paint, place
    here = [player for player, pieces in enumerate(view["tracks"]) if pieces[track] == number]
    nodes = scene.tables.track(TRACKS[track])
    left, words, fill = x - wide / 2, wording.step(nodes, number), paint.board
    if number == 0:
        half, down = (14, 0) if view["num_players"] == 2 else (24, 10)
        yield draw.title(words)
        yield _box(scene, left, y - half, wide, 2 * half, fill=fill, corner=12)
        for player in here:
            right, lower = player % 2, player // 2
            yield _marker(scene, x - 9.5 + 19 * right, y + (2 * lower - 1) * down, 9.5, player)
        return
    if number == len(nodes) - 1:
        words, fill = f"end: {words}", paint.tile
    yield draw.title(words)
    yield _box(scene, left, y - 14, wide, 29, fill=fill, offered=offered, corner=10)
    yield _gains_centred(scene, nodes[number].gains, x, y, wide - 6)
    if _last_node(scene) == (track, number):
        yield _ring(scene, left, y - 14, wide, 29)
    for i, player in enumerate(here):
        middle = x - 9 * (len(here) - 1) + 18 * i
        yield _marker(scene, middle, y + (19.5 if low else -20), 9, player)


def _last_node(scene: Scene) -> tuple[int, int]:
    """Track and node to which the last action led, if the position shows it; else (-1, 0)."""
    view, look = scene.view, scene.look
    if look.by is None or not look.last.startswith("advance"):
        return -1, 0
    pieces = view["tracks"][look.by]
    if look.by == view["current_player"] and view["hand_action"] and view["hand_action"][0] in TRACKS:
        number = TRACKS.index(view["hand_action"][0])
        return number, pieces[number]
    ends = [len(scene.tables.track(name)) - 1 for name in TRACKS]
    return next(((i, end) for i, end in enumerate(ends) if pieces[i] == end), (-1, 0))


# the players


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


@draw.group
def _panel(scene: Scene, player: int, x: float, y: float, width: float) -> Iterator[str]:
    """One player's garden, tasks, hand and counts."""
    view, paint = scene.view, scene.paint
    asked = view["asked"] != "over" and player == view["current_player"]
    edge, thick = (_livery(scene, player), 3) if asked else (paint.edge, 1)
    pitch = 37 if width < 300 else 46 if width < 380 else 54 if width < 450 else 62
    left = x + 20
    garden = Garden(player, left, y + 90, pitch, pitch - 9, left + 4 * pitch + 2)
    yield draw.box(x, y, width, PANEL, 8, edge, thick, paint.panel)
    yield _marker(scene, x + 21, y + 21, 12, player)
    yield _ring(scene, x + 10, y + 10, 22, 22, 14) if _last_elsewhere(scene, player) else ""
    yield _bold(x + 40, y + 21, f"player_{player}", 16, paint.ink)
    yield _bold(x + width - 12, y + 21, view["scores"][player], 26, paint.ink, "end")
    yield _holdings(scene, player, x + 12, y + 54, width - 24)
    yield _ground(scene, garden)
    yield from (_bed_drawn(scene, garden, bed) for bed in range(BEDS))
    yield from (_crossing(scene, garden, r, c) for r, c in CROSSINGS)
    yield _full_columns(scene, garden)
    yield _tasks_drawn(scene, garden, x + width - 7 - garden.tasks)
    yield _below(scene, player, x + 12, garden.y + ROWS * ROW + 28, width - 24)


def _last_elsewhere(scene: Scene, player: int) -> bool:
    """Whether the last action was this player's and has left no trace that could be marked."""
    last = scene.look.last
    return scene.look.by == player and (
        last == "pass"
        or (last.startswith("advance") and _last_node(scene)[0] < 0)
        or (last.startswith("resolve") and not scene.view["hand_action"])
    )


def _acts(scene: Scene, player: int, label: str) -> bool:
    """Whether an action is legal and is this player's."""
    return label in scene.look.legal and player == scene.view["current_player"]


@draw.group
def _holdings(scene: Scene, player: int, x: float, y: float, width: float) -> Iterator[str]:
    """Coins, cards and the five places of the animals."""
    paint, coins, cards = scene.paint, scene.view["coins"][player], describing.held(scene.view, player)
    for kind, n, what, left, gap in (
        ("coins", coins, "coin", 11, 15),
        ("card", cards, "Garden card", 60, 12),
    ):
        number = _bold(x + left + gap, y, n, 16, paint.ink)
        yield _titled(count(n, what), icon(kind, x + left, y, 22, paint), number)
    yield icon("animal", x + width - 121, y, 20, paint)
    for place, points in enumerate(scene.tables.animals):
        words, middle = f"animal {place + 1}: {count(points, 'point')}", x + width - 95.5 + 21.5 * place
        fill, ink, weight = paint.board, paint.ink, None
        if place < scene.view["animals"][player]:
            words, fill, ink, weight = f"{words}, scored", paint.done, paint.on_done, "bold"
        number = _words(middle, y, points, SMALL, ink, "middle", weight)
        yield _titled(words, _disc(middle, y, 10, fill, paint.edge), number)


@draw.group
def _ground(scene: Scene, garden: Garden) -> Iterator[str]:
    """The paths of a garden, with the numbers of rows and columns."""
    paint, (_, x, y, pitch, _, _) = scene.paint, garden
    yield draw.box(x - 4, y - 4, 4 * pitch - 1, ROWS * ROW, 8, paint.edge, 1, paint.board)
    for column in range(COLUMNS):
        yield _words(garden.middle(column), y - 13, column, SMALL, paint.faint, "middle")
    for row in range(ROWS):
        yield _words(x - 13, y + ROW * row + 24, row, SMALL, paint.faint, "middle")


def _bed_drawn(scene: Scene, garden: Garden, bed: int) -> str:
    """A bed and its plant; darker soil if the Gardener reaches it. Nothing where there is none."""
    view, paint, player, size = scene.view, scene.paint, garden.player, garden.bed
    level = view["gardens"][player][bed]
    if level < 0:
        return ""
    row, column = divmod(bed, COLUMNS)
    x, y, height = garden.x + garden.pitch * column, garden.y + ROW * row, ROW - 9
    middle, name = garden.middle(column), f"{row},{column}"
    near = bed in describing.reach(view["gardeners"][player])
    offered = _acts(scene, player, f"bed {name}")
    edge, thick, fill = paint.furrow, 1.0, paint.reach if near else paint.bed
    if offered:
        edge, thick, fill = paint.legal, 3, paint.offered
    parts = [draw.box(x, y, size, height, 6, edge, thick, fill)]
    if not level:
        parts.append(soil(x, y, size, height, paint))
    elif size >= 50:  # the level is next to the plant, else below it
        parts.append(plant(level, middle - 6.5, y + 23, 38, paint))
        parts.append(_bold(x + size - 9, y + height - 15, LEVELS[level], SMALL, paint.ink, "middle"))
    else:
        parts.append(plant(level, middle, y + 18, 30, paint))
        parts.append(_bold(middle, y + height - 7, LEVELS[level], SMALL, paint.ink, "middle"))
    parts.append(_name(scene, middle, y + 13, name))
    if scene.look.last == f"bed {name}" and scene.look.by == player:
        parts.append(_ring(scene, x, y, size, height))
    what = f"plant {LEVELS[level]}" if level else "empty bed"
    drawn = _titled(f"{what} at {name}" + ", in reach" * near, *parts)
    return _target(scene, f"bed {name}", drawn) if offered else drawn


def _crossing(scene: Scene, garden: Garden, r: int, c: int) -> str:
    """A crossing: the Gardener, a way to go there with its price, or a dot."""
    paint, look, player = scene.paint, scene.look, garden.player
    x, y = garden.x + garden.pitch * (c + 1) - 4.5, garden.y + ROW * (r + 1) - 4.5
    s, d = CROSSINGS[scene.view["gardeners"][player]]
    steps, name = abs(r - s) + abs(c - d), f"{r},{c}"
    if not steps:
        crown = f"M{x - 6:.1f} {y - 10:.1f}q6 -10 12 0z"
        parts = [
            _marker(scene, x, y, 11, player),
            draw.tag("ellipse", cx=x, cy=y - 9, rx=11, ry=3, fill=paint.wood, stroke=paint.line),
            draw.tag("path", d=crown, fill=paint.wood, stroke=paint.line),
        ]
        if look.by == player and look.last.startswith("walk"):
            parts.append(_ring(scene, x - 13, y - 18, 26, 30, 16))
        return _titled(f"Gardener at {name}", *parts)
    if not _acts(scene, player, f"walk {name}"):
        return _disc(x, y, 2.5, paint.edge) + _name(scene, x, y, name)
    disc = _disc(x, y, 13.5 if look.compact else 12.5, paint.offered, paint.legal, 2.5)
    if look.names:
        words = _words(x, y, name, SMALL, paint.ink, "middle")
    else:
        words = _bold(x, y, steps if scene.view["asked"] == "start" else "", SMALL, paint.ink, "middle")
    return _target(scene, f"walk {name}", disc, words)


@draw.group
def _full_columns(scene: Scene, garden: Garden) -> Iterator[str]:
    """The points of the columns of a garden as it is, below them."""
    paint, y = scene.paint, garden.y + ROWS * ROW + 9
    for column in range(COLUMNS):
        points = wording.column_points(scene.tables, scene.view["gardens"][garden.player], column)
        x = garden.middle(column)
        words, number = "not full", _words(x, y, "–", 13, paint.faint, "middle")
        if points:
            words = f"full, {count(points, 'point')} now"
            number = _chip(
                x - 13, y - 9, 26, 18, 9, paint.done, 1, paint.done, points, paint.on_done, size=13
            )
        yield _titled(f"column {column}: {words}", number)
    yield _heading(scene, garden.tasks, y, "full columns")


@draw.group
def _tasks_drawn(scene: Scene, garden: Garden, width: float) -> Iterator[str]:
    """The basic and the special task of each row: side by side if there is room, else one above the other."""
    view, player, x, y = scene.view, garden.player, garden.tasks, garden.y
    heads, across, height, right, down, top = ["basic and special"], width, 22, 0.0, 24, 0
    if width > 200:
        heads, across, height, down, top = ["basic task", "special task"], (width - 6) / 2, 31, 0, 8
        right = across + 6
    for place, words in enumerate(heads):
        yield _heading(scene, x + right * place, y - 13, words if width > 95 else "tasks")
    own = view["tasks"][player]
    given = [row for row in range(ROWS) if own[row] >= 0]
    for row in range(ROWS):
        above = y + ROW * row + top
        special = scene.tables.special[own[row]] if row in given else None
        for place, task in enumerate((scene.tables.basic[row], special)):
            spot = (x + right * place, above + down * place, across, height)
            yield _task_card(scene, task, *spot, place, view[DONE[place]][player][row])
    if scene.look.by == player and scene.look.last.startswith("assign"):
        for row in given[-2:] if len(given) == ROWS else given[-1:]:  # the last one is assigned automatically
            yield _ring(scene, x + right, y + ROW * row + top + down, across, height)


DONE = ("basic_done", "special_done")


@draw.group
def _task_card(
    scene: Scene, task: Task | None, x: float, y: float, width: float, height: float, place: int, done: bool
) -> Iterator[str]:
    """A task, basic or special by its place: the plants that it asks for and its points."""
    paint, middle = scene.paint, y + height / 2
    edge, thick = (paint.done, 1.5) if done else (paint.edge, 1)
    sort, fill = (("basic", paint.board), ("special", paint.tile))[place]
    words = f"{sort} task: {wording.task(task)}" if task else "special task not yet assigned"
    yield draw.title(words + ", done" * done)
    yield draw.box(x, y, width, height, 5, edge, thick, fill)
    if task is None:
        yield _words(x + width / 2, middle, "?", PLAIN, paint.ink, "middle")
        return
    yield _wanted(scene, task, x + 2, middle, width - 24)
    if done:
        yield draw.box(x + width - 21, middle - 9, 19, 18, 5, paint.done, 1, paint.done)
        yield tick(x + 3, y + 2, paint)
    yield _bold(x + width - 11.5, middle, task.points, 13, paint.on_done if done else paint.ink, "middle")


def _wanted(scene: Scene, task: Task, x: float, y: float, width: float) -> str:
    """The plants that a task asks for, one chip each."""
    plants = [level for level, n in enumerate(task.plants, 1) for _ in range(n)]
    pitch = max(13.8, min(24.0, width / max(4, len(plants))))
    chips = [_level(scene, level, pitch * place, 0, pitch - 1, 17) for place, level in enumerate(plants)]
    return _fitted(x, y, width, pitch * len(plants), "".join(chips))


def _level(scene: Scene, level: int, x: float, y: float, width: float, height: float) -> str:
    """A chip with a level, to the right of x, around the height y."""
    paint = scene.paint
    fill = paint.level[level - 1]
    return _chip(x, y - height / 2, width, height, 4, paint.faint, 0.7, fill, LEVELS[level], paint.on_level)


def _below(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """Below a garden: the tasks to assign, at the end the score sheet, else the hand."""
    view, hand = scene.view, scene.view["hands"][player]
    if view["asked"] == "over":
        return _sheet(scene, player, x, y, width)
    dealt = [(j, task) for j, task in enumerate(view["dealt"][player]) if task not in view["tasks"][player]]
    if dealt:
        return _dealt(scene, player, dealt, x, y, width)
    if isinstance(hand, int):
        return _backs(scene, hand, x, y, width)
    held = [(n, card.action) for n, card in zip(hand, scene.tables.cards, strict=True) if n]
    return _hand(scene, player, held, x, y, width)


@draw.group
def _dealt(
    scene: Scene, player: int, dealt: Sequence[tuple[int, int]], x: float, y: float, width: float
) -> Iterator[str]:
    """The special tasks that are yet to be assigned, by their places among those dealt."""
    row, ink = scene.view["tasks"][player].index(-1), scene.paint.ink
    yield _heading(scene, x, y, f"special task for row {row}")
    across = min(120.0, (width - 8) / 3)
    for place, (j, number) in enumerate(dealt):
        a, b = x + (across + 4) * (place % 3), y + 11 + 34 * (place // 3)
        label, task, right = f"assign {j}", scene.tables.special[number], a + across - 9.5
        offered = _acts(scene, player, label)
        drawn = _titled(
            f"special task: {wording.task(task)}",
            _box(scene, a, b, across, 29, fill=scene.paint.tile, offered=offered),
            _wanted(scene, task, a + 2, b + 14.5, across - 20),
            _bold(right, b + 14.5, task.points, 13, ink, "middle"),
            _name(scene, right, b + 28, j),
        )
        yield _target(scene, label, drawn) if offered else drawn


@draw.group
def _backs(scene: Scene, cards: int, x: float, y: float, width: float) -> Iterator[str]:
    """Hidden cards: their backs and how many they are."""
    yield draw.title(count(cards, "hidden card"))
    yield _heading(scene, x, y, "cards in hand" if cards else "no cards in hand")
    pitch = min(26.0, (width - 60) / max(cards, 1))
    for i in range(cards):
        yield icon("card", x + 17 + pitch * i, y + 36, 44, scene.paint)
    if cards:
        yield _bold(x + 34 + pitch * cards, y + 36, cards, LARGE, scene.paint.ink)


@draw.group
def _hand(
    scene: Scene, player: int, held: Sequence[tuple[int, str]], x: float, y: float, width: float
) -> Iterator[str]:
    """Cards in hand by kind: what they do, how many there are; below them, to sell one."""
    paint, top, wide = scene.paint, y + 12, 46.0
    yield _heading(scene, x, y, "cards in hand" if held else "no cards in hand")
    pitch = min(52.0, (width + 6) / max(len(held), 1))
    for place, (n, action) in enumerate(held):
        left, words, use, sell = x + pitch * place, wording.action(action), f"use {action}", f"sell {action}"
        middle, offered = left + wide / 2, _acts(scene, player, use)
        drawn = [
            _box(scene, left, top, wide, 40, fill=paint.board, offered=offered),
            _gains_centred(scene, [action], middle, top + (14 if n > 1 else 20), wide - 4, 24),
        ]
        if n > 1:
            words += f" (x{n})"
            drawn.append(_words(middle, top + 32, f"x{n}", SMALL, paint.ink, "middle"))
        card = _titled(words, *drawn)
        yield _target(scene, use, card) if offered else card
        if _acts(scene, player, sell):
            below = top + 56.5
            sale = [
                _box(scene, left, top + 43, wide, 27, fill=paint.board, offered=True, corner=9),
                _bold(left + 9, below, f"+{COINS_FOR_SALE}", SMALL, paint.ink),
                icon("coins", left + wide - 14, below, 15, paint),
            ]
            yield _target(scene, sell, *sale)


@draw.group
def _sheet(scene: Scene, player: int, x: float, y: float, width: float) -> Iterator[str]:
    """The parts of a score and their sum."""
    paint = scene.paint
    sheet = describing.score_sheet(scene.view, scene.tables)[player]
    across = (width - 16) / 2
    for place, (what, points) in enumerate([*sheet.items(), ("score", sum(sheet.values()))]):
        a, b = x + (across + 16) * (place // 3), y + 8 + 24 * (place % 3)
        write, edge = (_bold, paint.ink) if what == "score" else (_words, paint.edge)
        yield write(a, b, what, 13, paint.ink)
        yield _bold(a + across, b, points, 14, paint.ink, "end")
        yield draw.tag("path", d=f"M{a:.1f} {b + 11:.1f}h{across:.1f}", stroke=edge)


# what the icons mean


@draw.group
def _legend(scene: Scene, x: float, y: float, width: float, in_line: int) -> Iterator[str]:
    """The icons and their names, in lines of as many, and what a full column of a garden scores."""
    paint, left, wide = scene.paint, x, width > 500
    spare = (width - sum(28 + 6.1 * len(words) for words in LEGEND.values())) / (len(LEGEND) - 1)
    for place, (kind, words) in enumerate(LEGEND.items()):
        line, across = divmod(place, in_line)
        if in_line < len(LEGEND):
            left = x + width / in_line * across
        yield icon(kind, left + 10, y + 24 * line, 20 if "plant" not in kind else 24, paint)
        yield _words(left + 25, y + 24 * line, words, SMALL, paint.faint)
        left += 28 + 6.1 * len(words) + spare
    y += 26 * -(-len(LEGEND) // in_line)
    yield _words(x, y, "full column of a garden, by its highest plant:", SMALL, paint.faint)
    left, down = (x + 264, y) if wide else (x, y + 22)
    for level, points in enumerate(scene.tables.columns, 1):
        yield _level(scene, level, left, down, 20, 18)
        yield _bold(left + 24, down, points, SMALL, paint.ink)
        left += 46
    notes = "tasks: first the basic, then the special one · animals: points of the first to fifth"
    right, down, anchor = (x + width, y, "end") if wide else (x, y + 44, None)
    yield _words(right, down, notes, SMALL, paint.faint, anchor)
