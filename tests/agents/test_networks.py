"""Networks: their inputs, how they are built, and how trained ones are kept."""

from dataclasses import replace
from pathlib import Path

import garden_agents
import numpy as np
import pytest
import torch
from garden_agents import NetworkAgent, load_agent, registry
from garden_agents.games import hints_of
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.board_features import cell_features
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.heads import expected_values, sample
from garden_agents.networks.network_agent import save_network, shipped
from garden_agents.networks.tensors import forward
from garden_agents.training.sb3 import Arguments, new_model
from garden_agents.training.torch_network import TorchNetwork
from playing import in_play
from processes import full_disk, python
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from small_runs import SMALL

import cacti_env
from garden_core import Batch, list_games, make
from garden_core.interfaces import GardenVecEnv
from mars_env import Mars

SORTS = [
    Architecture("board", channels=8, hidden=16),
    Architecture("flat", hidden=16),
    Architecture("flat", hidden=16, separate_values=True),
]
EACH_SORT = pytest.mark.parametrize("architecture", SORTS, ids=["board", "flat", "flat, separate values"])


# --- features of cells ---


def groups_by_hand(board, plane):
    """By cell of a plane's pieces, the group that it belongs to."""
    groups = {}
    for start in np.flatnonzero(plane).tolist():
        if start not in groups:
            group, pending = {start}, [start]
            while pending:
                for neighbour in board.neighbours[pending.pop()].tolist():
                    if neighbour >= 0 and plane[neighbour] and neighbour not in group:
                        group.add(neighbour)
                        pending.append(neighbour)
            groups |= dict.fromkeys(group, group)
    return groups


@pytest.mark.parametrize("options", [{}, {"gardeners": 2}, {"num_players": 5}])
def test_features_of_cells_are_planes_groups_and_empty_neighbours(options):
    game = Mars(**options)
    board = hints_of(game).board(game)
    batch = in_play(game, rows=12, decisions=60)
    features = cell_features(board, batch.observation)
    cells = len(board.neighbours)
    planes = batch.observation[:, : board.planes * cells].reshape(-1, board.planes, cells)
    np.testing.assert_array_equal(features[:, :, : board.planes], planes.transpose(0, 2, 1))
    sizes = set()
    for row in range(12):
        held = planes[row, : board.colours].any(0)
        for cell in range(cells):
            around = [n for n in board.neighbours[cell].tolist() if n >= 0]
            empty = features[row, cell, board.planes + board.colours]
            assert empty == pytest.approx(0.1 * sum(not held[n] for n in around))
        for colour in range(board.colours):
            groups = groups_by_hand(board, planes[row, colour])
            for cell in range(cells):
                joined = {cell}.union(*(groups[n] for n in board.neighbours[cell].tolist() if n in groups))
                size = len(groups.get(cell, joined))
                sizes.add(size)
                assert features[row, cell, board.planes + colour] == pytest.approx(0.1 * size)
    assert max(sizes) > 3


# --- the networks ---


@pytest.mark.parametrize(
    ("name", "architecture", "options"),
    [
        *((name, SMALL, {}) for name in list_games()),
        ("mars", SORTS[0], {"gardeners": 2}),
        ("mars", SORTS[1], {"view": "planes"}),
        ("botanicus", SORTS[2], {}),
    ],
    ids=str,
)
def test_policies_agree_with_sb3_contrib(name, architecture, options):
    """Evaluation by NumPy, training by torch and the masked distribution of sb3-contrib agree."""
    batch = in_play(make(name, **options), rows=32, decisions=10)
    game, masks, every = batch.game, batch.action_mask.astype(bool), np.arange(32)
    network = strong(new_network(game, architecture, "outcome"))
    sizes = {"network": architecture.kind, "channels": architecture.channels, "hidden": architecture.hidden}
    arguments = Arguments(separate_values=architecture.separate_values, envs=4, rollout=8, **sizes)
    model = new_model(GardenVecEnv(game, 4, seed=0), arguments, network.copy())
    policy, observation = model.policy, torch.as_tensor(batch.observation)
    logits, raw = network.evaluate(batch.observation)
    assert logits.shape == (32, game.num_actions)
    with torch.no_grad():
        actions, values, log_probabilities = policy(observation, action_masks=masks)
        again = policy.evaluate_actions(observation, actions, torch.as_tensor(masks))
    assert masks[every, actions.numpy()].all()
    distribution = MaskableCategorical(logits=torch.from_numpy(logits), masks=masks)
    likely = torch.from_numpy(logits).masked_fill(torch.as_tensor(~masks), -1e8).log_softmax(1)
    expected = torch.as_tensor(raw).reshape(values.shape), likely[every, actions], distribution.entropy()
    for got, should in zip((*again, values, log_probabilities), (*expected, *expected[:2]), strict=True):
        torch.testing.assert_close(got, should, atol=1e-4, rtol=1e-3)
    model.learn(64)
    assert (policy.network.parameters != network.parameters).any()
    np.testing.assert_array_equal(policy.network.parameters, policy.weights.detach())


