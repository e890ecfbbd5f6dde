"""Pictures of Botanicus, drawn from what one seat sees (`snapshots.seen`): `svg` for notebooks, `text` for terminals."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from botanicus_env import describing, wording
from botanicus_env.icons import DARK, LIGHT, Palette, bloom, icon, plant, soil, tick
from botanicus_env.rules import COINS_FOR_SALE
from botanicus_env.snapshots import View
from botanicus_env.tables import COLUMNS, CROSSINGS, PRIZES, ROWS, SPACES, TRACKS, Node, Tables, Task
from botanicus_env.wording import LEVELS, count, marker
from garden_core import svg as draw
from garden_core.svg import LOOK, Look

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
        for player, sheet in enumerate(_sheets(view, tables)):
            lines += _wrapped(f"player_{player}: {sheet}")
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


# --- what both say ---


def _status(view: View) -> str:
    if view["asked"] == "over":
        capped = f"stopped by the cap of {view['decisions']} decisions"
        order = ", ".join(marker(p) for p in view["stack"])
        return f"{capped if view['truncated'] else 'game over'}; level scores rank in the order {order}"
    player = view["current_player"]
    if view["asked"] == "start":
        hand = view["hands"][player]
        held = hand if isinstance(hand, int) else sum(hand)
        ways = ["walk"] if view["coins"][player] and not view["walked"] else []
        ways += ["play a card"] if held and not view["played"] else []
        ways.append("choose a track for the last step, or pass" if view["round"] == 3 else "place the Flower")
        what = " or ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))
    else:
        what = {
            "assign": "assign a special task to row ",
            "neutral": "place the neutral Flower",
            "choose": "choose what comes next",
            "plant": "plant",
            "water": "water",
            "walk": "walk",
            "track": "move on the track or stop",
        }[view["asked"]]
    if view["asked"] == "assign":
        what += str(sum(task >= 0 for task in view["tasks"][player]))
    when = "last turn" if view["round"] == 3 else f"round {view['round']}, column {view['column']}"
    order = ", ".join(marker(p) for p in view["order"])
    text = [f"{when}: player_{player} to {what}", f"order: {order}" if order else "", _on_hand(view)]
    return "; ".join(filter(None, text))


def _on_hand(view: View) -> str:
    """The action at hand and those pending; "" if there are none."""
    text = []
    if view["hand_action"]:
        kind, left = view["hand_action"]
        if kind in TRACKS:
            more = "" if left else ", further ones for 3 coins each"
            steps = f"{count(left, 'step')} left{more}, {view['steps_taken']} taken"
            text.append(f"at hand: {kind} track, {steps}")
        else:
            text.append("at hand: " + wording.action(f"{kind} {left}"))
    waiting = [wording.action(f"{kind} {amount}") for group in view["pending"] for kind, amount in group]
    if waiting:
        text.append("pending: " + ", ".join(waiting))
    return "; ".join(text)


def _sheets(view: View, tables: Tables) -> list[str]:
    """How each player's score comes about."""
    return [
        f"{sum(parts.values())} = " + " + ".join(f"{part} {points}" for part, points in parts.items())
        for parts in describing.score_sheet(view, tables)
    ]


def _cards(view: View, tables: Tables, player: int) -> str:
    hand = view["hands"][player]
    if isinstance(hand, int):
        return f"{hand} hidden"
    held = zip(hand, tables.cards, strict=True)
    text = [wording.action(card.action) + (f" (x{n})" if n > 1 else "") for n, card in held if n]
    return ", ".join(map(_whole, text)) or "none"


def _tasks(view: View, tables: Tables, player: int, row: int) -> tuple[str, str]:
    """The basic and the special task of a row, with a mark where it is done."""
    basic = wording.task(tables.basic[row]) + (" done" if view["basic_done"][player][row] else "")
    task = view["tasks"][player][row]
    if task < 0:
        return basic, ""
    return basic, wording.task(tables.special[task]) + (" done" if view["special_done"][player][row] else "")


def _to_assign(view: View, tables: Tables, player: int) -> str:
    """The dealt tasks that a player has yet to assign, by their actions' numbers; "" for none."""
    return "; ".join(
        _whole(f"{j}: {wording.task(tables.special[task])}")
        for j, task in enumerate(view["dealt"][player])
        if task not in view["tasks"][player]
    )


# --- text ---

GARDENS_HEAD = (
    "row"
    + "".join(f"{column:>4} " for column in range(COLUMNS))
    + "  basic and special task (score: points so far + full columns + coins // 3)"
)


def _column_lines(view: View, tables: Tables) -> list[str]:
    """The current column and the next, side by side if they fit."""
    if view["round"] == 3:
        return []
    column = view["column"]
    head = f"column {column}, Flowers in [ ] from bottom to top"
    blocks = [[head] + [f"  {s}: {_space(view, tables, column, s)}" for s in range(SPACES)]]
    if column < 8 or view["round"] == 1:
        following = column + 1 if column < 8 else 1
        nearby = [f"  {s}: {_space(view, tables, following, s)}" for s in range(SPACES)]
        blocks.append([f"column {following}, the next", *nearby])
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
    """Whose pieces stand on a track, by node."""
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
    r, c = CROSSINGS[view["gardeners"][player]]
    dealt = _to_assign(view, tables, player)
    if dealt:  # before the first turn, so there is little else to show
        held = f"to assign: {dealt}"
    else:
        counts = f"{count(view['coins'][player], 'coin')}, {count(view['animals'][player], 'animal')}"
        held = f"{counts}, Gardener at {r},{c} reaches ( ), cards: {_cards(view, tables, player)}"
    lines = _wrapped(f"{marker(player)} player_{player}: score {view['scores'][player]}, {held}")
    near = describing.reach(view["gardeners"][player])
    tasks = [_tasks(view, tables, player, row) for row in range(ROWS)]
    width = 2 + max(len(basic) for basic, _ in tasks)
    for row, (basic, special) in enumerate(tasks):
        beds = range(COLUMNS * row, COLUMNS * (row + 1))
        marks = "".join(_bed(view["gardens"][player][bed], bed in near) for bed in beds)
        lines.append(f"  {row}{marks}  {basic:<{width}}{special}")
    return lines


def _bed(level: int, near: bool) -> str:
    """A bed in five columns: its level, "." if it is empty, nothing if it does not exist."""
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
LEGEND = (
    ("coins", "coins"),
    ("points", "points"),
    ("animal", "animal"),
    ("card", "Garden card"),
    ("water", "water"),
    ("walk", "walk"),
    ("plant_2", "plant II"),
    ("money", "money track"),
    ("wheelbarrow", "wheelbarrow track"),
    ("shovel", "shovel track"),
    ("prize", "prize"),
    ("pole", "Pole Position"),
)


