"""Descriptions of actions and of scores in words, computed from a snapshot and the tables alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

from botanicus_env import wording
from botanicus_env.rules import (
    COINS_FOR_SALE,
    COINS_PER_FLOWER,
    COINS_PER_POINT,
    COINS_PER_STEP,
    COINS_TO_USE,
)
from botanicus_env.snapshots import View
from botanicus_env.tables import COLUMNS, CROSSINGS, PRIZES, ROWS, TRACKS, Tables, Task, ways
from botanicus_env.wording import LEVELS, count, for_coins


def describe(snapshot: View, tables: Tables, label: str) -> str:
    """Return in one line what a legal action does, by what the player to move knows.

    Args:
        snapshot: the whole state, with the keys that `Game.snapshot` gives; nothing hidden in it is used.
        tables: what is printed.
        label: of the action.
    """
    verb, _, what = label.partition(" ")
    return _DESCRIBED[verb](snapshot, tables, what)


def score_sheet(snapshot: View, tables: Tables) -> list[dict[str, int]]:
    """Return by seat the parts of the score as things stand; they sum to the snapshot's `scores`."""
    return [_score_parts(snapshot, tables, player) for player in range(snapshot["num_players"])]


def _score_parts(view: View, tables: Tables, player: int) -> dict[str, int]:
    special = [tables.special[task] for task in view["tasks"][player]]
    basic_done, special_done = view["basic_done"][player], view["special_done"][player]
    done = [*compress(tables.basic, basic_done), *compress(special, special_done)]
    tasks = sum(task.points for task in done)
    animals = sum(tables.animals[: view["animals"][player]])
    garden = view["gardens"][player]
    return {
        "tasks": tasks,
        "animals": animals,
        "columns": sum(wording.column_points(tables, garden, column) for column in range(COLUMNS)),
        "coins": view["coins"][player] // COINS_PER_POINT,
        "other points": view["points"][player] - tasks - animals,
    }


# --- parts of a position ---


def held(view: View, player: int) -> int:
    """Return how many cards a player holds."""
    hand = view["hands"][player]
    return hand if isinstance(hand, int) else sum(hand)


def cards(tables: Tables, numbers: Sequence[int]) -> list[str]:
    """Return Garden cards in words, from how many there are of each kind."""
    kinds = zip(numbers, tables.cards, strict=True)
    return [wording.action(card.action) + (f" (x{n})" if n > 1 else "") for n, card in kinds if n]


def edges(view: View, tables: Tables, track: str) -> list[tuple[int, int]]:
    """Return where the piece of the player to move can go: nodes of a track and costs, the upper way first."""
    here = view["tracks"][view["current_player"]][TRACKS.index(track)]
    return ways(tables.track(track))[here]


def reach(crossing: int) -> set[int]:
    """Return the places for beds around a crossing."""
    r, c = CROSSINGS[crossing]
    return {COLUMNS * (r + i) + c + j for i in (0, 1) for j in (0, 1)}


