"""Measure how much of the results' variance is luck that a network explains: `python -m docs.report.luck [GAMES...]`.

Control variates, as in AIVAT (N. Burch et al., "AIVAT: a new variance reduction technique for agent evaluation in imperfect
information games", 2018): at each chance event of a game, the value after it minus the mean value after other outcomes of the
same event is subtracted from the result. The mean of the results stays the same, however bad the values are; their variance
falls by as much as the values explain. The other outcomes are drawn: the action before the event is repeated from the same
position with another state of the generator, and with unseen cards shuffled. A value is the network's at the last
decision before the next chance event, up to which the network plays for all seats.

Pig, solved by iteration for two fixed policies, shows that the corrected mean is the true one.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.matches.meet import alone
from garden_agents.matches.values import first_place_values
from garden_agents.networks.network_agent import NetworkAgent, load
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent

from benchmarks import common
from garden_core import Batch, Game, make
from garden_core.batch.policies import Policy, ask

DECKS = {
    "botanicus": (("pile", "pile_left", 0),),
    "cacti": (("deck", "deck_left", 0), ("arrangement_deck", "arrangements_left", 1)),
}
"""Unseen cards by game: field of the cards, field of their number, and how many on top are open."""
PAIRS = (("network", "network"), ("network-mcts:20", "network"))
GAMES_AT_ONCE = 100
sys.path.append(str(Path(__file__).parents[2] / "examples"))  # where Pig is
HELD = (6, 4)  # sums at which the two policies hold in Pig
GOAL = 20

Values = Callable[[Game, np.ndarray], np.ndarray]
"""Takes states (N,); returns each seat's value, float (N, num_players)."""


@dataclass
class Arguments:
    """Measure how much luck explains."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("botanicus", "cacti", "mars")
    """names of games"""
    matches: int = 1000
    """games of each pair"""
    redraws: int = 16
    """outcomes that are drawn at each chance event"""
    estimates: int = 200
    """estimates of a win rate in Pig, of 50 games each"""
    output: Path = Path(__file__).parent
    """folder for luck.json"""


def chance_happened(game: Game, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return in which rows a step drew random numbers or cards, bool (N,)."""
    happened = (before["rng"] != after["rng"]).any(1)
    for _, left, _ in DECKS.get(game.name, ()):
        happened |= after[left] < before[left]
    return happened