class Scene(NamedTuple):
    """What every part of a picture is drawn from."""

    view: View
    tables: Tables
    paint: Palette
    look: Look


def svg(view: View, tables: Tables, seat: int | None = None, look: Look = LOOK) -> str:
    """The position as a picture; `view` and `tables` as for `text`.

    Args:
        seat: whose garden comes first in a compact picture; None: player_0's.
        look: how it is drawn.

    Returns:
        An SVG document that needs nothing from outside, 1100 x 1000; if it is compact, 430 wide.
    """
    scene = Scene(view, tables, DARK if look.dark else LIGHT, look)
    parts, height = _compact(scene, seat) if look.compact else (_wide(scene), HEIGHT)
    width = COMPACT_WIDTH if look.compact else WIDTH
    return draw.document(width, height, *parts, background=scene.paint.paper)


def _wide(scene: Scene) -> list[str]:
    """Everything side by side."""
    players, market = scene.view["num_players"], 590
    width = (WIDTH - 2 * MARGIN - 10 * (players - 1)) / players
    right = MARGIN + market + 10
    parts = [_status_line(scene, MARGIN, 10, WIDTH - 2 * MARGIN), _market(scene, MARGIN, 60, market)]
    for number in range(len(TRACKS)):
        parts.append(_track(scene, number, right, 60 + (TRACK + 6) * number, WIDTH - MARGIN - right))
    parts += [_panel(scene, p, MARGIN + (width + 10) * p, 448, width) for p in range(players)]
    return [*parts, _legend(scene, MARGIN, 448 + PANEL + 20, WIDTH - 2 * MARGIN, 12)]


def _compact(scene: Scene, seat: int | None) -> tuple[list[str], float]:
    """Everything below one another, the own garden first, and the height of it all."""
    width, players = COMPACT_WIDTH - 2 * 12, scene.view["num_players"]
    parts, y = [_status_line(scene, 12, 10, width)], 104.0
    parts.append(_market(scene, 12, y, width))
    y += BOARD + 10
    parts.append(_other_columns(scene, 12, y, width))
    y += BOARD + 10
    for number in range(len(TRACKS)):
        parts.append(_track(scene, number, 12, y, width))
        y += TRACK + 6
    for i in range(players):
        parts.append(_panel(scene, ((seat or 0) + i) % players, 12, y + 4, width))
        y += PANEL + 10
    return [*parts, _legend(scene, 12, y + 22, width, 3)], y + 190


# helpers


def _words(
    x: float,
    y: float,
    content: object,
    size: float,
    fill: str,
    *,
    bold: bool = False,
    anchor: str | None = None,
) -> str:
    return draw.text(x, y, content, size, fill=fill, font_weight="bold" if bold else None, text_anchor=anchor)


def _titled(words: str, *parts: str) -> str:
    """Parts that say in words what they are when one points at them."""
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
    """What labels call a place, around a point; nothing unless it is asked for."""
    if not scene.look.names:
        return ""
    paint, width = scene.paint, 6.2 * len(str(words)) + 4
    ground = draw.box(x - width / 2, y - 8, width, 16, 4, paint.edge, 0.7, paint.panel)
    return ground + _words(x, y, words, SMALL, paint.ink, anchor="middle")


def _livery(scene: Scene, who: int | str) -> str:
    return scene.paint.neutral if isinstance(who, str) else scene.paint.livery[who]


def _marker(scene: Scene, x: float, y: float, radius: float, who: int | str) -> str:
    """A disc with its seat, N on what is neutral."""
    disc = draw.tag(
        "circle", cx=x, cy=y, r=radius, fill=_livery(scene, who), stroke=scene.paint.panel, stroke_width=1.5
    )
    size = max(SMALL, 1.05 * radius)
    return disc + _words(x, y, marker(who), size, scene.paint.on_livery, bold=True, anchor="middle")


def _gain(scene: Scene, text: str, x: float, y: float, size: float = 24) -> str:
    """An action as its icon and its number, from x to the right around the height y."""
    kind, _, amount = text.partition(" ")
    words = wording.action(text)
    if kind == "prize":
        left = scene.view["prizes"][PRIZES.index(amount)]
        amount = str(left[0]) if left else "–"
        words += f" ({count(left[0], 'point')})" if left else " (none left)"
    number = _words(x + size + 3, y, amount, PLAIN if size < 28 else LARGE, scene.paint.ink, bold=True)
    return _titled(words, icon(kind, x + size / 2, y, size, scene.paint), number)


def _gain_width(scene: Scene, text: str, size: float = 24) -> float:
    kind, _, amount = text.partition(" ")
    if kind == "prize":
        amount = str(max(scene.view["prizes"][PRIZES.index(amount)], default=0))
    return size + 3 + (8 if size < 28 else 10.5) * len(amount)


def _fitted(x: float, y: float, width: float, needed: float, drawn: str) -> str:
    """What is drawn around 0,0 put around x, y, smaller if it needs more than the width."""
    scale = min(1.0, width / needed)
    smaller = f" scale({scale:.3g})" if scale < 1 else ""
    return draw.tag("g", drawn, transform=f"translate({x:.2f} {y:.2f}){smaller}")


def _gains_centred(
    scene: Scene, texts: Sequence[str], x: float, y: float, width: float, size: float = 22
) -> str:
    """Actions beside one another around x, y, within a width."""
    widths = [_gain_width(scene, text, size) + 4 for text in texts]
    left, parts = -(sum(widths) - 4) / 2, []
    for text, wide in zip(texts, widths, strict=True):
        parts.append(_gain(scene, text, left, 0, size))
        left += wide
    return _fitted(x, y, width, max(1.0, sum(widths) - 4), "".join(parts))


def _heading(scene: Scene, x: float, y: float, words: str) -> str:
    return _words(x, y, words, SMALL, scene.paint.faint, bold=True)


# what is to be done


