"""Do values mean what they say? `python -m benchmarks.calibration [GAMES...]`.

The network that comes with a game plays against itself, its actions drawn by their probabilities. At each decision its
value for the player to move is noted, and at the end that player's outcome, on the same scale: of n players a sole
winner has 1, the others -1 / (n - 1). For each fifth of the game (the same number of decisions each) the result file has
the mean of the values, which is that of the outcomes if they are unbiased, and the correlation of both. Other networks
named by --beside value the same positions.

How well outcomes can be foreseen at all is estimated by playouts: for one decision in each fifth of a game, everything
that the player to move cannot see is drawn anew --playouts times, the network plays on from there, and the mean outcome
takes the place of the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.networks.network_agent import NetworkAgent, shipped
from garden_agents.search.tree import first_places
from tqdm import tqdm

from benchmarks import common
from garden_core import Batch, Game, kernels, list_games, make

FIFTHS = 5


@dataclass
class Arguments:
    """Hold the values of networks against the outcomes of their games."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    beside: Path | None = common.RESULTS.parent / "networks"
    """folder of networks GAME-PLAYERS.safetensors that value the same positions; earlier ones if not given"""
    matches: int = 1000
    """number of games of each network"""
    playouts: int = 32
    """number of playouts of each of five decisions in a game; 0 for none"""
    seed: int = 0
    """seed of the games and of the actions"""
    output: Path = common.RESULTS
    """folder for calibration.json"""


def noted(game: Game, agents: Sequence[NetworkAgent], matches: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Play games of the first agent against itself.

    Returns, for each game, "values", float (decisions, agents), of the player to move, "outcomes", float (decisions,),
    of the same player, and "states", records (decisions,); decisions with one legal action are left out.
    """
    batch = Batch(game, matches, autoreset=False)
    batch.reset(seed)
    values: list[list[np.ndarray]] = [[] for _ in batch.all_rows]
    states: list[list[np.ndarray]] = [[] for _ in batch.all_rows]
    with tqdm(total=matches, unit="game", desc=repr(game)) as bar:
        while len(rows := np.flatnonzero(~(batch.terminated | batch.truncated))):
            bar.update(matches - len(rows) - bar.n)
            seen, masks = batch.observation[rows], batch.action_mask[rows]
            found = np.stack(
                [agent.evaluate(seen, masks)[1].reshape(len(rows), -1)[:, 0] for agent in agents], 1
            )
            for row, value in zip(rows[masks.sum(1) > 1], found[masks.sum(1) > 1], strict=True):
                values[row].append(value)
                states[row].append(batch.states[row : row + 1].copy())
            batch.step(agents[0](batch, rows), rows)
    games = []
    for row in batch.all_rows:
        held = np.concatenate(states[row])
        outcomes = first_place_values(game, batch.last_states[row])[held["current_player"]]
        games.append({"values": np.array(values[row]), "outcomes": outcomes, "states": held})
    return games


def first_place_values(game: Game, state: np.ndarray) -> np.ndarray:
    """Return the outcome of every seat of a finished game, float (max players,), as `first_places` counts it."""
    final, points = np.zeros(game.max_players, np.float32), np.zeros(game.max_players, np.int32)
    first_places(state, game.params[0], final, points)
    return final.astype(float)


def played_out(
    game: Game, agent: NetworkAgent, games: Sequence[dict[str, np.ndarray]], playouts: int, seed: int
) -> list[dict[str, np.ndarray]]:
    """Return, for each of `games`, the "values" by playouts and the "outcomes" of one decision in each fifth."""
    rng, found = np.random.default_rng(seed), []
    for played in tqdm(games, unit="game", desc=f"{game!r}, playouts"):
        n = len(played["outcomes"])
        chosen = np.array(
            [rng.choice(np.flatnonzero(np.arange(n) * FIFTHS // n == k)) for k in range(FIFTHS)]
        )
        movers = np.repeat(played["states"]["current_player"][chosen], playouts).astype(np.int64)
        batch = Batch(game, FIFTHS * playouts, autoreset=False)
        batch.reset(0)
        batch.states[:] = np.repeat(played["states"][chosen], playouts)
        for row, mover in enumerate(movers):
            kernels.resample(batch.states[row], game.params[0], mover, rng.integers(2**63, dtype=np.uint64))
        batch.refresh()
        while len(rows := np.flatnonzero(~(batch.terminated | batch.truncated))):
            batch.step(agent(batch, rows), rows)
        final = [first_place_values(game, batch.last_states[row])[mover] for row, mover in enumerate(movers)]
        values = np.reshape(final, (FIFTHS, playouts)).mean(1)
        found.append({"values": values[:, None], "outcomes": played["outcomes"][chosen]})
    return found


def by_fifths(games: Sequence[dict[str, np.ndarray]], agent: int) -> dict[str, Any]:
    """Return the means and the correlation of an agent's values and the outcomes, over all and by fifths of the game."""
    values, outcomes, fifths = [], [], []
    for played in games:
        n = len(played["outcomes"])
        values.append(played["values"][:, agent])
        outcomes.append(played["outcomes"])
        fifths.append(np.arange(n) * FIFTHS // n)
    value, outcome, fifth = map(np.concatenate, (values, outcomes, fifths))
    parts = [fifth >= 0, *(fifth == k for k in range(FIFTHS))]
    return {
        "mean_value": [round(float(value[part].mean()), 4) for part in parts],
        "mean_outcome": [round(float(outcome[part].mean()), 4) for part in parts],
        "correlation": [round(float(np.corrcoef(value[part], outcome[part])[0, 1]), 4) for part in parts],
    }


def main(arguments: Arguments) -> None:
    """Measure all networks that come with games, print a table and write the result file."""
    measurements = []
    for name in arguments.games or list_games():
        for num_players, path in shipped(make(name)).items():
            game = make(name, num_players=num_players)
            agents = {"network": NetworkAgent.load(path, game, arguments.seed, sampled=True)}
            other = (arguments.beside or Path()) / f"{name}-{num_players}.safetensors"
            if arguments.beside is not None and other.exists():
                agents["before"] = NetworkAgent.load(other, game)
            games = noted(game, [*agents.values()], arguments.matches, arguments.seed)
            rows = {agent: by_fifths(games, number) for number, agent in enumerate(agents)}
            if arguments.playouts:
                out = played_out(game, agents["network"], games, arguments.playouts, arguments.seed)
                rows["playouts"] = by_fifths(out, 0)
            for by, found in rows.items():
                measurements.append({"game": name, "num_players": num_players, "values_by": by, **found})
                print(f"{name}, {num_players} players, values by {by}: all, then by fifths of the game")
                for key in ("mean_value", "mean_outcome", "correlation"):
                    print(f"  {key:<13}", *(f"{x:+.3f}" for x in found[key]), flush=True)
    settings = {key: getattr(arguments, key) for key in ("matches", "playouts", "seed")}
    common.save(arguments.output, "calibration", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
