"""The rules with `memory="history"`: states that count what each seat has taken and passed up.

This is open to both players and gives hints about the hands. Every action and response counts, from the deal on.
"""

from __future__ import annotations

from cacti_env import rules
from cacti_env.cards import MAX_TYPES, NUM_PLAYERS
from cacti_env.state import LAST_CARD, MAX_HALVES, STATE_FIELDS
from garden_core.jit import compiled

FIELDS_WITH_MEMORY = [
    *STATE_FIELDS,
    ("grown", "i1", (NUM_PLAYERS, MAX_TYPES)),  # how often a seat has grown a type
    ("passed_by", "i1", (NUM_PLAYERS, MAX_TYPES)),  # … did something else while it lay in the middle
    ("not_planted", "i1", (NUM_PLAYERS, MAX_HALVES)),  # … while its Nursery held what a half asks for
]
HIGHEST = 127  # largest count


@compiled
def deal(state, params, seed):
    """As `rules.deal`, with all counts at 0."""
    state.grown[:, :] = 0
    state.passed_by[:, :] = 0
    state.not_planted[:, :] = 0
    rules.deal(state, params, seed)


@compiled
def apply_action(state, params, action):
    """As `rules.apply_action`; counts what the player to move takes and passes up."""
    if state.asked != LAST_CARD:
        player = state.current_player
        for t in range(params.num_types):
            if action == t:
                state.grown[player, t] = min(state.grown[player, t] + 1, HIGHEST)
            elif state.middle[t] > 0:
                state.passed_by[player, t] = min(state.passed_by[player, t] + 1, HIGHEST)
        for half in range(2 * params.num_basic + 1):
            if action != params.num_types + half and rules.can_pay(state, params, player, half):
                state.not_planted[player, half] = min(state.not_planted[player, half] + 1, HIGHEST)
    rules.apply_action(state, params, action)


@compiled
def observe(state, params, player, out):
    """As `rules.observe`, followed by the counts of the own seat and of the other one."""
    rules.observe(state, params, player, out)
    types, halves = params.num_types, 2 * params.num_basic + 1
    size = 2 * types + halves
    at = out.shape[0] - 2 * size
    for seat in (player, 1 - player):
        for t in range(types):
            out[at + t] = state.grown[seat, t]
            out[at + types + t] = state.passed_by[seat, t]
        for half in range(halves):
            out[at + 2 * types + half] = state.not_planted[seat, half]
        at += size