def _status_line(scene: Scene, x: float, y: float, width: float) -> str:
    """When it is, who is to do what, the action at hand and those that wait; in two lines or three."""
    view, paint = scene.view, scene.paint
    now, *_ = _status(view).split("; ")
    when, _, what = now.partition(": ")
    if view["asked"] == "over":
        lines = textwrap.wrap(_status(view), int(width / 7))
        parts = [_words(x, y + 10 + 18 * i, line, PLAIN, paint.faint) for i, line in enumerate(lines)]
        down, score = y + 13 + 18 * len(lines), max(view["scores"])
        first = next(player for player in view["stack"] if view["scores"][player] == score)
        parts.append(_marker(scene, x + 11, down, 11, first))
        parts.append(_words(x + 30, down, f"player_{first} is first with {score}", 15, paint.ink, bold=True))
        return draw.tag("g", *parts)
    parts = [_words(x, y + 10, when[0].upper() + when[1:], PLAIN, paint.faint, bold=True)]
    player = view["current_player"]
    parts.append(_marker(scene, x + 11, y + 31, 11, player))
    lines = textwrap.wrap(what, int((width - 30) / 7.6))
    parts += [_words(x + 30, y + 31 + 18 * i, line, 15, paint.ink, bold=True) for i, line in enumerate(lines)]
    right, compact = x + width, scene.look.compact
    if "pass" in scene.look.legal:
        parts.append(_button(scene, "pass", right - 56, y - 5 if compact else y + 4, 56, 28))
        right -= 0 if compact else 70
    parts += _waiting(scene, right, y + (72 if compact else 18))
    return draw.tag("g", *parts)


def _button(scene: Scene, label: str, x: float, y: float, width: float, height: float) -> str:
    ground = _box(scene, x, y, width, height, fill=scene.paint.panel, offered=True, corner=height / 2)
    words = _words(x + width / 2, y + height / 2, label, PLAIN, scene.paint.ink, bold=True, anchor="middle")
    return _target(scene, label, ground, words)


def _waiting(scene: Scene, right: float, y: float) -> list[str]:
    """The action at hand and those pending, each in a box, up to a right edge."""
    view, paint, boxes = scene.view, scene.paint, []
    if view["hand_action"]:
        kind, left = view["hand_action"]
        note = "at hand: " + (_on_hand(view).removeprefix("at hand: ").partition(";")[0])
        boxes.append((note, f"{kind} {left}", paint.raised, paint.ink, ""))
    for kind, amount in (chosen for group in reversed(view["pending"]) for chosen in group):
        text = f"{kind} {amount}"
        boxes.append((f"pending: {wording.action(text)}", text, paint.board, paint.edge, f"resolve {kind}"))
    parts, offered = [], set()
    for note, text, ground, edge, label in reversed(boxes):
        width = _gain_width(scene, text) + 16
        right -= width + 6
        clickable = label in scene.look.legal and label not in offered
        offered.add(label)
        drawn = _box(scene, right, y - 17, width, 34, fill=ground, edge=edge, offered=clickable)
        inside = _titled(note, drawn, _gain(scene, text, right + 8, y))
        if note.startswith("at hand") and scene.look.last.startswith("resolve "):
            inside += _ring(scene, right, y - 17, width, 34)
        parts.append(_target(scene, label, inside) if clickable else inside)
    return parts


# the board


def _market(scene: Scene, x: float, y: float, width: float) -> str:
    """The order of turns, the piles and the columns: the current one and the next wide, in full width the others narrow."""
    view, compact = scene.view, scene.look.compact
    parts = [draw.box(x, y, width, BOARD, 8, scene.paint.edge, 1, scene.paint.panel)]
    parts += [_order(scene, x + 8, y), _piles(scene, x + 8, y + 150)]
    near = _near_columns(view)
    columns = [*near] if compact and near else list(range(1, 9))
    if compact and not near:
        columns = []
        note = "No column is open in the last turn."
        parts.append(_words(x + 80, y + 180, note, PLAIN, scene.paint.ink))
    left, room = x + 66, width - 72 - 4 * (len(columns) - 1)
    narrow = 41 if near and not compact else room / 8
    wide = (room - narrow * (len(columns) - len(near))) / (len(near) or 1)
    for column in columns:
        across = wide if column in near else narrow
        parts.append(_column(scene, column, left, y, across, column in near))
        left += across + 4
    return draw.tag("g", *parts)


def _other_columns(scene: Scene, x: float, y: float, width: float) -> str:
    """The columns that a compact market leaves out."""
    columns = [column for column in range(1, 9) if column not in _near_columns(scene.view)]
    across = (width - 16 - 4 * (len(columns) - 1)) / len(columns)
    parts = [draw.box(x, y, width, BOARD, 8, scene.paint.edge, 1, scene.paint.panel)]
    for place, column in enumerate(columns):
        parts.append(_column(scene, column, x + 8 + (across + 4) * place, y, across, False))
    return draw.tag("g", *parts)


def _near_columns(view: View) -> list[int]:
    """The current column and the next, in the order of the board; none in the last turn."""
    if view["round"] == 3:
        return []
    column = view["column"]
    if column < 8:
        return [column, column + 1]
    return [1, 8] if view["round"] == 1 else [8]


def _order(scene: Scene, x: float, y: float) -> str:
    """The last stack, top first; a Flower that has been placed since is an outline."""
    view, paint = scene.view, scene.paint
    parts = [_heading(scene, x, y + 14, "order")]
    for place, player in enumerate(view["stack"]):
        height = y + 38 + 20 * place
        if player in view["order"]:
            parts.append(_slab(scene, x + 2, height - 7, player))
        else:
            parts.append(draw.box(x + 2, height - 7, 38, 14, 4, _livery(scene, player), 1.5, paint.panel))
            parts.append(_words(x + 21, height, marker(player), SMALL, paint.faint, anchor="middle"))
    names = ", ".join(marker(p) for p in view["order"]) or "nobody"
    return _titled(f"still to play in this column, in order: {names}", *parts)


def _slab(scene: Scene, x: float, y: float, who: int | str) -> str:
    """A Flower seen from the side."""
    ground = draw.box(x, y, 38, 14, 4, scene.paint.line, 0.8, _livery(scene, who))
    return ground + _words(
        x + 19, y + 7, marker(who), SMALL, scene.paint.on_livery, bold=True, anchor="middle"
    )


def _stack(scene: Scene, x: float, bottom: float, flowers: Sequence[int | str]) -> str:
    """Flowers on top of one another, the last one in full."""
    parts = [_slab(scene, x, bottom - 14 * (i + 1), who) for i, who in enumerate(flowers)]
    top = bottom - 14 * len(flowers)
    parts.append(bloom(x + 19, top - 5, _livery(scene, flowers[-1]), scene.paint))
    names = ", ".join(map(marker, flowers))
    return _titled(f"Flowers from bottom to top: {names}", *parts)


