"""Decisions per second on one core: `python -m benchmarks.throughput [GAMES...]`.

Four speeds are measured for each game and number of players, each in windows of about 0.7 s after a warm-up:

- "random play": compiled code only. A decision is the mask, a uniformly random choice of a legal action and the
  transition, with a new deal after each end (`garden_core.jit.loops.random_play`).
- "random play, observed": the same, with the observation of the player to move.
- "Batch.step": steps from Python with given actions, including checks, masks, observations, rewards and autoreset.
  Compiled code chooses the actions at random before each step; only `Batch.step` is timed. Choosing reads all
  masks, as a policy would, and leaves them in the processor's cache.
- "env()": the AEC loop `agent_iter`, `last`, `step` with resets and the steps of agents whose game is over. The
  timed loop chooses a random entry of `mask.nonzero()[0]`.

The N games of a batch are advanced by different numbers of decisions, so that all phases of the game occur at the same time,
as in a training. The windows of two compared programs alternate; their ratio is the median of the ratios of neighbouring
windows. "env()" is compared with PettingZoo's own Connect Four in the same loop.
"""

from __future__ import annotations

import contextlib
import importlib.util
import random
import re
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from garden_agents.plots import COLOURS, plot

from benchmarks.common import RESULTS, OtherCores, Work, measure, save, spread
from garden_core import Batch, Game, list_games, make
from garden_core.interfaces import pettingzoo_env
from garden_core.jit import compiled, loops
from garden_core.jit.rng import bounded, nth_legal

SEED = 20261121
PHASES = 16  # groups of games in a batch, each advanced by a different number of decisions
COMPILED, OBSERVED, STEP, AEC = "random play", "random play, observed", "Batch.step", "env()"
LINES, MARKS = ("-", "--", ":", "-."), ("x", "+", "1", "2")  # by number of players
YARDSTICK, CONNECT_FOUR = "yardstick", "PettingZoo connect_four_v3"


@dataclass(frozen=True)
class Options:
    """Measure decisions per second on one core, from compiled code to the AEC loop."""

    games: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """names of games; all installed ones if none is given"""
    num_players: tuple[int, ...] = ()
    """numbers of players; each game's smallest and largest if none is given"""
    quick: bool = False
    """two short windows with small batches, to test the benchmark; the figures are meaningless"""
    yardstick: tuple[str, ...] = ()
    """programs to compare random play with (see run_yardstick), as GAME=PATH, or PATH for one game; none if not given"""
    output: Path = RESULTS
    """folder for throughput.json and throughput.png"""


def main(options: Options) -> None:
    """Measure, print, and write the results."""
    names = options.games or tuple(list_games())
    yardsticks = _yardsticks(options.yardstick, names)
    games = [game for name in names for game in _variants(name, options.num_players)]
    connect_four = _connect_four()
    sizes, windows, seconds = ((1, 64), 2, 0.02) if options.quick else ((1, 64, 1024, 8192), 5, 0.7)
    measurements: list[dict[str, Any]] = []

    def add(game: Game, what: str, size: int, work: Work, rival: str = "", other: Work | None = None) -> None:
        busy, works = OtherCores(), [work, other] if other else [work]
        rates, *others = measure(*works, windows=windows, seconds=seconds)
        row = {"game": game.name, "num_players": game.num_players, "what": what, "num_envs": size}
        row |= {"decisions_per_second": spread(rates), "other_cores": busy()}
        for theirs in others:
            ratios = spread(a / b for a, b in zip(rates, theirs, strict=True))
            row["beside"] = {"what": rival, "decisions_per_second": spread(theirs), "ratio": ratios}
        measurements.append(row)
        print(_line(row), flush=True)

    print(f"{'game':10} {'players':>7} {'what':22} {'N':>5} {'decisions/s':>12} {'min':>12} {'max':>12}")
    for game in games:
        length = game_length(game)
        path = yardsticks.get(game.name)
        for size in sizes:
            for what in (COMPILED, OBSERVED):
                other = run_yardstick(path, game, size, length, what == OBSERVED) if path else None
                add(game, what, size, play(game, size, length, what == OBSERVED), YARDSTICK, other)
            add(game, STEP, size, step(game, size, length))
        add(
            game,
            AEC,
            1,
            aec_loop(pettingzoo_env.env(game)),
            CONNECT_FOUR,
            connect_four and aec_loop(connect_four),
        )

    save(options.output, "throughput", {"windows": windows, "seconds": seconds}, measurements)
    draw(measurements, options.output / "throughput.png")


