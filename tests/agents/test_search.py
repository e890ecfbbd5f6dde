"""Tree search: legal and reproducible, without hidden information, guided by networks, stronger with more time."""

import time

import msgspec
import numpy as np
import pytest
import torch
from garden_agents import MCTSAgent, meet
from garden_agents.games import hints_of
from garden_agents.matches.meet import play
from garden_agents.search.beliefs import belief, weighted_redraws
from garden_agents.search.expansion import expand
from garden_agents.search.halving import read_root
from garden_agents.search.tree import node_type
from garden_agents.search.values import first_places, seat_values
from playing import dealt, in_play
from processes import python
from variants import each_table, shortened

from garden_core import GreedyPolicy, RandomPolicy, kernels, make
from garden_core.batch.policies import Streams
from mars_env import Mars


class Sure:
    """A network that is sure of one action and gives every leaf the same value."""

    def __init__(self, action, value):
        self.action, self.value = action, value
        self.asked = []

    def evaluate(self, observation, mask):
        self.asked.append(len(mask))
        probabilities = mask / mask.sum(1, keepdims=True)
        sure = mask[:, self.action] == 1
        probabilities[sure] = np.where(np.arange(mask.shape[1]) == self.action, 1.0, 0.0)
        return probabilities.astype(np.float32), np.full(len(mask), self.value, np.float32)


PLANT = make("mars").labels.index("plant green")
"""An action that is illegal while flowers are placed, so that a network that is sure of it is sure of nothing."""


def started(name, rows=3, decisions=0, seed=1, **options):
    return in_play(make(name, **options), rows, decisions, seed)


def searched(batch, *simulations, **settings):
    """Search in all rows."""
    return MCTSAgent(*simulations, **settings).search(batch, batch.all_rows)


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


def test_search_does_not_change_the_games():
    batch = started("cacti")
    before = batch.states.tobytes(), batch.action_mask.tobytes()
    MCTSAgent(20)(batch, np.array([0, 2]))
    MCTSAgent(20, network=Sure(0, 0.0))(batch, np.array([0, 2]))
    assert (batch.states.tobytes(), batch.action_mask.tobytes()) == before


def redrawn(batch):
    """Return the games with everything redrawn that the players to move cannot see."""
    other = batch.clone()
    for row in batch.all_rows:
        player = np.int64(batch.current_player[row])
        kernels.resample(other.states[row], batch.game.params[0], player, np.uint64(99 + row))
    assert other.states.tobytes() != batch.states.tobytes()
    return other


class Reading:
    """A network whose values and priors depend on everything that the player to move sees."""

    def evaluate(self, observation, mask):
        weights = np.random.default_rng(0).normal(size=(observation.shape[1], mask.shape[1] + 1))
        values = np.tanh(observation @ weights / 20)
        probabilities = mask * np.exp(values[:, :-1])
        return (
            (probabilities / np.maximum(probabilities.sum(1, keepdims=True), 1e-9)).astype(np.float32),
            values[:, -1].astype(np.float32),
        )


def shares(batch, network):
    """Return how often each action is taken in row 0, (seeds, actions)."""
    agents = (MCTSAgent(40, network=network, seed=seed) for seed in range(150))
    return np.array([agent.search(batch, batch.all_rows).shares[0] for agent in agents])


@pytest.mark.parametrize("network", [None, Reading()])
def test_search_does_not_depend_on_hidden_cards(network):
    """Redraws depend on the order of hidden cards as well as on the seed, so means over many seeds are compared."""
    batch = started("cacti", rows=1, decisions=4)
    one, other = shares(batch, network), shares(redrawn(batch), network)
    error = np.sqrt((one.var(0) + other.var(0)) / len(one))
    assert (abs(one.mean(0) - other.mean(0)) <= 4.5 * error).all()


class Revealing:
    """A network that grows the type of its Bonus Planter if it can, and is otherwise undecided."""

    def __init__(self, game):
        self.bonus = game.observation_slices["own bonus"]

    def evaluate(self, observation, mask):
        bonus = observation[:, self.bonus].argmax(1)
        chances = mask.astype(np.float32)
        sure = mask[np.arange(len(mask)), bonus] == 1
        chances[sure] = np.arange(mask.shape[1]) == bonus[sure, None]
        return chances / chances.sum(1, keepdims=True), np.zeros(len(mask), np.float32)

    def __call__(self, batch, rows):
        return self.evaluate(batch.observation[rows], batch.action_mask[rows])[0].argmax(1)