def _piles(scene: Scene, x: float, y: float) -> str:
    """Garden cards: the pile and the discards."""
    view, paint = scene.view, scene.paint
    used = sum(view["discards"])
    held = zip(view["discards"], scene.tables.cards, strict=True)
    kinds = ", ".join(wording.action(card.action) + (f" (x{n})" if n > 1 else "") for n, card in held if n)
    parts = [
        _heading(scene, x, y + 14, "cards"),
        _titled(
            f"{view['pile_left']} Garden cards in the pile",
            icon("card", x + 21, y + 48, 44, paint),
            _words(x + 21, y + 82, view["pile_left"], PLAIN, paint.ink, bold=True, anchor="middle"),
        ),
        _heading(scene, x, y + 112, "used"),
        _titled(
            f"{used} discarded" + (f": {kinds}" if kinds else ""),
            draw.box(x + 7, y + 127, 28, 38, 4, paint.edge, 1, paint.board),
            _words(x + 21, y + 146, used, PLAIN, paint.ink, bold=True, anchor="middle"),
        ),
    ]
    if scene.look.last.startswith(("use ", "sell ")):
        parts.append(_ring(scene, x + 7, y + 127, 28, 38))
    return draw.tag("g", *parts)


def _column(scene: Scene, column: int, x: float, y: float, width: float, wide: bool) -> str:
    """A column of the board below its number."""
    view, paint = scene.view, scene.paint
    current = column == view["column"] and view["round"] < 3
    words = f"column {column}" + (" now" if current else " next") if wide else str(column)
    ink = paint.panel if current else paint.ink if wide else paint.faint
    head = draw.box(x, y + 5, width, 18, 6, paint.ink, 1, paint.ink) if current else ""
    head += _words(x + width / 2, y + 14, words, SMALL, ink, bold=True, anchor="middle")
    spaces = [_space_drawn(scene, column, s, x, y + 26 + (SPACE + 4) * s, width, wide) for s in range(SPACES)]
    return draw.tag("g", head, *spaces)


def _space_drawn(scene: Scene, column: int, space: int, x: float, y: float, width: float, wide: bool) -> str:
    """A space with its action, its tile and, in the current column, the Flowers and what another one costs."""
    view, paint = scene.view, scene.paint
    current = column == view["column"] and view["round"] < 3
    label = next((n for n in (f"flower {space}", f"neutral {space}") if n in scene.look.legal), "")
    offered = current and bool(label)
    ground = _box(
        scene,
        x,
        y,
        width,
        SPACE,
        fill=paint.raised if wide else paint.board,
        edge=paint.faint if current else None,
        offered=offered,
    )
    flowers = view["flowers"][space] if current else []
    printed, laid = scene.tables.board[column - 1][space], describing.tile(view, scene.tables, column, space)
    lower = bool(laid) or bool(flowers)
    size = 30 if wide else 24
    room = width - (44 if current else 8 if wide else 2)
    middle = x + (4 if wide else 1) + room / 2
    parts = [ground, _gains_centred(scene, [printed], middle, y + (22 if lower else SPACE / 2), room, size)]
    if flowers:
        parts += [_cost(scene, space, x + 8, y + 60), _stack(scene, x + width - 44, y + SPACE - 5, flowers)]
    elif laid:
        parts.append(
            _tile_drawn(scene, laid, space, x + (6 if wide else 1), y + 45, room - (4 if wide else 0))
        )
    parts.append(_name(scene, x + 11, y + 12, space) if wide else "")
    if _last_space(view, scene.look.last) == (column, space):
        parts.append(_ring(scene, x, y, width, SPACE))
    return _target(scene, label, *parts) if offered else draw.tag("g", *parts)


def _cost(scene: Scene, space: int, x: float, y: float) -> str:
    """What a Flower costs on an occupied space."""
    cost = describing.flower_cost(scene.view, scene.tables, space)
    words = f"a Flower here costs {count(cost, 'coin')}"
    if not cost:
        return _titled(words, _words(x + 2, y, "free", PLAIN, scene.paint.ink))
    number = _words(x + 50, y, cost, PLAIN, scene.paint.ink, bold=True)
    pay = _words(x, y, "pay", SMALL, scene.paint.ink)
    return _titled(words, pay, icon("coins", x + 36, y, 20, scene.paint), number)


def _tile_drawn(scene: Scene, laid: str, space: int, x: float, y: float, width: float) -> str:
    """A tile: spots on those of the upper spaces, stripes on those of the lower ones."""
    paint, height = scene.paint, 33
    ground = draw.box(x, y, width, height, 5, paint.edge, 1, paint.tile)
    if space < 2:
        marks = [
            draw.tag("circle", cx=x + width - 5, cy=y + 6 + 7 * i, r=1.6, fill=paint.faint) for i in range(4)
        ]
    else:
        marks = [
            draw.tag(
                "path",
                d=f"M{x + width - 8:.1f} {y + 9 + 7 * i:.1f}l6 -5",
                stroke=paint.faint,
                stroke_width=1.4,
            )
            for i in range(4)
        ]
    sort = "spotted" if space < 2 else "striped"
    free = width - (12 if width > 50 else 0)
    gain = _gains_centred(scene, [laid], x + free / 2, y + height / 2, free, 24)
    return _titled(f"{sort} tile: {wording.action(laid)}", ground, *(marks if width > 50 else []), gain)


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
    offered = whole in scene.look.legal
    edge = paint.ink if moving else None
    head = [
        _box(scene, x, y, width, TRACK, fill=paint.panel, edge=edge, corner=8, offered=offered),
        icon(name, x + 19, y + 15, 20, paint),
        _words(x + 34, y + 15, f"{name} track", 13, paint.ink, bold=True),
    ]
    if name in PRIZES:
        head.append(_prizes(scene, name, x + width - 10, y + 15))
    places = _places(scene, nodes, x + 10, y + 31, width - 20, TRACK - 35)
    targets = _track_targets(scene, number) if moving else {}
    parts = [_edges(scene, nodes, places, y + 31, TRACK - 35)]
    for place in range(len(nodes)):
        label = next((label for label, to in targets.items() if to == place), "")
        low = y + 80 < places[place][1] < y + TRACK - 28  # in a lower way, and its pieces fit below it
        drawn = _node(scene, number, place, places[place], bool(label), low)
        if label:
            way, aside = ("upper", -20) if label == "advance upper" else ("lower", 21)
            name = _name(scene, places[place][0], places[place][1] + aside, way)
            drawn = _target(scene, label, drawn, name)
        parts.append(drawn)
    return _target(scene, whole, *head, *parts)