def tile(view: View, tables: Tables, column: int, space: int) -> str:
    """Return the action of the tile on a space, as the data write it, on the side that is up; "" without a tile."""
    if column % 2 or view["covered"][column // 2 - 1][space]:
        return ""
    number = view["tiles"][column // 2 - 1][space]
    return (tables.tiles.spotted + tables.tiles.striped)[number][view["round"] > 1]


def flower_cost(view: View, tables: Tables, space: int) -> int:
    """Return how many coins a Flower costs on a space of the current column."""
    pole = tables.board[view["column"] - 1][space].startswith("pole")
    return 0 if pole else COINS_PER_FLOWER * len(view["flowers"][space])


def unassigned(view: View, player: int) -> dict[int, int]:
    """Return the special tasks that a player has not yet given to a row, by their places among those dealt."""
    own = view["tasks"][player]
    return {j: task for j, task in enumerate(view["dealt"][player]) if task not in own}


# --- what is gained ---


def _gains(view: View, tables: Tables, texts: Sequence[str]) -> str:
    """Return actions gained together in words, with the points of animals and prizes; "nothing" for none."""
    animals = list(tables.animals[view["animals"][view["current_player"]] :])
    prizes = {name: list(values) for name, values in zip(PRIZES, view["prizes"], strict=True)}
    gains = []
    for text in texts:
        words, (kind, amount) = wording.action(text), text.split()
        if kind == "animal":
            points, animals = sum(animals[: int(amount)]), animals[int(amount) :]
            words += f" ({count(points, 'point')})"
        elif kind == "prize":
            left = prizes[amount]
            words += f" ({count(left.pop(0), 'point')})" if left else " (none left)"
        gains.append(words)
    return " + ".join(gains) or "nothing"


def _impossible(view: View, text: str) -> str:
    """Return a note if no bed in reach fits an action to plant or to water."""
    kind, player = text.split()[0], view["current_player"]
    levels = [view["gardens"][player][bed] for bed in reach(view["gardeners"][player])]
    if kind == "water" and not any(1 <= level <= 3 for level in levels):
        return " (nothing to water in reach)"
    if kind.startswith("plant_") and all(level in (-1, int(kind[-1])) for level in levels):
        return " (no bed for it in reach)"
    return ""


# --- the actions ---


def _pass(view: View, tables: Tables, _: str) -> str:
    if view["asked"] == "start":
        return "end the turn without a track action"
    if view["asked"] == "choose":
        return "forfeit " + wording.actions(f"{kind} {amount}" for kind, amount in view["pending"][-1])
    kind, left = view["hand_action"]
    if kind not in TRACKS:
        return f"forfeit {wording.action(f'{kind} {left}')}"
    text = "stay where the piece is: gain nothing"
    if view["steps_taken"]:
        node = tables.track(kind)[view["tracks"][view["current_player"]][TRACKS.index(kind)]]
        text = f"stop here: gain {_gains(view, tables, node.gains)}"
    return text + _unused(left)


def _unused(steps: int) -> str:
    return f"; {count(steps, 'unused step')} = {count(steps, 'point')}" if steps else ""


def _walk(view: View, _: Tables, to: str) -> str:
    if view["asked"] == "walk":
        return f"Gardener to {to}, free"
    (r, c), (s, d) = CROSSINGS[view["gardeners"][view["current_player"]]], map(int, to.split(","))
    return f"Gardener to {to}{for_coins(abs(r - s) + abs(c - d))}"


def _bed(view: View, tables: Tables, place: str) -> str:
    row, column = map(int, place.split(","))
    kind, player = view["hand_action"][0], view["current_player"]
    garden, bed = view["gardens"][player], COLUMNS * row + column
    before = garden[bed]
    if kind == "water":
        after = before + 1
        text = f"water {place}: {LEVELS[before]} becomes {LEVELS[after]}"
    else:
        after = int(kind[-1])
        text = f"plant {LEVELS[after]} at {place}"
        text += f" (replaces {LEVELS[before]})" if before else ""
    changed = [*garden[:bed], after, *garden[bed + 1 :]]
    scored = _tasks_met(view, tables, changed, row)
    change = wording.column_points(tables, changed, column) - wording.column_points(tables, garden, column)
    if change:
        scored.append(f"column {column} {change:+}")
    return text + (f"; points: {', '.join(scored)}" if scored else "")


def _tasks_met(view: View, tables: Tables, garden: list[int], row: int) -> list[str]:
    """Return the tasks of a row that score when the garden of the player to move has become `garden`."""
    player, met = view["current_player"], []
    basic = view["basic_done"][player][row]
    if not basic and _meets(garden, row, tables.basic[row]):
        basic = True
        met.append(f"basic task +{tables.basic[row].points}")
    special = tables.special[view["tasks"][player][row]]
    if basic and not view["special_done"][player][row] and _meets(garden, row, special):
        met.append(f"special task +{special.points}")
    return met


def _meets(garden: list[int], row: int, task: Task) -> bool:
    beds = garden[COLUMNS * row : COLUMNS * (row + 1)]
    return all(beds.count(level) >= wanted for level, wanted in enumerate(task.plants, 1))


def _resolve(view: View, tables: Tables, kind: str) -> str:
    if view["asked"] == "start":
        here = view["tracks"][view["current_player"]][TRACKS.index(kind)]
        return f"last action: 1 step on the {kind} track, from {wording.step(tables.track(kind), here)}"
    amount = next(amount for pending, amount in view["pending"][-1] if pending == kind)
    text = f"{kind} {amount}"
    return f"next: {wording.action(text)}{_impossible(view, text)}"


def _advance(view: View, tables: Tables, way: str) -> str:
    track, left = view["hand_action"]
    nodes = tables.track(track)
    end = len(nodes) - 1
    ahead = edges(view, tables, track)
    to, cost = ahead[way == "lower"]
    names = ["the end" if node == end else wording.step(nodes, node) for node, _ in ahead]
    text = f"on to {names[way == 'lower']}"
    text += f" ({way} way)" if len({*names}) < len(names) else ""
    text += for_coins(cost + (0 if left else COINS_PER_STEP))
    if to != end:
        return text
    return f"{text}: {_gains(view, tables, nodes[end].gains)}{_unused(max(left - 1, 0))}"


def _use(view: View, tables: Tables, card: str) -> str:
    gain = _gains(view, tables, [card]) + _impossible(view, card)
    return f"pay {count(COINS_TO_USE, 'coin')} and use the card: {gain}"


def _sell(_: View, _tables: Tables, card: str) -> str:
    return f"sell the card {wording.action(card)} for {count(COINS_FOR_SALE, 'coin')}"


def _flower(view: View, tables: Tables, label: str) -> str:
    space = int(label)
    printed, taken = tables.board[view["column"] - 1][space], bool(view["flowers"][space])
    laid = "" if taken else tile(view, tables, view["column"], space)
    text = f"Flower on space {space}{for_coins(flower_cost(view, tables, space))}: "
    if printed.startswith("pole"):
        text += "Pole Position, " + ("not the first, so gain nothing" if taken else "gain ")
        if taken:
            return text
        printed = f"coins {printed.split()[1]}"
    gains = _gains(view, tables, [printed, *([laid] if laid else [])])
    return text + (" + tile ".join(gains.rsplit(" + ", 1)) if laid else gains)


def _neutral(view: View, tables: Tables, label: str) -> str:
    space = int(label)
    printed, laid = tables.board[view["column"] - 1][space], tile(view, tables, view["column"], space)
    pole = printed.startswith("pole")
    then = "gives nobody anything" if pole else f"costs {count(COINS_PER_FLOWER, 'coin')}"
    text = f"neutral Flower on space {space}: {wording.action(printed)} then {then}"
    return text + (f", tile {wording.action(laid)} is gone" if laid else "")


def _assign(view: View, tables: Tables, j: str) -> str:
    player = view["current_player"]
    row, dealt = view["tasks"][player].index(-1), unassigned(view, player)
    given = _given(tables, row, dealt.pop(int(j)))
    if row < ROWS - 2:
        return f"give row {row} the task {given}"
    (last,) = dealt.values()
    return f"row {row}: {given}; row {ROWS - 1}: {_given(tables, ROWS - 1, last)}"


def _given(tables: Tables, row: int, number: int) -> str:
    """Return a special task in words, with a note if the row has too few beds for it."""
    task, beds = tables.special[number], sum(tables.beds[row])
    text = f"{wording.plants(task)} = {count(task.points, 'point')}"
    return text + (f" (only {beds} beds)" if sum(task.plants) > beds else "")


_DESCRIBED: dict[str, Callable[[View, Tables, str], str]] = {
    "pass": _pass,
    "walk": _walk,
    "bed": _bed,
    "resolve": _resolve,
    "advance": _advance,
    "use": _use,
    "sell": _sell,
    "flower": _flower,
    "neutral": _neutral,
    "assign": _assign,
}
