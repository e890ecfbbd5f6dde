"""Tic-tac-toe, a minimal game. Run it to see it play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from garden_core import Game, Option, compiled, kernels
from garden_core.jit import seed_rng

CELLS, SEATS = 9, 2
LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


@compiled
def deal(state, params, seed):
    """Clear the board; seat 0 begins."""
    seed_rng(state.rng, seed)
    state.board[:] = 0
    state.winner = -1
    state.current_player = 0


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (9,): the empty cells. Return their number."""
    n = 0
    for cell in range(CELLS):
        mask[cell] = state.board[cell] == 0
        n += mask[cell]
    return n


@compiled
def apply_action(state, params, action):
    """Mark a cell; three in a line win, and a full board is a tie."""
    player = np.int64(state.current_player)
    state.board[action] = player + 1
    for line in range(LINES.shape[0]):
        own = 0
        for i in range(3):
            own += state.board[LINES[line, i]] == player + 1
        if own == 3:
            state.winner = player
            state.terminated = 1
    if state.decisions == CELLS:
        state.terminated = 1
    state.current_player = 1 - player


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (18,): the player's marks by cell, then the other seat's."""
    for cell in range(CELLS):
        out[cell] = state.board[cell] == player + 1
        out[CELLS + cell] = state.board[cell] == SEATS - player


@compiled
def points(state, params, out):
    """Fill `out`, int32 (2,): 1 for the winner. By default also the public points and the standings."""
    for p in range(SEATS):
        out[p] = state.winner == p


class TicTacToe(Game):
    """Tic-tac-toe. Nine actions; observation int8 (18,), see `observe`."""

    name = "tic_tac_toe"
    title = "Tic-tac-toe"
    chance = "none"
    information = "perfect"
    options = (
        Option("num_players", SEATS, "players", low=SEATS, high=SEATS),
        Option("max_decisions", CELLS, "cap at which a game is truncated", low=1, high=2**31 - 1),
    )
    state_fields = (
        ("board", "i1", CELLS),  # 0 empty, 1 and 2 the seats
        ("winner", "i1"),  # -1 while there is none
    )
    rules = kernels.Kernels(
        deal=deal,
        legal_actions=legal_actions,
        apply_action=apply_action,
        observe=observe,
        points=points,
    )
    labels = tuple(f"cell {cell}" for cell in range(CELLS))
    observation_shape = (2 * CELLS,)
    reward_divisor = 1

    @property
    def max_game_length(self) -> int:
        """One mark per cell."""
        return min(CELLS, self.option_values["max_decisions"])

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values; 0 empty, 1 and 2 the seats."""
        over = bool(state["terminated"] or state["truncated"])
        return {
            "phase": "over" if over else "mark",
            "current_player": int(state["current_player"]),
            "rows": state["board"].reshape(3, 3).tolist(),
            "scores": self.scores(state),
        }

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return the board."""
        return "\n".join("".join(".XO"[mark] for mark in row) for row in view["rows"])


def main() -> None:
    """Check the game, and show a recorded game."""
    from garden_core import GreedyPolicy, RandomPolicy, record
    from garden_core.testing import check_game

    game = TicTacToe()
    check_game(game)
    print("Tic-tac-toe passes the checks")
    for state in record(game, [GreedyPolicy(1), RandomPolicy(1)], seed=3).states():
        print(f"\n{game.text(state)}")


if __name__ == "__main__":
    main()