def _prizes(scene: Scene, name: str, right: float, y: float) -> str:
    """The Prize tokens of a stack, top first, up to a right edge."""
    left = scene.view["prizes"][PRIZES.index(name)]
    words = f"{name} prizes, top first: {' '.join(map(str, left)) or 'none left'}"
    if not left:
        return _words(right, y, "no prizes left", SMALL, scene.paint.faint, anchor="end")
    parts = []
    for place, value in enumerate(reversed(left)):
        top = place == len(left) - 1
        x = right - 11 - 22 * place
        ground = scene.paint.offered if top else scene.paint.board
        parts.append(draw.tag("circle", cx=x, cy=y, r=10.5, fill=ground, stroke=scene.paint.edge))
        parts.append(_words(x, y, value, SMALL, scene.paint.ink, bold=top, anchor="middle"))
    parts.append(icon("prize", right - 34 - 22 * (len(left) - 1), y, 20, scene.paint))
    return _titled(words, *parts)


def _track_targets(scene: Scene, number: int) -> dict[str, int]:
    """By label, the node to which a legal step leads."""
    nodes = scene.tables.track(TRACKS[number])
    names = [node.name for node in nodes]
    here = nodes[scene.view["tracks"][scene.view["current_player"]][number]]
    edges = (("advance upper", here.upper), ("advance lower", here.lower))
    return {label: names.index(edge.to) for label, edge in edges if edge and label in scene.look.legal}


Place = tuple[float, float, float]
"""Of a node: its middle and its width."""


def _places(
    scene: Scene, nodes: tuple[Node, ...], x: float, y: float, width: float, height: float
) -> list[Place]:
    """Where the nodes stand: those that are as many steps from the start in one place, one above the other."""
    names = {node.name: number for number, node in enumerate(nodes)}
    depth, lanes = [0] * len(nodes), [set[int]() for _ in nodes]
    for number, node in enumerate(nodes):
        for way, edge in enumerate(node.edges):
            to = names[edge.to]
            depth[to] = max(depth[to], depth[number] + 1)
            lanes[to].add(0 if len(node.edges) == 1 else (-1, 1)[way])
    wanted = [max(38.0, 5 + sum(_gain_width(scene, gain, 22) + 4 for gain in node.gains)) for node in nodes]
    wanted[0] = 42
    steps = range(max(depth) + 1)
    stages = [[number for number in range(len(nodes)) if depth[number] == step] for step in steps]
    widths = [max(wanted[number] for number in stage) for stage in stages]
    shrink = min(1.0, (width - 7 * (len(widths) - 1)) / sum(widths))
    dear = [1 + any(edge.cost for n in stage for edge in nodes[n].edges) for stage in stages[:-1]]
    gap = (width - shrink * sum(widths)) / sum(dear)
    places: list[Place] = [(0, 0, 0)] * len(nodes)
    for stage, wide, gaps in zip(stages, widths, [*dear, 0], strict=True):
        wide *= shrink
        lane = [next(iter(lanes[n])) if len(lanes[n]) == 1 else 0 for n in stage]
        spread = [(2 * i + 1) / len(stage) - 1 for i in range(len(stage))]
        apart = [0.4 * side for side in lane] if len({*lane}) == len(lane) else spread
        for number, side in zip(stage, apart, strict=True):
            places[number] = (x + wide / 2, y + height * (1 + side) / 2, wide)
        x += wide + gap * gaps
    return places


def _edges(scene: Scene, nodes: tuple[Node, ...], places: Sequence[Place], y: float, height: float) -> str:
    """The ways between the nodes, with what they cost."""
    names = {node.name: number for number, node in enumerate(nodes)}
    paint, parts, costs = scene.paint, [], []
    for number, node in enumerate(nodes):
        a, b, wide = places[number]
        for way, edge in enumerate(node.edges):
            c, d, other = places[names[edge.to]]
            start, end, up = a + wide / 2, c - other / 2, len(node.edges) == 2 and way == 0
            if any(start < place[0] < end for place in places):
                level = y + height * (0.18 if up else 0.92)
                path = f"M{start:.1f} {b:.1f}C{start + 12:.1f} {b:.1f} {start + 4:.1f} {level:.1f} {start + 22:.1f} {level:.1f}"
                path += f"H{end - 22:.1f}C{end - 4:.1f} {level:.1f} {end - 12:.1f} {d:.1f} {end:.1f} {d:.1f}"
                middle = ((start + end) / 2, level)
            else:
                bend = 0 if b != d or len(node.edges) == 1 else -14 if up else 14
                half = (start + end) / 2
                path = f"M{start:.1f} {b:.1f}C{half:.1f} {b + bend:.1f} {half:.1f} {d + bend:.1f} {end:.1f} {d:.1f}"
                middle = (half, (b + d) / 2 + 0.75 * bend)
            parts.append(
                draw.tag("path", d=path, fill="none", stroke=paint.faint, stroke_width=2.5, data_edge=1)
            )
            if edge.cost:
                costs.append(_toll(scene, *middle, edge.cost))
    return draw.tag("g", *parts, *costs)


def _toll(scene: Scene, x: float, y: float, cost: int) -> str:
    """What a way costs, on a coin."""
    paint = scene.paint
    disc = draw.tag("circle", cx=x, cy=y, r=9.5, fill=paint.coin, stroke=paint.line)
    number = _words(x, y, cost, SMALL, LIGHT.ink, bold=True, anchor="middle")
    return _titled(f"this way costs {count(cost, 'coin')}", disc, number)


