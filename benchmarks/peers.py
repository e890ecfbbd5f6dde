"""Comparison with other libraries: `python -m benchmarks.peers`, which needs `pip install '.[peers]'`; `envpool` is optional.

Decisions per second on one core, in one run, in windows that take turns: Connect Four and tic-tac-toe written on this core
(`examples/`) next to the same games of pgx (on the CPU), EnvPool, OpenSpiel and PettingZoo. The work per decision:

- "compiled": mask, a uniformly random legal action, the transition, a new game after each end, and the observation of the
  player to move, in compiled code (`garden_core.jit.loops.random_play`);
- "Batch.step": the same for given actions, with one call from Python per step of all games;
- "pgx": mask, random legal action, step with automatic reset and observation of N games, jitted as one loop; the
  observations are summed, so that they are not optimised away;
- "EnvPool": for given actions, as "Batch.step", with one thread; both players' observations, which it always makes;
- "OpenSpiel, C++": whole games of its uniformly random bots (`pyspiel.evaluate_bots`): no observation;
- "OpenSpiel, Python": its C++ states stepped from Python, with legal actions and observation tensor;
- "env()" and "PettingZoo": the loop over `agent_iter` in Python, as in `benchmarks.throughput`.

Start-up is the time from the start of a process to its first step, with our compiled code (but not the others') in a cache on
disk; memory is that process's largest resident size (Linux's VmHWM).
"""

from __future__ import annotations

import importlib.metadata
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import pettingzoo
import pgx
import pyspiel
from pgx.experimental.wrappers import auto_reset

try:
    import envpool
except ModuleNotFoundError:  # it brings a gigabyte of other environments
    envpool = None

from benchmarks import common
from benchmarks.throughput import SEED, aec_loop, choose, game_length, play, step
from garden_core import make
from garden_core.interfaces import pettingzoo_env

EXAMPLES = Path(__file__).parents[1] / "examples"
SCAN = 64  # steps of pgx in one call


@dataclass(frozen=True)
class Peers:
    """Names of a game in other libraries."""

    pgx: str
    envpool: str
    open_spiel: str
    pettingzoo: str


PEERS = {
    "connect_four:ConnectFour": Peers(
        "connect_four", "ConnectFour-v1", "connect_four", "classic/connect_four_v3"
    ),
    "tic_tac_toe:TicTacToe": Peers("tic_tac_toe", "TicTacToe-v1", "tic_tac_toe", "classic/tictactoe_v3"),
}
"""By name of our game."""


@dataclass
class Arguments:
    """Compare the speed of this project's games with other libraries' on one core."""

    games: tyro.conf.Positional[tuple[str, ...]] = tuple(PEERS)
    """names of games"""
    sizes: tuple[int, ...] = (1, 64, 1024, 8192)
    """numbers of games at once"""
    windows: int = 9
    """number of windows"""
    seconds: float = 0.7
    """length of a window"""
    output: Path = common.RESULTS
    """folder for peers-GAME.json and peers-start-GAME.json"""
    start_up: bool = False
    """measure start-up and memory instead of speed"""


# --- speed ---


def of_pgx(name: str, size: int) -> common.Work:
    """Return the work of a pgx game; its amount is the number of steps of all `size` games."""
    env = pgx.make(name)
    advance = jax.vmap(auto_reset(env.step, env.init))

    def body(_: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        state, key, total = carried
        key, chosen, reset = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        state = advance(state, jax.random.categorical(chosen, logits), jax.random.split(reset, size))
        return state, key, total + state.observation.sum(dtype=jnp.float32)

    run = jax.jit(lambda state, key: jax.lax.fori_loop(0, SCAN, body, (state, key, jnp.float32(0))))
    first = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(SEED), size))
    now = [jax.block_until_ready(run(first, jax.random.PRNGKey(SEED)))]

    def work(steps: int) -> tuple[float, float]:
        calls = -(-steps // SCAN)
        start = time.perf_counter()
        for _ in range(calls):
            now[0] = run(*now[0][:2])
        jax.block_until_ready(now[0])
        return calls * SCAN * size, time.perf_counter() - start

    return work


def of_envpool(name: str, size: int) -> common.Work:
    """Return the work of an EnvPool game; its amount is the number of steps of all `size` games."""
    env = envpool.make(name, env_type="gymnasium", num_envs=size, num_threads=1, seed=SEED)
    _, info = env.reset()
    now, actions, rng_states = (
        [info],
        np.zeros(size, np.int64),
        np.random.default_rng(SEED).integers(2**63, size=(size, 4), dtype=np.uint64),
    )

    def work(steps: int) -> tuple[float, float]:
        spent = 0.0
        for _ in range(steps):
            choose(now[0]["legal_action_mask"], rng_states, actions)
            start = time.perf_counter()
            *_, now[0] = env.step(actions)
            spent += time.perf_counter() - start
        return steps * size, spent

    return work


def of_open_spiel(name: str) -> common.Work:
    """Return the work of OpenSpiel's random bots in C++; its amount is the number of games."""
    game = pyspiel.load_game(name)
    bots = [pyspiel.make_uniform_random_bot(seat, SEED + seat) for seat in range(game.num_players())]

    def work(games: int) -> tuple[float, float]:
        start, states = time.perf_counter(), []
        for number in range(games):
            states.append(game.new_initial_state())
            pyspiel.evaluate_bots(states[-1], bots, number)
        spent = time.perf_counter() - start
        return sum(player >= 0 for state in states for player, _ in _moves(state)), spent

    return work


def _moves(state: Any) -> list[tuple[int, int]]:
    return [(each.player, each.action) for each in state.full_history()]


def of_open_spiel_in_python(name: str) -> common.Work:
    """Return the work of OpenSpiel's states stepped from Python; its amount is the least number of decisions."""
    game = pyspiel.load_game(name)
    choose = np.random.default_rng(SEED)
    has_tensor = game.get_type().provides_observation_tensor

    def work(decisions: int) -> tuple[float, float]:
        done, start = 0, time.perf_counter()
        while done < decisions:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(choose.random() * len(outcomes))][0])
                    continue
                legal = state.legal_actions()
                if has_tensor:
                    state.observation_tensor()
                state.apply_action(legal[int(choose.random() * len(legal))])
                done += 1
        return done, time.perf_counter() - start

    return work


