"""Descriptions of the actions of Gardens of Mars, in words for people."""

from __future__ import annotations

from typing import Any

from garden_core.jit import kernels
from mars_env.board import COLOURS, HEXES, NEIGHBOURS, NUM_HEXES, STEPS
from mars_env.rules import NUM_GIVE_UPS
from mars_env.state import PLACE


def describe(state: Any, params: Any, action: int) -> str:
    """Return what a legal action does in this position, in one line."""
    hexes = NUM_HEXES * int(params["gardeners"])
    if action >= hexes + NUM_GIVE_UPS:
        colour = action - hexes - NUM_GIVE_UPS
        return f"plant {_planted(state, params, action, colour, int(state['pending']))}"
    if action >= hexes:
        return f"give up the die {action - hexes + 1}: {_lost(state, params, action)}"
    gardener, target = divmod(action, NUM_HEXES)
    place = "{},{}".format(*HEXES[target])
    two = params["gardeners"] == 2
    if state["phase"] == PLACE:
        return f"put the {('first ', 'second ')[gardener] if two else ''}gardener on {place}"
    player = int(state["current_player"])
    steps = int(STEPS[state["gardeners"][player, gardener], target])
    who = f" with gardener {player}{gardener + 1}" if two else ""
    way = f"go {steps} {'hex' if steps == 1 else 'hexes'}{who} to {place}"
    if state["flowers"][target] >= 0:
        return f"{way}, onto a flower: {_lost(state, params, action)}"
    colours = [colour for colour, left in enumerate(state["stocks"][player]) if left]
    if len(colours) == 1:  # planted without asking
        return f"{way} and plant {_planted(state, params, action, colours[0], target)}"
    sizes = {COLOURS[colour]: _group_size(state, target, colour) for colour in colours}
    most = max(sizes.values())
    best = ", ".join(name for name, size in sizes.items() if size == most)
    return f"{way} and plant there: {f'at best a group of {most} ({best})' if most > 1 else 'a group of 1'}"


def _planted(state: Any, params: Any, action: int, colour: int, target: int) -> str:
    """The gain of planting a colour on a hex, which `action` leads to."""
    size = _group_size(state, target, colour)
    gain = f"{size} point{'' if size == 1 else 's'}"
    return f"{COLOURS[colour]}: a group of {size}, {gain}{_what_follows(state, params, action, size)}"


def _lost(state: Any, params: Any, action: int) -> str:
    """The cost of an action that costs 1 point."""
    cost = "lose 1 point" if state["score"][state["current_player"]] else "no point to lose"
    return f"{cost}{_what_follows(state, params, action, -1)}"


def _what_follows(state: Any, params: Any, action: int, points: int) -> str:
    """The consequences of an action that moves the scorer by `points`: sliding on, the end, an extra turn."""
    after = state.copy()  # the only chance is in newly rolled dice
    kernels.apply_action(after, params, action)
    player = int(state["current_player"])
    space, end = max(int(state["score"][player]) + points, 0), int(after["score"][player])
    passed = range(space, end) if points > 0 else range(end + 1, space + 1)
    others = [f"player_{seat}" for seat, score in enumerate(state["score"]) if int(score) in passed]
    slid = f" and {abs(end - space)} more to pass {', '.join(others)}" if space != end else ""
    if after["terminated"]:
        return f"{slid}; the game ends"
    again = after["current_player"] == player and state["num_dice"] > (state["pending"] < 0)
    return f"{slid}; an extra turn" if again and params["num_players"] > 1 else slid


def _group_size(state: Any, target: int, colour: int) -> int:
    """The size of the group that a flower of this colour on the hex `target` would belong to."""
    return len(
        connected(target, {hex_ for hex_, each in enumerate(state["flowers"].tolist()) if each == colour})
    )


def connected(start: int, hexes: set[int]) -> set[int]:
    """Return the hex `start` and the hexes of `hexes` that are connected with it."""
    group, rim = {start}, [start]
    while rim:
        near = (hexes & set(NEIGHBOURS[rim.pop()].tolist())) - group
        rim += near
        group |= near
    return group