def test_actions_are_sampled_by_their_probabilities():
    logits = np.tile(np.float32([0, 9, 1, 2, -50]), (20_000, 1))
    masks = np.tile(np.int8([1, 0, 1, 1, 1]), (20_000, 1))
    states = np.random.default_rng(0).integers(2**63, size=(20_000, 4), dtype=np.uint64)
    actions, logs = sample(logits, masks, states, np.arange(20_000))
    expected = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    for action, share in zip((0, 2, 3), expected, strict=True):
        assert (actions == action).mean() == pytest.approx(share, abs=0.02)
        np.testing.assert_allclose(logs[actions == action], np.log(share), rtol=1e-5)
    assert set(actions) == {0, 2, 3}


def strong(network):
    """The network with large weights, so that its policy is far from uniform."""
    network.parameters[:] = np.random.default_rng(0).normal(scale=0.3, size=network.parameters.size)
    return network


@pytest.mark.parametrize("threads", [1, 3])
@EACH_SORT
def test_the_gradient_agrees_with_torchs(architecture, threads):
    batch = in_play(Mars(num_players=3), rows=150, decisions=30)
    check_gradient(batch, strong(new_network(batch.game, architecture, "seats")), threads)


@pytest.mark.parametrize("colours", [0, 6])
def test_the_gradient_of_a_board_without_hints_about_colours_and_actions_agrees_with_torchs(colours):
    batch = in_play(Mars(), rows=40, decisions=30)
    board = hints_of(Mars).board(batch.game)
    plain = replace(board, colours=colours, num_features=0, fill_features=None, colour_features=0)
    plain = replace(plain, colour_scalars=(), colour_actions=False, targets=None)
    sizes = batch.game.observation_size, batch.game.num_actions, 4
    check_gradient(batch, strong(BoardNetwork(plain, *sizes, channels=8, hidden=16)), threads=1)


def check_gradient(batch, network, threads):
    """Compare the network's own passes on rows of a batch with torch's."""
    inputs = network.inputs(batch.observation)
    exact = torch.from_numpy(network.parameters.astype(np.float64)).requires_grad_()
    outputs = forward(network, exact, tuple(torch.from_numpy(x).double() for x in inputs))
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=part.shape).astype(np.float32) for part in outputs]
    rows = rng.permutation(len(batch.flat) - 10)
    products = [(part * torch.from_numpy(w))[rows].sum() for part, w in zip(outputs, weights, strict=True)]
    sum(products).backward()

    def loss(rows, logits, raw, d_logits, d_raw, sums):
        d_logits[:], d_raw[:] = weights[0][rows], weights[1][rows]
        sums += (logits * d_logits).sum(), (raw * d_raw).sum(), *np.zeros(6)

    own, sums = TorchNetwork(network, threads=threads), np.zeros(2)
    filled = tuple(map(np.zeros_like, inputs))
    for got, expected in zip(own.evaluate(batch.observation, filled), outputs, strict=True):
        np.testing.assert_allclose(got, expected.detach(), atol=1e-4, rtol=1e-4)
    for got, expected in zip(filled, inputs, strict=True):
        np.testing.assert_array_equal(got, expected)
    for _ in range(2):  # a second pass starts from zero
        gradient = own.gradient(inputs, rows, loss, sums)
        for name, got in network.views(gradient).items():
            expected = network.views(exact.grad.numpy())[name]
            np.testing.assert_allclose(got, expected, atol=1e-4 * np.abs(expected).max(), err_msg=name)
    np.testing.assert_allclose(sums / 2, [part.item() for part in products], rtol=1e-3, atol=1e-3)


