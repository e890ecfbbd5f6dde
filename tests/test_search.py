"""Tree search: legal, repeatable, honest about hidden cards, guided by networks, and better with more time."""

from __future__ import annotations

import numpy as np
import pytest

from agents.matches import meet, play
from agents.mcts import MCTSAgent
from garden_core import kernels, make
from garden_core.batch import Batch
from garden_core.policies import GreedyPolicy, RandomPolicy

GAMES = [
    ("mars", {"num_players": 3}),
    ("mars", {"num_players": 1, "cooperative": True}),
    ("cacti", {}),
    ("botanicus", {"num_players": 4}),
]


class Sure:
    """A network that is sure of one action and gives every leaf the same value."""

    def __init__(self, action: int, value: float) -> None:
        self.action, self.value = action, value
        self.asked: list[int] = []

    def judge(self, observation, mask):
        self.asked.append(len(mask))
        probabilities = mask / np.maximum(mask.sum(1, keepdims=True), 1)
        sure = mask[:, self.action] == 1
        probabilities[sure] = np.where(np.arange(mask.shape[1]) == self.action, 1.0, 0.0)
        return probabilities.astype(np.float32), np.full(len(mask), self.value, np.float32)


def started(name, rows=3, decisions=0, seed=1, **options) -> Batch:
    batch = Batch(make(name, **options), rows)
    batch.reset(seed)
    policy = RandomPolicy(seed)
    for _ in range(decisions):
        batch.step(policy(batch, batch.all_rows))
    return batch


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_plays_whole_games_by_the_rules_and_alike_for_a_seed(name, options):
    game = make(name, max_decisions=40, **options)
    lineups = np.zeros((2, game.num_players), int)
    first, again, other = (play(game, [MCTSAgent(20, seed=seed)], lineups, 5) for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes() != other.tobytes()


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_plays_whole_games_with_a_network(name, options):
    game = make(name, max_decisions=40, **options)
    agent = MCTSAgent(10, network=Sure(0, 0.5))
    states = play(game, [agent], np.zeros((3, game.num_players), int), 5)
    assert (states["terminated"] | states["truncated"]).all()


def test_leaves_the_games_alone():
    batch = started("cacti")
    before = batch.states.tobytes(), batch.action_mask.tobytes()
    MCTSAgent(20)(batch, np.array([0, 2]))
    MCTSAgent(20, network=Sure(0, 0.0))(batch, np.array([0, 2]))
    assert (batch.states.tobytes(), batch.action_mask.tobytes()) == before


def redrawn(batch: Batch) -> Batch:
    """Return the games with everything redrawn that is hidden from the players to move."""
    other = batch.clone()
    for row in batch.all_rows:
        player = np.int64(batch.current_player[row])
        kernels.resample(other.states[row], batch.game.params[0], player, np.uint64(99 + row))
    assert other.states.tobytes() != batch.states.tobytes()
    return other


def test_a_networks_search_is_blind_to_what_is_hidden():
    batch = started("cacti", rows=6, decisions=4)
    searches = [MCTSAgent(60, network=Sure(0, 0.0)).search(b, b.all_rows)[0] for b in (batch, redrawn(batch))]
    np.testing.assert_array_equal(*searches)


def test_search_is_blind_to_what_is_hidden():
    """Redraws depend on the order of hidden cards as well as on the seed, so the means over many seeds are compared."""
    batch = started("cacti", rows=1, decisions=4)
    means = [
        np.mean([MCTSAgent(60, seed=seed).search(b, b.all_rows)[0][0] / 60 for seed in range(150)], axis=0)
        for b in (batch, redrawn(batch))
    ]
    np.testing.assert_allclose(*means, atol=0.04)


def test_every_simulation_is_counted_once_at_the_root():
    batch = started("mars", decisions=6)
    for agent, expected in ((MCTSAgent(50), 50), (MCTSAgent(50, network=Sure(0, 0.0)), 50)):
        visits, values = agent.search(batch, batch.all_rows)
        assert visits.sum(1).tolist() == [expected] * 3
        assert not visits[batch.action_mask == 0].any()
        assert (np.abs(values) <= 1).all()


def test_an_only_action_is_not_searched():
    batch = started("cacti", rows=40, decisions=3)
    only = np.flatnonzero(batch.action_mask.sum(1) == 1)
    assert len(only)
    agent = MCTSAgent(10)
    visits, _ = agent.search(batch, only)
    np.testing.assert_array_equal(visits, batch.action_mask[only])
    assert agent.decisions == 0


def test_a_network_steers_and_is_asked_for_all_rows_at_once():
    batch = started("mars", rows=5, decisions=1)  # still placing: many hexes are free
    action = int(np.flatnonzero(batch.action_mask.all(0))[7])
    network = Sure(action, 0.25)
    visits, values = MCTSAgent(30, network=network).search(batch, batch.all_rows)
    assert (visits.argmax(1) == action).all()
    assert network.asked == [5] * 31  # the roots, then a leaf a simulation
    assert (np.abs(values) <= 0.25 + 1e-6).all()


def test_noise_turns_a_networks_priors():
    batch = started("mars", rows=2, decisions=1)
    mask = batch.action_mask
    action = int(np.flatnonzero(mask.all(0))[7])
    noise = np.zeros(mask.shape)
    noise[:, action] = 1.0
    quiet = MCTSAgent(40, network=Sure(96, 0.0)).search(batch, batch.all_rows)[0]
    loud = MCTSAgent(40, network=Sure(96, 0.0)).search(batch, batch.all_rows, noise)[0]
    assert (loud[:, action] > quiet[:, action] + 5).all()


def test_time_limit():
    batch = started("cacti", rows=1)
    for network in (None, Sure(0, 0.0)):
        agent = MCTSAgent(1, seconds=0.2, network=network)
        visits, _ = agent.search(batch, batch.all_rows)
        assert (
            visits.sum() > 100
        )  # far more than the 1 simulation, which no longer counts; and the tree has grown


def test_more_simulations_do_not_begin_anew():
    """The tree of 400 simulations is that of 100, grown: a search cut into parts is one search."""
    batch = started("mars", rows=1, decisions=8)
    one = MCTSAgent(64, seed=4)
    whole = one.search(batch, batch.all_rows)[0]
    timed = MCTSAgent(64, seed=4, seconds=1e-9)  # a single part of 16
    part = timed.search(batch, batch.all_rows)[0]
    assert part.sum() == 16
    assert (part <= whole).all()


def test_sees_a_win_at_hand():
    """With one flower left, the colour and hex that win are found; playing on is not needed for that."""
    batch = started("mars", rows=1, decisions=8)
    state = batch.states[0:1]
    player = int(batch.current_player[0])
    state["stocks"][0, player] = [1, 0, 0, 0, 0, 0]
    state["score"][0, :2] = [30, 30]
    state["score"][0, player] = 29
    batch.refresh()
    _, values = MCTSAgent(200, depth=0, prior="equal").search(batch, batch.all_rows)
    assert values[0] > 0.5


def test_beats_random_play_at_tables_of_three():
    game = make("mars", num_players=3)
    results = meet(game, ("mcts", "random"), (MCTSAgent(10, seed=1), RandomPolicy(2)), 30, 3)
    assert results.interval[0] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bar"), [("mars", 0.9), ("cacti", 0.62), ("botanicus", 0.8)])
def test_beats_greedy(name, bar):
    game = make(name)
    results = meet(game, ("mcts", "greedy"), (MCTSAgent(400, seed=1), GreedyPolicy(2)), 400, 3)
    assert results.interval[0] > bar


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"simulations": 0}, "simulations must be at least 1"),
        ({"depth": -1}, "depth and exploration at least 0"),
        ({"seconds": 0}, "seconds must be more than 0, not 0"),
        ({"rollout": "clever"}, "rollout must be 'random' or 'greedy', not 'clever'"),
        ({"prior": "clever"}, "prior must be 'equal' or 'greedy', not 'clever'"),
    ],
)
def test_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        MCTSAgent(**arguments)


def test_estimate_tells_the_last_search():
    batch = started("cacti", rows=2)
    agent = MCTSAgent(50)
    actions = agent(batch, batch.all_rows)
    before = agent.decisions
    label = batch.game.labels[actions[1]]
    text = agent.estimate(batch, 1)
    assert agent.decisions == before
    assert text.startswith("value ")
    assert text.split("; ")[1].startswith(label)
    assert MCTSAgent(50).estimate(batch, 1).startswith("value ")
