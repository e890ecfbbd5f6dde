"""The exact best response to a deterministic agent in a Cacti of few cards, by enumeration of all deals.

A world is a deal with the order of its decks. An information set holds all worlds in which the best response has seen the
same so far. Its action maximises the expectation over the set; the next observation divides the set.
"""

from __future__ import annotations

import copy
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
from cacti_reference import FACE_UP, CactiReference

Agent = Callable[[np.ndarray, list[int]], int]
"""Chooses by an observation, int8, and the legal actions."""
World = tuple[float, CactiReference]
"""A probability and a game."""


def best_response(data: dict, agent: Agent, seat: int) -> float:
    """Return the probability with which the best response in `seat` wins, a tie counted as half a win."""
    worlds = deals(data)
    return sum(value(group, agent, seat) for group in advanced(worlds, agent, seat))


def response_of(data: dict, agent: Agent, seat: int, response: Agent) -> float:
    """Return the probability with which another agent, `response`, wins in `seat`."""
    won, worlds = 0.0, deals(data)
    while worlds:
        following = []
        for probability, game in worlds:
            if game.terminated:
                won += probability * share(game, seat)
            else:
                chooses = response if game.current_player == seat else agent
                following += outcomes(probability, game, chosen(game, chooses))
        worlds = following
    return won


def deals(data: dict) -> list[World]:
    """Return all deals; equivalent ones are one world."""
    types, basics = len(data["types"]), range(len(data["basic"]))
    cards = [t for t in range(types) for _ in range(data["count"][t])]
    bonus = [data["types"].index(name) for name in data["bonus"]]
    deals_of: defaultdict[tuple, int] = defaultdict(int)
    for order in orders(cards):
        middle = tuple(order[:FACE_UP].count(t) for t in range(types))
        for hands in itertools.permutations(range(len(bonus)), 2):
            for arrangements in itertools.permutations(basics):
                deals_of[middle, order[FACE_UP:], tuple(bonus[i] for i in hands), arrangements] += 1
    total = sum(deals_of.values())
    return [
        (
            number / total,
            CactiReference(
                data=data,
                deck=deck,
                middle=middle,
                bonus=hands,
                basic_in_hand=[[arrangements[0]], [arrangements[1]]],
                arrangement_deck=arrangements[2:],
            ),
        )
        for (middle, deck, hands, arrangements), number in deals_of.items()
    ]


def orders(cards: list[int]) -> list[tuple[int, ...]]:
    """Return all different orders of cards, which are equally likely."""
    if not cards:
        return [()]
    return [
        (first, *rest)
        for first in sorted(set(cards))
        for rest in orders([card for i, card in enumerate(cards) if i != cards.index(first)])
    ]


def value(worlds: list[World], agent: Agent, seat: int) -> float:
    """Return the value of an information set for the best response: the sum of probability x share of the win."""
    if worlds[0][1].terminated:
        return sum(probability * share(game, seat) for probability, game in worlds)
    best = 0.0
    for action in worlds[0][1].legal():
        following = [after for probability, game in worlds for after in outcomes(probability, game, action)]
        best = max(best, sum(value(group, agent, seat) for group in advanced(following, agent, seat)))
    return best


def advanced(worlds: list[World], agent: Agent, seat: int) -> Iterator[list[World]]:
    """Let the agent play up to the next decision in `seat` or the end; yield its information sets."""
    groups: defaultdict[tuple, list[World]] = defaultdict(list)
    waiting = [(world, ()) for world in worlds]
    while waiting:
        (probability, game), seen = waiting.pop()
        seen = (*seen, game.observation(seat).tobytes())
        if game.terminated or game.current_player == seat:
            groups[seen, game.terminated].append((probability, game))
        else:
            action = chosen(game, agent)
            waiting += [(after, (*seen, action)) for after in outcomes(probability, game, action)]
    yield from groups.values()


def chosen(game: CactiReference, agent: Agent) -> int:
    """Return an agent's action for the player to move."""
    return agent(game.observation(game.current_player), game.legal())


def outcomes(probability: float, game: CactiReference, action: int) -> list[World]:
    """Return the worlds after an action; there are several if the discards are shuffled."""
    shuffled: list[list[int]] = []
    after = copied(game)
    after.step(action, lambda cards: shuffled.append(cards) or cards)
    if not shuffled:
        return [(probability, after)]
    worlds = []
    decks = orders(shuffled[0])
    for deck in decks:
        after = copied(game)
        after.step(action, lambda cards, deck=deck: deck)
        worlds.append((probability / len(decks), after))
    return worlds


def copied(game: CactiReference) -> CactiReference:
    """Return a copy that shares only constants."""
    other = copy.copy(game)
    for name in ("deck", "middle", "arrangement_deck", "starting_in_hand", "discards", "rewards"):
        setattr(other, name, list(getattr(game, name)))
    for name in ("nurseries", "special", "planted", "basic_in_hand"):
        setattr(other, name, [None if part is None else list(part) for part in getattr(game, name)])
    return other


def share(game: CactiReference, seat: int) -> float:
    """Return the share of the win in a game that is over: 1, ½ or 0."""
    own, other = game.standings()[seat], game.standings()[1 - seat]
    return (np.sign(own - other) + 1) / 2
