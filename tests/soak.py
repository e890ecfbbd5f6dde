"""Play millions of random decisions and check memory and invariants: `python -m tests.soak [GAMES ...]`.

Through compiled random play, `Batch` and the PettingZoo environment; one position in a thousand decisions is checked.
Writes soak.json among the benchmarks' results, which docs/testing.md shows.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks import common
from garden_core import Batch, list_games, make
from garden_core.batch.policies import RandomPolicy
from garden_core.game import Game
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.jit import kernels, loops

ROWS = 64
CHECK_EVERY = 1000  # decisions
ALLOWED_GROWTH = 16.0  # MiB


@dataclass
class Arguments:
    """Play millions of random decisions."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    decisions: int = 10_000_000
    """through random play; a tenth of it through Batch, a hundredth through env()"""
    output: Path = common.RESULTS
    """folder for soak.json"""


# --- invariants ---


def flowers(game: Game, snapshot: dict[str, Any]) -> bool:
    """Mars: every flower of each colour is in a stock or on the board; none is drawn while gardeners are placed."""
    held = np.sum(snapshot["stocks"], axis=0) + np.bincount(
        [c for _, _, c in snapshot["flowers"]], minlength=6
    )
    return held.tolist() == [0 if snapshot["phase"] == "place" else 10] * 6


def cacti(game: Any, snapshot: dict[str, Any]) -> bool:
    """Cacti: every card of each type is in the middle, a Nursery, under a planter, in the deck or discarded."""
    under = [special for special in snapshot["special"] if special]
    held = np.sum([snapshot["middle"], *snapshot["nurseries"], *under, snapshot["discards"]], axis=0)
    held += np.bincount(snapshot["deck"], minlength=len(held))
    return held.tolist() == list(game.cards.count)


def garden_cards(game: Any, snapshot: dict[str, Any]) -> bool:
    """Botanicus: every Garden card is in a hand, in the pile, in play or discarded."""
    held = np.sum([*snapshot["hands"], snapshot["discards"]], axis=0)
    held += np.bincount(snapshot["pile"], minlength=len(held))
    if snapshot["in_play"] is not None:
        held[snapshot["in_play"]] += 1
    return held.tolist() == [card.copies for card in game.tables.cards]


CONSERVED: dict[str, Callable[[Game, dict[str, Any]], bool]] = {
    "mars": flowers,
    "cacti": cacti,
    "botanicus": garden_cards,
}


class Checker:
    """Checks positions of one game, and counts them."""

    def __init__(self, game: Game) -> None:
        self.game, self.positions = game, 0
        self.mask = np.zeros(game.num_actions, np.int8)
        self.seen = np.zeros(game.observation_size, np.int8)

    def __call__(self, state: Any) -> None:
        """Raise AssertionError if a position breaks an invariant."""
        game, params = self.game, self.game.params[0]
        self.positions += 1
        snapshot = game.snapshot(state)
        count = kernels.legal_actions(state, params, self.mask)
        over = bool(state["terminated"] or state["truncated"])
        assert count == self.mask.sum(), f"{game!r}: {count} legal, {self.mask.sum()} marked in {snapshot}"
        assert (count > 0) != over, f"{game!r}: {count} legal actions in {snapshot}"
        assert np.isin(self.mask, (0, 1)).all(), f"{game!r}: the mask is not 0 or 1 in {snapshot}"
        for seat in range(game.num_players):
            kernels.observe(state, params, seat, self.seen)
            assert self.seen.min() >= 0, f"{game!r}: seat {seat} observes {self.seen.min()} in {snapshot}"
        if game.name in CONSERVED:
            assert CONSERVED[game.name](game, snapshot), f"{game!r}: something was lost in {snapshot}"


# --- ways to play; each yields after about a thousand decisions how many were played, and a state ---


def random_play(game: Game) -> Iterator[tuple[int, Any]]:
    """Compiled random play, observations written."""
    batch, words = (
        Batch(game, ROWS),
        np.random.default_rng(1).integers(2**63, size=(ROWS, 4), dtype=np.uint64),
    )
    batch.reset(seed=1)
    steps = -(-CHECK_EVERY // ROWS)
    while True:
        loops.random_play(*batch.rows, game.params, steps, True, words)
        yield steps * ROWS, batch.states[int(batch.episodes.sum()) % ROWS]


def through_batch(game: Game) -> Iterator[tuple[int, Any]]:
    """`Batch.step` with random actions; rewards are checked as well."""
    batch, policy = Batch(game, ROWS), RandomPolicy(2)
    batch.reset(seed=2)
    steps = -(-CHECK_EVERY // ROWS)
    while True:
        for _ in range(steps):
            batch.step(policy(batch, batch.all_rows))
            assert np.isfinite(batch.rewards).all()
            assert game.cooperative or np.abs(batch.rewards.sum(1)).max() < 1e-4
        yield steps * ROWS, batch.states[int(batch.episodes.sum()) % ROWS]


def through_env(game: Game) -> Iterator[tuple[int, Any]]:
    """The PettingZoo environment, game after game."""
    env, choose = GardenEnv(game), random.Random(3)
    env.reset(seed=3)
    played = 0
    while True:
        for _ in env.agent_iter():
            observation, _reward, terminated, truncated, _info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            assert observation is not None
            env.step(choose.choice(np.flatnonzero(observation["action_mask"]).tolist()))
            played += 1
            if played == CHECK_EVERY:
                yield played, env.states[0]
                played = 0
        env.reset()


WAYS = {"random play": (random_play, 1), "Batch": (through_batch, 10), "env()": (through_env, 100)}


def soak(game: Game, way: str, decisions: int) -> dict[str, Any]:
    """Play `decisions` decisions; return a measurement.

    Raises:
        AssertionError: if an invariant does not hold or memory grows.
    """
    check, play = Checker(game), WAYS[way][0](game)
    played, start, before = 0, time.perf_counter(), None
    while played < decisions:
        done, state = next(play)
        played += done
        check(state)
        if before is None and played >= decisions / 10:
            before = _memory()
    growth = _memory() - (before or 0)
    assert growth <= ALLOWED_GROWTH, f"{game!r}, {way}: the process grew by {growth:.1f} MiB"
    measurement = {"game": game.name, "way": way, "decisions": played, "positions": check.positions}
    return measurement | {"growth_mib": round(growth, 1), "seconds": round(time.perf_counter() - start, 1)}


def _memory() -> float:
    """Most memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Arguments) -> None:
    """Soak all games in all ways."""
    measurements = []
    for name in arguments.games or list_games():
        for way, (_, part) in WAYS.items():
            measurements.append(soak(make(name), way, arguments.decisions // part))
            print(measurements[-1], flush=True)
    common.save(arguments.output, "soak", {"decisions": arguments.decisions}, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
