"""Random variants of the toy game, as text of a module, and all that compiled code does in one of them.

`python pig_variants.py PARTS MODULE...` prints, as JSON, the digests of each module's game, in the order given; PARTS are names of
`PARTS`, with commas.
"""

import hashlib
import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np

PIG = Path(__file__).parents[2] / "examples" / "pig.py"
HELPERS = '''
@compiled
def {draw}(rng, most):
    """Return a sum of draws."""
    total = 0
    for _ in range({draws}):
        total += bounded(rng, {sides})
{loops}
    return total % most


@compiled
def {worth}(x):
    """Return what a score is worth."""
    total = np.int64(x)
{loops}
    return (total + {bonus}) % 100


@compiled
def fill_features(observations, params, features):
    """Fill the inputs of a network."""
    for row in range(observations.shape[0]):
        for i in range({size}):
            features[row, i] = np.float32({worth}(observations[row, i] + {bonus})) / np.float32(100)


'''
HINTS = """

from garden_agents.games import Features, Hints, register

register({kind}, Hints(features=lambda game: Features({size}, fill_features, game.params)))
"""
EDITS = [
    ("    state.score[:] = 0\n", "    state.score[:] = {draw}(state.rng, 30)\n"),
    ("die = 1 + bounded(state.rng, 6)", "die = 1 + {draw}(state.rng, 6)"),
    ("out[p] = state.score[p]", "out[p] = {worth}(state.score[p])"),
    ("+ 1] = params.goal", "+ 1] = {worth}(params.goal)"),
    ("class Pig(Game)", "class {kind}(Game)"),
    ('name = "pig"', 'name = "{name}"'),
    ("# --- rules", HELPERS + "# --- rules"),
]


def source(rng, name, alike):
    """The text of a variant: other helpers, and other names too unless `alike`."""
    loops = "".join(
        f"    for i in range({rng.integers(3, 40)}):\n        total += (total * {rng.integers(3, 99)} + i) % "
        f"{rng.integers(5, 97)}\n        if total > {rng.integers(50, 900)}:\n            continue\n"
        for _ in range(rng.integers(1, 5))
    )
    end = "" if alike else f"_{name}"
    names = {
        "draw": f"drawn{end}",
        "worth": f"worth{end}",
        "kind": f"Pig{end}",
        "name": "pig" if alike else name,
    }
    numbers = {"draws": rng.integers(2, 40), "sides": rng.integers(2, 9), "bonus": rng.integers(1, 90)}
    text = PIG.read_text("utf-8").partition("\ndef main()")[0] + HINTS
    for old, new in EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    for word, value in (names | numbers | {"loops": loops, "size": "OBSERVATION_SIZE"}).items():
        text = text.replace(f"{{{word}}}", str(value))
    return text


def house_rules(rng, name, base):
    """The text of a module with a variant of a packaged game, whose deals are those of other seeds."""
    package, _, kind = base.partition(":")
    start = source(rng, name, alike=False)
    helper = start[start.index("@compiled\ndef drawn") : start.index("@compiled\ndef worth")]
    return f"""
import numpy as np
from {package} import {kind}
from garden_core import compiled
from garden_core.jit import bounded, seed_rng

plain_deal = {kind}.rules.deal


{helper}
@compiled
def deal(state, params, seed):
    seed_rng(state.rng, seed)
    plain_deal(state, params, np.uint64(drawn_{name}(state.rng, 1000)))


class House({kind}):
    name = "{name}"
    rules = {kind}.rules._replace(deal=deal)
"""


