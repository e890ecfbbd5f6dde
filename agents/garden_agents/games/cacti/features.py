"""Features for Cacti with `cards_shown="values"`: what each Arrangement that can be planted still lacks, now and after each Grow.

A network would have to subtract costs from Nurseries to know this. They are computed from the observation alone, so that they do not
depend on the cards that a network was trained with. Numbers in brackets refer to `rules.md` in `cacti_env`.
"""

from __future__ import annotations

import numpy as np

from cacti_env.game import Cacti
from garden_agents.games import Features
from garden_core.game import Game
from garden_core.jit import compiled

_HALVES = 5
"""Halves that the observer can plant: of the hand, of the top of the deck, Starting [3.6]. The opponent can plant the last three."""
_COUNT, _POINTS = np.float32(1 / 4), np.float32(1 / 8)
_SCORES = 6


def features(game: Game) -> Features | None:
    """Return the features, or None where cards are shown by place."""
    assert isinstance(game, Cacti)
    if game.option_values["cards_shown"] != "values" or game.option_values["memory"] != "none":
        return None
    types, basics = len(game.cards.types), len(game.cards.basic)
    params = np.zeros_like(game.params)
    params["num_types"], params["num_basic"] = types, basics
    shown = game.observation_size - basics * (2 * types + 2)
    unseen = 2 * types + 3
    lacking = _HALVES * (2 * types + 4) + 3 * (types + 2)
    return Features(shown + unseen + lacking + _SCORES, fill_features, params)


@compiled
def fill_features(observation, params, features):
    """Fill `features`, float32 (N, num), for observations, int8 (N, size); of `params`, records (1,), the numbers of types and cards count.

    Counts are in units of 4 cacti, points in units of 8. The entries of the observation come first, but for the unseen
    Arrangements, of which there are means; then for each half what it costs more than the Nursery has; then scores.
    """
    types, basics = np.int64(params[0].num_types), np.int64(params[0].num_basic)
    for i in range(observation.shape[0]):
        _fill_one(observation[i], types, basics, features[i])


@compiled
def _fill_one(seen, types, basics, out):
    width = 2 * types + 2
    starting = 6 * types + 4
    cards = starting + types + 1
    planted = cards + 2 * width
    unseen = planted + 4
    after = unseen + basics * width
    for k in range(unseen):
        out[k] = seen[k] * _COUNT
    at = unseen
    for k in range(after, seen.shape[0]):
        out[at] = seen[k] * _COUNT
        at += 1
    for k in range(5 * types, 6 * types + 4):  # zeros and ones
        out[k] = seen[k]
    at = _fill_unseen(seen, types, basics, unseen, out, at)
    for half in range(_HALVES):
        first = starting if half == 4 else cards + half * (types + 1)
        present = seen[6 * types + 2] > 0 if half == 4 else seen[first + types] > 0
        at = _fill_lacking(seen, types, first, present, types, True, out, at)
    for half in range(2, _HALVES):
        first = starting if half == 4 else cards + half * (types + 1)
        present = seen[6 * types + 3] > 0 if half == 4 else seen[first + types] > 0
        at = _fill_lacking(seen, types, first, present, 2 * types, False, out, at)
    _fill_scores(seen, types, planted, out, at)


@compiled
def _fill_unseen(seen, types, basics, unseen, out, at):
    """Fill the number of unseen Arrangements and the mean cost and points of their halves; return where this ends."""
    width, number = 2 * types + 2, 0
    for k in range(width):
        out[at + 1 + k] = 0
    for card in range(basics):
        first = unseen + card * width
        if seen[first + types] > 0:
            number += 1
            for k in range(width):
                out[at + 1 + k] += seen[first + k]
    for k in range(width):
        out[at + 1 + k] *= _COUNT / max(number, 1)
    out[at] = number * _COUNT
    return at + 1 + width


@compiled
def _fill_lacking(seen, types, first, present, nursery, grow, out, at):
    """Fill what a half costs more than a Nursery has, by type and in all, and with `grow` in all after a Grow of each type."""
    size = types + 2 + (types + 2 if grow else 0)
    for k in range(size):
        out[at + k] = 0
    if not present:
        return at + size
    lacking = 0
    for t in range(types):
        short = max(np.int64(seen[first + t]) - seen[nursery + t], 0)
        out[at + 2 + t] = short * _COUNT
        lacking += short
    out[at] = 1 if lacking == 0 else 0
    out[at + 1] = lacking * _COUNT
    if grow:
        nearest = lacking
        for t in range(types):
            short = max(np.int64(seen[first + t]) - seen[nursery + t], 0)
            left = lacking - min(short, np.int64(seen[t]))
            nearest = min(nearest, left)
            out[at + 2 + types + t] = left * _COUNT
        out[at + 2 + 2 * types] = 1 if nearest == 0 else 0
        out[at + 3 + 2 * types] = seen[first + types] * _POINTS
    return at + size


@compiled
def _fill_scores(seen, types, planted, out, at):
    """Fill for both seats the planted points with those of the Special Planters, and what is left over now [5.2, 5.3]."""
    for seat in range(2):
        special, cacti, kinds = 0, 0, 0
        own = (1 + seat) * types
        for t in range(types):
            special += seen[(3 + seat) * types + t]
            counts = seat == 1 or seen[5 * types + 2 + t] == 0
            if counts and seen[own + t] > 0:
                cacti += seen[own + t]
                kinds += 1
        out[at] = (seen[planted + 2 * seat + 1] + special) * _POINTS
        out[at + 1] = cacti * kinds * _POINTS
        at += 2
    out[at] = out[at - 4] - out[at - 2]
    out[at + 1] = out[at] - out[at - 3] + out[at - 1]