def revealed(rows=20, decisions=5, network=Revealing, **options):
    """Return games, with history, in which both players' actions reveal their Bonus Planters; and their network."""
    batch = dealt(make("cacti", **options), rows, 3, history=True)
    network = network(batch.game)
    for _ in range(decisions):
        batch.step(network(batch, batch.all_rows))
    return batch, network


def test_redraws_are_weighted_by_the_others_moves():
    batch, network = revealed()
    rng_states = np.random.default_rng(1).integers(2**63, size=(batch.num_envs, 4), dtype=np.uint64)
    redraws, weights = weighted_redraws(batch, batch.all_rows, network, rng_states)
    np.testing.assert_allclose(weights.sum(1), 1)
    other = 1 - batch.current_player
    true = batch.states["bonus"][batch.all_rows, other]
    right = redraws["bonus"][batch.all_rows, :, other] == true[:, None]
    assert right.mean() < 0.4  # without weights
    assert (weights * right).sum(1).mean() > 0.8
    own = redraws["bonus"][batch.all_rows, :, batch.current_player]
    assert (own == batch.states["bonus"][batch.all_rows, batch.current_player][:, None]).all()


def test_a_belief_without_moves_or_private_fields_is_uniform():
    """tests/agents/test_agent_checks.py has what it learns from moves."""
    for game in ("cacti", "botanicus", "mars"):
        batch = dealt(game, 3, history=True)
        states, weights = belief(batch, Sure(0, 0.0), redraws=7, seed=5)
        assert states.tobytes() == batch.redraws(7, 5).tobytes()
        np.testing.assert_allclose(weights, 1 / 7)
    with pytest.raises(ValueError, match=r"a belief about cacti needs a Batch with history=True"):
        belief(dealt("cacti"), Sure(0, 0.0))


class ReadingAll(Revealing):
    """A network whose actions depend on every entry of the observation."""

    def evaluate(self, observation, mask):
        logits = np.random.default_rng(1).normal(size=(observation.shape[1], mask.shape[1]))
        chances = np.exp(np.tanh(observation @ logits / 20)) * mask
        return (chances / chances.sum(1, keepdims=True)).astype(np.float32), np.zeros(len(mask), np.float32)


@pytest.mark.parametrize(
    ("network", "options"), [(Revealing, {}), (ReadingAll, {}), (ReadingAll, {"cards_shown": "values"})]
)
def test_weighted_redraws_do_not_depend_on_hidden_cards(network, options):
    """Neither on the others' present cards nor on their past ones, in the hand and in the deck."""
    batch, network = revealed(decisions=6, network=network, **options)
    game, other = batch.game, 1 - batch.current_player
    held = batch.states["basic_in_hand"][batch.all_rows, other] >= 0
    before = found(batch, network)
    for row in batch.all_rows[held]:  # a card that is planted is known
        for past in batch.history.states[row]:
            if past["decisions"] < batch.states["decisions"][row]:
                kernels.resample(past, game.params[0], 1 - other[row], 5)
        for name in hints_of(game).private_fields:
            batch.history.states[row][name][:, other[row]] = 0
    np.testing.assert_equal(found(batch, network), before)


def found(batch, network):
    """Return the weights of redraws, and what a search that uses them finds."""
    return belief(batch, network, 30, seed=3)[1], searched(batch, 30, network=network, seed=2)


class Wanting:
    """A network that grows what the lower half of its own card costs, however observations show the card."""

    def __init__(self, game):
        self.own = game.observation_slices["own basic"]
        costs = np.array([[*card.lower.cost] for card in game.cards.basic])
        by_value = game.option_values["cards_shown"] == "values"
        self.costs = np.eye(10)[:, 5:9] if by_value else costs

    def evaluate(self, observation, mask):
        chances = mask.astype(np.float32)
        chances[:, :4] *= np.exp(observation[:, self.own] @ self.costs)
        return chances / chances.sum(1, keepdims=True), np.zeros(len(mask), np.float32)