def test_outputs_do_not_depend_on_the_size_of_the_batch():
    batch = in_play(Mars(), rows=130)
    network = strong(new_network(batch.game, SMALL, "outcome"))
    logits, values = network.evaluate(batch.observation)
    for rows in ([0], [129], range(60, 70)):
        for part, whole in zip(network.evaluate(batch.observation[rows]), (logits, values), strict=True):
            np.testing.assert_allclose(part, whole[rows], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [2, 4])
def test_expected_values_of_all_seats(n):
    raw = np.random.default_rng(0).normal(size=(50, 2 * n)).astype(np.float32)
    np.testing.assert_allclose(expected_values(raw, "seats").sum(1), 0, atol=1e-5)
    raw[:, 1] = 50  # that seat surely wins
    expected = [1 if seat == 1 else -1 / (n - 1) for seat in range(n)]
    np.testing.assert_allclose(expected_values(raw, "seats"), [expected] * 50, atol=1e-6)


@pytest.mark.parametrize("architecture", [Architecture("board"), Architecture(separate_values=True)], ids=str)
def test_an_architecture_must_fit_the_game(architecture):
    game = Mars() if architecture.separate_values else Mars(view="planes")  # that view has no board
    with pytest.raises(ValueError, match=r"network must be|separate_values is for the flat network"):
        new_network(game, architecture, "outcome")


# --- files ---


@pytest.fixture
def kept(tmp_path):
    """A small network in a file."""
    game = Mars(num_players=3)
    network = new_network(game, SMALL, "outcome")
    save_network(tmp_path / "network.safetensors", game, network, SMALL, "outcome", {"seed": 5})
    return tmp_path / "network.safetensors", network


@pytest.mark.parametrize(
    ("name", "architecture"),
    [*((name, SMALL) for name in list_games()), *(("mars", architecture) for architecture in SORTS)],
    ids=str,
)
def test_a_network_comes_back_as_it_was(name, architecture, tmp_path):
    batch = in_play(make(name))
    network = new_network(batch.game, architecture, "outcome")
    path = tmp_path / "network.safetensors"
    save_network(path, batch.game, network, architecture, "outcome", {"seed": 5})
    agent = NetworkAgent.load(path, batch.game)
    assert agent.config["origin"] == {"seed": 5}
    probabilities, values = NetworkAgent(network, "outcome").evaluate(batch.observation, batch.action_mask)
    np.testing.assert_equal(agent.evaluate(batch.observation, batch.action_mask), (probabilities, values))
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
    assert not probabilities[batch.action_mask == 0].any()
    np.testing.assert_array_equal(agent(batch, batch.all_rows), probabilities.argmax(1))
    label = batch.game.labels[probabilities[2].argmax()]
    assert agent.estimate(batch, 2).startswith(f"value {values[2]:+.2f}; {label} ")


def test_a_teams_score_is_predicted_on_the_scale_of_search():
    game = Mars(num_players=2, cooperative=True)
    network = new_network(game, SMALL, "outcome")
    network.weights["values.bias"][:] = 3
    batch = in_play(game)
    outcome, score = (
        NetworkAgent(network, target).evaluate(batch.observation, batch.action_mask)[1]
        for target in ("outcome", "score")
    )
    assert (outcome == 1).all()
    assert ((score > 0.6) & (score < 0.9)).all()


def test_sampled_play_draws(kept):
    batch = in_play(Mars(num_players=3), rows=64)
    agent = NetworkAgent.load(kept[0], batch.game, seed=1, sampled=True)
    first = agent(batch, batch.all_rows)
    assert batch.action_mask[batch.all_rows, first].all()
    assert (first != agent(batch, batch.all_rows)).any()


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Mars(gardeners=2), r"'actions': 103\}, but .* needs .*'actions': 194"),
        (make("cacti"), r"'game': 'mars'.*'game': 'cacti'"),
        (Mars(cooperative=True), r"'cooperative': False.*'cooperative': True"),
    ],
    ids=str,
)
def test_a_network_of_another_game_is_refused(kept, game, message):
    with pytest.raises(ValueError, match=message):
        NetworkAgent.load(kept[0], game)