def digest(*arrays):
    """A short digest of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:8]


def played(game, choose, steps):
    """All that a batch of a game shows in some steps."""
    from garden_core import Batch

    batch, shown = Batch(game, 5), []
    batch.reset(seed=1)
    for _ in range(steps):
        batch.step(choose(batch, batch.all_rows))
        shown += [array.copy() for array in (*batch.arrays[1:], batch.states.view(np.uint8))]
    return digest(*shown)


def rules_alone(game):
    """What each generic function does, called from Python and in a loop."""
    from garden_core import kernels
    from garden_core.jit import loops

    states, params, mask = game.new_states(4), game.params, np.zeros(game.num_actions, np.int8)
    for row in range(4):
        kernels.deal(states[row], params[0], np.uint64(row))
        kernels.legal_actions(states[row], params[0], mask)
        kernels.apply_action(states[row], params[0], int(mask.argmax()))
    kernels.resample(states[1], params[0], 1, np.uint64(5))
    found = [states.view(np.uint8)]
    for name, width, kind in [
        ("legal_actions", game.num_actions, np.int8),
        *((name, game.max_players, np.int32) for name in ("points", "public_points", "standings")),
    ]:
        out = np.zeros((4, width), kind)
        for row in range(4):
            getattr(kernels, name)(states[row], params[0], out[row])
        found.append(out)
    views, hidden = np.zeros((8, game.observation_size), np.int8), np.zeros(game.hidden_size, np.int8)
    for row in range(4):
        kernels.observe(states[row], params[0], 1, views[row])
        kernels.observe_hidden(states[row], params[0], 1, hidden)
    loops.observe_rows(states, params, np.ones(4, np.int64), views[4:])
    looped = [loops.by_seat(loop, game, states) for loop in (loops.points_rows, loops.standings_rows)]
    redraws = game.new_states(8).reshape(4, 2)
    loops.redraw_rows(states, params, np.zeros(4, np.int64), np.uint64(3), redraws)
    return digest(*found, views, *looped, redraws.view(np.uint8))


def random_play(game):
    """What the benchmarks' loop of random play leaves."""
    from garden_core import Batch
    from garden_core.jit import loops

    batch = Batch(game, 3)
    batch.reset(seed=2)
    generators = np.arange(1, 13, dtype=np.uint64).reshape(3, 4)
    ended = loops.random_play(*batch.rows, game.params, 400, True, generators)
    return [int(ended), digest(*batch.rows)]


def learned(game):
    """What a learner sees and receives against greedy."""
    from garden_core import Learner

    learner, shown = Learner(game, 4, opponents=["greedy", "random"]), []
    learner.reset(seed=3)
    for _ in range(40):
        learner.step(learner.action_mask.argmax(1))
        shown += [learner.observation.copy(), learner.rewards.copy(), learner.final_observation.copy()]
    return digest(*shown)


def agent_of(game):
    """A network with random weights that reads the variant's features."""
    from garden_agents.networks.architecture import Architecture, new_network
    from garden_agents.networks.network_agent import NetworkAgent

    return NetworkAgent(new_network(game, Architecture(hidden=16), "seats"), "seats", sampled=True, seed=1)


def searched(game, network=None):
    """How search plays."""
    from garden_agents.search.agent import MCTSAgent

    return played(game, MCTSAgent(12, network=network, seed=1), 6)


def greedily(game):
    """How greedy play goes on."""
    from garden_core import GreedyPolicy

    return played(game, GreedyPolicy(1), 20)


def module_of(game):
    """The WebAssembly module; code from a cache makes other ones, so it needs an empty one."""
    from garden_agents.wasm.export import Exported, exported

    return hashlib.sha256(exported(Exported(type(game), {}))[0]).hexdigest()[:8]


PARTS = {
    "rules": rules_alone,
    "batch": lambda game: played(game, lambda batch, rows: batch.action_mask.argmax(1), 40),
    "random": random_play,
    "greedy": greedily,
    "learner": learned,
    "search": searched,
    "network": lambda game: played(game, agent_of(game), 20),
    "guided": lambda game: searched(game, agent_of(game)),
    "export": module_of,
}


def game_of(module):
    """The only game of a module."""
    from garden_core import Game

    values = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    (kind,) = [value for value in values if isinstance(value, type) and issubclass(value, Game)]
    return kind()


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    modules = [importlib.import_module(name) for name in sys.argv[2:]]
    games = {module.__name__: game_of(module) for module in modules}
    print(json.dumps({n: {p: PARTS[p](game) for p in sys.argv[1].split(",")} for n, game in games.items()}))