def test_cards_by_value_are_believed_as_cards_by_place(tmp_path):
    """In the same games, with cards that both options number alike; some are planted from the hand, which reveals them."""
    game = make("cacti", cards_shown="values")
    ascending = [game.cards.basic[k] for k in game.file_places]
    path = tmp_path / "cards.toml"
    path.write_bytes(msgspec.toml.encode(msgspec.structs.replace(game.cards, basic=ascending)))
    games = [make("cacti", cards=path, cards_shown=shown) for shown in ("places", "values")]
    place, value = batches = [dealt(game, 30, 2, history=True) for game in games]
    rng, from_hand = np.random.default_rng(1), 0
    for _ in range(25):
        (states, weights), (same, alike) = (
            belief(batch, Wanting(game), 30, seed=3) for batch, game in zip(batches, games, strict=True)
        )
        np.testing.assert_array_equal(same["basic_in_hand"], states["basic_in_hand"])
        np.testing.assert_allclose(weights, alike, rtol=1e-4)
        plants = np.isin(np.arange(35), range(4, 29))
        actions = ((rng.random((30, 35)) + plants) * place.action_mask).argmax(1)
        k = np.where((actions >= 4) & (actions < 28), (actions - 4) // 2, -2)
        own = place.states["basic_in_hand"][place.all_rows, place.current_player] == k
        from_hand += own.sum()
        planted = np.where(own, 4, 6) + actions % 2
        relative = np.where(k >= 0, planted, np.where(actions < 4, actions, actions - 20))
        place.step(actions)
        value.step(relative)
        np.testing.assert_array_equal(value.states, place.states)
    assert from_hand > 10
    assert weights.max() > 3 / 30  # some hands are much likelier than others


class Last(Sure):
    """A network that values all seats: the player who moved last is behind."""

    def evaluate(self, observation, mask):
        seats = np.array([[0.5, 0.0, -0.5]] * len(mask), np.float32)
        return super().evaluate(observation, mask)[0], seats


@pytest.mark.parametrize(
    ("options", "network", "value"),
    [
        ({"num_players": 2}, Sure(PLANT, 0.25), (0.25 - 30 * 0.25) / 31),
        ({"num_players": 3}, Sure(PLANT, 0.25), (0.25 - 30 * 0.125) / 31),
        ({"num_players": 3}, Last(PLANT, 0.0), (0.5 - 30 * 0.5) / 31),
        ({"num_players": 3, "cooperative": True}, Sure(PLANT, 0.25), 0.25),
    ],
    ids=["two", "three", "all seats valued", "team"],
)
def test_values_are_backed_up_to_their_seats(options, network, value):
    """While placing, every simulation ends at a new node, at which the next seat must decide."""
    batch = started("mars", rows=2, **options)
    values = searched(batch, 30, network=network, exploration=5.0, considered=0).values
    np.testing.assert_allclose(values[:, 0], value, rtol=1e-5)


TEAM = make("mars", num_players=2, cooperative=True)


def squashed(points, game):
    """Return points on the scale of values, from -1 to 1."""
    x = np.array(points) / game.reward_divisor
    return x / (1 + abs(x))


@pytest.mark.parametrize(
    ("value", "game", "scores", "over", "expected"),
    [
        (seat_values, make("mars"), [5, 3], 1, [1, -1]),
        (seat_values, Mars(num_players=3), [5, 3, 9], 1, [0, -1, 1]),
        (first_places, Mars(num_players=3), [5, 3, 9], 1, [-0.5, -0.5, 1]),
        (first_places, Mars(num_players=3), [9, 3, 9], 1, [0.25, -0.5, 0.25]),
        (seat_values, make("mars"), [5, 3], 0, squashed([2, -2], make("mars"))),
        (seat_values, Mars(num_players=3), [5, 3, 9], 0, squashed([-1, -4, 5], Mars(num_players=3))),
        *((seat_values, TEAM, [30, 20], over, squashed([20, 20], TEAM)) for over in (0, 1)),
    ],
)
def test_positions_are_worth_the_outcome_or_the_margin_so_far(value, game, scores, over, expected):
    states, values = game.new_states(1), np.zeros(5, np.float32)
    states["score"][0, : len(scores)], states["terminated"] = scores, over
    value(states[0], game.params[0], values, np.zeros(5, np.int32))
    np.testing.assert_allclose(values[: len(scores)], expected, atol=1e-6)


def test_a_networks_score_to_come_is_added_to_the_teams_score_so_far():
    batch = in_play(TEAM, rows=2, decisions=0)
    batch.states["score"][:, :2] = [30, 20]  # while placing nothing more is scored
    values = searched(batch, 30, network=Sure(PLANT, 0.25)).values
    to_come = 0.25 / (1 - 0.25) * TEAM.reward_divisor
    np.testing.assert_allclose(values, squashed(20 + to_come, TEAM), rtol=1e-5)


def test_searches_run_in_groups_of_64():
    batch = started("cacti", rows=150, decisions=2)
    network = Sure(0, 0.0)
    visits = searched(batch, 5, network=network).visits
    free = batch.action_mask.sum(1) > 1
    assert (visits[free].sum(1) == 5).all()
    assert max(network.asked) == 4 * 64
    assert sum(network.asked) == 6 * free.sum()


class Odd(Sure):
    """A network whose outputs are changed by a function."""

    def __init__(self, change):
        super().__init__(0, 0.0)
        self.change = change

    def evaluate(self, observation, mask):
        return self.change(*super().evaluate(observation, mask))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, v: (p[:, 1:], v), "must return shapes"),
        (lambda p, v: (p, v[:1]), "must return shapes"),
        (lambda p, v: (np.log(p + 1e-3), v), "probabilities, which sum to 1"),
        (lambda p, v: (p / 2, v), "probabilities, which sum to 1"),
        (lambda p, v: (p, v + 7), "values from -1 to 1"),
        (lambda p, v: (p, v * np.nan), "values from -1 to 1"),
    ],
)
def test_wrong_outputs_of_a_network_are_refused(change, message):
    batch = started("cacti")
    with pytest.raises(ValueError, match=message):
        searched(batch, 5, network=Odd(change))


