"""Descriptions of the actions of Cacti in words, and score sheets, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cacti_env.cards import NUM_PLAYERS, Arrangement, Cards
from cacti_env.state import RESPONSE


def describe(state: Any, cards: Cards, action: int, label: str) -> str:
    """Return what a legal action does in this position, in one line; everything it says is open to both.

    Args:
        state: the position.
        cards: the cards it is played with.
        action: its index.
        label: its label.
    """
    types, halves = len(cards.types), cards.halves
    if action < types:
        return _grow(state, cards, action)
    if action < types + len(halves):
        half = action - types
        cost, points = cacti(halves[half].cost, cards), counted(halves[half].points, "point")
        return f"{label}{_place(state, cards, half)}: discard {cost}, {points}{_in_response(state)}"
    if action < 2 * types + len(halves):
        return _special(state, cards, action - types - len(halves))
    took = action == 2 * types + len(halves)
    return "the top card of the deck comes to the Nursery" if took else "no card comes to the Nursery"


def _grow(state: Any, cards: Cards, t: int) -> str:
    taken, left = int(state["middle"][t]), int(state["middle"].sum() - state["middle"][t])
    other = f"; then player_{1 - state['current_player']} responds" + ("" if left else ", if possible")
    back = _in_response(state) or other
    return f"take {taken} {cards.types[t]} from the middle{back}"


def _place(state: Any, cards: Cards, half: int) -> str:
    """Where the Arrangement comes from, which all see when it is planted; nothing for the Starting one."""
    if half == 2 * len(cards.basic):
        return ""
    left = int(state["arrangements_left"])
    on_top = left > 0 and state["arrangement_deck"][left - 1] == half // 2
    return " from the deck" if on_top else " from the hand"


def _special(state: Any, cards: Cards, t: int) -> str:
    middle, own = int(state["middle"][t]), int(state["nursery"][state["current_player"], t])
    source = f" ({middle} from the middle)" if middle else ""
    points = counted(middle + own, "point")
    return f"put {middle + own} {cards.types[t]}{source} under the Special Planter: {points}, for good"


def _in_response(state: Any) -> str:
    return ", in response" if state["asked"] == RESPONSE else ""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: 1 point, 2 points."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cacti(counts: Sequence[int], cards: Cards) -> str:
    """Return cacti by type in words: 2 barrel + 1 star."""
    return " + ".join(f"{n} {name}" for n, name in zip(counts, cards.types, strict=True) if n)


def find_arrangement(planted: Sequence[Any], cards: Cards) -> Arrangement:
    """Return the Arrangement that an entry of the snapshot's `planted` names."""
    return cards.starting if planted[0] == "starting" else getattr(cards.basic[planted[0]], planted[1])


def left_over(snapshot: dict[str, Any], player: int) -> list[int]:
    """Return the number of cacti of each type that the player's Nursery would have left in the end."""
    bonus = snapshot["bonus"][player]
    return [n for t, n in enumerate(snapshot["nurseries"][player]) if n and t != bonus]


def score_sheet(snapshot: dict[str, Any], cards: Cards) -> list[dict[str, int]]:
    """Return, by seat, the points of every part of the score; they sum to `scores`."""
    sheets = []
    for p in range(NUM_PLAYERS):
        left = left_over(snapshot, p)
        sheets.append(
            {
                "planted": sum(find_arrangement(each, cards).points for each in snapshot["planted"][p]),
                "special": sum(snapshot["special"][p] or []),
                "bonus": snapshot["nurseries"][p][snapshot["bonus"][p]],
                "left_over": -sum(left) * len(left),
            }
        )
    return sheets
