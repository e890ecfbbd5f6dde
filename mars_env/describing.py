"""What an action of Gardens of Mars does, in words for people."""

from __future__ import annotations

from typing import Any

from garden_core import kernels
from mars_env.board import COLOURS, HEXES, NEIGHBOURS, NUM_HEXES, STEPS
from mars_env.rules import NUM_GIVE_UPS
from mars_env.state import PLACE

__all__ = ["describe"]


def describe(state: Any, params: Any, action: int) -> str:
    """Return what a legal action does in this position, in one line; everything it says is open to all."""
    hexes = NUM_HEXES * int(params["gardeners"])
    if action >= hexes + NUM_GIVE_UPS:
        return (
            f"plant {_planted(state, params, action, action - hexes - NUM_GIVE_UPS, int(state['pending']))}"
        )
    if action >= hexes:
        return f"give up the die {action - hexes + 1}: {_lost(state, params, action)}"
    if state["phase"] == PLACE:
        which = ("first ", "second ")[action // NUM_HEXES] if params["gardeners"] == 2 else ""
        return f"put the {which}gardener on {_hex(action)}"
    return _go(state, params, action)


def _go(state: Any, params: Any, action: int) -> str:
    """A gardener's move: how far, where to, and what is gained or lost there."""
    player, gardener, target = int(state["current_player"]), action // NUM_HEXES, action % NUM_HEXES
    steps = int(STEPS[state["gardeners"][player, gardener], target])
    who = f" with gardener {player}{gardener + 1}" if params["gardeners"] == 2 else ""
    way = f"go {steps} {'hex' if steps == 1 else 'hexes'}{who} to {_hex(target)}"
    if state["flowers"][target] >= 0:
        return f"{way}, onto a flower: {_lost(state, params, action)}"
    colours = [colour for colour, left in enumerate(state["stocks"][player]) if left]
    if len(colours) == 1:  # planted without asking
        return f"{way} and plant {_planted(state, params, action, colours[0], target)}"
    sizes = {colour: _group_size(state, target, colour) for colour in colours}
    most = max(sizes.values())
    best = ", ".join(COLOURS[colour] for colour, size in sizes.items() if size == most)
    return f"{way} and plant there: " + (
        f"at best a group of {most} ({best})" if most > 1 else "a group of 1"
    )


def _hex(index: int) -> str:
    return "{},{}".format(*HEXES[index % NUM_HEXES])


def _points(number: int) -> str:
    return f"{number} point" if number == 1 else f"{number} points"


def _planted(state: Any, params: Any, action: int, colour: int, target: int) -> str:
    """What planting a colour on a hex, which `action` leads to, gains."""
    size = _group_size(state, target, colour)
    after = _after(state, params, action)
    return f"{COLOURS[colour]}: a group of {size}, {_points(size)}{_slid(state, after, size)}{_follows(state, params, after)}"


def _lost(state: Any, params: Any, action: int) -> str:
    """What an action costs that costs 1 point."""
    after = _after(state, params, action)
    cost = "lose 1 point" if state["score"][state["current_player"]] else "no point to lose"
    return f"{cost}{_slid(state, after, -1)}{_follows(state, params, after)}"


def _slid(state: Any, after: Any, points: int) -> str:
    """How far the scorer slides on past others when it moves by `points`, as they are on its space."""
    player = int(state["current_player"])
    space, end = max(int(state["score"][player]) + points, 0), int(after["score"][player])
    passed = range(space, end) if points > 0 else range(end + 1, space + 1)
    others = [f"player_{seat}" for seat, score in enumerate(state["score"]) if int(score) in passed]
    return f" and {abs(end - space)} more to pass {', '.join(others)}" if space != end else ""


def _follows(state: Any, params: Any, after: Any) -> str:
    """What follows at once: the end, or an extra turn, which is one that comes while dice are left."""
    if after["terminated"]:
        return "; the game ends"
    again = after["current_player"] == state["current_player"] and state["num_dice"] > (state["pending"] < 0)
    return "; an extra turn" if again and params["num_players"] > 1 else ""


def _after(state: Any, params: Any, action: int) -> Any:
    """The state that the action leads to, in which only newly rolled dice are chance."""
    after = state.copy()
    kernels.apply_action(after, params, action)
    return after


def _group_size(state: Any, target: int, colour: int) -> int:
    """Number of flowers of the group that a flower of this colour on the hex `target` is in, itself included."""
    group, rim = {target}, [target]
    while rim:
        near = {int(hex_) for hex_ in NEIGHBOURS[rim.pop()] if hex_ >= 0 and state["flowers"][hex_] == colour}
        rim += near - group
        group |= near
    return len(group)
