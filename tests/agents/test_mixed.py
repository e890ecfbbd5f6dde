"""Mixed games: seatings, groups, places, ratings, and the arena that plays them."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from garden_agents import load_agent, meet_mixed
from garden_agents.evaluation import arena
from garden_agents.evaluation.ratings import rate_set
from garden_agents.matches import pairs
from garden_agents.matches.meet import independent_games, places, play, scores
from garden_agents.matches.mixed import group_of, groups_of, mixed_results, place_shares, seatings
from garden_agents.matches.pairs import Job, mixed_jobs

from cacti_env import Cacti
from garden_core import make
from mars_env import Mars

NAMES = ["random", "greedy", "own_agents:last_legal", "own_agents:first_legal"]


def mixed(output, *agents, **changes):
    """Run an arena of mixed games of Mars with three players; return its results."""
    settings = {"games": 54, "processes": 1, "num_players": 3, "mixed": True, "output": output, **changes}
    return arena.main(arena.Arguments("mars", list(agents or NAMES), **settings))


# --- seats and groups ---


@pytest.mark.parametrize("n", [3, 4, 5])
def test_seatings_are_balanced(n):
    seated = seatings(2 * math.factorial(n), n)
    for deal in seated.reshape(-1, n, n):
        assert (np.sort(deal, axis=0) == np.arange(n)[:, None]).all()  # each agent once in each seat
    assert Counter(map(tuple, seated.tolist())) == dict.fromkeys(itertools.permutations(range(n)), 2)


def test_blocks_continue_the_seatings():
    """In the default number of games all seatings are played equally often, though in many blocks."""
    jobs = mixed_jobs("abcd", 4, 600)
    assert (np.concatenate([job.lineups(4) for job in jobs]) == seatings(600, 4)).all()
    assert len(jobs) > 10
    assert set(Counter(map(tuple, seatings(600, 4).tolist())).values()) == {25}


def test_groups_are_all_combinations():
    assert groups_of("abcd", 4) == [tuple("abcd")]
    assert groups_of("abcde", 4) == list(itertools.combinations("abcde", 4))


@pytest.mark.parametrize(("count", "n"), [(9, 4), (10, 5), (30, 3), (103, 3)])
def test_in_a_sample_of_groups_agents_play_equally_often(count, n):
    groups = groups_of(range(count), n)
    assert 60 <= len(groups) <= max(100, count)
    assert len(set(groups)) == len(groups)
    assert all(len(set(group)) == n for group in groups)
    times = Counter(itertools.chain(*groups))
    assert len(times) == count
    assert len(set(times.values())) == 1
    together = {0}  # agents that a rating can compare with the first one
    for _ in range(count):
        together |= {agent for group in groups if together & set(group) for agent in group}
    assert len(together) == count


def test_each_agent_plays_its_own_seats_with_the_same_deal():
    game, job, seen = Mars(num_players=3, max_decisions=30), Job(("a", "b", "c"), 1, 18), set()

    def watched(agent):
        def policy(batch, rows):
            seen.update(
                (row, seat, agent) for row, seat in zip(rows, batch.current_player[rows], strict=True)
            )
            return batch.action_mask[rows].argmax(1)

        return policy

    played = pairs.play_block(game, job, [watched(agent) for agent in range(3)], 5)
    assert seen == {(row, seat, agent) for (row, seat), agent in np.ndenumerate(job.lineups(3))}
    by_deal = np.array(played.scores).reshape(-1, 3, 3)
    assert (by_deal == by_deal[:, :1]).all()  # of policies that play alike
    assert len({deal.tobytes() for deal in by_deal}) > 1


# --- places ---


def test_tied_seats_share_their_places():
    found = place_shares(np.array([[0, 1, 1, 3], [0, 0, 0, 3], [2, 0, 2, 0], [3, 2, 1, 0]]))
    third, half = 1 / 3, 1 / 2
    expected = [
        [[1, 0, 0, 0], [0, half, half, 0], [0, half, half, 0], [0, 0, 0, 1]],
        [*[[third, third, third, 0]] * 3, [0, 0, 0, 1]],
        [[0, 0, half, half], [half, half, 0, 0], [0, 0, half, half], [half, half, 0, 0]],
        np.eye(4)[::-1],
    ]
    np.testing.assert_allclose(found, expected)


def test_places_are_those_of_the_final_standings():
    game, names = Mars(num_players=4), ["random", "greedy", "greedy~0.5", "other"]
    agents = [load_agent(name, game, seed=3) for name in (*names[:3], "random")]
    results = meet_mixed(game, names, agents, games=46, seed=2)
    agents = [load_agent(name, game, seed=3) for name in (*names[:3], "random")]
    seated = seatings(48, 4)
    states = play(game, agents, seated, 2, rotations=4).states
    placed = places(game, states)
    for agent, result in enumerate(results):
        finished = [(placed[g], seat) for g, seat in np.argwhere(seated == agent)]
        of_game = [(place == place[seat]).sum() / 2 + 0.5 + place[seat] for place, seat in finished]
        won = [(place[seat] == 0) / (place == 0).sum() for place, seat in finished]
        assert (result.agent, result.games, result.forfeits) == (names[agent], 48, 0)
        assert result.mean_place == pytest.approx(np.mean(of_game))
        assert result.win_rate == result.by_place[0] == pytest.approx(np.mean(won))
        assert result.interval[0] <= result.win_rate <= result.interval[1]
        assert result.mean_score == pytest.approx(scores(game, states)[seated == agent].mean())
    assert np.sum([result.by_place for result in results], axis=0) == pytest.approx(1)


def test_a_difference_between_groups_is_no_chance():
    """An agent that wins all games of one group and none of another has no more uncertain a share than each of them."""
    won = np.eye(3, dtype=int)[seatings(60, 3)].argmax(1)  # the seat of each agent
    seated, none = seatings(60, 3), np.full(60, -1)
    groups = [group_of("abc", seated, (seated != 0) * 1, won, none)]
    groups.append(group_of("abd", seated, (seated != 1) * 1, won, none))
    low, high = mixed_results("abcd", groups)[0].interval
    assert high - low < 0.2


# --- ratings ---


def rated(strengths, n, games, rng, spread=0.0):
    """Ratings from mixed games of all groups of agents with these strengths, of which each deal suits some better than others."""
    won = {}
    for names in groups_of(range(len(strengths)), n):
        seated, suited = seatings(games, n), np.repeat(rng.normal(size=(games // n, n)), n, axis=0)
        performance = np.array(strengths)[list(names)] * np.log(10) / 400 + spread * suited
        performance = np.take_along_axis(performance, seated, axis=1) + rng.gumbel(size=(games, n))
        placed = (performance[:, None, :] > performance[:, :, None]).sum(axis=2)
        shares = group_of(names, seated, placed, placed, np.full(games, -1)).shares
        won[tuple(map(called, names))] = shares.mean(axis=(0, 1)), independent_games(shares)
    ratings = rate_set([called(number) for number in range(len(strengths))], won, n)
    return sorted(ratings, key=lambda rating: (rating.agent != "random", rating.agent)), won


def called(number):
    """The first one is `random`, from which ratings count; otherwise it is the one that happens to be the lowest."""
    return f"agent {number}" if number else "random"


def test_ratings_of_line_ups_find_strengths():
    strengths = [0.0, 150, 150, 300, 600]
    ratings, _ = rated(strengths, 3, 1200, np.random.default_rng(1))
    assert [rating.rating for rating in ratings] == pytest.approx(strengths, abs=50)


@pytest.mark.parametrize("spread", [0, 2])
def test_equal_agents_are_equal_within_their_intervals(spread):
    """Also if the games of a deal are alike, as in each deal some agents are at home."""
    rng, inside, ratios = np.random.default_rng(0), [], []
    for _ in range(60):
        (first, *others), won = rated([0.0] * 5, 4, 120, rng, spread)
        inside += [abs(each.rating - first.rating) < each.uncertainty for each in others]
        ratios += [independent / 120 for _, independent in won.values()]
    assert 0.9 < np.mean(inside) < 0.99
    assert 0.9 < np.mean(ratios) < 1.1 if spread == 0 else np.mean(ratios) < 0.6


def test_ratings_of_pairs_stay_as_they_are():
    """Those of a formula for pairs alone, with a prior around `random` instead of the mean."""
    r, a, b = names = "random", "a", "b"
    won = {(r, a): (0.05, 100), (r, b): (0.02, 80), (a, b): (0.3, 120.5)}
    won |= {(a, r): (0.9, 60), (b, r): (1.0, 60), (b, a): (0.5, 90)}
    won = {pair: ((share, 1 - share), games) for pair, (share, games) in won.items()}
    expected = {
        2: [(b, 594.1056209630862, 101.88335849526514), (a, 503.53555342230726, 98.59947690139462)],
        4: [(b, 641.6712425353468, 104.36911902652804), (a, 553.377260703272, 101.16281249889289)],
    }
    for n, ratings in expected.items():
        for rating, (name, *numbers) in zip(rate_set(names, won, n), ratings, strict=False):
            assert rating.agent == name
            assert [rating.rating, rating.uncertainty] == pytest.approx(numbers, rel=0.02)


# --- the arena ---


def test_more_agents_and_games_reuse_finished_jobs(tmp_path, played):
    output, whole = tmp_path / "arena.json", tmp_path / "whole.json"
    names = ["random", "greedy", "greedy~0.5", "greedy~0.2"]
    mixed(output, *names[:3], games=51)
    mixed(output, *names)
    assert len(played) == len(set(played)) == 4 * 2
    mixed(output, *names, mixed=False, games=3)  # pairs in the same file
    mixed(output, *names)
    assert len(played) == 4 * 2 + 12
    mixed(whole, *names)
    assert output.read_bytes() == whole.read_bytes()


def test_forfeited_games_are_the_last_place(tmp_path, capsys):
    results = mixed(tmp_path / "arena.json", "random", "own_agents:quitting_all", "greedy", games=6)
    quitter = results[-1]
    assert (quitter.agent, quitter.forfeits, quitter.mean_place) == ("own_agents:quitting_all", 6, 3.0)
    assert "own_agents:quitting_all gave up 6 of 6 games" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "changes", "message"),
    [
        (NAMES, {"num_players": 2}, r"more than two players against each other .*, not Mars\(\)"),
        (NAMES, {"options": {"cooperative": "true"}}, r"more than two players against each other"),
        (NAMES[:2], {}, "mixed games of 3 players need at least 3 agents, not 2"),
    ],
)
def test_what_cannot_be_mixed_is_refused_before_any_game(tmp_path, played, names, changes, message):
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        mixed(tmp_path / "arena.json", *names, **changes)
    assert not played
    assert not list(tmp_path.iterdir())


def test_agents_and_seats_must_fit():
    game = Mars(num_players=3)
    agents = [load_agent(name, game) for name in NAMES]
    for names in (NAMES, ["random", "greedy", "random"]):
        with pytest.raises(ValueError, match="3 agents with different names are needed"):
            meet_mixed(game, names, agents[: len(names)], 3)
    with pytest.raises(ValueError, match=r"not Cacti\(\)"):
        meet_mixed(Cacti(), NAMES[:2], agents[:2], 3)


def test_an_agent_that_fails_in_mixed_games_is_named():
    game = make("mars", num_players=3)
    with pytest.raises(
        RuntimeError, match=r"own_agents:raising \(against random and greedy\) failed: ZeroDiv"
    ):
        arena.mixed_round(game, ["random", "own_agents:raising", "greedy"], 3)
