"""Pictures of Botanicus, drawn from a snapshot: `svg` for notebooks, `text` for terminals.

Both show what one seat may see, or everything to an onlooker; `seen` is where a snapshot loses what is hidden.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from botanicus_env.tables import COLUMNS, CROSSINGS, PRIZES, ROWS, SPACES, TRACKS, Tables, Task
from garden_core import svg as draw

LEVELS = ("", "I", "II", "III", "IV")
LETTERS = "ABCD"  # one a player; N is the neutral Flower

WIDTH, HEIGHT = 1100, 800
INK, FAINT, PAPER, EDGE, GOLD, SOIL = "#33302d", "#857a70", "#f4f1e8", "#d9cfc0", "#b07800", "#ead9c3"
LIVERY = ("#6b3fa0", "#d96400", "#007c85", "#c2337f")  # one a player
GREENS = ("#ead9c3", "#cfe3b4", "#a3cf7d", "#6fb04f", "#3d8437")  # of a bed by level
SPOTTED, STRIPED = "#fdf3cf", "#dfe9f5"  # of a tile


def seen(snapshot: dict[str, Any], seat: int | None) -> dict[str, Any]:
    """Return the snapshot as `seat` sees it: the others' hands become counts, of the pile only the size stays.

    While tasks are assigned, those that others have yet to assign are left out of `dealt`.
    """
    view = dict(snapshot, pile_left=len(snapshot["pile"]))
    if seat is None:
        return view
    view["pile"] = None
    view["hands"] = [hand if p == seat else sum(hand) for p, hand in enumerate(snapshot["hands"])]
    view["dealt"] = [
        tasks if p == seat else [task for task in tasks if task in snapshot["tasks"][p]]
        for p, tasks in enumerate(snapshot["dealt"])
    ]
    return view


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
        Lines of about 100 columns, without a newline at the end.
    """
    view = seen(snapshot, seat)
    lines = [_status(view), *_on_hand(view), ""]
    for column in _columns(view):
        lines.append(f"column {column}:")
        lines += [f"  {space}: {_space(view, tables, column, space)}" for space in range(SPACES)]
    if view["column"] < len(tables.board):
        lines += textwrap.wrap(f"tiles ahead: {_tiles_ahead(view, tables)}", 100, subsequent_indent="    ")
    lines.append("")
    for track in TRACKS:
        nodes = "; ".join(_node(view, tables, track, number) for number in range(len(tables.track(track))))
        lines += textwrap.wrap(f"{track}: {nodes}", 100, subsequent_indent="    ")
    prizes = [f"{name} {values or 'none'}" for name, values in zip(PRIZES, view["prizes"], strict=True)]
    lines += [f"prizes: {', '.join(prizes)}; Garden cards in the pile: {view['pile_left']}"]
    for player in range(view["num_players"]):
        lines += ["", *_garden(view, tables, player)]
    if labels and seat in (None, view["current_player"]):
        whole = "; ".join(label.replace(" ", "\xa0") for label in labels)  # a label is not broken over lines
        lines += [
            "",
            *textwrap.wrap(f"legal: {whole}", 100, subsequent_indent=" " * 7, break_on_hyphens=False),
        ]
    return "\n".join(line.rstrip() for line in lines).replace("\xa0", " ")


# --- what both say ---


def _status(view: dict[str, Any]) -> str:
    if view["asked"] == "over":
        end = "stopped by the cap" if view["truncated"] else "game over"
        return f"{end}: " + ", ".join(f"player_{p} {score}" for p, score in enumerate(view["scores"]))
    what = {
        "assign": "to assign a special task to the next row",
        "neutral": "to place the neutral Flower",
        "start": "to walk, play a card or place the Flower",
        "choose": "to choose what comes next",
        "plant": "to plant",
        "water": "to water",
        "walk": "to walk",
        "track": "to advance on the track or stop",
    }[view["asked"]]
    if view["asked"] == "start" and view["round"] == 3:
        what = "to walk, play a card or choose a last track action"
    when = "last turn" if view["round"] == 3 else f"round {view['round']}, column {view['column']}"
    return f"{when}: player_{view['current_player']} {what}"


def _on_hand(view: dict[str, Any]) -> list[str]:
    lines = []
    if view["hand_action"]:
        kind, left = view["hand_action"]
        taken = f", {view['steps_taken']} steps taken" if kind in TRACKS else ""
        lines.append(f"at hand: {kind}, {left} left{taken}")
    waiting = [f"{kind} {amount}" for group in view["pending"] for kind, amount in group]
    if waiting:
        lines.append("pending: " + ", ".join(waiting))
    if view["asked"] != "over" and view["order"]:
        lines.append("order: " + ", ".join(f"player_{p}" for p in view["order"]))
    return lines


def _columns(view: dict[str, Any]) -> list[int]:
    """The current column and the next, by number from 1."""
    if view["round"] == 3:
        return []
    following = view["column"] + 1 if view["column"] < 8 else 1
    return [view["column"], following] if view["column"] < 8 or view["round"] == 1 else [view["column"]]


