"""Networks as ONNX files: exported, played, and read from anyone."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

import torch
from garden_agents import MCTSAgent, NetworkAgent, export_onnx, load, load_agent, meet
from garden_agents.identity import identity_of
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.network_agent import save_network
from garden_agents.networks.onnx_files import KEY
from playing import in_play

from garden_core import list_games, make

pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # of torch's exporter
CACTI = make("cacti")


class Own(torch.nn.Module):
    """Somebody's network: logits and a value from the observation."""

    def __init__(self, game=CACTI, actions=None):
        super().__init__()
        self.size = game.observation_size
        self.layer = torch.nn.Linear(self.size, (actions or game.num_actions) + 1)

    def forward(self, observation):
        out = self.layer(observation.float().flatten(1))
        return out[:, :-1], out[:, -1].tanh()


def exported(
    module, path, shape=(CACTI.observation_size,), kind=torch.float32, rows="n", external_data=False
):
    """Write a module by torch's exporter; `rows` 1 gives a file for single positions."""
    shapes = None if rows == 1 else ({0: rows},)
    example = torch.zeros((1 if rows == 1 else 2, *shape), dtype=kind)
    torch.onnx.export(
        module.eval(), (example,), path, dynamic_shapes=shapes, external_data=external_data, verbose=False
    )
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A module and its file."""
    torch.manual_seed(5)
    module = Own()
    return module, exported(module, tmp_path_factory.mktemp("onnx") / "own.onnx")


@pytest.mark.parametrize("name", list_games())
def test_an_exported_network_plays_like_the_original(name, tmp_path):
    agent = load(name)
    export_onnx(agent, tmp_path / "network.onnx")
    batch = in_play(agent_game := make(name), rows=100, decisions=20)
    other = load_agent(str(tmp_path / "network.onnx"), agent_game)
    assert (other(batch, batch.all_rows) == agent(batch, batch.all_rows)).all()
    expected = agent.evaluate(batch.observation, batch.action_mask)
    for ours, theirs in zip(expected, other.evaluate(batch.observation, batch.action_mask), strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-4)
    both = (each.values(batch, batch.all_rows) for each in (agent, other))
    for ours, theirs in zip(*both, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-2)  # points


@pytest.mark.parametrize("architecture", [Architecture("flat"), Architecture("flat", separate_values=True)])
def test_flat_networks_read_the_observation(architecture, tmp_path):
    game = make("mars")
    path = tmp_path / "network.safetensors"
    save_network(path, game, new_network(game, architecture, "seats"), architecture, "seats", {})
    export_onnx(NetworkAgent.load(path, game), tmp_path / "flat.onnx")
    (wanted,) = onnx.load(tmp_path / "flat.onnx").graph.input
    assert wanted.name == "observation"
    batch = in_play(game, rows=20, decisions=20)
    ours = NetworkAgent.load(path, game).evaluate(batch.observation, batch.action_mask)
    theirs = load_agent(str(tmp_path / "flat.onnx"), game).evaluate(batch.observation, batch.action_mask)
    np.testing.assert_allclose(theirs[0], ours[0], atol=1e-5)


@pytest.mark.parametrize("kind", [torch.float32, torch.int8])
@pytest.mark.parametrize(
    "shape", [(make("mars").observation_size,), make("mars", view="planes").observation_shape]
)
def test_own_networks_play(kind, shape, tmp_path):
    """Of any float32 or int8 input, flat or in planes; as agent, in search, and by their names."""
    game = make("mars") if len(shape) == 1 else make("mars", view="planes")
    module = Own(game)
    path = exported(module, tmp_path / "own.onnx", shape, kind)
    agent, batch = load_agent(str(path), game), in_play(game, rows=30, decisions=30)
    with torch.no_grad():
        logits, values = module(torch.from_numpy(batch.observation))
    chances, estimates = agent.evaluate(batch.observation, batch.action_mask)
    legal = logits.masked_fill(torch.from_numpy(batch.action_mask) == 0, -torch.inf)
    np.testing.assert_allclose(chances, legal.softmax(1), atol=1e-5)
    np.testing.assert_allclose(estimates, values, atol=1e-5)
    outcome = agent.values(batch, batch.all_rows).outcome
    np.testing.assert_allclose(outcome[batch.all_rows, batch.current_player], values, atol=1e-5)
    assert (agent(batch, batch.all_rows) == legal.argmax(1).numpy()).all()


def test_own_networks_in_arena_and_search(own):
    _, path = own
    search = load_agent(f"{path}-mcts:4", CACTI)
    assert isinstance(search, MCTSAgent)
    result = meet(CACTI, ("search", "without"), (search, load_agent(str(path), CACTI)), games=4)
    assert result.games == 4


def test_another_file_is_another_agent(own, tmp_path):
    _, path = own
    other = exported(Own(), tmp_path / "other.onnx")
    digests = {identity_of(str(file), CACTI).digest for file in (path, path, other)}
    assert len(digests) == 2
    assert identity_of(f"{path}-mcts:4", CACTI).digest != identity_of(f"{other}-mcts:4", CACTI).digest


def refused(path, match, game=CACTI, **options):
    with pytest.raises(ValueError, match=match) as info:
        load_agent(str(path), game, **options)
    assert str(path) in str(info.value)
    assert "\n" not in str(info.value)


def test_files_that_do_not_fit_are_refused(own, tmp_path):
    _, path = own
    refused(path, r"cannot evaluate 1 position of botanicus: its input has .*113", make("botanicus"))
    refused(
        exported(Own(actions=7), tmp_path / "a.onnx"), r"logits \(N, 35\) .* but .* \[\(1, 7\), \(1, 1\)\]"
    )
    refused(exported(Own(), tmp_path / "b.onnx", rows=1), "cannot evaluate 3 positions .* any N is needed")
    refused(exported(Own(), tmp_path / "c.onnx", kind=torch.float64), "must be float32 or int8")
    policy_only = torch.nn.Linear(CACTI.observation_size, CACTI.num_actions)
    refused(exported(policy_only, tmp_path / "d.onnx"), "1 inputs and 1 outputs, where 1 and 2 are needed")
    with torch.no_grad():
        (broken := Own()).layer.bias[3] = torch.nan
    refused(exported(broken, tmp_path / "e.onnx"), "not finite")


def test_exported_networks_are_checked_like_their_own_files(tmp_path):
    path = tmp_path / "cacti.onnx"
    export_onnx(load("cacti"), path)
    refused(path, "holds a network for", make("mars"))
    other = make("cacti", memory="history") if "memory" in CACTI.option_values else None
    refused(path, "cacti", other)
    model = onnx.load(path)
    for value in ("", "{}", "[" * 100_000, '{"game": "cacti"}'):
        (entry,) = (entry for entry in model.metadata_props if entry.key == KEY)
        entry.value = value
        path.write_bytes(model.SerializeToString())
        refused(path, "is no ONNX file for an agent")


def test_files_of_strangers(own, tmp_path):
    """No other file is read, and nothing loops."""
    refused(exported(Own(), tmp_path / "external.onnx", external_data=True), "weights are in another file")
    model = onnx.load(own[1])
    body = onnx.helper.make_graph([], "body", [], [])
    model.graph.node.append(onnx.helper.make_node("Loop", ["", ""], [], body=body))
    (tmp_path / "loop.onnx").write_bytes(model.SerializeToString())
    refused(tmp_path / "loop.onnx", "loops or conditions")
    for content in (b"", b"\x00", b"not a model", own[1].read_bytes()[:-100]):
        (tmp_path / "cut.onnx").write_bytes(content)
        refused(tmp_path / "cut.onnx", "no ONNX file")
    refused(tmp_path, "unknown agent")


def test_only_loaded_networks_are_exported(tmp_path):
    agent = load("cacti")
    with pytest.raises(ValueError, match=r"must end in \.onnx"):
        export_onnx(agent, tmp_path / "network.bin")
    with pytest.raises(ValueError, match="loaded from a file"):
        export_onnx(NetworkAgent(agent.network, agent.value_target), tmp_path / "network.onnx")
    assert not list(tmp_path.iterdir())
