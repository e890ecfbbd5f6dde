"""Tree search: legal, repeatable, honest about hidden cards, guided by networks, and better with more time."""

import numpy as np
import pytest
from garden_agents.evaluation.matches import meet, play
from garden_agents.games import hints_of
from garden_agents.search import halving
from garden_agents.search.agent import MCTSAgent, Searched, _Memory
from garden_agents.search.beliefs import weighed_redraws
from garden_agents.search.values import first_places, seat_values
from processes import python
from variants import each_table, shortened

from garden_core import make
from garden_core.batch.batch import Batch
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.jit import kernels


class Sure:
    """A network that is sure of one action and gives every leaf the same value."""

    def __init__(self, action, value):
        self.action, self.value = action, value
        self.asked = []

    def evaluate(self, observation, mask):
        self.asked.append(len(mask))
        probabilities = mask / np.maximum(mask.sum(1, keepdims=True), 1)
        sure = mask[:, self.action] == 1
        probabilities[sure] = np.where(np.arange(mask.shape[1]) == self.action, 1.0, 0.0)
        return probabilities.astype(np.float32), np.full(len(mask), self.value, np.float32)


def started(name, rows=3, decisions=0, seed=1, **options):
    batch = Batch(make(name, **options), rows)
    batch.reset(seed)
    policy = RandomPolicy(seed)
    for _ in range(decisions):
        batch.step(policy(batch, batch.all_rows))
    return batch


def searched(batch, *simulations, noise=None, **settings):
    """What a search finds in all rows."""
    return MCTSAgent(*simulations, **settings).search(batch, batch.all_rows, noise)