# --- works ---


def game_length(game: Game, decisions: int = 50_000) -> int:
    """Return the mean number of decisions in a random game."""
    rows, rng_states = _dealt(game, 1)
    return max(1, decisions // max(1, loops.random_play(*rows, game.params, decisions, False, rng_states)))


def play(game: Game, size: int, length: int, observed: bool) -> Work:
    """Return the work of random play in compiled code; its amount is the number of decisions per game."""
    rows, rng_states = _in_play(game, size, length)

    def work(steps: int) -> tuple[float, float]:
        start = time.perf_counter()
        loops.random_play(*rows, game.params, steps, observed, rng_states)
        return steps * size, time.perf_counter() - start

    return work


def step(game: Game, size: int, length: int, threads: int = 1) -> Work:
    """Return the work of `Batch.step`; its amount is the number of steps of all `size` games."""
    rows, rng_states = _in_play(game, size, length)
    batch, actions = Batch(game, size, threads=threads), np.zeros(size, np.int64)
    batch.reset(SEED)
    batch.states[:] = rows.states
    batch.refresh()

    def work(steps: int) -> tuple[float, float]:
        spent = 0.0
        for _ in range(steps):
            choose(batch.action_mask, rng_states, actions)
            start = time.perf_counter()
            batch.step(actions)
            spent += time.perf_counter() - start
        return steps * size, spent

    return work


@compiled
def choose(masks, rng_states, actions):
    """Fill `actions` with a uniformly random legal action for every row."""
    for row in range(masks.shape[0]):
        n = 0
        for action in range(masks.shape[1]):
            n += masks[row, action]
        actions[row] = nth_legal(masks[row], bounded(rng_states[row], n))


def aec_loop(env: Any) -> Work:
    """Return the work of PettingZoo's usual loop with random actions; it plays whole games, at least the amount."""
    uniform = random.Random(SEED).random
    env.reset(seed=SEED)

    def work(decisions: int) -> tuple[float, float]:
        done, start = 0, time.perf_counter()
        while done < decisions:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(uniform() * len(legal))]))
                done += 1
        return done, time.perf_counter() - start

    return work


def run_yardstick(path: Path, game: Game, size: int, length: int, observed: bool) -> Work:
    """Return the work of another program's random play, timed by that program.

    The program is called with PLAYERS GAMES STEPS OBSERVED (0 or 1), and prints a line with "X M decisions/s". The amount is
    rounded to whole games, as the program deals all its games at once.
    """

    def work(steps: int) -> tuple[float, float]:
        steps = length * max(1, round(steps / length))
        command = map(str, (path, game.num_players, size, steps, int(observed)))
        printed = subprocess.run(list(command), check=True, capture_output=True, encoding="utf-8").stdout
        match = re.search(r"([\d.]+) M decisions/s", printed)
        if not match or not float(match[1]):
            raise ValueError(f"{path} printed no 'X M decisions/s': {printed!r}")
        return steps * size, steps * size / (float(match[1]) * 1e6)

    return work


def _dealt(game: Game, size: int) -> tuple[loops.Rows, np.ndarray]:
    """Return newly dealt games, and random generators for the choices."""
    batch = Batch(game, size)
    batch.reset(SEED)
    return batch.rows, np.random.default_rng(SEED).integers(2**64, size=(size, 4), dtype=np.uint64)