def test_a_network_of_torch_tensors_is_asked_with_a_legal_action_in_every_row():
    masks = []

    class Tensors(Sure):
        def evaluate(self, observation, mask):
            masks.append(mask.copy())
            return tuple(map(torch.from_numpy, super().evaluate(observation, mask)))

    batch = in_play(make("cacti"), rows=40, decisions=25)
    searched(batch, 40, network=Tensors(0, 0.0))
    assert np.concatenate(masks).any(1).all()
    assert np.concatenate(masks).all(1).any(), "an ended game"


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


def test_a_forced_action_is_not_searched():
    batch = started("cacti", rows=40, decisions=3)
    only = np.flatnonzero(batch.action_mask.sum(1) == 1)
    assert len(only)
    agent = MCTSAgent(10)
    result = agent.search(batch, only)
    np.testing.assert_array_equal([result.visits, result.shares], [batch.action_mask[only]] * 2)
    np.testing.assert_array_equal(result.actions, batch.action_mask[only].argmax(1))
    assert agent.decisions == 0


@pytest.mark.parametrize("considered", [0, 16])
def test_a_network_guides_the_search_and_evaluates_all_rows_at_once(considered):
    batch = started("mars", rows=5, decisions=1)  # still placing: many hexes are free
    action = int(np.flatnonzero(batch.action_mask.all(0))[7])
    network = Sure(action, 0.25)
    result = searched(batch, 30, network=network, considered=considered)
    assert (result.actions == action).all()
    assert (result.shares.argmax(1) == action).all()
    assert network.asked == [5] + [20] * 7 + [10]  # the roots, then four leaves of each search at a time


def test_sequential_halving_halves_the_actions_considered():
    """Of 16 actions in 64 simulations 8 are dropped after one visit each, 4 after 3, 2 after 7, and 2 have 15."""
    batch = started("mars", rows=3, decisions=1)
    result = searched(batch, 64, network=Sure(PLANT, 0.0), group=1)
    for visits, action in zip(result.visits, result.actions, strict=True):
        assert sorted(visits[visits > 0]) == [1] * 8 + [3] * 4 + [7] * 2 + [15] * 2
        assert visits[action] == 15
    pair = searched(batch, 10, considered=2)
    assert ((pair.visits > 0).sum(1) == 2).all()
    assert (pair.visits.max(1) == 5).all()


