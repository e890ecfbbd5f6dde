"""Batches of many variants: each row plays what its variant plays alone."""

import numpy as np
import pytest
from garden_agents import MCTSAgent, load_agent
from garden_agents.games import hints_of

from botanicus_env import Botanicus
from cacti_env import Cacti
from garden_core import Batch, GreedyPolicy, Learner, RandomPolicy, make
from mars_env import Mars

MARS = [Mars(num_players=n, special_actions=special) for n in (2, 3, 5) for special in (False, True)]
PEAKS = [Mars(peaks=peaks) for peaks in (0, 3)]
N, SEED = 60, 7


def with_own_cards(kind, number, **options):
    """The packaged cards, and private ones."""
    own = [{}, *(hints_of(kind).private_data(seed) for seed in range(number - 1))]
    return [kind(**data, **options) for data in own]


GAMES = {
    "mars": MARS + PEAKS,
    "cacti": with_own_cards(Cacti, 4),
    "cacti by value": with_own_cards(Cacti, 50, cards_shown="values"),
    "botanicus": [*with_own_cards(Botanicus, 3), Botanicus(num_players=4)],
    "botanicus by value": [
        *with_own_cards(Botanicus, 50, cards_shown="values"),
        Botanicus(num_players=3, cards_shown="values"),
    ],
    "margin": [game.with_options(reward="margin") for game in MARS],
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("policy", [RandomPolicy, GreedyPolicy])
def test_each_row_plays_what_its_variant_plays_alone(name, policy):
    """Every array, bit for bit, over several games of each row."""
    games = GAMES[name]
    n = max(N, len(games))
    chosen = np.arange(n) % len(games)
    batch, choose = Batch(games, n, variants=chosen), policy(1)
    alone = [Batch(game, n) for game in games]
    for each in (batch, *alone):
        each.reset(SEED)
    choosing = [policy(1) for _ in games]
    for _ in range(200):
        for variant, (other, own) in enumerate(zip(alone, choosing, strict=True)):
            rows = np.flatnonzero(chosen == variant)
            states = other.states[rows]
            states["variant"] = variant
            np.testing.assert_array_equal(batch.states[rows], states)
            for field in ("observation", "action_mask", "current_player", "terminated", "truncated"):
                np.testing.assert_array_equal(getattr(batch, field)[rows], getattr(other, field)[rows])
            seats = games[variant].num_players
            np.testing.assert_array_equal(batch.rewards[rows, :seats], other.rewards[rows])
            assert not batch.rewards[rows, seats:].any()
            other.step(own(other, other.all_rows))
        batch.step(choose(batch, batch.all_rows))
    np.testing.assert_array_equal(batch.variant, chosen)


def test_the_variant_is_drawn_from_the_games_seed():
    """A game is a function of seed, row and episode, for any number of rows and threads; all variants are equally likely."""
    few, many = Batch(MARS, 10), Batch(MARS, 3000, threads=2)
    policy, same = RandomPolicy(1), RandomPolicy(1)
    for batch in (few, many):
        batch.reset(SEED)
    counts = np.bincount(many.variant, minlength=len(MARS))
    assert (abs(counts - 500) < 5 * np.sqrt(500)).all()
    for _ in range(150):
        np.testing.assert_array_equal(few.states, many.states[:10])
        few.step(policy(few, few.all_rows))
        many.step(same(many, many.all_rows))
    again = Batch(MARS, 6)
    again.reset(SEED)
    many.reset(SEED, rows=[5])
    assert many.variant[5] == again.variant[5]


def test_states_keep_their_variant():
    """In copies, views, redraws, last states, positions that are set, and search."""
    games = GAMES["cacti"]
    batch = Batch(games, N, variants=np.arange(N) % len(games))
    batch.reset(SEED)
    redraws = batch.redraws(3, seed=1)
    np.testing.assert_array_equal(
        redraws["variant"], np.arange(N)[:, None] % len(games) + np.zeros((1, 3), int)
    )
    for variant, game in enumerate(games):
        rows = np.flatnonzero(batch.variant == variant)
        alone = Batch(game, N)
        alone.reset(SEED)
        np.testing.assert_array_equal(batch.observe(1)[rows], alone.observe(1)[rows])
        np.testing.assert_array_equal(batch.observe_hidden(1)[rows], alone.observe_hidden(1)[rows])
    clone, policy = batch.clone(), RandomPolicy(2)
    clone.set_states([0, 1], batch.states[[5, 6]])
    np.testing.assert_array_equal(clone.variant[:2], batch.variant[[5, 6]])
    np.testing.assert_array_equal(clone.observation[:2], batch.observation[[5, 6]])
    for _ in range(100):
        batch.step(policy(batch, batch.all_rows))
    np.testing.assert_array_equal(batch.last_states["variant"], batch.fixed_variants)


def test_search_plays_each_variant_as_alone():
    games = GAMES["cacti"]
    batch = Batch(games, 8, variants=np.arange(8) % len(games))
    batch.reset(SEED)
    found = MCTSAgent(30, seed=3).search(batch, batch.all_rows)
    for variant, game in enumerate(games):
        alone = Batch(game, 8)
        alone.reset(SEED)
        own = MCTSAgent(30, seed=3).search(alone, alone.all_rows)
        rows = batch.variant == variant
        np.testing.assert_array_equal(found.visits[rows], own.visits[rows])


def test_a_learner_sits_in_every_variant():
    learner, policy = Learner(MARS, N, ["random", "greedy", RandomPolicy(4)]), RandomPolicy(1)
    learner.reset(SEED)
    seats = set()
    for _ in range(100):
        learner.step(policy(learner.batch, learner.batch.all_rows))
        players = np.array([MARS[v].num_players for v in learner.batch.variant])
        assert (learner.seats < players).all()
        np.testing.assert_array_equal((learner.drawn >= 0).sum(1), players)
        seats |= set(learner.seats.tolist())
    assert seats == set(range(5))


@pytest.mark.parametrize(
    ("games", "words"),
    [
        ([], "a batch needs at least one game"),
        ([Mars(), Cacti()], "cannot be in one batch: they differ in class"),
        ([Mars(), Mars(num_players=2, gardeners=2)], "they differ in the actions"),
        ([Mars(), Mars(view="planes")], "they differ in the observation"),
        ([Mars(), Mars(reward="margin")], "they differ in the kind of reward"),
        ([Mars(), Mars(cooperative=True)], "they differ in cooperation"),
    ],
)
def test_what_does_not_go_together_is_refused(games, words):
    with pytest.raises(ValueError, match=words):
        Batch(games, 4)


def test_what_needs_one_game_is_refused():
    batch = Batch(MARS, N)
    with pytest.raises(ValueError, match="variants must be 60 indexes of 6 variants"):
        Batch(MARS, N, variants=[0, 6])
    batch.reset(SEED)
    with pytest.raises(ValueError, match="plays 6 variants of mars, so there is no game of all rows"):
        str(batch.game)
    with pytest.raises(ValueError, match="player must be 0 to 4, and a seat of the row's game, not 4"):
        batch.observe(4)
    with pytest.raises(ValueError, match="an opponent is 'random', 'greedy' or a callable, not 'network'"):
        Learner(MARS, N, "network")
    single = Batch(MARS[0], N)
    single.reset(SEED)
    other = batch.states[batch.variant == 5]
    for call in (lambda: single.observe(0, other), lambda: single.set_states([0], other[:1])):
        with pytest.raises(ValueError, match="a state is of variant 5, and this has 1 variant"):
            call()


@pytest.mark.parametrize(
    "name",
    [
        "network",
        "network-mcts:4",
        "network~0.1",
        "program:true",
        "mars-2:other",
        "openai:none?base_url=http://127.0.0.1:1",
    ],
)
def test_agents_that_know_one_game_refuse_several(name):
    """The rest, `random`, `greedy`, search without a network and their shares of random moves, play all variants."""
    if name.startswith("openai:"):
        pytest.importorskip("openai")
    batch = Batch(PEAKS, N, history=True)
    batch.reset(SEED)
    with pytest.raises(ValueError, match="plays 2 variants of mars, so there is no game of all rows"):
        load_agent(name, make("mars"))(batch, batch.all_rows)
