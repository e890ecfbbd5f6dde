"""Descriptions of the actions of Cacti in words, and score sheets, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cacti_env.cards import Arrangement, Cards
from cacti_env.state import RESPONSE


def describe(state: Any, cards: Cards, action: int, label: str, by_value: bool) -> str:
    """Return what a legal action does in this position, in one line, without hidden information.

    Args:
        state: the position.
        cards: the printed cards, with the Basic Arrangements as states number them.
        action: its index.
        label: its label.
        by_value: whether actions plant what is offered, instead of a card of the data file.
    """
    halves, middle, player = cards.halves, state["middle"], int(state["current_player"])
    top = int(state["arrangement_deck"][state["arrangements_left"] - 1]) if state["arrangements_left"] else -1
    if by_value:
        halves = [halves[2 * k + i] for k in (int(state["basic_in_hand"][player]), top) for i in (0, 1)]
        halves.append(cards.starting)
    responds = ", in response" if state["asked"] == RESPONSE else ""
    number = action - len(cards.types)
    if number < 0:
        t = action
        possible = "" if middle.sum() > middle[t] else ", if possible"
        after = responds or f"; then player_{1 - player} responds{possible}"
        return f"take {middle[t]} {cards.types[t]} from the middle{after}"
    if number < len(halves):
        source = ""
        if number < len(halves) - 1 and not by_value:
            source = " from the deck" if top == number // 2 else " from the hand"
        cost, points = cacti(halves[number].cost, cards), counted(halves[number].points, "point")
        return f"{label}{source}: discard {cost}, {points}{responds}"
    t = number - len(halves)
    if t < len(cards.types):
        total = int(middle[t]) + int(state["nursery"][player, t])
        source = f" ({middle[t]} from the middle)" if middle[t] else ""
        points = counted(total, "point")
        return f"put {total} {cards.types[t]}{source} under the Special Planter: {points}, for good"
    return f"{'the top card of the deck' if t == len(cards.types) else 'no card'} comes to the Nursery"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: 1 point, 2 points."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def cacti(counts: Sequence[int], cards: Cards) -> str:
    """Return cacti by type in words: 2 barrel + 1 star."""
    return " + ".join(f"{n} {name}" for n, name in zip(counts, cards.types, strict=True) if n)


def find_arrangement(planted: Sequence[Any], cards: Cards) -> Arrangement:
    """Return the Arrangement that an entry of the snapshot's `planted` names."""
    return cards.starting if planted[0] == "starting" else getattr(cards.basic[planted[0]], planted[1])


def left_over(nursery: Sequence[int], bonus: int | None) -> list[int]:
    """Return the number of cacti of each type that the Nursery of a seat would have left in the end."""
    return [n for t, n in enumerate(nursery) if n and t != bonus]


def score_sheet(snapshot: dict[str, Any], cards: Cards) -> list[dict[str, int]]:
    """Return the parts of the score by seat; they sum to `scores`."""
    sheets = []
    for p, (nursery, bonus) in enumerate(zip(snapshot["nurseries"], snapshot["bonus"], strict=True)):
        left = left_over(nursery, bonus)
        sheets.append(
            {
                "planted": sum(find_arrangement(each, cards).points for each in snapshot["planted"][p]),
                "special": sum(snapshot["special"][p] or []),
                "bonus": nursery[bonus],
                "left_over": -sum(left) * len(left),
            }
        )
    return sheets
