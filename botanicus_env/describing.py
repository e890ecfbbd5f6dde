"""Descriptions of actions in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from botanicus_env import wording
from botanicus_env.rules import (
    COINS_FOR_SALE,
    COINS_PER_FLOWER,
    COINS_PER_STEP,
    COINS_TO_USE,
)
from botanicus_env.tables import COLUMNS, CROSSINGS, PRIZES, ROWS, TRACKS, Task
from botanicus_env.view import View
from botanicus_env.wording import LEVELS, count, for_coins


def describe(view: View, label: str) -> str:
    """Return in one line what a legal action does, by what the player to move knows.

    Args:
        view: the whole position; nothing hidden in it is used.
        label: the action's label.
    """
    verb, _, what = label.partition(" ")
    return _DESCRIBED[verb](view, what)


# --- gained actions ---


def _gains(view: View, texts: Sequence[str]) -> str:
    """Return actions gained together in words, with the points of animals and prizes; "nothing" for none."""
    animals = list(view.tables.animals[view.animals[view.current_player] :])
    prizes = {name: list(values) for name, values in zip(PRIZES, view.prizes, strict=True)}
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
    kind, player = text.split()[0], view.current_player
    levels = [view.gardens[player][bed] for bed in view.reach(player)]
    if kind == "water" and not any(1 <= level <= 3 for level in levels):
        return " (nothing to water in reach)"
    if kind.startswith("plant_") and all(level in (-1, int(kind[-1])) for level in levels):
        return " (no bed for it in reach)"
    return ""


# --- the actions ---


def _pass(view: View, _: str) -> str:
    if view.asked == "start":
        return "end the turn without a track action"
    if view.asked == "choose":
        return "forfeit " + wording.actions(f"{kind} {amount}" for kind, amount in view.pending[-1])
    kind, left = view.hand_action
    if kind not in TRACKS:
        return f"forfeit {wording.action(f'{kind} {left}')}"
    text = "stay where the piece is: gain nothing"
    if view.steps_taken:
        node = view.tables.track(kind)[view.node(kind)]
        text = f"stop here: gain {_gains(view, node.gains)}"
    return text + _unused(left)


def _unused(steps: int) -> str:
    return f"; {count(steps, 'unused step')} = {count(steps, 'point')}" if steps else ""


def _walk(view: View, to: str) -> str:
    if view.asked == "walk":
        return f"Gardener to {to}, free"
    (r, c), (s, d) = CROSSINGS[view.gardeners[view.current_player]], map(int, to.split(","))
    return f"Gardener to {to}{for_coins(abs(r - s) + abs(c - d))}"


def _bed(view: View, place: str) -> str:
    row, column = map(int, place.split(","))
    kind, player = view.hand_action[0], view.current_player
    garden, bed = view.gardens[player], COLUMNS * row + column
    before = garden[bed]
    if kind == "water":
        after = before + 1
        text = f"water {place}: {LEVELS[before]} becomes {LEVELS[after]}"
    else:
        after = int(kind[-1])
        text = f"plant {LEVELS[after]} at {place}"
        text += f" (replaces {LEVELS[before]})" if before else ""
    changed = [*garden[:bed], after, *garden[bed + 1 :]]
    scored = _tasks_met(view, changed, row)
    change = view.column_points(changed, column) - view.column_points(garden, column)
    if change:
        scored.append(f"column {column} {change:+}")
    return text + (f"; points: {', '.join(scored)}" if scored else "")


def _tasks_met(view: View, garden: list[int], row: int) -> list[str]:
    """Return the tasks of a row that score when the garden of the player to move has become `garden`."""
    player, met = view.current_player, []
    basic = view.basic_done[player][row]
    if not basic and _meets(garden, row, view.tables.basic[row]):
        basic = True
        met.append(f"basic task +{view.tables.basic[row].points}")
    special = view.tables.special[view.tasks[player][row]]
    if basic and not view.special_done[player][row] and _meets(garden, row, special):
        met.append(f"special task +{special.points}")
    return met


def _meets(garden: list[int], row: int, task: Task) -> bool:
    beds = garden[COLUMNS * row : COLUMNS * (row + 1)]
    return all(beds.count(level) >= wanted for level, wanted in enumerate(task.plants, 1))


def _resolve(view: View, kind: str) -> str:
    if view.asked == "start":
        here = wording.step(view.tables.track(kind), view.node(kind))
        return f"last action: 1 step on the {kind} track, from {here}"
    amount = next(amount for pending, amount in view.pending[-1] if pending == kind)
    text = f"{kind} {amount}"
    return f"next: {wording.action(text)}{_impossible(view, text)}"


def _advance(view: View, way: str) -> str:
    track, left = view.hand_action
    nodes = view.tables.track(track)
    end = len(nodes) - 1
    ahead = view.edges(track)
    to, cost = ahead[way == "lower"]
    names = [wording.target(nodes, node) for node, _ in ahead]
    text = f"on to {names[way == 'lower']}"
    text += f" ({way} way)" if len({*names}) < len(names) else ""
    text += for_coins(cost + (0 if left else COINS_PER_STEP))
    if to != end:
        return text
    return f"{text}: {_gains(view, nodes[end].gains)}{_unused(max(left - 1, 0))}"


def _use(view: View, card: str) -> str:
    gain = _gains(view, [card]) + _impossible(view, card)
    return f"pay {count(COINS_TO_USE, 'coin')} and use the card: {gain}"


def _sell(_: View, card: str) -> str:
    return f"sell the card {wording.action(card)} for {count(COINS_FOR_SALE, 'coin')}"


def _flower(view: View, label: str) -> str:
    space = int(label)
    printed, taken = view.printed(space), bool(view.flowers[space])
    laid = "" if taken else view.tile(view.column, space)
    text = f"Flower on space {space}{for_coins(view.flower_cost(space))}: "
    if printed.startswith("pole"):
        text += "Pole Position, " + ("not the first, so gain nothing" if taken else "gain ")
        if taken:
            return text
        printed = f"coins {printed.split()[1]}"
    gains = _gains(view, [printed, *([laid] if laid else [])])
    return text + (" + tile ".join(gains.rsplit(" + ", 1)) if laid else gains)


def _neutral(view: View, label: str) -> str:
    space = int(label)
    printed, laid = view.printed(space), view.tile(view.column, space)
    pole = printed.startswith("pole")
    then = "gives no coins" if pole else f"costs {count(COINS_PER_FLOWER, 'coin')}"
    text = f"neutral Flower on space {space}: {wording.action(printed)} then {then}"
    return text + (f", tile {wording.action(laid)} is gone" if laid else "")


def _assign(view: View, j: str) -> str:
    player = view.current_player
    row, dealt = view.tasks[player].index(-1), view.unassigned(player)
    given = _given(view, row, dealt.pop(int(j)))
    if row < ROWS - 2:
        return f"give row {row} the task {given}"
    (last,) = dealt.values()
    return f"row {row}: {given}; row {ROWS - 1}: {_given(view, ROWS - 1, last)}"


def _given(view: View, row: int, number: int) -> str:
    """Return a special task in words, with a note if the row has too few beds for it."""
    task, beds = view.tables.special[number], sum(view.tables.beds[row])
    text = f"{wording.plants(task)} = {count(task.points, 'point')}"
    return text + (f" (only {beds} beds)" if sum(task.plants) > beds else "")


_DESCRIBED: dict[str, Callable[[View, str], str]] = {
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
