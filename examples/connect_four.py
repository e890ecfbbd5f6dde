"""Connect Four in one file: two seats, no chance, nothing hidden. Run it to see it play.

The first player with four stones in a line wins; a full board is a tie. The state has the stones twice: in `board` for
observations, and as bits in `stones`, where shifts detect four in a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from garden_core import Batch, Game, Option, Part, compiled, kernels
from garden_core.jit import seed_rng

COLUMNS, ROWS, SEATS = 7, 6, 2
CELLS = COLUMNS * ROWS
BITS = ROWS + 1  # per column: one stays 0, so that no line continues in the next column
SHIFTS = np.array([1, BITS - 1, BITS, BITS + 1], np.uint64)  # up, and to the next column: down, level, up


@compiled
def deal(state, params, seed):
    """Clear the board; seat 0 begins."""
    seed_rng(state.rng, seed)
    state.stones[:] = 0
    state.board[:] = 0
    state.height[:] = 0
    state.winner = -1
    state.current_player = 0


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (7,): the columns that are not full. Return their number."""
    n = 0
    for column in range(COLUMNS):
        mask[column] = state.height[column] < ROWS
        n += mask[column]
    return n


@compiled
def apply_action(state, params, action):
    """Drop a stone into a column."""
    player = np.int64(state.current_player)
    row = np.int64(state.height[action])
    state.height[action] += 1
    state.board[COLUMNS * row + action] = player + 1
    state.stones[player] |= np.uint64(1) << np.uint64(BITS * action + row)
    if _has_four(state.stones[player]):
        state.winner = player
        state.terminated = 1
    elif state.decisions == CELLS:
        state.terminated = 1
    state.current_player = 1 - player


@compiled
def _has_four(stones):
    """Return whether four of the stones are in a line."""
    fours = np.uint64(0)
    for shift in SHIFTS:
        pairs = stones & (stones >> shift)
        fours |= pairs & (pairs >> (shift + shift))
    return fours != 0


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (84,): the player's stones by cell, row by row from the bottom, then the other seat's."""
    own, other = np.int8(player + 1), np.int8(SEATS - player)
    for cell in range(CELLS):
        out[cell] = state.board[cell] == own
        out[CELLS + cell] = state.board[cell] == other


@compiled
def points(state, params, out):
    """Fill `out`, int32 (2,): 1 for the winner. By default also the public points and the standings."""
    for p in range(SEATS):
        out[p] = state.winner == p


class ConnectFour(Game):
    """Connect Four. Seven actions; observation int8 (84,), see `observe`."""

    name = "connect_four"
    title = "Connect Four"
    chance = "none"
    information = "perfect"
    options = (
        Option("num_players", SEATS, "players", low=SEATS, high=SEATS),
        Option("max_decisions", CELLS, "cap at which a game is truncated", low=1, high=2**31 - 1),
    )
    state_fields = (
        ("stones", "u8", SEATS),  # per seat: bit 7 * column + row
        ("board", "i1", CELLS),  # 0 empty, 1 and 2 the seats
        ("height", "i1", COLUMNS),  # number of stones per column
        ("winner", "i1"),  # -1 while there is none
    )
    rules = kernels.Kernels(
        deal=deal,
        legal_actions=legal_actions,
        apply_action=apply_action,
        observe=observe,
        points=points,
    )
    labels = tuple(f"column {column}" for column in range(COLUMNS))
    reward_divisor = 1

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """The parts of an observation."""
        return Part("own stones", CELLS, "own stones, by cell"), Part(
            "other's stones", CELLS, "the other seat's stones, by cell"
        )

    @property
    def max_game_length(self) -> int:
        """One stone per cell."""
        return min(CELLS, self.option_values["max_decisions"])

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values; `rows` from the top, 0 empty, 1 and 2 the seats."""
        over = bool(state["terminated"] or state["truncated"])
        return {
            "phase": "over" if over else "drop",
            "current_player": int(state["current_player"]),
            "rows": state["board"].reshape(ROWS, COLUMNS)[::-1].tolist(),
            "scores": self.scores(state),
        }

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return the board."""
        rows = ["".join(".XO"[stone] for stone in row) for row in view["rows"]]
        return "\n".join([*rows, "0123456"])


def main() -> None:
    """Check the game, then let search play against random play."""
    from garden_agents import load_agent, meet

    from garden_core import RandomPolicy
    from garden_core.testing import check_game

    game = ConnectFour()
    check_game(game)
    print("Connect Four passes the checks")
    result = meet(game, ("mcts:50", "random"), (load_agent("mcts:50", game), RandomPolicy(1)), 100)
    print(f"mcts:50 wins {result.win_rate:.0%} of 100 games against random play")
    batch = Batch(game, 1)
    batch.reset(0)
    for _ in range(12):
        batch.step(batch.action_mask.argmax(1))
    print(game.text(batch.states[0]))


if __name__ == "__main__":
    main()
