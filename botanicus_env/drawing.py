"""Pictures of Botanicus, drawn from a snapshot: `svg` for notebooks, `text` for terminals.

Both show what one seat may see (`snapshots.seen`), or everything to an onlooker.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from botanicus_env import describing, wording
from botanicus_env.snapshots import seen
from botanicus_env.tables import COLUMNS, CROSSINGS, PRIZES, ROWS, SPACES, TRACKS, Node, Tables
from botanicus_env.wording import LEVELS, count, marker
from garden_core import svg as draw
from garden_core.svg import LOOK, Look

LINE = 100  # columns of the text at most

WIDTH, HEIGHT = 1100, 800
INK, FAINT, PAPER, EDGE, GOLD, SOIL = "#33302d", "#857a70", "#f4f1e8", "#d9cfc0", "#b07800", "#ead9c3"
LIVERY = ("#6b3fa0", "#d96400", "#007c85", "#c2337f")  # one a player
GREENS = ("#ead9c3", "#cfe3b4", "#a3cf7d", "#6fb04f", "#3d8437")  # of a bed by level
SPOTTED, STRIPED = "#fdf3cf", "#dfe9f5"  # of a tile


def text(
    snapshot: dict[str, Any], tables: Tables, labels: Sequence[str] = (), seat: int | None = None
) -> str:
    """The position as plain text that a person can play from.

    Args:
        snapshot: the whole state, with the keys that `Game.snapshot` gives.
        tables: what is printed.
        labels: the legal actions in words; they are listed for whoever is asked, and for an onlooker.
        seat: who looks; None is an onlooker who sees everything.

    Returns:
        Lines of at most 100 columns, without a newline at the end.
    """
    view = seen(snapshot, seat)
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
    if labels and seat in (None, view["current_player"]):
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


def _status(view: dict[str, Any]) -> str:
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


def _on_hand(view: dict[str, Any]) -> str:
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


def _sheets(view: dict[str, Any], tables: Tables) -> list[str]:
    """How each player's score comes about."""
    return [
        f"{sum(parts.values())} = " + " + ".join(f"{part} {points}" for part, points in parts.items())
        for parts in describing.score_sheet(view, tables)
    ]


def _cards(view: dict[str, Any], tables: Tables, player: int) -> str:
    hand = view["hands"][player]
    if isinstance(hand, int):
        return f"{hand} hidden"
    held = zip(hand, tables.cards, strict=True)
    text = [wording.action(card.action) + (f" (x{n})" if n > 1 else "") for n, card in held if n]
    return ", ".join(map(_whole, text)) or "none"


def _tasks(view: dict[str, Any], tables: Tables, player: int, row: int) -> tuple[str, str]:
    """The basic and the special task of a row, with a mark where it is done."""
    basic = wording.task(tables.basic[row]) + (" done" if view["basic_done"][player][row] else "")
    task = view["tasks"][player][row]
    if task < 0:
        return basic, ""
    return basic, wording.task(tables.special[task]) + (" done" if view["special_done"][player][row] else "")


def _to_assign(view: dict[str, Any], tables: Tables, player: int) -> str:
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


def _column_lines(view: dict[str, Any], tables: Tables) -> list[str]:
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


def _space(view: dict[str, Any], tables: Tables, column: int, space: int) -> str:
    text = wording.action(tables.board[column - 1][space])
    laid = _tile(view, tables, column, space)
    if laid:
        text += f" + tile {laid}"
    flowers = view["flowers"][space]
    if column != view["column"] or not flowers:
        return text
    cost = describing.flower_cost(view, tables, space)
    return f"{text} [{' '.join(map(marker, flowers))}]" + (f", costs {count(cost, 'coin')}" if cost else "")


def _tile(view: dict[str, Any], tables: Tables, column: int, space: int) -> str:
    """The action of the tile on a space in words; "" where there is none."""
    laid = describing.tile(view, tables, column, space)
    return wording.action(laid) if laid else ""


def _tiles_ahead(view: dict[str, Any], tables: Tables) -> str:
    """The tiles of this round beyond the next column."""
    return "; ".join(
        f"{column}: " + ", ".join(_whole(_tile(view, tables, column, s) or "-") for s in range(SPACES))
        for column in range(view["column"] + 2, 9)
        if column % 2 == 0
    )


def _pieces(view: dict[str, Any], track: int) -> dict[int, str]:
    """Whose pieces stand on a track, by node."""
    here: dict[int, list[str]] = {}
    for player, nodes in enumerate(view["tracks"]):
        here.setdefault(nodes[track], []).append(marker(player))
    return {node: " ".join(markers) for node, markers in here.items()}