def _in_play(game: Game, size: int, length: int) -> tuple[loops.Rows, np.ndarray]:
    """Return games spread over all phases, and random generators for the choices."""
    rows, rng_states = _dealt(game, size)
    for phase in range(PHASES):
        part = slice(phase * size // PHASES, (phase + 1) * size // PHASES)
        steps = phase * length // PHASES
        own = loops.Rows(*(array[part] for array in rows))
        loops.random_play(*own, game.params, steps, False, rng_states[part])
    return rows, rng_states


# --- choice of games ---


def _variants(name: str, num_players: tuple[int, ...]) -> list[Game]:
    if num_players:
        return [make(name, num_players=n) for n in num_players]
    option = next(option for option in type(make(name)).options if option.name == "num_players")
    possible = []
    for n in range(option.low or 1, (option.high or 1) + 1):
        with contextlib.suppress(ValueError):  # n players may not be allowed with the other options' defaults
            possible.append(make(name, num_players=n))
    return possible[:1] + possible[1:][-1:]


def _yardsticks(given: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Path]:
    pairs = [item.rpartition("=") for item in given]
    if len(names) > 1 and not all(name for name, _, _ in pairs):
        raise SystemExit("--yardstick must be GAME=PATH if several games are measured")
    return {name or names[0]: Path(path) for name, _, path in pairs}


def _connect_four() -> Any:
    if importlib.util.find_spec("pygame") is None:
        print(f"{CONNECT_FOUR} is not measured; it needs: pip install pygame-ce")
        return None
    import pettingzoo

    if hasattr(pettingzoo, "make"):
        return pettingzoo.make("aec", "classic/connect_four_v3")
    from pettingzoo.classic import connect_four_v3

    return connect_four_v3.env()


# --- output ---


def _line(row: dict[str, Any]) -> str:
    rate = row["decisions_per_second"]
    line = f"{row['game']:10} {row['num_players']:>7} {row['what']:22} {row['num_envs']:>5}"
    line += "".join(f" {rate[key]:>12,.0f}" for key in ("median", "min", "max"))
    if "beside" in row:
        other = row["beside"]
        line += f"   {other['ratio']['median']:.3g} x {other['what']} ({other['decisions_per_second']['median']:,.0f})"
    return line


def draw(measurements: list[dict[str, Any]], path: Path) -> None:
    """Plot decisions per second over batch sizes, one panel for each game, and the AEC loops as bars."""
    names = list(dict.fromkeys(row["game"] for row in measurements))
    with plot(path, len(names) + 1, (4.8 * len(names) + 3.8, 4.6)) as axes:
        for ax, name in zip(axes, names, strict=False):
            _draw_game(ax, name, [row for row in measurements if row["game"] == name])
        _draw_aec(axes[-1], [row for row in measurements if row["what"] == AEC])


def _draw_game(ax: Any, name: str, measurements: list[dict[str, Any]]) -> None:
    """Plot a game: a colour for each measurement, a line style for each number of players, marks for the yardstick."""
    sizes = sorted({row["num_envs"] for row in measurements})
    whats = dict(zip((COMPILED, OBSERVED, STEP), COLOURS, strict=False))
    for what, colour in whats.items():
        ax.plot([], [], color=colour, label=what)
    for n, style, mark in zip(
        sorted({row["num_players"] for row in measurements}), LINES, MARKS, strict=False
    ):
        ax.plot([], [], "o" + style, color="#444444", label=f"{n} players")
        for what, colour in whats.items():
            curve = [row for row in measurements if (row["what"], row["num_players"]) == (what, n)]
            ax.plot(sizes, [_millions(row) for row in curve], "o" + style, color=colour)
            rival = {row["num_envs"]: _millions(row["beside"]) for row in curve if "beside" in row}
            ax.plot(rival.keys(), rival.values(), mark, color=colour, markersize=6)
        if any("beside" in row for row in measurements if row["what"] == COMPILED):
            ax.plot([], [], mark, color="#444444", markersize=6, label=f"{YARDSTICK}, {n} players")
    ax.set(
        title=name, xlabel="games in the batch", ylabel="million decisions/s", xscale="log", ylim=(0, None)
    )
    ax.set_xticks(sizes, map(str, sizes))
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)


def _draw_aec(ax: Any, measurements: list[dict[str, Any]]) -> None:
    bars = {f"{row['game']}, {row['num_players']} players": _millions(row) * 1e3 for row in measurements}
    ax.barh(list(bars), list(bars.values()), color=COLOURS[0], height=0.6)
    rival = [_millions(row["beside"]) * 1e3 for row in measurements if "beside" in row]
    if rival:
        ax.barh(CONNECT_FOUR.replace(" ", "\n"), statistics.median(rival), color=COLOURS[-1], height=0.6)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    ax.set(title="env(), one game, loop in Python", xlabel="thousand decisions/s")


def _millions(row: dict[str, Any]) -> float:
    return row["decisions_per_second"]["median"] / 1e6


if __name__ == "__main__":
    main(tyro.cli(Options))