def test_what_cannot_be_saved_leaves_the_old_network_whole(kept, monkeypatch):
    """Files that are wrong are in tests/fuzz/test_fuzz_networks.py."""
    path, network = kept
    kept_as, before = (path, Mars(num_players=3), network, SMALL, "outcome", {}), path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(type(path), "write_bytes", full_disk)
        with pytest.raises(OSError, match="No space left"):
            save_network(*kept_as)
    network.weights["middle.weight"][:] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        save_network(*kept_as)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_players": 4}, "made for num_players=3, not for num_players=4"),
        ({"num_players": 3, "special_actions": True}, "made for special_actions=False"),
    ],
)
def test_a_network_for_other_options_is_refused_unless_allowed(kept, options, words):
    path, game = str(kept[0]), Mars(**options)
    with pytest.raises(ValueError, match=f"{words}.*allow_other_options=True"):
        load_agent(path, game)
    batch = in_play(game, rows=3, decisions=3)
    actions = load_agent(path, game, allow_other_options=True)(batch, batch.all_rows)
    assert batch.action_mask[batch.all_rows, actions].all()
    for harmless in ({"reward": "margin"}, {"max_decisions": 50}):
        load_agent(path, Mars(num_players=3, **harmless))


def test_a_network_for_other_data_is_refused_unless_allowed(tmp_path):
    """Data files are compared by their content, not by their path."""
    own, path = tmp_path / "cards.toml", tmp_path / "own.safetensors"
    packaged = Path(cacti_env.__file__).with_name("cacti.toml").read_text("utf-8")
    own.write_text(packaged.replace("points = 5", "points = 7"), "utf-8")
    game = make("cacti", cards=own)
    with pytest.raises(ValueError, match=r"made for other data \(cards\), not for Cacti\(cards="):
        garden_agents.load(game)
    garden_agents.load(game, allow_other_options=True)
    save_network(path, game, new_network(game, SMALL, "outcome"), SMALL, "outcome", {})
    moved = own.rename(tmp_path / "moved.toml")
    agent = NetworkAgent.load(path, make("cacti", cards=moved))
    assert agent.config["options"]["cards"] == "cards.toml"
    with pytest.raises(ValueError, match="made for other data"):
        NetworkAgent.load(path, make("cacti"))


def test_a_network_for_another_version_of_the_game_is_refused(kept, monkeypatch):
    monkeypatch.setattr(Mars, "version", 1)
    for allow in (False, True):
        with pytest.raises(ValueError, match="made for version 0 of mars, and this is version 1: train a "):
            load_agent(str(kept[0]), Mars(num_players=3), allow_other_options=allow)


def test_networks_play_without_torch():
    code = """
import sys, garden_agents
from garden_core import Batch, list_games
for name in list_games():
    batch = Batch(name, 3)
    batch.reset(0)
    batch.step(garden_agents.load(name)(batch, batch.all_rows))
assert "torch" not in sys.modules
"""
    python("-c", code)


@pytest.mark.parametrize("name", ["mcts:8", "mcts:0.01s", "{.parent}", "{}-mcts:8"])
def test_agents_by_name(name, kept):
    batch = in_play(Mars(num_players=3), rows=5)
    actions = load_agent(name.format(kept[0]), batch.game)(batch, batch.all_rows)
    assert batch.action_mask[batch.all_rows, actions].all()


def test_a_network_that_predicts_margins_does_not_guide_search(tmp_path):
    game = Mars()
    path = tmp_path / "network.safetensors"
    save_network(path, game, new_network(game, SMALL, "margin"), SMALL, "margin", {})
    load_agent(str(path), game)
    with pytest.raises(ValueError, match="its value head predicts margins"):
        load_agent(f"{path}-mcts:8", game)


# --- shipped networks ---


SHIPPED = [(name, players) for name in list_games() for players in shipped(make(name))]


assert {("botanicus", 2), ("botanicus", 4), ("cacti", 2), ("mars", 2), ("mars", 4)} <= {*SHIPPED}