def _node(scene: Scene, number: int, place: int, at: Place, offered: bool, low: bool) -> str:
    """A node with what it gives and the pieces on it, above it or, on the lower way, below it."""
    view, paint, (x, y, wide) = scene.view, scene.paint, at
    here = [p for p, pieces in enumerate(view["tracks"]) if pieces[number] == place]
    nodes = scene.tables.track(TRACKS[number])
    if place == 0:
        half = 14 if view["num_players"] == 2 else 24
        ground = _box(scene, x - wide / 2, y - half, wide, 2 * half, fill=paint.board, corner=12)
        down = 0 if view["num_players"] == 2 else 10
        spots = [(-9.5 + 19 * (p % 2), (2 * (p // 2) - 1) * down) for p in here]
        pieces = [_marker(scene, x + a, y + b, 9.5, p) for p, (a, b) in zip(here, spots, strict=True)]
        return _titled("start", ground, *pieces)
    ends = place == len(nodes) - 1
    ground = _box(
        scene,
        x - wide / 2,
        y - 14,
        wide,
        29,
        fill=paint.tile if ends else paint.board,
        offered=offered,
        corner=10,
    )
    words = ("end: " if ends else "") + wording.step(nodes, place)
    parts = [ground, _gains_centred(scene, nodes[place].gains, x, y, wide - 6)]
    if _last_node(scene) == (number, place):
        parts.append(_ring(scene, x - wide / 2, y - 14, wide, 29))
    left = x - 9 * (len(here) - 1)
    parts += [_marker(scene, left + 18 * i, y + (19.5 if low else -20), 9, p) for i, p in enumerate(here)]
    return _titled(words, *parts)


def _last_node(scene: Scene) -> tuple[int, int]:
    """Track and node to which the last action led, where that can be told; (-1, 0) else."""
    view, look = scene.view, scene.look
    if look.by is None or not look.last.startswith("advance"):
        return -1, 0
    pieces = view["tracks"][look.by]
    if look.by == view["current_player"] and view["hand_action"] and view["hand_action"][0] in TRACKS:
        number = TRACKS.index(view["hand_action"][0])
        return number, pieces[number]
    ends = [
        number for number, name in enumerate(TRACKS) if pieces[number] == len(scene.tables.track(name)) - 1
    ]
    return (ends[0], pieces[ends[0]]) if ends else (-1, 0)


# the players


class Garden(NamedTuple):
    """Where a garden lies: its first bed, how far apart its beds are, their size, and where the tasks begin."""

    x: float
    y: float
    pitch: float
    bed: float
    tasks: float


def _panel(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """One player's garden, tasks, hand and counts."""
    view, paint = scene.view, scene.paint
    asked = view["asked"] != "over" and player == view["current_player"]
    edge, thick = (_livery(scene, player), 3) if asked else (paint.edge, 1)
    pitch = 37 if width < 300 else 46 if width < 380 else 54 if width < 450 else 62
    left = x + 20
    garden = Garden(left, y + 90, pitch, pitch - 9, left + 4 * pitch + 2)
    parts = [
        draw.box(x, y, width, PANEL, 8, edge, thick, paint.panel),
        _marker(scene, x + 21, y + 21, 12, player),
        _ring(scene, x + 10, y + 10, 22, 22, 14) if _last_elsewhere(scene, player) else "",
        _words(x + 40, y + 21, f"player_{player}", 16, paint.ink, bold=True),
        _words(x + width - 12, y + 21, view["scores"][player], 26, paint.ink, bold=True, anchor="end"),
        _holdings(scene, player, x + 12, y + 54, width - 24),
        _ground(scene, garden),
        *(_bed_drawn(scene, player, garden, bed) for bed in range(ROWS * COLUMNS)),
        *(_crossing(scene, player, garden, crossing) for crossing in range(len(CROSSINGS))),
        _full_columns(scene, player, garden),
        _tasks_drawn(scene, player, garden, x + width - 7 - garden.tasks),
        _below(scene, player, x + 12, garden.y + ROWS * ROW + 28, width - 24),
    ]
    return draw.tag("g", *parts)


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


def _holdings(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """Coins, cards and the five places of the animals."""
    view, paint = scene.view, scene.paint
    coins, hand = view["coins"][player], view["hands"][player]
    cards, animals = hand if isinstance(hand, int) else sum(hand), view["animals"][player]
    parts = [
        _titled(
            count(coins, "coin"),
            icon("coins", x + 11, y, 22, paint),
            _words(x + 26, y, coins, 16, paint.ink, bold=True),
        ),
        _titled(
            count(cards, "Garden card"),
            icon("card", x + 60, y, 22, paint),
            _words(x + 72, y, cards, 16, paint.ink, bold=True),
        ),
        icon("animal", x + width - 121, y, 20, paint),
    ]
    for place, points in enumerate(scene.tables.animals):
        left, taken = x + width - 96 + 21.5 * place - 10, place < animals
        ground = paint.done if taken else paint.board
        ink = paint.on_done if taken else paint.ink
        parts.append(
            _titled(
                f"animal {place + 1}: {count(points, 'point')}" + (", scored" if taken else ""),
                draw.tag("circle", cx=left + 10.5, cy=y, r=10, fill=ground, stroke=paint.edge),
                _words(left + 10.5, y, points, SMALL, ink, bold=taken, anchor="middle"),
            )
        )
    return draw.tag("g", *parts)


def _ground(scene: Scene, garden: Garden) -> str:
    """The paths of a garden, with the numbers of rows and columns."""
    paint, right = scene.paint, garden.x + 4 * garden.pitch - 5
    parts = [
        draw.box(garden.x - 4, garden.y - 4, right - garden.x + 4, ROWS * ROW, 8, paint.edge, 1, paint.board)
    ]
    for column in range(COLUMNS):
        middle = garden.x + garden.pitch * column + garden.bed / 2
        parts.append(_words(middle, garden.y - 13, column, SMALL, paint.faint, anchor="middle"))
    for row in range(ROWS):
        parts.append(
            _words(garden.x - 13, garden.y + ROW * row + 24, row, SMALL, paint.faint, anchor="middle")
        )
    return draw.tag("g", *parts)


def _bed_drawn(scene: Scene, player: int, garden: Garden, bed: int) -> str:
    """A bed and its plant; darker soil if the Gardener reaches it. Nothing where there is none."""
    view, paint, level = scene.view, scene.paint, scene.view["gardens"][player][bed]
    if level < 0:
        return ""
    row, column = divmod(bed, COLUMNS)
    x, y, height = garden.x + garden.pitch * column, garden.y + ROW * row, ROW - 9
    label = f"bed {row},{column}"
    near = bed in describing.reach(view["gardeners"][player])
    offered = _acts(scene, player, label)
    ground = paint.reach if near else paint.bed
    edge, thick = (paint.legal, 3) if offered else (paint.furrow, 1.0)
    parts = [draw.box(x, y, garden.bed, height, 6, edge, thick, paint.offered if offered else ground)]
    if level:
        roomy = garden.bed >= 50  # the level stands beside the plant, else below it
        size, middle = (38, x + garden.bed / 2 - 6.5) if roomy else (30, x + garden.bed / 2)
        a, b = (x + garden.bed - 9, y + height - 15) if roomy else (middle, y + height - 7)
        parts.append(plant(level, middle, y + (23 if roomy else 18), size, paint))
        parts.append(_words(a, b, LEVELS[level], SMALL, paint.ink, bold=True, anchor="middle"))
    else:
        parts.append(soil(x, y, garden.bed, height, paint))
    parts.append(_name(scene, x + garden.bed / 2, y + 13, f"{row},{column}"))
    if scene.look.last == label and scene.look.by == player:
        parts.append(_ring(scene, x, y, garden.bed, height))
    what = f"plant {LEVELS[level]}" if level else "empty bed"
    words = f"{what} at {row},{column}" + (", in reach" if near else "")
    drawn = _titled(words, *parts)
    return _target(scene, label, drawn) if offered else drawn


def _crossing(scene: Scene, player: int, garden: Garden, crossing: int) -> str:
    """A crossing: the Gardener, a way to go there with its price, or a dot."""
    view, paint, (r, c) = scene.view, scene.paint, CROSSINGS[crossing]
    x, y = garden.x + garden.pitch * (c + 1) - 4.5, garden.y + ROW * (r + 1) - 4.5
    if crossing == view["gardeners"][player]:
        hat = draw.tag("ellipse", cx=x, cy=y - 9, rx=11, ry=3, fill=paint.wood, stroke=paint.line) + draw.tag(
            "path", d=f"M{x - 6:.1f} {y - 10:.1f}q6 -10 12 0z", fill=paint.wood, stroke=paint.line
        )
        here = scene.look.by == player and scene.look.last.startswith("walk")
        ring = _ring(scene, x - 13, y - 18, 26, 30, 16) if here else ""
        return _titled(f"Gardener at {r},{c}", _marker(scene, x, y, 11, player), hat, ring)
    label = f"walk {r},{c}"
    if not _acts(scene, player, label):
        return draw.tag("circle", cx=x, cy=y, r=2.5, fill=paint.edge) + _name(scene, x, y, f"{r},{c}")
    radius = 13.5 if scene.look.compact else 12.5
    disc = draw.tag("circle", cx=x, cy=y, r=radius, fill=paint.offered, stroke=paint.legal, stroke_width=2.5)
    s, d = CROSSINGS[view["gardeners"][player]]
    price = abs(r - s) + abs(c - d) if view["asked"] == "start" else 0
    words = f"{r},{c}" if scene.look.names else price or ""
    number = _words(x, y, words, SMALL, paint.ink, bold=not scene.look.names, anchor="middle")
    return _target(scene, label, disc, number)


def _full_columns(scene: Scene, player: int, garden: Garden) -> str:
    """What the columns of a garden would score now, below them."""
    paint, y, parts = scene.paint, garden.y + ROWS * ROW + 9, []
    for column in range(COLUMNS):
        points = wording.column_points(scene.tables, scene.view["gardens"][player], column)
        x = garden.x + garden.pitch * column + garden.bed / 2
        words = f"column {column}: " + (f"full, {count(points, 'point')} now" if points else "not full")
        if points:
            ground = draw.box(x - 13, y - 9, 26, 18, 9, paint.done, 1, paint.done)
            number = _words(x, y, points, 13, paint.on_done, bold=True, anchor="middle")
        else:
            ground = ""
            number = _words(x, y, "–", 13, paint.faint, anchor="middle")
        parts.append(_titled(words, ground, number))
    parts.append(_words(garden.tasks, y, "full columns", SMALL, paint.faint, bold=True))
    return draw.tag("g", *parts)


def _tasks_drawn(scene: Scene, player: int, garden: Garden, width: float) -> str:
    """The basic and the special task of each row: side by side if there is room, else one above the other."""
    view, x, parts = scene.view, garden.tasks, []
    beside = width > 200
    heads = ("basic task", "special task") if beside else ("basic and special",)
    across = (width - 6) / 2 if beside else width
    for place, words in enumerate(heads):
        parts.append(
            _heading(scene, x + (across + 6) * place, garden.y - 13, words if width > 95 else "tasks")
        )
    for row in range(ROWS):
        y = garden.y + ROW * row
        special = view["tasks"][player][row]
        tasks = (scene.tables.basic[row], scene.tables.special[special] if special >= 0 else None)
        for place, task in enumerate(tasks):
            left, top = (x + (across + 6) * place, y + 8) if beside else (x, y + 24 * place)
            done = view["special_done" if place else "basic_done"][player][row]
            parts.append(_task_card(scene, task, left, top, across, 31 if beside else 22, place, done))
    if scene.look.by == player and scene.look.last.startswith("assign"):
        given = [row for row in range(ROWS) if view["tasks"][player][row] >= 0]
        for row in given[-2:] if len(given) == ROWS else given[-1:]:  # the last one comes by itself
            y = garden.y + ROW * row
            spot = (x + across + 6, y + 8, across, 31) if beside else (x, y + 24, across, 22)
            parts.append(_ring(scene, *spot))
    return draw.tag("g", *parts)


def _task_card(
    scene: Scene, task: Task | None, x: float, y: float, width: float, height: float, place: int, done: bool
) -> str:
    """A task: the plants that it asks for and its points."""
    paint, sort = scene.paint, ("basic", "special")[place]
    ground = draw.box(
        x,
        y,
        width,
        height,
        5,
        paint.done if done else paint.edge,
        1.5 if done else 1,
        (paint.board, paint.tile)[place],
    )
    if task is None:
        words = _words(x + width / 2, y + height / 2, "?", PLAIN, paint.ink, anchor="middle")
        return _titled("special task not yet assigned", ground, words)
    parts = [ground, _wanted(scene, task, x + 2, y + height / 2, width - 24)]
    if done:
        parts.append(draw.box(x + width - 21, y + height / 2 - 9, 19, 18, 5, paint.done, 1, paint.done))
        parts.append(tick(x + 3, y + 2, paint))
    ink = paint.on_done if done else paint.ink
    parts.append(_words(x + width - 11.5, y + height / 2, task.points, 13, ink, bold=True, anchor="middle"))
    return _titled(f"{sort} task: {wording.task(task)}" + (", done" if done else ""), *parts)


def _wanted(scene: Scene, task: Task, x: float, y: float, width: float) -> str:
    """The plants that a task asks for, one chip each."""
    plants = [level for level, n in enumerate(task.plants, 1) for _ in range(n)]
    pitch = max(13.8, min(24.0, width / max(4, len(plants))))
    parts = []
    for place, level in enumerate(plants):
        left = pitch * place
        ground = scene.paint.level[level - 1]
        parts.append(draw.box(left, -8.5, pitch - 1, 17, 4, scene.paint.faint, 0.7, ground))
        middle = left + pitch / 2 - 0.5
        parts.append(
            _words(middle, 0, LEVELS[level], SMALL, scene.paint.on_level, bold=True, anchor="middle")
        )
    return _fitted(x, y, width, pitch * len(plants), "".join(parts))


def _below(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """Below a garden: the tasks to assign, at the end the score sheet, else the hand."""
    view = scene.view
    if view["asked"] == "over":
        return _sheet(scene, player, x, y, width)
    if any(task not in view["tasks"][player] for task in view["dealt"][player]):
        return _dealt(scene, player, x, y, width)
    hand = view["hands"][player]
    if isinstance(hand, int):
        return _backs(scene, hand, x, y, width)
    held = [(n, card.action) for n, card in zip(hand, scene.tables.cards, strict=True) if n]
    return _hand(scene, player, held, x, y, width)


def _dealt(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """The special tasks that are yet to be assigned, by their places among those dealt."""
    view, paint = scene.view, scene.paint
    row = view["tasks"][player].index(-1)
    parts = [_heading(scene, x, y, f"special task for row {row}")]
    across = min(120.0, (width - 8) / 3)
    left = [(j, task) for j, task in enumerate(view["dealt"][player]) if task not in view["tasks"][player]]
    for place, (j, number) in enumerate(left):
        a, b = x + (across + 4) * (place % 3), y + 11 + 34 * (place // 3)
        label, task = f"assign {j}", scene.tables.special[number]
        offered = _acts(scene, player, label)
        drawn = [
            _box(scene, a, b, across, 29, fill=paint.tile, offered=offered),
            _wanted(scene, task, a + 2, b + 14.5, across - 20),
            _words(a + across - 9.5, b + 14.5, task.points, 13, paint.ink, bold=True, anchor="middle"),
            _name(scene, a + across - 9.5, b + 28, j),
        ]
        words = _titled(f"special task: {wording.task(task)}", *drawn)
        parts.append(_target(scene, label, words) if offered else words)
    return draw.tag("g", *parts)


def _backs(scene: Scene, cards: int, x: float, y: float, width: float) -> str:
    """Hidden cards: their backs and how many they are."""
    head = _heading(scene, x, y, "cards in hand" if cards else "no cards in hand")
    pitch = min(26.0, (width - 60) / max(cards, 1))
    backs = [icon("card", x + 17 + pitch * i, y + 36, 44, scene.paint) for i in range(cards)]
    number = _words(x + 34 + pitch * cards, y + 36, cards, LARGE, scene.paint.ink, bold=True) if cards else ""
    return _titled(f"{count(cards, 'hidden card')}", head, *backs, number)


def _hand(
    scene: Scene, player: int, held: Sequence[tuple[int, str]], x: float, y: float, width: float
) -> str:
    """Cards in hand by kind: what they do, how many there are; below them, to sell one."""
    paint = scene.paint
    parts = [_heading(scene, x, y, "cards in hand" if held else "no cards in hand")]
    pitch = min(52.0, (width + 6) / max(len(held), 1))
    for place, (n, action) in enumerate(held):
        left, top, wide = x + pitch * place, y + 12, 46.0
        use, sell = f"use {action}", f"sell {action}"
        offered = _acts(scene, player, use)
        amount = f"x{n}" if n > 1 else ""
        words = wording.action(action) + (f" ({amount})" if amount else "")
        drawn = _titled(
            words,
            _box(scene, left, top, wide, 40, fill=paint.board, offered=offered),
            _gains_centred(scene, [action], left + wide / 2, top + (14 if n > 1 else 20), wide - 4, 24),
            _words(left + wide / 2, top + 32, amount, SMALL, paint.ink, anchor="middle") if amount else "",
        )
        parts.append(_target(scene, use, drawn) if offered else drawn)
        if _acts(scene, player, sell):
            parts.append(_sale(scene, sell, left, top + 43, wide))
    return draw.tag("g", *parts)


def _sale(scene: Scene, label: str, x: float, y: float, width: float) -> str:
    """What one clicks to sell a card."""
    ground = _box(scene, x, y, width, 27, fill=scene.paint.board, offered=True, corner=9)
    number = _words(x + 9, y + 13.5, f"+{COINS_FOR_SALE}", SMALL, scene.paint.ink, bold=True)
    return _target(scene, label, ground, number, icon("coins", x + width - 14, y + 13.5, 15, scene.paint))


def _sheet(scene: Scene, player: int, x: float, y: float, width: float) -> str:
    """How a score comes about."""
    parts, paint = [], scene.paint
    sheet = describing.score_sheet(scene.view, scene.tables)[player]
    lines = [*sheet.items(), ("score", sum(sheet.values()))]
    across = (width - 16) / 2
    for place, (what, points) in enumerate(lines):
        a, b = x + (across + 16) * (place // 3), y + 8 + 24 * (place % 3)
        whole = what == "score"
        parts.append(_words(a, b, what, 13, paint.ink, bold=whole))
        parts.append(_words(a + across, b, points, 14, paint.ink, bold=True, anchor="end"))
        parts.append(
            draw.tag(
                "path", d=f"M{a:.1f} {b + 11:.1f}h{across:.1f}", stroke=paint.ink if whole else paint.edge
            )
        )
    return draw.tag("g", *parts)


# what the icons mean


def _legend(scene: Scene, x: float, y: float, width: float, in_line: int) -> str:
    """The icons and their names, in lines of as many, and what a full column of a garden scores."""
    paint, parts, left = scene.paint, [], x
    spare = (width - sum(28 + 6.1 * len(words) for _, words in LEGEND)) / (len(LEGEND) - 1)
    for place, (kind, words) in enumerate(LEGEND):
        line, across = divmod(place, in_line)
        if in_line < len(LEGEND):
            left = x + width / in_line * across
        parts.append(icon(kind, left + 10, y + 24 * line, 20 if "plant" not in kind else 24, paint))
        parts.append(_words(left + 25, y + 24 * line, words, SMALL, paint.faint))
        left += 28 + 6.1 * len(words) + spare
    y += 26 * -(-len(LEGEND) // in_line)
    parts.append(_words(x, y, "full column of a garden, by its highest plant:", SMALL, paint.faint))
    for level, points in enumerate(scene.tables.columns, 1):
        left = x + 218 + 46 * level if width > 500 else x + 46 * (level - 1)
        down = y if width > 500 else y + 22
        parts.append(draw.box(left, down - 9, 20, 18, 4, paint.faint, 0.7, paint.level[level - 1]))
        parts.append(
            _words(left + 10, down, LEVELS[level], SMALL, paint.on_level, bold=True, anchor="middle")
        )
        parts.append(_words(left + 24, down, points, SMALL, paint.ink, bold=True))
    notes = "tasks: first the basic, then the special one · animals: points of the first to fifth"
    down = y if width > 500 else y + 44
    parts.append(
        _words(
            x + width if width > 500 else x,
            down,
            notes,
            SMALL,
            paint.faint,
            anchor="end" if width > 500 else None,
        )
    )
    return draw.tag("g", *parts)
