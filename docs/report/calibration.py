"""Measure the calibration of values: `python -m docs.report.calibration [GAMES...]`.

A shipped network plays against itself and samples its actions. For each decision with several legal actions we record its
value for the player to move, and at the end that player's outcome on the same scale: of n players a sole winner has 1, the
others -1 / (n - 1). For each fifth of the game (equal numbers of decisions) the result file has the mean values, which equal
the mean outcomes if the values are unbiased, and their correlation.

Playouts show how well look-ahead predicts outcomes: for one decision in each fifth of a game, everything hidden from
the player to move is resampled --playouts times, the network plays to the end, and the mean outcome replaces the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from garden_agents.matches.values import (
    FIFTHS,
    PlayedGame,
    by_fifths,
    fifths,
    first_place_values,
    self_play,
)
from garden_agents.networks.network_agent import NetworkAgent, shipped
from garden_agents.progress import progress_bar

from benchmarks import common
from garden_core import Batch, Game, list_games, make
from garden_core.jit import kernels


@dataclass
class Arguments:
    """Compare the values of networks with the outcomes of their games."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    matches: int = 1000
    """number of games of each network"""
    playouts: int = 32
    """number of playouts for each of five decisions per game; 0 for none"""
    seed: int = 0
    """seed of the games and of the actions"""
    output: Path = Path(__file__).parent
    """folder for calibration.json"""


def played_out(
    game: Game, agent: NetworkAgent, games: Sequence[PlayedGame], playouts: int, seed: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return values by playouts and outcomes, float (5,) per game: of one decision in each fifth of the game.

    Games of fewer than five decisions are omitted.
    """
    rng = np.random.default_rng(seed)
    values, outcomes = [], []
    for played in progress_bar(iterable=games, unit="game", desc=f"{game!r}, playouts"):
        fifth = fifths(len(played.outcomes))
        if len(np.unique(fifth)) < FIFTHS:
            continue
        chosen = np.array([rng.choice(np.flatnonzero(fifth == k)) for k in range(FIFTHS)])
        movers = np.repeat(played.states["current_player"][chosen], playouts).astype(np.int64)
        batch = Batch(game, FIFTHS * playouts, autoreset=False)
        batch.reset(0)
        batch.states[:] = np.repeat(played.states[chosen], playouts)
        for row, mover in enumerate(movers):
            kernels.resample(batch.states[row], game.params[0], mover, rng.integers(2**63, dtype=np.uint64))
        batch.refresh()
        while len(rows := np.flatnonzero(~(batch.terminated | batch.truncated))):
            batch.step(agent(batch, rows), rows)
        final = [first_place_values(game, batch.last_states[row])[mover] for row, mover in enumerate(movers)]
        values.append(np.reshape(final, (FIFTHS, playouts)).mean(1))
        outcomes.append(played.outcomes[chosen])
    return values, outcomes


def main(arguments: Arguments) -> None:
    """Measure all shipped networks, print a table and write the result file."""
    measurements = []
    for name in arguments.games or list_games():
        for num_players, path in shipped(make(name)).items():
            game = make(name, num_players=num_players)
            agent = NetworkAgent.load(path, game, arguments.seed, sampled=True)
            with progress_bar(total=arguments.matches, unit="game", desc=repr(game)) as bar:
                games = self_play(game, agent, arguments.matches, arguments.seed, bar.update)
            outcomes = [played.outcomes for played in games]
            rows = {"network": by_fifths([played.values for played in games], outcomes)}
            if arguments.playouts:
                out = played_out(game, agent, games, arguments.playouts, arguments.seed)
                rows["playouts"] = by_fifths(*out)
            for by, measured in rows.items():
                measurements.append({"game": name, "num_players": num_players, "values_by": by, **measured})
                print(f"{name}, {num_players} players, values by {by}: all, then by fifths of the game")
                for key in ("mean_value", "mean_outcome", "correlation"):
                    print(f"  {key:<13}", *(f"{x:+.3f}" for x in measured[key]), flush=True)
    settings = {key: getattr(arguments, key) for key in ("matches", "playouts", "seed")}
    common.save(arguments.output, "calibration", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
