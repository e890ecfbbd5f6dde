"""Replace a pretrained network if a new one is stronger: `python -m benchmarks.networks GAME RUN`.

A sequential comparison (`garden compare`) decides whether the network of the run's folder leads the pretrained one for the same
number of players by more than 0 Elo points. If so, it replaces the pretrained network. Every decision is added to
`results/networks.json`. A game without a pretrained network for this number of players gets the new one. Pretrained networks
are stored, and compared, with weights in half precision, so their files are small.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.errors import one_line_errors
from garden_agents.evaluation.compare import GAMES, compare, in_words
from garden_agents.evaluation.sequential import ELO, ERRORS, SequentialTest
from garden_agents.games import networks_folder
from garden_agents.matches.jobs import CORES
from garden_agents.matches.pairs import Games
from garden_agents.networks import NETWORK, SUFFIX
from garden_agents.networks.network_agent import Description, NetworkAgent, load
from garden_agents.progress import progress_bar
from garden_agents.registry import make_game

from benchmarks import common
from garden_core.files.array_files import read, write
from garden_core.files.disk import write_atomically

RESULT = "networks"


@dataclass
class Arguments:
    """Replace a pretrained network if a new one is stronger."""

    game: tyro.conf.Positional[str]
    """name of an installed game"""
    run: tyro.conf.Positional[Path]
    """folder of a training run"""
    num_players: int | None = None
    """number of players; the game's default if not given"""
    elo: tuple[float, float] = ELO
    """the lead in Elo points that is needed, and the one that should not be missed"""
    errors: tuple[float, float] = ERRORS
    """largest chances of replacing a network that is as strong, and of keeping one although the new one has the second lead"""
    games: int = GAMES
    """largest number of games; if the comparison is still open then, the old network stays"""
    seed: int = 0
    """seed of the games"""
    processes: int = CORES
    """number of processes"""
    output: Path = common.RESULTS
    """folder for networks.json"""


def in_half_precision(network: Path) -> Path:
    """Write a network with its weights as float16 next to its file; return the path."""
    weights, _, config = read(network, "config", Description)
    path = network.with_name(f"half{SUFFIX}")
    write(path, {name: weight.astype(np.float16) for name, weight in weights.items()}, "config", config)
    return path


@one_line_errors()
def main(arguments: Arguments) -> None:
    """Compare the networks, replace the old one if the new one is stronger, and add the decision to the table.

    Raises:
        SystemExit: for a folder without a network that fits the game.
    """
    a = arguments
    game = make_game(a.game, a.num_players, {})
    folder = networks_folder(game)
    if folder is None:
        raise ValueError(f"{a.game} has no folder for pretrained networks")
    old = folder / f"{game.num_players}{SUFFIX}"
    agent = NetworkAgent.load(a.run / NETWORK, game)
    new = in_half_precision(a.run / NETWORK)
    decision: dict[str, Any] = {
        "date": common.facts()["date"],
        "game": game.name,
        "num_players": game.num_players,
        "version": game.version,
        "command": agent.config["origin"]["command"],
        "replaced": True,
    }
    if old.exists():
        pair, test = (str(new), "network"), SequentialTest(game.num_players, a.elo, a.errors)
        with progress_bar(total=a.games, unit="game") as bar:
            result = compare(
                Games(game, pair, a.seed, same_agents=True),
                pair,
                test,
                a.games,
                a.processes,
                on_look=lambda look: bar.update(look.games - bar.n),
            )
        decision |= {
            "before": load(game).config["origin"]["command"],
            "elo": a.elo,
            "errors": a.errors,
            "seed": a.seed,
        }
        decision |= {**test.looks[-1]._asdict(), "answer": test.decision}
        decision["replaced"] = test.decision == "above"
        print(in_words(result, test))
    if decision["replaced"]:
        old.parent.mkdir(exist_ok=True)
        write_atomically(old, new.read_bytes())
    print(f"{old} {'is now the network of' if decision['replaced'] else 'stays; not replaced by'} {a.run}")
    table = a.output / f"{RESULT}.json"
    past = json.loads(table.read_text("utf-8"))["measurements"] if table.exists() else []
    common.save(a.output, RESULT, {}, [*past, decision])


if __name__ == "__main__":
    main(tyro.cli(Arguments))
