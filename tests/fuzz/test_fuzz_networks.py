"""Network files that strangers made or that were damaged: an agent that plays, or a ValueError that names the file."""

import json
from functools import partial

import fuzzing
import numpy as np
import pytest
import torch
from garden_agents import NetworkAgent
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.network_agent import save_network
from playing import dealt
from safetensors import safe_open
from safetensors.numpy import save
from sealed import joined, parts

from garden_core import list_games, make

SMALL = Architecture("auto", channels=4, hidden=16)


@pytest.fixture(scope="module", params=list_games())
def kept(request, tmp_path_factory):
    """A game, and the file of a small network for it."""
    game = make(request.param)
    path = tmp_path_factory.mktemp("network") / "network.safetensors"
    save_network(path, game, new_network(game, SMALL, "outcome"), SMALL, "outcome", {"seed": 5})
    loaded(path, game, seconds=120)  # compile all that the tests give a short time
    return game, path.read_bytes()


def loaded(path, game, seconds=5.0, **options):
    """Load a file; an agent that comes out answers with legal actions, by finite numbers."""
    agent, _ = fuzzing.outcome(
        lambda: NetworkAgent.load(path, game, **options), ValueError, names=path.name, seconds=seconds
    )
    if agent is not None:
        batch = dealt(game, 2)

        def answer(call, *arguments):  # finite weights may still be too large
            return fuzzing.outcome(lambda: call(*arguments), ValueError, "not finite", seconds)[0]

        for agent.sampled in (False, True):
            actions = answer(agent, batch, batch.all_rows)
            assert actions is None or batch.action_mask[batch.all_rows, actions].all()
        evaluated = answer(agent.evaluate, batch.observation, batch.action_mask)
        if evaluated is not None:
            assert all(np.isfinite(part).all() for part in evaluated)
            assert agent.estimate(batch, 0).isprintable()
    return agent


def description(content):
    """Return the description in a network's file."""
    return json.loads(parts(content)[0]["__metadata__"]["config"])


def described(content, config, weights=None):
    """Return a network's file with another description, and with other weights if there are any."""
    (header, tensors), metadata = parts(content), {"config": json.dumps(config)}
    if weights is None:
        return joined(header | {"__metadata__": metadata}, tensors)
    return save(weights, metadata)


@fuzzing.each_block
def test_damaged_bytes(kept, numbers, tmp_path):
    game, content = kept
    head = len(content) - len(parts(content)[1])
    path = tmp_path / "network.safetensors"
    fuzzing.load_damaged(partial(loaded, game=game), path, content, numbers, head)


@pytest.mark.parametrize("other_options", [False, True])
@fuzzing.each_block
def test_changed_headers_and_descriptions(kept, numbers, other_options, tmp_path):
    game, content = kept
    path, (header, tensors) = tmp_path / "network.safetensors", parts(content)

    load = partial(loaded, game=game, allow_other_options=other_options)
    fuzzing.load_changed(load, path, header, lambda changed: joined(changed, tensors), numbers)
    fuzzing.load_changed(load, path, description(content), partial(described, content), numbers)


TYPES = "F64 F16 BF16 I8 U8 I64 U16 BOOL F8_E4M3 F4 C64 E8M0 X"


def test_other_types_of_weights(kept, tmp_path):
    game, content = kept
    path, (header, tensors) = tmp_path / "network.safetensors", parts(content)
    name = next(name for name in header if name != "__metadata__")
    for dtype in TYPES.split():
        for shape in ({}, {"shape": [header[name]["data_offsets"][1], 1]}):
            path.write_bytes(joined(header | {name: header[name] | {"dtype": dtype} | shape}, tensors))
            assert loaded(path, game) is None


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 3.4e38])
def test_weights_that_are_not_finite_and_huge_ones(kept, number, tmp_path):
    game, _ = kept
    network = new_network(game, SMALL, "outcome")
    path = tmp_path / "network.safetensors"
    save_network(path, game, network, SMALL, "outcome", {})
    with safe_open(path, "np") as file:
        metadata = file.metadata()
    for name, weights in network.weights.items():
        changed = network.weights | {name: np.full_like(weights, number)}
        path.write_bytes(save(changed, metadata))
        assert (loaded(path, game) is None) == (not np.isfinite(number))


@pytest.mark.parametrize("width", [16_384, 10_000, 2**31, 2**63, -1, 0])
@pytest.mark.parametrize("name", ["hidden", "channels"])
def test_claims_of_widths_cost_nothing(kept, name, width, tmp_path):
    """Neither where the weights tell otherwise, nor where empty or thin ones seem to bear them out."""
    game, content = kept
    path, rows = tmp_path / "network.safetensors", max(0, min(width, 16_384))
    own = {"x": np.zeros((rows, 0), np.float32), "y": np.zeros(rows, np.float32)}
    for weights in (None, own):
        for kind in ("auto", "flat", "board"):
            config = description(content)
            config["network"] |= {name: width, "kind": kind}
            path.write_bytes(described(content, config, weights))
            agent = loaded(path, game, seconds=2.0)
            assert agent is None or (name == "channels" and weights is None)  # which a flat network has not


def test_terabytes_are_not_read(kept, tmp_path):
    game, content = kept
    header, _ = parts(content)
    name = next(name for name in header if name != "__metadata__")
    load = partial(loaded, game=game, seconds=2.0)
    fuzzing.load_huge(load, tmp_path / "network.safetensors", header, name, "F32", 4)


ODD = "\x1b[2J\n" * 1000
CLAIMS = fuzzing.CLAIMS | {
    "a shape": {"observation": [10**18] * 9000},
    "tables": {"tables": ODD},
    "a target": {"value_target": ODD},
    "a kind": {"network": {"kind": ODD}},
    "an architecture": {"network": {ODD: 1}},
    "actions": {"actions": 10**400},
}
PASSED_OVER = ("a path", "a long path", "a long key", "a huge cap", "a cap beyond")
"""Claims that say nothing about a network: they change neither what it sees nor what it may do."""


def test_false_claims(kept, tmp_path):
    (game, content), path = kept, tmp_path / "network.safetensors"
    config = description(content)
    for name, claim in CLAIMS.items():
        path.write_bytes(described(content, config | claim))
        assert loaded(path, game) is None or name in PASSED_OVER, name
    weights = {f"{number}\x1b[2J\n" * 50: np.zeros(1, np.float32) for number in range(50)}
    config["network"] |= {"hidden": 1, "channels": 1}
    path.write_bytes(described(content, config, weights))
    assert loaded(path, game) is None


def test_no_file_and_pickles(kept, tmp_path):
    game, _ = kept
    path = tmp_path / "network.safetensors"
    fuzzing.load_no_files(partial(loaded, game=game), path)
    torch.save({"weights": torch.zeros(2)}, path)
    assert loaded(path, game) is None
