"""Do values mean what they say? `python -m benchmarks.calibration [GAMES...]`.

The network that comes with a game plays against itself, its actions drawn by their probabilities. At each decision its
value for the player to move is noted, and at the end that player's outcome, on the same scale: of n players a sole
winner has 1, the others -1 / (n - 1). For each fifth of the game (the same number of decisions each) the result file has
the mean of the values, which is that of the outcomes if they are unbiased, and the correlation of both. Other networks
named by --beside value the same positions.
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
from garden_core import Batch, Game, list_games, make

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
    seed: int = 0
    """seed of the games and of the actions"""
    output: Path = common.RESULTS
    """folder for calibration.json"""


def noted(game: Game, agents: Sequence[NetworkAgent], matches: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Play games of the first agent against itself.

    Returns, for each game, "values", float (decisions, agents), of the player to move, and "outcomes", float
    (decisions,), of the same player; decisions with one legal action are left out.
    """
    batch = Batch(game, matches, autoreset=False)
    batch.reset(seed)
    values: list[list[np.ndarray]] = [[] for _ in batch.all_rows]
    movers: list[list[int]] = [[] for _ in batch.all_rows]
    with tqdm(total=matches, unit="game", desc=repr(game)) as bar:
        while len(rows := np.flatnonzero(~(batch.terminated | batch.truncated))):
            bar.update(matches - len(rows) - bar.n)
            seen, masks = batch.observation[rows], batch.action_mask[rows]
            found = np.stack(
                [agent.evaluate(seen, masks)[1].reshape(len(rows), -1)[:, 0] for agent in agents], 1
            )
            for row, value in zip(rows[masks.sum(1) > 1], found[masks.sum(1) > 1], strict=True):
                values[row].append(value)
                movers[row].append(int(batch.current_player[row]))
            batch.step(agents[0](batch, rows), rows)
    final, points = np.zeros(game.max_players, np.float32), np.zeros(game.max_players, np.int32)
    games = []
    for row in batch.all_rows:
        first_places(batch.last_states[row], game.params[0], final, points)
        games.append({"values": np.array(values[row]), "outcomes": final[movers[row]].astype(float)})
    return games


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
            for number, agent in enumerate(agents):
                found = {
                    "game": name,
                    "num_players": num_players,
                    "network": agent,
                    **by_fifths(games, number),
                }
                measurements.append(found)
                print(f"{name}, {num_players} players, {agent}: all, then by fifths of the game")
                for key in ("mean_value", "mean_outcome", "correlation"):
                    print(f"  {key:<13}", *(f"{x:+.3f}" for x in found[key]), flush=True)
    settings = {"matches": arguments.matches, "seed": arguments.seed}
    common.save(arguments.output, "calibration", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
