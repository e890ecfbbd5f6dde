"""OpenSpiel's IS-MCTS against ours at equal simulations: `python -m benchmarks.search_peers`, which needs open_spiel.

OpenSpiel's bot (`open_spiel.python.algorithms.ismcts`) plays on this project's rules, with UCT, one random rollout per
simulation, and its default constant √2; the leaderboard has it, too. OpenSpiel's MCTS for games without hidden information
needs chance nodes that list all outcomes, and the deal of Mars has too many. Until the end finished games are kept in
`search-peers-GAME.games.jsonl`, so that an interrupted benchmark does not play them again.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.evaluation.arena import round_robin
from garden_agents.matches.meet import table

from benchmarks import common
from garden_core import Game, make
from garden_core.batch.policies import Policy

SIMULATIONS = 25


@dataclass
class Arguments:
    """Let OpenSpiel's IS-MCTS play against ours."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("cacti", "botanicus")
    """names of games with hidden information"""
    matches: int = 200
    """games"""
    moves: int = 50
    """number of timed moves per agent"""
    processes: int = 2
    """number of processes"""
    output: Path = common.RESULTS
    """folder for search-peers-GAME.json"""


def is_mcts(game: Game, seed: int) -> Policy:
    """Return OpenSpiel's IS-MCTS with SIMULATIONS simulations per move, for games with hidden information.

    It evaluates a position by one random rollout.
    """
    from open_spiel.python.algorithms import ismcts
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

    from garden_core.interfaces.openspiel import BotPolicy

    class Bot(BotPolicy):
        digest = f"open_spiel {version('open_spiel')}"  # the version identifies its code

    random = np.random.RandomState(seed % 2**32)
    evaluator = RandomRolloutEvaluator(1, random)

    def make_bot(spiel: Any) -> Any:
        bot = ismcts.ISMCTSBot(spiel, evaluator, math.sqrt(2), SIMULATIONS, random_state=random)
        # By default its generator for hidden cards is seeded with the time.
        bot.set_resampler(lambda state, seat: state.resample_from_infostate(seat, random.uniform))
        return bot

    return Bot(game, make_bot, seed)


def main(arguments: Arguments) -> None:
    """Play, print the results and write the result files."""
    a = arguments
    ours, theirs = f"mcts:{SIMULATIONS}", "benchmarks.search_peers:is_mcts"
    for name in a.games:
        game = make(name)
        keep = a.output / f"search-peers-{name}.games.jsonl"
        results, _ = round_robin(game, (ours, theirs), a.matches, 0, a.processes, keep)
        print(f"{name}\n{table(results)}", flush=True)
        times = common.seconds_a_move(game, (ours, theirs), a.moves)
        about = {"matches": a.matches, "simulations": SIMULATIONS}
        measurement = {"game": name, "seconds_a_move": times, "results": [*map(dataclasses.asdict, results)]}
        common.save(a.output, f"search-peers-{name}", about, [measurement])
        keep.unlink()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