def test_values_count_for_more_with_more_visits():
    """A root with four legal actions, three of them tried, is evaluated by priors and values."""
    nodes, (visits, means) = np.zeros(4, node_type(make("cacti"))), ([4, 4, 2], np.array([0.1, 0.2, -0.1]))
    nodes["children"], priors = -1, np.array([0.5, 0.3, 0.15, 0.05])
    nodes["priors"][0, :4], nodes["visits"][0] = priors, 11
    for i, (count, mean) in enumerate(zip(visits, means, strict=True)):
        nodes["children"][0, i], nodes["visits"][i + 1] = i + 1, count
        nodes["totals"][i + 1, :2] = -mean * count, mean * count
    unseen = priors[:3] @ means / priors[:3].sum()
    expected = np.exp(np.log(priors) + 0.5 * (50 + max(visits)) * np.array([*means, unseen]))
    expected /= expected.sum()
    actions = np.arange(nodes["priors"].shape[1])
    mask, considered = (actions < 4).astype(np.int8), (actions < 2).astype(np.int8)
    shares, values = np.zeros(len(mask), np.float32), np.zeros(2)
    result = np.zeros(len(mask), np.int32), values, shares
    assert read_root(nodes, considered, 1, 2, mask, 0.5, np.zeros(len(mask)), result) == 1
    np.testing.assert_allclose(shares[:4], expected, rtol=1e-5)
    value = expected[:3] @ means / expected[:3].sum()
    np.testing.assert_allclose(values, [value, -value], rtol=1e-5)


def test_actions_that_were_illegal_when_their_node_was_evaluated_have_the_mean_prior():
    nodes = np.zeros(1, node_type(make("cacti")))
    mask, chances = np.zeros((2, nodes["priors"].shape[1]), np.float32)
    mask[:4], chances[:4] = 1, [0.7, 0.1, 0.1, 0.1]
    expand(nodes[0], mask.astype(np.int8), chances)
    np.testing.assert_allclose(nodes["priors"][0], [0.7, 0.1, 0.1, 0.1, *[0.25] * (len(mask) - 4)])


@pytest.mark.parametrize("network", [None, Sure(0, 0.0)])
def test_a_time_limit_replaces_the_number_of_simulations(network):
    """In a fifth of a second it makes over 100 simulations."""
    batch = started("cacti", rows=1)
    assert searched(batch, 1, seconds=0.2, network=network).visits.sum() > 100


def test_results_do_not_depend_on_threads(monkeypatch):
    """Making the rows' generators takes long for many rows, so each thread could make its own, of which the last would be kept."""
    grown = Streams._grown

    def slowly(self, states, n):
        made = grown(self, states, n)
        time.sleep(0.05)
        return made

    monkeypatch.setattr(Streams, "_grown", slowly)
    batch = started("cacti", rows=7, decisions=5)
    one, three = MCTSAgent(30), MCTSAgent(30, threads=3)
    for _ in range(2):  # the second time in memory of the first
        np.testing.assert_equal(one.search(batch, batch.all_rows), three.search(batch, batch.all_rows))
    assert one.decisions == three.decisions > 0


def test_beats_random_play_at_tables_of_three():
    game = make("mars", num_players=3)
    results = meet(game, ("mcts", "random"), (MCTSAgent(10, seed=1), RandomPolicy(2)), 30, 3)
    assert results.interval[0] > 0.7


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


def test_estimate_describes_the_last_search():
    batch = started("cacti", rows=2)
    agent = MCTSAgent(50)
    actions = agent(batch, batch.all_rows)
    searched = agent.decisions
    value, likeliest, *_ = agent.estimate(batch, 1).split("; ")
    assert agent.decisions == searched
    assert value.startswith("value ")
    assert likeliest.startswith(batch.game.labels[actions[1]])
    assert MCTSAgent(50).estimate(batch, 1).startswith("value ")