def _tile(view: dict[str, Any], tables: Tables, column: int, space: int) -> str:
    """The action of the tile on a space on the side that is up; "" where there is none any more."""
    if column % 2 or view["covered"][column // 2 - 1][space]:
        return ""
    tile = view["tiles"][column // 2 - 1][space]
    return (tables.tiles.spotted + tables.tiles.striped)[tile][view["round"] > 1]


def _space(view: dict[str, Any], tables: Tables, column: int, space: int) -> str:
    told, tile = tables.board[column - 1][space], _tile(view, tables, column, space)
    if tile:
        told += f" + tile {tile}"
    if column == view["column"] and view["flowers"][space]:
        flowers = [f if f == "neutral" else f"player_{f}" for f in view["flowers"][space]]
        told += f"   Flowers, bottom to top: {', '.join(flowers)}"
    return told


def _tiles_ahead(view: dict[str, Any], tables: Tables) -> str:
    ahead = []
    for column in range(view["column"] + 2 - view["column"] % 2, 9, 2):
        tiles = [_tile(view, tables, column, space) or "-" for space in range(SPACES)]
        if column > view["column"] + 1:
            ahead.append(f"{column}: {', '.join(tiles)}")
    return "; ".join(ahead) or "none"


def _node(view: dict[str, Any], tables: Tables, track: str, number: int) -> str:
    node = tables.track(track)[number]
    told = node.name + (f" ({', '.join(node.gains)})" if node.gains else "")
    here = [LETTERS[p] for p, pieces in enumerate(view["tracks"]) if pieces[TRACKS.index(track)] == number]
    edges = [edge.to + (f" for {edge.cost}" if edge.cost else "") for edge in node.edges]
    return told + (f" [{''.join(here)}]" if here else "") + (f" > {' or '.join(edges)}" if edges else "")


def _asks(task: Task) -> str:
    plants = " ".join(f"{n}x{LEVELS[level]}" for level, n in enumerate(task.plants, 1) if n)
    return f"{plants} = {task.points}"


def _tasks(view: dict[str, Any], tables: Tables, player: int, row: int) -> tuple[str, str]:
    """The basic and the special task of a row, with a mark where it is done."""
    basic = _asks(tables.basic[row]) + (" done" if view["basic_done"][player][row] else "")
    task = view["tasks"][player][row]
    if task < 0:
        return basic, ""
    return basic, _asks(tables.special[task]) + (" done" if view["special_done"][player][row] else "")


def _cards(view: dict[str, Any], tables: Tables, player: int) -> str:
    hand = view["hands"][player]
    if isinstance(hand, int):
        return f"{hand} hidden"
    held = [f"{n} x {card.action}" for n, card in zip(hand, tables.cards, strict=True) if n]
    return ", ".join(held) or "none"


def _garden(view: dict[str, Any], tables: Tables, player: int) -> list[str]:
    """One player's garden; G is where the Gardener stands, between the beds."""
    counts = f"coins {view['coins'][player]}, animals {view['animals'][player]}"
    head = f"{LETTERS[player]} player_{player}: score {view['scores'][player]}, {counts}"
    lines = [f"{head}, cards: {_cards(view, tables, player)}"]
    r, c = CROSSINGS[view["gardeners"][player]]
    for row in range(ROWS):
        beds = view["gardens"][player][COLUMNS * row : COLUMNS * (row + 1)]
        marks = "".join(f"{' ' if bed < 0 else LEVELS[bed] or '.':>5}" for bed in beds)
        basic, special = _tasks(view, tables, player, row)
        lines.append(f"  {row}:{marks}     {basic:<26}{special}")
        if row == r:
            lines.append(" " * (12 + 5 * c) + "G")
    left = [task for task in view["dealt"][player] if task not in view["tasks"][player]]
    if left:
        told = [
            f"{j}: {_asks(tables.special[task])}"
            for j, task in enumerate(view["dealt"][player])
            if task in left
        ]
        lines += textwrap.wrap(
            "to assign: " + "; ".join(told), 100, initial_indent="  ", subsequent_indent="    "
        )
    return lines


# --- picture ---


def svg(snapshot: dict[str, Any], tables: Tables, labels: Sequence[str] = (), seat: int | None = None) -> str:
    """The position as a picture; arguments as for `text`, what `labels` name stands out.

    Returns:
        An SVG document, 1100 x 800, that needs nothing from outside.
    """
    view = seen(snapshot, seat)
    offered = set(labels) if seat in (None, view["current_player"]) else set()
    hand = "; ".join([_status(view), *_on_hand(view)])
    return draw.document(
        WIDTH,
        HEIGHT,
        _board(view, tables, offered),
        *(_track(view, tables, number, offered) for number in range(len(TRACKS))),
        *(_panel(view, tables, player, offered) for player in range(view["num_players"])),
        draw.text(20, HEIGHT - 22, hand, 14, fill=INK),
        background=PAPER,
    )


def _board(view: dict[str, Any], tables: Tables, offered: set[str]) -> str:
    parts = []
    for column in range(1, 9):
        x, current = 20 + 104 * (column - 1), column == view["column"] and view["round"] < 3
        head = INK if current else FAINT
        parts.append(
            draw.text(x + 48, 18, f"column {column}", 12, text_anchor="middle", fill=head,
                      font_weight="bold" if current else None)
        )  # fmt: skip
        for space in range(SPACES):
            y = 30 + 50 * space
            stands_out = current and bool({f"flower {space}", f"neutral {space}"} & offered)
            edge, thick = (GOLD, 2.5) if stands_out else (INK, 1.5) if current else (EDGE, 1)
            parts.append(draw.box(x, y, 98, 46, 6, edge, thick))
            parts.append(draw.text(x + 7, y + 12, tables.board[column - 1][space], 11, fill=INK))
            tile = _tile(view, tables, column, space)
            if tile:
                paint = SPOTTED if space < 2 else STRIPED
                parts.append(draw.box(x + 5, y + 23, 88, 18, 4, EDGE, 1, paint))
                parts.append(draw.text(x + 10, y + 32, tile, 10, fill=INK))
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


def _track(view: dict[str, Any], tables: Tables, number: int, offered: set[str]) -> str:
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
        draw.text(20, y, name, 12, fill=INK if moving else FAINT, font_weight="bold" if moving else None)
    ]
    for place, node in enumerate(nodes):
        x = 20 + step * place
        edge, thick = (GOLD, 2.5) if node.name in targets else (EDGE, 1.2)
        parts.append(draw.box(x, y + 9, step - 14, 50, 6, edge, thick))
        parts.append(draw.text(x + 6, y + 19, node.name, 9, fill=FAINT))
        for line, gain in enumerate(node.gains):
            parts.append(draw.text(x + 6, y + 31 + 11 * line, gain, 10, fill=INK))
        ways = [edge.to + (f" {edge.cost}c" if edge.cost else "") for edge in node.edges]
        if ways and ways != [nodes[place + 1].name]:
            parts.append(draw.text(x + step - 18, y + 19, " / ".join(ways), 8, text_anchor="end", fill=FAINT))
        here_now = [p for p, pieces in enumerate(view["tracks"]) if pieces[number] == place]
        for i, p in enumerate(here_now):
            parts.append(_marker(x + step - 24 - 15 * i, y + 48, 7, p))
    return draw.tag("g", *parts)


def _panel(view: dict[str, Any], tables: Tables, player: int, offered: set[str]) -> str:
    """One player's garden, tasks, hand and counts."""
    x, y = 20 + 268 * player, 464
    asked = view["asked"] != "over" and player == view["current_player"]
    mine = offered if asked else set()
    edge, thick = (LIVERY[player], 3) if asked else (EDGE, 1.5)
    counts = f"{view['coins'][player]} coins, {view['animals'][player]} animals"
    parts = [
        draw.box(x, y, 256, 296, 8, edge, thick),
        _marker(x + 18, y + 18, 11, player),
        draw.text(x + 34, y + 18, f"player_{player}", 14, fill=INK, font_weight="bold" if asked else None),
        draw.text(
            x + 244, y + 18, view["scores"][player], 20, text_anchor="end", font_weight="bold", fill=INK
        ),
        draw.text(x + 12, y + 254, counts, 12, fill=INK),
    ]
    cards = textwrap.wrap(f"cards: {_cards(view, tables, player)}", 44)
    parts += [draw.text(x + 12, y + 270 + 12 * i, line, 10, fill=INK) for i, line in enumerate(cards[:2])]
    for bed, level in enumerate(view["gardens"][player]):
        row, column = divmod(bed, COLUMNS)
        if level >= 0:
            left, top = x + 12 + 38 * column, y + 38 + 42 * row
            edge, thick = (GOLD, 2.5) if f"bed {row},{column}" in mine else (EDGE, 1)
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
            stands_out = f"walk {r},{c}" in mine
            paint = GOLD if stands_out else EDGE
            parts.append(draw.tag("circle", cx=cx, cy=cy, r=4 if stands_out else 2, fill=paint))
    for row in range(ROWS):
        for line, (told, done) in enumerate(
            zip(
                _tasks(view, tables, player, row),
                (view[f"{k}_done"] for k in ("basic", "special")),
                strict=True,
            )
        ):
            paint = FAINT if done[player][row] else INK
            parts.append(draw.text(x + 164, y + 48 + 42 * row + 14 * line, told, 9, fill=paint))
    return draw.tag("g", *parts)


def _marker(x: float, y: float, radius: float, who: int | str) -> str:
    """A Flower, a piece or a Gardener: a disc with the letter of its player, N for the neutral Flower."""
    paint, letter = ("#6d6d6d", "N") if isinstance(who, str) else (LIVERY[who], LETTERS[who])
    return draw.tag("circle", cx=x, cy=y, r=radius, fill=paint, stroke="#ffffff", stroke_width=1) + draw.text(
        x, y, letter, 1.2 * radius, text_anchor="middle", font_weight="bold", fill="#ffffff"
    )