def _stock(view: dict[str, Any]) -> str:
    stacks = zip(PRIZES, view["prizes"], strict=True)
    prizes = ", ".join(f"{name} {' '.join(map(str, values)) or 'none left'}" for name, values in stacks)
    cards = f"{view['pile_left']} in pile, {sum(view['discards'])} discarded"
    return f"prizes: {prizes}; Garden cards: {cards}"


def _garden(view: dict[str, Any], tables: Tables, player: int) -> list[str]:
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


def svg(snapshot: dict[str, Any], tables: Tables, seat: int | None = None, look: Look = LOOK) -> str:
    """The position as a picture; arguments as for `text`; what legal actions name stands out.

    Returns:
        An SVG document, 1100 x 800, that needs nothing from outside.
    """
    view = seen(snapshot, seat)
    offered = look.legal
    return draw.document(
        WIDTH,
        HEIGHT,
        _board(view, tables, offered),
        *(_track(view, tables, number, offered) for number in range(len(TRACKS))),
        *(_panel(view, tables, player, offered) for player in range(view["num_players"])),
        draw.text(20, HEIGHT - 12, _status(view), 14, fill=INK),
        background=PAPER,
    )


def _board(view: dict[str, Any], tables: Tables, offered: Mapping[str, int]) -> str:
    parts = []
    for column in range(1, 9):
        x, current = 20 + 104 * (column - 1), column == view["column"] and view["round"] < 3
        head = INK if current else FAINT
        parts.append(
            draw.text(
                x + 48,
                18,
                f"column {column}",
                12,
                text_anchor="middle",
                fill=head,
                font_weight="bold" if current else None,
            )
        )
        for space in range(SPACES):
            y = 30 + 50 * space
            stands_out = current and bool({f"flower {space}", f"neutral {space}"} & offered.keys())
            edge, thick = (GOLD, 2.5) if stands_out else (INK, 1.5) if current else (EDGE, 1)
            parts.append(draw.box(x, y, 98, 46, 6, edge, thick))
            printed = (
                wording.action(tables.board[column - 1][space]).replace("Position ", "Position\n").split("\n")
            )
            for line, words in enumerate(printed):
                parts.append(
                    draw.text(x + 6, y + (12, 8)[len(printed) - 1] + 10 * line, words, 9.5, fill=INK)
                )
            tile = _tile(view, tables, column, space)
            if tile:
                paint = SPOTTED if space < 2 else STRIPED
                parts.append(draw.box(x + 3, y + 25, 92, 17, 4, EDGE, 1, paint))
                parts.append(draw.text(x + 7, y + 33.5, tile, 9.5, fill=INK))
            if current:
                for height, flower in enumerate(view["flowers"][space]):
                    parts.append(_marker(x + 86 - 17 * height, y + 34, 8, flower))
    x = 870
    parts.append(draw.text(x, 18, "Prizes, top first", 12, fill=FAINT))
    for number, (name, values) in enumerate(zip(PRIZES, view["prizes"], strict=True)):
        left = " ".join(map(str, values)) or "none left"
        parts.append(draw.text(x, 44 + 22 * number, f"{name}: {left}", 13, fill=INK))
    parts.append(draw.text(x, 98, "Garden cards", 12, fill=FAINT))
    parts.append(draw.text(x, 120, f"{view['pile_left']} in the pile", 13, fill=INK))
    parts.append(draw.text(x, 142, f"{sum(view['discards'])} discarded", 13, fill=INK))
    parts.append(draw.text(x, 174, "Order of the last stack", 12, fill=FAINT))
    parts += [_marker(x + 10 + 22 * place, 196, 9, p) for place, p in enumerate(view["stack"])]
    return draw.tag("g", *parts)


def _track(view: dict[str, Any], tables: Tables, number: int, offered: Mapping[str, int]) -> str:
    """A track: its nodes from left to right, the pieces on them, what an edge costs written before its end."""
    name, y = TRACKS[number], 244 + 72 * number
    nodes = tables.track(name)
    moving = view["hand_action"] and view["hand_action"][0] == name
    targets = set()
    if moving:
        here = nodes[view["tracks"][view["current_player"]][number]]
        for label, edge in (("advance upper", here.upper), ("advance lower", here.lower)):
            if edge and label in offered:
                targets.add(edge.to)
    step = 1060 / len(nodes)
    parts = [
        draw.text(
            20, y, f"{name} track", 12, fill=INK if moving else FAINT, font_weight="bold" if moving else None
        )
    ]
    for place, node in enumerate(nodes):
        x = 20 + step * place
        edge, thick = (GOLD, 2.5) if node.name in targets else (EDGE, 1.2)
        parts.append(draw.box(x, y + 9, step - 14, 50, 6, edge, thick))
        title = "start" if place == 0 else "end" if place == len(nodes) - 1 else str(place)
        parts.append(draw.text(x + 6, y + 19, title, 9, fill=FAINT))
        for line, gain in enumerate(node.gains):
            parts.append(draw.text(x + 6, y + 31 + 11 * line, wording.action(gain), 10, fill=INK))
        parts.append(draw.text(x + step - 18, y + 19, _ways(nodes, place), 8, text_anchor="end", fill=FAINT))
        here_now = [p for p, pieces in enumerate(view["tracks"]) if pieces[number] == place]
        for i, p in enumerate(here_now):
            parts.append(_marker(x + step - 24 - 15 * i, y + 48, 7, p))
    return draw.tag("g", *parts)


