"""Pig, the dice race: a complete game in one file, as a template for your own. Run it to see it play.

The player to move rolls a die any number of times and adds up the rolls; a 1 loses the sum and ends the turn. A player who
holds scores the sum. The first to score 100 wins. docs/own-game.md explains each part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core import Batch, Game, Option, compiled
from garden_core.jit import bounded, seed_rng

ROLL, HOLD = 0, 1
MAX_PLAYERS = 4
OBSERVATION_SIZE = 2 * MAX_PLAYERS + 2

# --- rules: compiled functions on records, without objects, exceptions or memory allocation ---


@compiled
def deal(state, params, seed):
    """Seed the generator and fill every field in `state_fields`."""
    seed_rng(state.rng, seed)
    state.score[:] = 0
    state.turn_sum = 0
    state.current_player = 0


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (2,): a turn starts with a roll; a player who can win must hold. Return the number of legal actions."""
    sure = np.int64(state.score[state.current_player]) + state.turn_sum
    mask[ROLL] = sure < params.goal
    mask[HOLD] = state.turn_sum > 0
    return np.int64(mask[ROLL]) + mask[HOLD]


@compiled
def apply_action(state, params, action):
    """Apply a legal action; the core counts decisions, truncates at the cap and computes rewards."""
    player = state.current_player
    if action == ROLL:
        die = 1 + bounded(state.rng, 6)
        if die > 1:
            state.turn_sum += die
            return
    else:
        state.score[player] += state.turn_sum
        if state.score[player] >= params.goal:
            state.terminated = 1
            return
    state.turn_sum = 0
    state.current_player = (player + 1) % params.num_players


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (10,): scores and the player to move, counted from the observing seat; the sum; the goal."""
    out[:] = 0
    n = params.num_players
    for offset in range(n):
        out[offset] = state.score[(player + offset) % n]
    if not (state.terminated or state.truncated):
        out[MAX_PLAYERS + (state.current_player - player + n) % n] = 1
        out[2 * MAX_PLAYERS] = state.turn_sum
    out[2 * MAX_PLAYERS + 1] = params.goal


@compiled
def points(state, params, out):
    """Fill `out`, int32 (4,), with the scores, which are also the public points and the standings."""
    for p in range(MAX_PLAYERS):
        out[p] = state.score[p]


# --- the game: metadata, options, names ---


class Pig(Game):
    """Pig for 2 to 4 players. Two actions; observation int8 (10,), see `observe`."""

    name = "pig"
    title = "Pig"
    chance = "play"
    information = "perfect"
    options = (
        Option("num_players", 2, "players", low=2, high=MAX_PLAYERS),
        Option("goal", 100, "score that wins; low enough for int8 views", low=1, high=120),
        Option("max_decisions", 2000, "cap at which a game is truncated", low=1, high=2**31 - 1),
    )
    state_fields = (
        ("score", "i4", MAX_PLAYERS),  # each seat's score
        ("turn_sum", "i4"),  # rolled in this turn, not yet scored
    )
    params_fields = (("goal", "i4"),)

    labels = ("roll", "hold")
    observation_shape = (OBSERVATION_SIZE,)

    @property
    def reward_divisor(self) -> float:
        """The goal: a game's margin is then about 1."""
        return self.option_values["goal"]

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        over = bool(state["terminated"] or state["truncated"])
        return {
            "num_players": self.num_players,
            "phase": "over" if over else "turn",
            "current_player": int(state["current_player"]),
            "turn_sum": int(state["turn_sum"]),
            "scores": state["score"][: self.num_players].tolist(),
        }


def main() -> None:
    """Check the game, then play a batch of it at random."""
    from garden_core import RandomPolicy
    from garden_core.testing import check_game

    check_game(Pig())
    print("Pig passes the checks")
    batch, policy = Batch(Pig(num_players=3), 20), RandomPolicy()
    batch.reset(seed=0)
    wins = np.zeros(3, int)
    for _ in range(500):
        batch.step(policy(batch, batch.all_rows))
        wins += (batch.rewards == 1).sum(axis=0)
    print(f"20 rows of 500 random decisions: {wins.sum()} games, won by seat {wins.tolist()}")
    print(batch.game.text(batch.states[0]))


if __name__ == "__main__":
    main()