def contenders(name: str, size: int) -> dict[str, Callable[[], common.Work]]:
    """Return the works that are compared with `size` games at once, by name."""
    peers, game = PEERS[name], make(name)
    length = game_length(game)
    works: dict[str, Callable[[], common.Work]] = {
        "compiled": lambda: play(game, size, length, True),
        "Batch.step": lambda: step(game, size, length),
        "pgx": lambda: of_pgx(peers.pgx, size),
    }
    if envpool is not None:
        works["EnvPool"] = lambda: of_envpool(peers.envpool, size)
    works["OpenSpiel, C++"] = lambda: of_open_spiel(peers.open_spiel)  # one game at a time for any size
    if size == 1:
        works["env()"] = lambda: aec_loop(pettingzoo_env.env(game))
        works["OpenSpiel, Python"] = lambda: of_open_spiel_in_python(peers.open_spiel)
        works["PettingZoo"] = lambda: aec_loop(pettingzoo.make("aec", peers.pettingzoo))
    return works


# --- start-up and memory ---

_OURS = """
from garden_core import Batch
batch = Batch({name!r}, 1)
batch.reset(0)
batch.step(batch.action_mask.argmax(1))
"""
_PGX = """
import jax, pgx
env = pgx.make({name!r})
state = jax.jit(env.init)(jax.random.PRNGKey(0))
key = jax.random.PRNGKey(1)
jax.block_until_ready(jax.jit(env.step)(state, state.legal_action_mask.argmax(), key))
"""
_ENVPOOL = """
import envpool
env = envpool.make({name!r}, env_type="gymnasium", num_envs=1, num_threads=1)
_, info = env.reset()
env.step(info["legal_action_mask"].argmax(1))
"""
_OPEN_SPIEL = """
import pyspiel
state = pyspiel.load_game({name!r}).new_initial_state()
state.apply_action(state.legal_actions()[0])
"""
_PETTINGZOO = """
import pettingzoo
env = pettingzoo.make("aec", {name!r})
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].argmax()))
"""
_MEMORY = """
from pathlib import Path
print(Path("/proc/self/status").read_text("utf-8").split("VmHWM:")[1].split()[0])
"""


def start_up(name: str, times: int = 3) -> list[dict[str, Any]]:
    """Return seconds to the first step and the memory of a new process, for our game and its peers."""
    peers = PEERS[name]
    codes = {"ours": _OURS.format(name=name), "pgx": _PGX.format(name=peers.pgx)}
    codes |= {} if envpool is None else {"EnvPool": _ENVPOOL.format(name=peers.envpool)}
    codes |= {"OpenSpiel": _OPEN_SPIEL.format(name=peers.open_spiel)}
    codes |= {"PettingZoo": _PETTINGZOO.format(name=peers.pettingzoo)}
    measurements = []
    for what, code in codes.items():
        seconds, memory = [], 0.0
        for _ in range(times):
            start = time.perf_counter()
            path = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
            out = subprocess.check_output(
                [sys.executable, "-c", code + _MEMORY],
                env=os.environ | {"PYTHONPATH": path},
                encoding="utf-8",
            )
            seconds.append(time.perf_counter() - start)
            memory = int(out.split()[-1]) / 1024
        measurements.append(
            {"game": name, "what": what, "start_up": common.spread(seconds), "memory_mib": round(memory)}
        )
    return measurements


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result file."""
    sys.path.append(str(EXAMPLES))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    about: dict[str, Any] = {
        "windows": arguments.windows,
        "seconds": arguments.seconds,
        "jax": jax.__version__,
    }
    about |= {"pgx": pgx.__version__, "open_spiel": importlib.metadata.version("open_spiel")}
    about |= {} if envpool is None else {"envpool": envpool.__version__}
    for name in arguments.games:
        file = name.partition(":")[0]
        if arguments.start_up:
            common.save(arguments.output, f"peers-start-{file}", about, start_up(name))
            continue
        measurements: list[dict[str, Any]] = []
        for size in arguments.sizes:
            busy, names = common.OtherCores(), contenders(name, size)
            works = [make_work() for make_work in names.values()]
            rates = common.measure(*works, windows=arguments.windows, seconds=arguments.seconds)
            for what, own in zip(names, rates, strict=True):
                row = {"game": name, "what": what, "num_envs": size, "other_cores": busy()}
                row |= {"decisions_per_second": common.spread(own)}
                ratios = [ours / theirs for ours, theirs in zip(rates[0], own, strict=True)]
                measurements.append(row | {"compiled_to_this": common.spread(ratios)})
                print(
                    f"{name:26} N = {size:5} {what:18} {statistics.median(own):>14,.0f}"
                    f"   compiled is {statistics.median(ratios):.3g} times that",
                    flush=True,
                )
        common.save(arguments.output, f"peers-{file}", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