def _ways(nodes: tuple[Node, ...], place: int) -> str:
    """Where the edges of a node lead and what they cost; "" if there is one, to the next node, free."""
    names = [node.name for node in nodes]
    targets = [(names.index(edge.to), edge.cost) for edge in nodes[place].edges]
    if not targets or targets == [(place + 1, 0)]:
        return ""
    last = len(nodes) - 1
    text = [("end" if to == last else f"{to}") + (f" ({cost} c.)" if cost else "") for to, cost in targets]
    return "to " + " or ".join(text)


def _panel(view: dict[str, Any], tables: Tables, player: int, offered: Mapping[str, int]) -> str:
    """One player's garden, tasks, hand and counts."""
    x, y = 20 + 268 * player, 464
    asked = view["asked"] != "over" and player == view["current_player"]
    own = offered if asked else LOOK.legal
    edge, thick = (LIVERY[player], 3) if asked else (EDGE, 1.5)
    counts = f"{count(view['coins'][player], 'coin')}, {count(view['animals'][player], 'animal')}"
    parts = [
        draw.box(x, y, 256, 312, 8, edge, thick),
        _marker(x + 18, y + 18, 11, player),
        draw.text(x + 34, y + 18, f"player_{player}", 14, fill=INK, font_weight="bold" if asked else None),
        draw.text(
            x + 244, y + 18, view["scores"][player], 20, text_anchor="end", font_weight="bold", fill=INK
        ),
        draw.text(x + 12, y + 254, counts, 12, fill=INK),
    ]
    over = view["asked"] == "over"
    dealt = _to_assign(view, tables, player)
    held = f"to assign: {dealt}" if dealt else f"cards: {_cards(view, tables, player)}"
    below = textwrap.wrap(held.replace("\xa0", " "), 48)[: 2 if over else 4]
    if over:
        below += textwrap.wrap(_sheets(view, tables)[player], 48)
    parts += [draw.text(x + 12, y + 269 + 11.5 * i, line, 10, fill=INK) for i, line in enumerate(below)]
    for bed, level in enumerate(view["gardens"][player]):
        row, column = divmod(bed, COLUMNS)
        if level >= 0:
            left, top = x + 12 + 38 * column, y + 38 + 42 * row
            edge, thick = (GOLD, 2.5) if f"bed {row},{column}" in own else (EDGE, 1)
            parts.append(draw.box(left, top, 30, 34, 5, edge, thick, GREENS[level]))
            ink = "#ffffff" if level > 2 else INK
            parts.append(
                draw.text(
                    left + 15, top + 17, LEVELS[level], 13, text_anchor="middle", font_weight="bold", fill=ink
                )
            )
    for crossing, (r, c) in enumerate(CROSSINGS):
        cx, cy = x + 46 + 38 * c, y + 76 + 42 * r
        if crossing == view["gardeners"][player]:
            parts.append(_marker(cx, cy, 8, player))
        else:
            stands_out = f"walk {r},{c}" in own
            paint = GOLD if stands_out else EDGE
            parts.append(draw.tag("circle", cx=cx, cy=cy, r=4 if stands_out else 2, fill=paint))
    for row in range(ROWS):
        for line, (text, done) in enumerate(
            zip(
                _tasks(view, tables, player, row),
                (view[f"{k}_done"] for k in ("basic", "special")),
                strict=True,
            )
        ):
            paint = FAINT if done[player][row] else INK
            for i, words in enumerate(textwrap.wrap(text, 26)):
                parts.append(
                    draw.text(x + 164, y + 44 + 42 * row + 19 * line + 9.5 * i, words, 9, fill=paint)
                )
    return draw.tag("g", *parts)


def _marker(x: float, y: float, radius: float, who: int | str) -> str:
    """A Flower, a piece or a Gardener: a disc with its seat, N on the neutral Flower."""
    paint = "#6d6d6d" if isinstance(who, str) else LIVERY[who]
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=paint, stroke="#ffffff", stroke_width=1) + draw.text(
        x, y, marker(who), 1.1 * radius, text_anchor="middle", font_weight="bold", fill="#ffffff"
    )