@pytest.mark.parametrize(("name", "players"), SHIPPED)
def test_a_shipped_network_plays(name, players):
    agent = garden_agents.load(name, players)
    assert shipped(make(name))[players].stat().st_size < 3e6
    assert agent.config["options"]["num_players"] == players
    assert agent.config["origin"]["command"].startswith("garden train ")
    batch = in_play(make(name, num_players=players), rows=16, decisions=10)
    for choose in ("network", "ppo-mcts:2"):
        actions = load_agent(choose, batch.game)(batch, batch.all_rows)
        assert batch.action_mask[batch.all_rows, actions].all()


def test_no_network_is_shipped_for_five_players():
    with pytest.raises(ValueError, match="mars has no pretrained network for 5 players; known: 2, 4"):
        garden_agents.load("mars", 5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("strong", "unknown agent 'strong'; known are random, greedy"),
        ("mcts:", "unknown agent 'mcts:'"),
        ("mcts:0", "simulations must be at least 1"),
        ("greedy~2", "unknown agent"),
        ("mars-2:unknown", "no field of the benchmark has such a network"),
        (
            "greedy-mcts:8",
            "only a network, or an agent with the method `evaluate`, can guide search, not 'greedy'",
        ),
        ("nobody.knows:it", "nobody.knows:it cannot be imported: No module named 'nobody'"),
        ("own_agents:missing", "the module has no 'missing'"),
        ("own_agents:guiding?last", r"arguments are \?NAME=VALUE"),
        ("runs/nothere", "'runs/nothere': there is no such file or folder"),
        ("bc.pt", r"'bc\.pt': there is no such file or folder; .* module:attribute"),
        ("there/weights.pt", "that is no run's folder or network; .* module:attribute"),
    ],
)
def test_an_unknown_agent_is_explained(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "weights.pt").touch()
    with pytest.raises(ValueError, match=message):
        load_agent(name, Mars())


@pytest.mark.parametrize("arguments", ["", "?last=true", "?value=0.5&last=true"])
def test_own_agents_take_arguments_and_guide_search(arguments):
    game = make("cacti")
    batch = Batch(game, 8)
    batch.reset(3)
    agent = load_agent(f"own_agents:guiding{arguments}", game)
    mask = batch.action_mask
    expected = mask.shape[1] - 1 - mask[:, ::-1].argmax(1) if "last" in arguments else mask.argmax(1)
    assert (agent(batch, batch.all_rows) == expected).all()
    assert agent.evaluate(batch.observation, mask)[1][0] == (0.5 if "value" in arguments else 0)
    search = load_agent(f"own_agents:guiding{arguments}-mcts:4", game)
    assert (search(batch, batch.all_rows) == expected).mean() > 0.5  # its prior is sure


@pytest.mark.parametrize("text", ["last", "=1", "1=2", "a=1&", "R&D=1", "a=1&a=2"])
def test_arguments_of_own_agents_have_names_and_values_and_are_not_repeated(text):
    message = r"arguments are \?NAME=VALUE, and further ones &NAME=VALUE|an argument is repeated"
    with pytest.raises(ValueError, match=message):
        registry.arguments_of(f"module:make?{text}")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ('a="R&D=1"&b=R', {"a": "R&D=1", "b": "R"}),
        ('a="Not Lower"&b=Not Lower', {"a": "Not Lower", "b": "Not Lower"}),
        ("a=True&b=null&c=None&d=1.5", {"a": True, "b": None, "c": "None", "d": 1.5}),
        ('a="1.10"&b=1.10&c=NaN', {"a": "1.10", "b": 1.1, "c": "NaN"}),
        ("a=x=y", {"a": "x=y"}),
        ('a="x-mcts:3"-mcts:5', {"a": "x-mcts:3"}),
    ],
)
def test_arguments_in_an_agents_name(text, arguments):
    assert registry.arguments_of(f"module:make?{text}") == arguments


def test_an_argument_can_be_passed_as_data():
    agent = load_agent("own_agents:guiding?value=1", make("cacti"), arguments={"value": 0.25})
    assert agent.evaluate(None, np.ones((1, 3), np.int8))[1] == 0.25
    with pytest.raises(
        ValueError, match="only openai:MODEL and module:attribute take arguments, not 'greedy'"
    ):
        load_agent("greedy", make("cacti"), arguments={"value": 1})
