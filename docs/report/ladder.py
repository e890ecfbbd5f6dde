"""Measure the strength gained by more search: `python -m docs.report.ladder [GAMES...]`.

Agents play against their neighbours on a ladder: random and greedy play, searches with increasing numbers of simulations, the
shipped network, and searches guided by it, for two players. The result files also have each agent's time per move in a
single game on one core, measured first. One search with the network gets the number of simulations that takes about the
time of `mcts:400`. Finished games are kept in `ladder-GAME.games.jsonl` next to the result file and not repeated; the file is
deleted at the end.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from garden_agents.evaluation.arena import round_robin
from garden_agents.matches.meet import table

from benchmarks import common
from garden_core import list_games, make

AGENTS = (
    "random",
    "greedy",
    "mcts:50",
    "mcts:400",
    "mcts:2000",
    "network",
    "network-mcts:25",
    "network-mcts:100",
    "network-mcts:400",
)
PAIRS = (
    ("greedy", "random"),
    ("mcts:50", "greedy"),
    ("mcts:400", "mcts:50"),
    ("mcts:2000", "mcts:400"),
    ("network", "greedy"),
    ("network", "mcts:50"),
    ("network", "mcts:400"),
    ("network-mcts:25", "network"),
    ("network-mcts:100", "network"),
    ("network-mcts:100", "network-mcts:25"),
    ("network-mcts:400", "network-mcts:100"),
    ("network-mcts:400", "mcts:2000"),
)
EQUAL = "mcts:400"
"""Opponent of the search with the network that takes about the same time per move."""


@dataclass
class Arguments:
    """Let agents play against their neighbours on a ladder."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    matches: int = 400
    """games of each pair"""
    moves: int = 200
    """timed moves of each agent"""
    processes: int = 2
    """number of games' jobs at the same time"""
    output: Path = Path(__file__).parent
    """folder for ladder-GAME.json"""


def ladder(name: str, arguments: Arguments) -> dict[str, Any]:
    """Return times and results in a game."""
    game = make(name)
    times = common.seconds_a_move(game, AGENTS, arguments.moves)
    simulations = max(1, round(100 * times[EQUAL] / times["network-mcts:100"]))
    equal = f"network-mcts:{simulations}"
    keep = arguments.output / f"ladder-{name}.games.jsonl"
    results = [
        round_robin(game, pair, arguments.matches, 0, arguments.processes, keep)[0][0]
        for pair in (*PAIRS, (equal, EQUAL))
    ]
    print(f"{name}\n{table(results)}", flush=True)
    rows = [dataclasses.asdict(result) for result in results]
    return {"game": name, "seconds_a_move": times, "equal": equal, "results": rows}


def main(arguments: Arguments) -> None:
    """Play, print the results and write the result files."""
    for game in arguments.games or list_games():
        measured = ladder(game, arguments)
        common.save(arguments.output, f"ladder-{game}", {"matches": arguments.matches}, [measured])
        (arguments.output / f"ladder-{game}.games.jsonl").unlink()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