@each_table
@pytest.mark.thorough
def test_plays_whole_games_by_the_rules_and_alike_for_a_seed(name, options):
    game = shortened(name, 40, **options)
    lineups = np.zeros((2, game.num_players), int)
    first, again, other = (play(game, [MCTSAgent(20, seed=seed)], lineups, 5).states for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    short = game.max_game_length < 20  # such a game may go alike by chance
    assert short or first.tobytes() != other.tobytes()
    guided = play(game, [MCTSAgent(10, network=Sure(0, 0.5))], lineups, 5).states
    assert (guided["terminated"] | guided["truncated"]).all()


def test_leaves_the_games_alone():
    batch = started("cacti")
    before = batch.states.tobytes(), batch.action_mask.tobytes()
    MCTSAgent(20)(batch, np.array([0, 2]))
    MCTSAgent(20, network=Sure(0, 0.0))(batch, np.array([0, 2]))
    assert (batch.states.tobytes(), batch.action_mask.tobytes()) == before


def redrawn(batch):
    """Return the games with everything redrawn that is hidden from the players to move."""
    other = batch.clone()
    for row in batch.all_rows:
        player = np.int64(batch.current_player[row])
        kernels.resample(other.states[row], batch.game.params[0], player, np.uint64(99 + row))
    assert other.states.tobytes() != batch.states.tobytes()
    return other


class Reading:
    """A network whose values and priors hang on everything that the player to move sees."""

    def evaluate(self, observation, mask):
        weights = np.random.default_rng(0).normal(size=(observation.shape[1], mask.shape[1] + 1))
        values = np.tanh(observation @ weights / 20)
        probabilities = mask * np.exp(values[:, :-1])
        return (
            (probabilities / np.maximum(probabilities.sum(1, keepdims=True), 1e-9)).astype(np.float32),
            values[:, -1].astype(np.float32),
        )


def shares(batch, network):
    """How often each action is taken in row 0, (seeds, actions)."""
    agents = (MCTSAgent(40, network=network, seed=seed) for seed in range(150))
    return np.array([agent.search(batch, batch.all_rows).shares[0] for agent in agents])


@pytest.mark.parametrize("network", [None, Reading()])
def test_search_is_blind_to_what_is_hidden(network):
    """Redraws hang on the order of hidden cards as well as on the seed, so means over many seeds are compared."""
    batch = started("cacti", rows=1, decisions=4)
    one, other = shares(batch, network), shares(redrawn(batch), network)
    error = np.sqrt((one.var(0) + other.var(0)) / len(one))
    assert (abs(one.mean(0) - other.mean(0)) <= 4.5 * error).all()


class Telling:
    """A network that grows what its Bonus Planter is for, if it can, and otherwise does anything."""

    def __init__(self, game):
        self.types = int(game.params["num_types"][0])

    def evaluate(self, observation, mask):
        bonus = observation[:, 5 * self.types + 2 :][:, : self.types].argmax(1)
        chances = mask.astype(np.float32)
        sure = mask[np.arange(len(mask)), bonus] == 1
        chances[sure] = np.arange(mask.shape[1]) == bonus[sure, None]
        return chances / chances.sum(1, keepdims=True), np.zeros(len(mask), np.float32)

    def __call__(self, batch, rows):
        return self.evaluate(batch.observation[rows], batch.action_mask[rows])[0].argmax(1)


def told(rows=20, decisions=5):
    """Games in which both players let their Bonus Planters be seen, with their history."""
    batch = Batch(make("cacti"), rows, history=True)
    batch.reset(3)
    network = Telling(batch.game)
    for _ in range(decisions):
        batch.step(network(batch, batch.all_rows))
    return batch, network


def test_others_moves_tell_what_they_hold():
    batch, network = told()
    rng_states = np.random.default_rng(1).integers(2**63, size=(batch.num_envs, 4), dtype=np.uint64)
    redraws, weights = weighed_redraws(batch, batch.all_rows, network, rng_states)
    np.testing.assert_allclose(weights.sum(1), 1)
    other = 1 - batch.current_player
    true = batch.states["bonus"][batch.all_rows, other]
    right = redraws["bonus"][batch.all_rows, :, other] == true[:, None]
    assert right.mean() < 0.4  # before looking at what was done
    assert (weights * right).sum(1).mean() > 0.8
    own = redraws["bonus"][batch.all_rows, :, batch.current_player]
    assert (own == batch.states["bonus"][batch.all_rows, batch.current_player][:, None]).all()


def test_nothing_is_concluded_without_a_history_or_private_fields():
    rng_states = np.ones((3, 4), np.uint64)
    for batch in (started("cacti"), Batch(make("mars"), 3, history=True)):
        batch.reset(0)
        redraws, weights = weighed_redraws(batch, batch.all_rows, Sure(0, 0.0), rng_states)
        assert redraws.shape == weights.shape == (3, 0)


def test_conclusions_are_blind_to_what_is_hidden():
    """Whatever the others really hold now, and held at each of their decisions."""
    batch, network = told(decisions=6)
    other = 1 - batch.current_player
    found = searched(batch, 30, network=network, seed=2)
    for name in hints_of(batch.game).private_fields:
        for row in batch.all_rows:
            batch.history.states[row][name][:, other[row]] = 0
    for one, again in zip(found, searched(batch, 30, network=network, seed=2), strict=True):
        np.testing.assert_array_equal(one, again)


class Last(Sure):
    """A network that values all seats: whoever moved before is behind."""

    def evaluate(self, observation, mask):
        seats = np.array([[0.5, 0.0, -0.5]] * len(mask), np.float32)
        return super().evaluate(observation, mask)[0], seats


@pytest.mark.parametrize(
    ("options", "network", "value"),
    [
        ({"num_players": 2}, Sure(102, 0.25), (0.25 - 30 * 0.25) / 31),
        ({"num_players": 3}, Sure(102, 0.25), (0.25 - 30 * 0.125) / 31),
        ({"num_players": 3}, Last(102, 0.0), (0.5 - 30 * 0.5) / 31),
        ({"num_players": 3, "cooperative": True}, Sure(102, 0.25), 0.25),
    ],
    ids=["two", "three", "all seats valued", "team"],
)
def test_values_are_those_of_the_seats(options, network, value):
    """While placing, every simulation ends at a new node where the next seat is to move."""
    batch = started("mars", rows=2, **options)
    np.testing.assert_allclose(
        searched(batch, 30, network=network, exploration=5.0, considered=0).values[:, 0], value, rtol=1e-5
    )


def valued(value, scores, over, **options):
    """What a game of Mars with these scores is worth to its seats; the divisor of its rewards."""
    game = make("mars", num_players=len(scores), **options)
    states = game.new_states(1)
    states["score"][0, : len(scores)], states["terminated"] = scores, over
    values = np.zeros(5, np.float32)
    value(states[0], game.params[0], values, np.zeros(5, np.int32))
    return values[: len(scores)], game.reward_divisor


@pytest.mark.parametrize(
    ("value", "scores", "expected"),
    [
        (seat_values, [5, 3], [1, -1]),
        (seat_values, [5, 3, 9], [0, -1, 1]),
        (first_places, [5, 3, 9], [-0.5, -0.5, 1]),
        (first_places, [9, 3, 9], [0.25, -0.5, 0.25]),
        (first_places, [4, 4, 4], [0, 0, 0]),
    ],
)
def test_finished_games_are_worth_their_outcome(value, scores, expected):
    np.testing.assert_allclose(valued(value, scores, over=1)[0], expected, atol=1e-6)


@pytest.mark.parametrize(("scores", "margins"), [([5, 3], [2, -2]), ([5, 3, 9], [-1, -4, 5])])
def test_games_that_go_on_are_worth_the_margin(scores, margins):
    found, divisor = valued(seat_values, scores, over=0)
    x = np.array(margins) / divisor
    np.testing.assert_allclose(found, x / (1 + abs(x)), rtol=1e-6)


@pytest.mark.parametrize("over", [0, 1])
def test_a_teams_score_is_worth_the_same_to_all(over):
    found, divisor = valued(seat_values, [30, 20], over, cooperative=True)
    np.testing.assert_allclose(found, (20 / divisor) / (1 + 20 / divisor), rtol=1e-6)


def test_a_networks_score_to_come_is_added_to_the_teams_score_so_far():
    batch = started("mars", rows=2, num_players=2, cooperative=True)
    batch.states["score"][:, :2] = [30, 20]  # while placing nothing more is scored
    values = searched(batch, 30, network=Sure(102, 0.25)).values
    x = 20 / batch.game.reward_divisor + 0.25 / (1 - 0.25)
    np.testing.assert_allclose(values, x / (1 + x), rtol=1e-5)


def test_more_searches_in_step_than_there_is_room_for():
    batch = started("cacti", rows=150, decisions=2)
    network = Sure(0, 0.0)
    noise = np.zeros(batch.action_mask.shape)
    visits = searched(batch, 5, network=network, noise=noise).visits
    free = batch.action_mask.sum(1) > 1
    assert (visits[free].sum(1) == 5).all()
    assert max(network.asked) == 4 * 64
    assert sum(network.asked) == 6 * free.sum()


@pytest.mark.parametrize("considered", [0, 16])
def test_scores_that_are_no_numbers_choose_something_legal(considered):
    batch = started("cacti", decisions=1)
    found = searched(batch, 20, network=Sure(0, float("nan")), considered=considered)
    assert not found.visits[batch.action_mask == 0].any()
    assert batch.action_mask[batch.all_rows, found.actions].all()


def test_noise_without_halving_and_answers_in_another_shape_are_refused():
    class Odd(Sure):
        def evaluate(self, observation, mask):
            return super().evaluate(observation, mask)[0][:, 1:], np.zeros(len(mask), np.float32)

    batch = started("cacti")
    with pytest.raises(ValueError, match="noise is for sequential halving"):
        MCTSAgent(5).search(batch, batch.all_rows, batch.action_mask / 10)
    with pytest.raises(ValueError, match="evaluate must return shapes"):
        searched(batch, 5, network=Odd(0, 0.0))


def test_runs_as_plain_python():
    """Without Numba, for the debugger."""
    code = """
import numpy as np
from garden_agents.search.agent import MCTSAgent
from garden_core import Batch
batch = Batch("cacti", 2)
batch.reset(0)
print(MCTSAgent(6).search(batch, np.arange(2)).visits.sum(1), MCTSAgent(1, seconds=0.5)(batch, np.arange(2)))
"""
    assert python("-c", code, NUMBA_DISABLE_JIT="1").stdout.startswith("[6 6]")


@pytest.mark.parametrize("network", [None, Sure(0, 0.0)])
def test_every_simulation_is_counted_once_at_the_root(network):
    batch = started("mars", decisions=6)
    visits, values, shares, _ = searched(batch, 50, network=network)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    assert not shares[batch.action_mask == 0].any()
    assert visits.sum(1).tolist() == [50] * 3
    assert not visits[batch.action_mask == 0].any()
    assert (np.abs(values) <= 1).all()


def test_an_only_action_is_not_searched():
    batch = started("cacti", rows=40, decisions=3)
    only = np.flatnonzero(batch.action_mask.sum(1) == 1)
    assert len(only)
    agent = MCTSAgent(10)
    found = agent.search(batch, only)
    for what in (found.visits, found.shares):
        np.testing.assert_array_equal(what, batch.action_mask[only])
    np.testing.assert_array_equal(found.actions, batch.action_mask[only].argmax(1))
    assert agent.decisions == 0


@pytest.mark.parametrize("considered", [0, 16])
def test_a_network_steers_and_is_asked_for_all_rows_at_once(considered):
    batch = started("mars", rows=5, decisions=1)  # still placing: many hexes are free
    action = int(np.flatnonzero(batch.action_mask.all(0))[7])
    network = Sure(action, 0.25)
    found = searched(batch, 30, network=network, considered=considered)
    assert (found.actions == action).all()
    assert (found.shares.argmax(1) == action).all()
    assert network.asked == [5] + [20] * 7 + [10]  # the roots, then four leaves of each search at a time


def test_sequential_halving_shares_out_the_simulations():
    """Of 16 actions in 64 simulations 8 are dropped after one visit each, 4 after 3, 2 after 7, and 2 have 15."""
    batch = started("mars", rows=3, decisions=1)
    found = searched(batch, 64, network=Sure(100, 0.0), group=1)
    for visits, action in zip(found.visits, found.actions, strict=True):
        assert sorted(visits[visits > 0]) == [1] * 8 + [3] * 4 + [7] * 2 + [15] * 2
        assert visits[action] == 15
    pair = searched(batch, 10, considered=2)
    assert ((pair.visits > 0).sum(1) == 2).all()
    assert (pair.visits.max(1) == 5).all()


def test_values_weigh_more_the_more_visits_there_are():
    """A root with four legal actions, three of them tried, is read by its priors, values and noise."""
    game = make("cacti")
    memory, state = _Memory(game, 1, 8, 1), game.new_states(1)
    state["current_player"] = 1
    nodes = memory.trees.nodes
    nodes["children"] = -1
    priors, visits, means = np.array([0.5, 0.3, 0.15, 0.05]), [4, 4, 2], np.array([0.1, 0.2, -0.1])
    nodes["priors"][0, 0, :4], nodes["visits"][0, 0] = priors, 11
    for i, (count, mean) in enumerate(zip(visits, means, strict=True)):
        nodes["children"][0, 0, i], nodes["visits"][0, i + 1] = i + 1, count
        nodes["totals"][0, i + 1, :2] = -mean * count, mean * count
    unseen = priors[:3] @ means / priors[:3].sum()
    shares = np.exp(np.log(priors) + 0.5 * (50 + max(visits)) * np.array([*means, unseen]))
    shares /= shares.sum()
    mask = (np.arange(game.num_actions) < 4).astype(np.int8)[None]
    memory.trees.considered[0, :2] = 1
    noise, found = np.zeros(mask.shape, np.float32), Searched.empty(game, 1)

    def read():
        roots = halving.Roots(state, np.array([0]), mask, noise)
        halving.read_rows(memory.trees, roots, game.params, 0.5, memory.scores, found)

    read()
    np.testing.assert_allclose(found.shares[0, :4], shares, rtol=1e-5)
    assert found.actions.tolist() == [1]
    value = shares[:3] @ means / shares[:3].sum()
    np.testing.assert_allclose(found.values, [[value, -value]], rtol=1e-5)
    noise[0, 0] = 10
    read()
    assert found.actions.tolist() == [0]


def test_gumbel_noise_draws_by_the_shares():
    """A network that likes one action twice as much as each other, and values nothing."""

    class Fond(Sure):
        def evaluate(self, observation, mask):
            weights = mask * np.where(np.arange(mask.shape[1]) == self.action, 2.0, 1.0)
            shares = weights / np.maximum(weights.sum(1, keepdims=True), 1)
            return shares.astype(np.float32), np.zeros(len(mask), np.float32)

    batch = started("mars", rows=400, decisions=1)
    action = int(np.flatnonzero(batch.action_mask.all(0))[0])
    noise = np.random.default_rng(0).gumbel(size=batch.action_mask.shape)
    found = searched(batch, 4, network=Fond(action, 0.0), considered=4, noise=noise)
    expected = 2 / (batch.action_mask.sum(1) + 1)
    drawn = found.actions == action
    assert abs(drawn.mean() - expected.mean()) < 3 * np.sqrt(expected.mean() / 400)
    assert len(set(found.actions)) > 40


def test_priors_are_shared_out_among_what_is_legal_in_a_redraw():
    """An action that was not legal when a node was judged has the mean prior, not one in `num_actions`."""
    batch = started("cacti", rows=8, decisions=3)
    agent = MCTSAgent(200, considered=0, prior="equal")
    memory = _Memory(batch.game, 1, 300, 1)
    agent._free.append(memory)
    row = int(np.flatnonzero(batch.action_mask.sum(1) > 1)[0])
    agent.search(batch, np.array([row]))
    nodes = memory.trees.nodes[0][: memory.trees.used[0, 0]]
    expanded = nodes["priors"][nodes["expanded"] == 1]
    np.testing.assert_array_equal(expanded, expanded.max(1, keepdims=True) + np.zeros(expanded.shape[1]))
    assert (expanded > 1 / batch.game.num_actions).any()


@pytest.mark.parametrize("network", [None, Sure(0, 0.0)])
def test_a_time_limit_replaces_the_number_of_simulations(network):
    """There is time for far more than one, and the tree grows."""
    batch = started("cacti", rows=1)
    assert searched(batch, 1, seconds=0.2, network=network).visits.sum() > 100


@pytest.mark.thorough
def test_threads_find_the_same():
    batch = started("botanicus", rows=7, decisions=5)
    one, three = MCTSAgent(30), MCTSAgent(30, threads=3)
    for _ in range(2):  # the second time in memory of the first
        pairs = zip(one.search(batch, batch.all_rows), three.search(batch, batch.all_rows), strict=True)
        for found, other in pairs:
            np.testing.assert_array_equal(found, other)
    assert one.decisions == three.decisions > 0


def test_sees_a_win_at_hand():
    """With one flower left, the colour and hex that win are found; playing on is not needed for that."""
    batch = started("mars", rows=1, decisions=8)
    player = int(batch.current_player[0])
    batch.states["stocks"][0, player] = [1, 0, 0, 0, 0, 0]
    batch.states["score"][0, [player, 1 - player]] = [29, 30]
    batch.refresh()
    values = searched(batch, 200, depth=0, prior="equal").values
    assert values[0, 0] > 0.5
    assert values[0, 1] < -0.5


def test_beats_random_play_at_tables_of_three():
    game = make("mars", num_players=3)
    results = meet(game, ("mcts", "random"), (MCTSAgent(10, seed=1), RandomPolicy(2)), 30, 3)
    assert results.interval[0] > 0.8


@pytest.mark.long
@pytest.mark.parametrize(("name", "bar"), [("mars", 0.9), ("cacti", 0.62), ("botanicus", 0.8)])
def test_beats_greedy(name, bar):
    game = make(name)
    results = meet(game, ("mcts", "greedy"), (MCTSAgent(400, seed=1), GreedyPolicy(2)), 400, 3)
    assert results.interval[0] > bar


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"simulations": 0}, "simulations must be at least 1, not 0"),
        ({"exploration": float("nan")}, "exploration must be at least 0, not nan"),
        ({"considered": 1}, "considered must be 0 or at least 2, not 1"),
        ({"seconds": 0}, "seconds must be more than 0, not 0"),
        ({"rollout": "clever"}, "rollout must be 'random' or 'greedy', not 'clever'"),
    ],
)
def test_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        MCTSAgent(**arguments)


def test_estimate_tells_the_last_search():
    batch = started("cacti", rows=2)
    agent = MCTSAgent(50)
    actions = agent(batch, batch.all_rows)
    searched = agent.decisions
    value, likeliest, *_ = agent.estimate(batch, 1).split("; ")
    assert agent.decisions == searched
    assert value.startswith("value ")
    assert likeliest.startswith(batch.game.labels[actions[1]])
    assert MCTSAgent(50).estimate(batch, 1).startswith("value ")