def redrawn(game: Game, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return copies of states with another generator, and with the unseen cards shuffled."""
    states = states.copy()
    states["rng"] = rng.integers(0, 2**64, states["rng"].shape, dtype=np.uint64)
    for deck, left, open_cards in DECKS.get(game.name, ()):
        for i, count in enumerate(states[left].astype(int) - open_cards):
            if count > 1:
                states[deck][i, :count] = rng.permutation(states[deck][i, :count])
    return states


def batch_of(game: Game, states: np.ndarray) -> Batch:
    """Return a batch in these states."""
    batch = Batch(game, len(states), autoreset=False)
    batch.reset(0)
    batch.states[:] = states
    batch.refresh()
    return batch


def network_values(game: Game, states: np.ndarray, network: NetworkAgent) -> np.ndarray:
    """Return the network's values of the positions that follow from `states` before the next chance event."""
    n, batch = game.num_players, batch_of(game, states)
    values = np.zeros((len(states), n))
    over = (states["terminated"] | states["truncated"]) != 0
    for row in np.flatnonzero(over):
        values[row] = first_place_values(game, states[row])[:n]
    rows = np.flatnonzero(~over)
    while len(rows):
        seats = (batch.current_player[rows, None] + np.arange(n)) % n
        actions, found = network.decide(batch, rows)
        values[rows[:, None], seats] = found
        before = batch.states[rows].copy()
        batch.step(actions, rows)
        on = ~chance_happened(game, before, batch.states[rows])
        ended = on & batch.over[rows]
        for row in rows[ended]:
            values[row] = first_place_values(game, batch.states[row])[:n]
        rows = rows[on & ~ended]
    return values


def corrected(
    game: Game,
    agents: Sequence[Policy],
    lineups: np.ndarray,
    seed: int,
    values: Values | None,
    redraws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Play games; return outcomes and corrections of each seat, float (G, num_players), and chance events per game."""
    batch = Batch(game, len(lineups), autoreset=False)
    batch.reset(seed)
    corrections, events, running = np.zeros(lineups.shape), 0, np.arange(len(lineups))
    while len(running):
        asked, actions = lineups[running, batch.current_player[running]], np.zeros(len(running), np.int64)
        for index in np.unique(asked):
            actions[asked == index] = ask(agents[index], batch, running[asked == index])
        before = batch.states[running].copy()
        batch.step(actions, running)
        after = batch.states[running].copy()
        lucky = np.flatnonzero(chance_happened(game, before, after))
        events += len(lucky)
        if values is not None and len(lucky):
            others = batch_of(game, redrawn(game, np.repeat(before[lucky], redraws), rng))
            others.step(np.repeat(actions[lucky], redraws))
            means = values(game, others.states.copy()).reshape(len(lucky), redraws, -1).mean(1)
            corrections[running[lucky]] += values(game, after[lucky]) - means
        running = running[~batch.over[running]]
    outcomes = np.array([first_place_values(game, state)[: game.num_players] for state in batch.states])
    return outcomes, corrections, events / len(lineups)


def measure(name: str, num_players: int, pair: tuple[str, str], matches: int, redraws: int) -> dict[str, Any]:
    """Return the variance that is left of a pair's results, and the processor time with and without corrections."""
    game = make(name, num_players=num_players)
    values = functools.partial(network_values, network=load(game))
    rng, parts, seconds = np.random.default_rng(0), [], {}
    compiling = [load_agent(agent, game) for agent in pair], alone(num_players, num_players)
    corrected(game, *compiling, 0, values, redraws, rng)
    for used in (None, values):
        start = time.process_time()
        for block in progress_bar(iterable=range(-(-matches // GAMES_AT_ONCE)), desc=f"{name}, {pair[0]}"):
            agents = [load_agent(agent, game, 2 * block + k) for k, agent in enumerate(pair)]
            lineups = alone(GAMES_AT_ONCE // num_players * num_players, num_players)
            found = corrected(game, agents, lineups, block, used, redraws, rng)
            if used is not None:
                parts.append((found[0][lineups == 0], found[1][lineups == 0], found[2]))
        seconds["corrected" if used else "plain"] = time.process_time() - start
    outcomes, corrections = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    best = float(np.cov(outcomes, corrections)[0, 1] / corrections.var(ddof=1))
    return {
        "game": name,
        "num_players": num_players,
        "agent": pair[0],
        "opponent": pair[1],
        "matches": len(outcomes),
        "events": float(np.mean([part[2] for part in parts])),
        "mean": float(outcomes.mean()),
        "corrected_mean": float((outcomes - corrections).mean()),
        "variance_left": float((outcomes - corrections).var() / outcomes.var()),
        "best_factor": best,
        "variance_left_at_best": float((outcomes - best * corrections).var() / outcomes.var()),
        "seconds": seconds,
    }


# --- Pig, solved ---


def pig_rate() -> float:
    """Return the exact win rate of holding at HELD[0] against holding at HELD[1], for the player who begins."""
    value = np.full((2, GOAL, GOAL), 0.5)  # first player's chance by player to move, own and other score
    for _ in range(2000):
        before = value.copy()
        for mover, hold in enumerate(HELD):
            for own, other in np.ndindex(GOAL, GOAL):
                turn = np.zeros(GOAL + 7)  # by the turn's sum, from the highest
                for total in range(GOAL + 6, -1, -1):
                    if own + total >= GOAL:
                        turn[total] = 1 - mover
                    elif total >= hold:
                        turn[total] = value[1 - mover, other, own + total]
                    else:
                        rolls = [turn[total + die] for die in range(2, 7)]
                        turn[total] = (value[1 - mover, other, own] + sum(rolls)) / 6
                value[mover, own, other] = turn[0]
        if np.abs(value - before).max() < 1e-13:
            break
    return float(value[0, 0, 0])


def hold_at(game: Game, total: int) -> Policy:
    """Return a policy that rolls until the turn's sum is `total` or wins."""

    def choose(batch: Batch, rows: np.ndarray) -> np.ndarray:
        masks = batch.action_mask[rows]
        roll, hold = game.labels.index("roll"), game.labels.index("hold")
        wanted = batch.states["turn_sum"][rows] >= total
        return np.where(wanted | (masks[:, roll] == 0), hold, roll)

    return choose


def lead(game: Game, states: np.ndarray) -> np.ndarray:
    """Return rough values: the lead in points, the turn's sum included, as a share of the goal; at the end the outcome."""
    scores, rows = states["score"][:, :2].astype(float), np.arange(len(states))
    scores[rows, states["current_player"]] += states["turn_sum"]
    values = (scores - scores[:, ::-1]) / GOAL
    for row in np.flatnonzero(states["terminated"]):
        values[row] = first_place_values(game, states[row])[:2]
    return values


def pig(estimates: int) -> dict[str, Any]:
    """Return the exact win rate in Pig, and the mean of estimates of 50 games with and without corrections."""
    game, rng, found = make("pig:Pig", goal=GOAL), np.random.default_rng(0), []
    agents, lineups = [hold_at(game, total) for total in HELD], np.tile([0, 1], (50, 1))
    for seed in progress_bar(iterable=range(estimates), desc="pig"):
        outcomes, corrections, _ = corrected(game, agents, lineups, seed, lead, 4, rng)
        pair = outcomes[:, 0], outcomes[:, 0] - corrections[:, 0]
        found.append([(each.mean() + 1) / 2 for each in pair])
    plain, better = np.transpose(found)
    return {
        "game": "pig",
        "truth": pig_rate(),
        "plain_mean": float(plain.mean()),
        "mean": float(better.mean()),
        "standard_error": float(better.std(ddof=1) / np.sqrt(len(better))),
        "variance_left": float(better.var() / plain.var()),
    }


def main(arguments: Arguments) -> None:
    """Measure, print the results and write the result file."""
    a, rows = arguments, [pig(arguments.estimates)]
    print(rows[-1], flush=True)
    for name in a.games:
        for num_players in (2, 4) if name == "mars" else (2,):
            for pair in PAIRS[: 2 if num_players == 2 else 1]:
                rows.append(measure(name, num_players, pair, a.matches, a.redraws))
                print(rows[-1], flush=True)
    settings = {key: getattr(a, key) for key in ("matches", "redraws", "estimates")}
    common.save(a.output, "luck", settings, rows)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
