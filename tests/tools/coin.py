"""A toy game of chance: guess the next throw of a coin. A policy that reads the generator is always right."""

from garden_core import Game, Option, compiled
from garden_core.jit.kernels import Kernels
from garden_core.jit.rng import bounded, seed_rng

TURNS = 10
"""Guesses of each player in a game."""


@compiled
def deal(state, params, seed):
    seed_rng(state.rng, seed)
    state.right[:] = 0
    state.turns = 0
    state.current_player = 0


@compiled
def legal_actions(state, params, mask):
    mask[:] = 1
    return 2


@compiled
def apply_action(state, params, action):
    player = state.current_player
    if bounded(state.rng, 2) == action:
        state.right[player] += 1
    state.turns += 1
    state.terminated = state.turns == 2 * TURNS
    state.current_player = 1 - player


@compiled
def observe(state, params, player, out):
    out[0], out[1] = state.right[player], state.right[1 - player]


@compiled
def points(state, params, out):
    out[0], out[1] = state.right[0], state.right[1]


class Coin(Game):
    """Two players guess in turn; each right guess is a point."""

    name, title, chance, information = "coin", "Coin", "play", "perfect"
    options = (
        Option("num_players", 2, "players", low=2, high=2),
        Option("max_decisions", 100, "cap", low=1, high=1000),
    )
    state_fields = (("right", "i4", 2), ("turns", "i4"))
    rules = Kernels(deal, legal_actions, apply_action, observe, points)
    labels = ("heads", "tails")
    observation_shape = (2,)
    reward_divisor = float(TURNS)

    def own_snapshot(self, state):
        over = bool(state["terminated"] or state["truncated"])
        return {
            "num_players": 2,
            "phase": "over" if over else "turn",
            "current_player": int(state["current_player"]),
            "turns": int(state["turns"]),
            "right": state["right"].tolist(),
        }
