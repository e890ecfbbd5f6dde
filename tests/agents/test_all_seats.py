"""Expected results of all seats: in the game's seats and units, without hidden information, and true at the end."""

import numpy as np
import pytest
from garden_agents import MCTSAgent, NetworkAgent, load, load_agent
from garden_agents.games import hints_of
from garden_agents.networks.architecture import new_network
from playing import dealt, in_play
from small_runs import SMALL
from toys import Nim

from garden_core import Batch, kernels, make
from mars_env import Mars

NAN = np.nan
CHANCES = [0.6, 0.3, 0.1]
TO_COME = [0.5, 0.5, -1.0]
"""Margins, times reward_divisor."""


def constant(game, target, raw):
    """A network with the same raw values everywhere."""
    network = new_network(game, SMALL, target)
    network.weights["values.weight"][:], network.weights["values.bias"][:] = 0, raw
    return NetworkAgent(network, target)


def played(game, rows=6, decisions=60):
    """A batch with different seats to move, and different points."""
    batch = in_play(game, rows, decisions)
    for row in range(rows // 2):
        batch.step(batch.action_mask[[row]].argmax(1), [row])
    batch.states["score"][:, : game.num_players] = np.arange(rows)[:, None] * [3, 1, -2][: game.num_players]
    batch.refresh()
    return batch


def test_networks_predict_every_seat_of_the_game():
    game = Mars(num_players=3)
    batch = played(game)
    win, outcome, margin, score = constant(game, "seats", [*np.log(CHANCES), *TO_COME]).values(
        batch, batch.all_rows
    )
    assert {array.dtype for array in (win, outcome, margin, score)} == {np.dtype(np.float32)}
    assert len(set(batch.current_player.tolist())) > 1
    for row, first in enumerate(batch.current_player):
        points = np.array(game.scores(batch.states[row], 0))
        for k, chance, to_come in zip(range(3), CHANCES, TO_COME, strict=True):
            seat = (first + k) % 3
            assert win[row, seat] == pytest.approx(chance, rel=1e-5)
            so_far = points[seat] - np.delete(points, seat).mean()
            assert margin[row, seat] == pytest.approx(so_far + 10 * to_come, abs=1e-4)
    assert np.isnan(outcome).all()
    assert np.isnan(score).all()


@pytest.mark.parametrize(
    ("players", "target", "raw", "expected"),
    [
        (3, "outcome", 0.5, {"outcome": [0.5, NAN, NAN]}),
        (3, "margin", 0.5, {"margin": [5, NAN, NAN]}),
        (2, "outcome", 0.5, {"outcome": [0.5, -0.5], "win": [0.75, 0.25]}),
        (2, "outcome", 1.5, {"outcome": [1, -1], "win": [1, 0]}),
        (2, "margin", 2, {"margin": [50, -50]}),
    ],
)
def test_what_follows_from_the_value_of_the_player_to_move(players, target, raw, expected):
    batch = dealt(Mars(num_players=players), 2)
    batch.step(batch.action_mask[[1]].argmax(1), [1])
    values = constant(batch.game, target, raw).values(batch, batch.all_rows)
    for name in ("win", "outcome", "margin"):
        counted = expected.get(name, [NAN] * players)
        np.testing.assert_allclose(getattr(values, name), [counted, np.roll(counted, 1)])


@pytest.mark.parametrize(("target", "raw"), [("score", 0.5), ("outcome", 1 / 3)])
def test_a_teams_score_is_that_so_far_and_what_is_to_come(target, raw):
    game = Mars(num_players=3, cooperative=True)
    batch = played(game)
    values = constant(game, target, raw).values(batch, batch.all_rows)
    so_far = batch.states["score"][:, :3].min(1)
    np.testing.assert_allclose(values.score, so_far + game.reward_divisor / 2, rtol=1e-5)
    assert all(np.isnan(part).all() for part in values[:3])
    agent, same = (MCTSAgent(20, seed=1) for _ in range(2))
    mean = same.search(batch, batch.all_rows).values[:, 0]
    searched = agent.values(batch, batch.all_rows).score / game.reward_divisor
    several = batch.action_mask.sum(1) > 1
    np.testing.assert_allclose((searched / (1 + abs(searched)))[several], mean[several], rtol=1e-4)


AGENTS = {"network": "network", "search": "mcts:20", "both": "network-mcts:20"}


@pytest.mark.parametrize("name", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize(("game", "players"), [("cacti", 2), ("mars", 4)])
def test_values_of_finished_games_are_their_results(name, game, players):
    batch = in_play(make(game, num_players=players, max_decisions=12), rows=4, decisions=11)
    batch.autoreset = False
    batch.step(batch.action_mask.argmax(1), [0, 1, 2, 3])
    assert batch.over.all()
    rows = batch.all_rows
    win, outcome, margin, _ = load_agent(name, batch.game).values(batch, rows)
    np.testing.assert_allclose(outcome, batch.rewards[rows])
    for i, row in enumerate(rows):
        points = np.array(batch.game.scores(batch.states[row]))
        np.testing.assert_allclose(margin[i], points - (points.sum() - points) / (players - 1), rtol=1e-5)
        best = outcome[i] == outcome[i].max()
        np.testing.assert_allclose(win[i], best / best.sum())


@pytest.mark.parametrize("considered", [0, 4])
@pytest.mark.parametrize("name", [None, "network"])
def test_values_of_search_are_the_means_at_its_root(name, considered):
    game = make("mars", num_players=4)
    batch = in_play(game, rows=12, decisions=43)
    agent, same = (
        MCTSAgent(20, network=name and load(game), considered=considered, seed=1) for _ in range(2)
    )
    values, searched = agent.values(batch, batch.all_rows), same.search(batch, batch.all_rows).values
    several = batch.action_mask.sum(1) > 1
    assert several.sum() not in (0, 12)
    given = values.outcome if name is None else values.win * 4 / 3 - 1 / 3
    expected = [np.roll(row, seat) for row, seat in zip(searched, batch.current_player, strict=True)]
    np.testing.assert_allclose(given[several], np.array(expected)[several], atol=1e-6)
    assert (abs(given[~several]).sum(1) > 0.01).all()  # a forced action is searched, too
    assert np.isnan(values.margin).all()
    assert np.isnan(values.win if name is None else values.outcome).all()


class Even:
    """A network that knows nothing."""

    def evaluate(self, observation, mask):
        return (mask / mask.sum(1, keepdims=True)).astype(np.float32), np.zeros((len(mask), 3), np.float32)


def test_one_move_before_the_end_search_knows_who_wins():
    """The seat that counts to ten wins; at seven this is not the seat to move."""
    batch = dealt(Nim(num_players=3), 3)
    batch.states["asked_seats"], batch.states["current_player"] = [8, 9, 7], [2, 1, 1]
    batch.refresh()
    outcome = MCTSAgent(400, depth=0, prior="equal").values(batch, batch.all_rows).outcome
    np.testing.assert_allclose(outcome[:2], [[-0.5, -0.5, 1], [-0.5, 1, -0.5]], atol=0.05)
    win = MCTSAgent(400, network=Even()).values(batch, batch.all_rows).win
    assert win.argmax(1).tolist() == [2, 1, 2]
    np.testing.assert_allclose(win[:2].max(1), 1, atol=0.1)


@pytest.mark.parametrize("name", AGENTS.values(), ids=AGENTS)
def test_values_change_nothing(name):
    batch = in_play(make("botanicus", num_players=4), rows=3)
    before = [array.tobytes() for array in batch.arrays]
    agent = load_agent(name, batch.game)
    assert len(agent.values(batch, [0, 2]).win) == 2
    assert len(agent.values(batch, []).win) == 0
    assert [array.tobytes() for array in batch.arrays] == before


@pytest.mark.parametrize("name", ["cacti", "botanicus"])
def test_networks_do_not_see_what_is_hidden(name):
    batch = in_play(make(name), rows=20)
    other, agent = batch.clone(), load(name)
    for row, player in enumerate(batch.current_player):
        kernels.resample(other.states[row], batch.game.params[0], player, np.uint64(row))
    other.refresh()
    assert other.states.tobytes() != batch.states.tobytes()
    np.testing.assert_equal(agent.values(other, other.all_rows), agent.values(batch, batch.all_rows))


def test_mistakes_are_explained():
    four, three = make("mars", num_players=4), dealt(make("mars", num_players=3))
    agent = NetworkAgent.load(
        hints_of(four).folder / "networks" / "4.safetensors", three.game, 0, False, True
    )
    with pytest.raises(ValueError, match="the network values 4 seats"):
        agent.values(three, [0])
    for agent in (load(four), MCTSAgent(2)):
        with pytest.raises(RuntimeError, match="reset"):
            agent.values(Batch(four, 1), [0])
        with pytest.raises(IndexError, match="rows must be 0 to 0"):
            agent.values(dealt(four), [1])
    assert not hasattr(load_agent("network~0.5", four), "values")
