"""Sequential comparisons: bounds that are valid after any number of games, processes, interruptions, files, shared deals."""

import json
import math

import numpy as np
import pytest
from garden_agents import load_agent, meet
from garden_agents.evaluation import compare
from garden_agents.evaluation.sequential import Look, SequentialTest, elo_of, expected_share
from garden_agents.matches import pairs
from garden_agents.matches.meet import alone_shares, interval_of, wilson
from garden_agents.matches.pairs import Job
from processes import garden_here

from garden_core import make

QUICK = "compare cacti random greedy --elo -190 -130 --seed 4 --processes 1"


# --- the test ---


def test_shares_and_leads():
    for n in (2, 3, 5):
        assert expected_share(0, n) == pytest.approx(1 / n)
        for lead in (-150, 0.5, 400):
            assert elo_of(expected_share(lead, n), n) == pytest.approx(lead)
    assert expected_share(400, 2) == pytest.approx(10 / 11)
    assert (elo_of(0, 2), elo_of(1, 3)) == (-math.inf, math.inf)


def plain_lower_bound(means, effect, error):
    """The largest mean on a grid against which the bets of `SequentialTest` gained enough, one deal after another."""
    best = 0.0
    for mean in np.linspace(0, 1, 2001)[1:]:
        capital, total, spread = 1.0, 0.5, 0.25
        for k, x in enumerate(means, 1):
            bet = min(effect / (spread / k + effect**2), 0.75 / mean)
            capital *= 1 + bet * (x - mean)
            spread += (x - total / k) ** 2
            total += x
        if capital >= 1 / error:
            best = mean
    return best


@pytest.mark.parametrize(
    ("num_players", "rate", "ties"), [(2, 0.7, 0), (4, 0.05, 0), (2, 1.0, 0), (2, 0.6, 0.4)]
)
def test_bounds_are_those_of_plain_bets(num_players, rate, ties):
    drawn = np.random.default_rng(1).random((60, num_players))
    shares = np.where(drawn > 1 - ties, 0.5, drawn < rate)
    test = SequentialTest(num_players, (0, 100), (0.05, 0.2))
    for part in (shares[:13], shares[13:]):
        test.add(part)
    effect = test.rates[1] - test.rates[0]
    looks = [shares[:13].mean(1), shares.mean(1)]
    lower = [plain_lower_bound(means, effect, 0.05) for means in looks]
    upper = [1 - plain_lower_bound(1 - means, effect, 0.2) for means in looks]
    for k, look in enumerate(test.looks):
        assert look.games == looks[k].size * num_players
        assert look.rate == pytest.approx(looks[k].mean())
        assert look.lower == pytest.approx(max(lower[: k + 1]), abs=6e-4)
        assert look.upper == pytest.approx(min(upper[: k + 1]), abs=6e-4)


def test_decisions():
    certain, even = np.ones((20, 2)), np.tile([1.0, 0.0], (100, 1))
    for shares, decision in ((certain, "above"), (1 - certain, "below"), (even[:2], "open")):
        test = SequentialTest(2, (0, 200))
        assert test.decision == "open"
        test.add(shares)
        assert test.decision == decision
    test.add(certain)
    test.add(even)
    assert test.decision == "above"
    lower, upper = ([getattr(look, name) for look in test.looks] for name in ("lower", "upper"))
    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)


# --- shared deals ---


def test_an_agent_against_itself_wins_half_of_every_deal():
    game = make("cacti")
    agents = [load_agent("network", game) for _ in range(2)]
    result = meet(game, ("a", "b"), agents, 200)
    assert result.win_rate == 0.5
    assert result.interval[1] - result.interval[0] < 0.03  # narrow, as deals are shared


@pytest.mark.parametrize("correlation", [-0.5, 0, 0.8, 1])
def test_intervals_cover_the_win_rate(correlation):
    rng, covered = np.random.default_rng(3), []
    for _ in range(1000):
        first, second = rng.normal(size=(2, 40))
        second = correlation * first + math.sqrt(1 - correlation**2) * second
        low, high = interval_of((np.stack([first, second], 1) < 0.5244).astype(float))  # 70 %
        covered.append(low <= 0.7 <= high)
    assert 0.92 <= np.mean(covered) <= 0.98
    assert interval_of(np.ones((10, 2))) == wilson(10, 10)


# --- the command ---


def written(folder):
    report = json.loads((folder / "c.json").read_text("utf-8"))
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")
    return report


def test_the_result_does_not_depend_on_processes(tmp_path):
    printed, message = garden_here(QUICK, "--output", tmp_path / "a" / "c.json")
    assert message is None
    assert "random is more than 130 Elo weaker than greedy" in printed
    report = written(tmp_path / "a")
    assert report["decision"] == "below"
    last = report["looks"][-1]
    assert report["result"]["games"] == last["games"] == 50 * len(report["looks"])
    assert report["result"]["interval"] == [last["lower"], last["upper"]]
    assert report["command"].startswith(
        "garden compare cacti random greedy --elo -190.0 -130.0 --errors 0.05 0.1"
    )
    again = garden_here(QUICK, "--output", tmp_path / "b" / "c.json", "--processes", 2)
    assert again == (printed, None)
    for file in ("c.json", "c.png"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_an_interrupted_comparison_prints_its_bounds_and_goes_on(tmp_path, played, monkeypatch):
    whole = garden_here(QUICK, "--output", tmp_path / "a" / "c.json")
    blocks = len(played)
    assert blocks >= 3
    for after in (0, 2):
        played.clear()
        with monkeypatch.context() as patch:
            patch.setattr(compare.SequentialTest, "add", interrupted_after(after))
            printed, message = garden_here(QUICK, "--output", tmp_path / "b" / "c.json")
        assert message.startswith("stopped; the same command continues from")
        assert ("of 100 games" in printed) == (tmp_path / "b" / "c.json").exists() == bool(after)
    assert written(tmp_path / "b")["decision"] == "open"
    played.clear()
    assert garden_here(QUICK, "--output", tmp_path / "b" / "c.json") == whole
    assert len(played) == blocks - 3  # finished blocks were kept
    assert written(tmp_path / "a") == written(tmp_path / "b")


def interrupted_after(looks):
    def add(self, shares, add=compare.SequentialTest.add):
        if len(self.looks) == looks:
            raise KeyboardInterrupt
        return add(self, shares)

    return add


def test_an_open_comparison_goes_on_with_more_games(tmp_path, played):
    output = "--output", tmp_path / "c.json"
    printed, _ = garden_here(
        "compare cacti network network-mcts:2 --elo -1 1 --processes 1 --games 99", *output
    )
    assert "open: more games are needed to tell a lead of -1 from one of 1 Elo" in printed
    assert len(played) == 2
    garden_here("compare cacti network network-mcts:2 --elo -1 1 --processes 1 --games 200", *output)
    assert [job.block for job in played] == [0, 1, 2, 3]


def test_a_comparison_ends_after_its_minutes(played):
    printed, _ = garden_here("compare cacti network network-mcts:2 --elo -1 1 --minutes 1e-9 --processes 1")
    assert "open: more games are needed" in printed
    assert len(played) == 1


@pytest.mark.parametrize(
    ("elo", "lower", "upper", "answer"),
    [
        ((0, 20), 0.51, 0.7, "a is stronger than b"),
        ((0, 20), 0.45, 0.52, "a is not 20 Elo stronger than b"),
        ((0, 20), 0.4, 0.49, "a is weaker than b"),
        ((10, 30), 0.55, 0.7, "a is more than 10 Elo stronger than b"),
        ((-20, 0), 0.48, 0.7, "a is less than 20 Elo weaker than b"),
        ((0, 20), 0.45, 0.6, "open: more games are needed to tell a lead of 0 from one of 20 Elo"),
        ((-20, 20), 0.48, 0.7, "to choose one of them, take a: it is less than 20 Elo weaker, if at all"),
        ((-20, 30), 0.4, 0.51, "to choose one of them, take b: it is less than 30 Elo weaker, if at all"),
    ],
)
def test_answers(elo, lower, upper, answer):
    test = SequentialTest(2, elo)
    test.looks.append(Look(600, 0.5, lower, upper))
    result = compare.Result("a", "b", 600, 0.5, (0, 1), 0, 0, [0.5, 0.5])
    assert compare.in_words(result, test).splitlines()[-1] == answer


def test_games_that_were_given_up_are_counted():
    printed, _ = garden_here("compare cacti own_agents:quitting random --processes 1 --games 16 --elo -1 1")
    assert "of 50 games" in printed  # whole blocks
    assert "quitting gave up 13 of these games, which it lost" in printed


def test_files_of_results_have_one_suffix(tmp_path):
    """With any suffix, the files next to x.2 and x.4 would be the same."""
    _, message = garden_here("arena cacti random greedy --output", tmp_path / "x.2")
    assert message == "error: --output is a file .json, not 'x.2'"


def test_results_of_an_arena_are_not_overwritten(tmp_path):
    output = tmp_path / "x.json"
    for words, others in (("arena", "compare"), ("compare", "arena")):
        output.unlink(missing_ok=True)
        _, message = garden_here(f"{words} cacti random greedy --processes 1 --games 50 --output", output)
        assert message is None
        before = output.read_bytes()
        _, message = garden_here(f"{others} cacti random greedy --processes 1 --games 50 --output", output)
        assert message == f"error: {output} has no results of garden {others}; choose another --output"
        assert output.read_bytes() == before
        more = {"arena": "random greedy mcts:2", "compare": "greedy random"}[words]
        _, message = garden_here(f"{words} cacti {more} --processes 1 --games 50 --output", output)
        assert message is None
        before = output.read_bytes()
        output.with_suffix(".games.jsonl").unlink()  # while it is there, all games are kept
        _, message = garden_here(f"{words} cacti random mcts:3 --processes 1 --games 50 --output", output)
        assert message is not None
        assert "has results of greedy" in message
        assert output.read_bytes() == before


def test_one_among_several(tmp_path):
    words = "compare mars greedy random --num-players 4 --elo 0 200 --processes 1 --output"
    printed, _ = garden_here(words, tmp_path / "c.json")
    assert "greedy is stronger than random" in printed
    assert "equals win 25%" in printed
    report = written(tmp_path)
    assert len(report["result"]["by_seat"]) == 4
    assert report["looks"][-1]["lower"] > 0.25


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--elo 20 0", "error: elo must be two different numbers"),
        ("--elo 0 1e-20", "error: elo must be two numbers that differ by more"),
        ("--output x.png", "error: x.png cannot be both the results' file and the picture"),
        ("--elo 0 nan", "error: elo must be two different numbers"),
        ("--errors 0 0.1", "error: errors must be two numbers above 0"),
        ("--errors 0.05 0.9", "and at most 0.5"),
        ("--games 0", "error: games must be at least 1"),
    ],
)
def test_wrong_arguments_play_no_game(words, message, played):
    _, error = garden_here(f"compare cacti random greedy {words}")
    assert message in error
    assert not played


def test_all_games_of_a_comparison_are_of_the_same_two_agents():
    """An agent that differs by its seed is one agent in all blocks; if each block made it anew, deals would not be independent."""
    game, pair = make("cacti"), ("own_agents:one_of_two", "greedy")
    jobs = [Job(pair, block, 50) for block in range(6)]
    rates = []
    for job in jobs:
        results = pairs.play_job(game, job, 2, same_agents=True)
        rates.append(alone_shares(np.array(results.places)).mean())
    assert len(set(rates)) > 3  # other deals and other random numbers
    assert max(rates) - min(rates) < 0.25
    anew = [alone_shares(np.array(pairs.play_job(game, job, 2).places)).mean() for job in jobs]
    assert max(anew) - min(anew) > 0.25


def test_games_of_agents_made_anew_do_not_count_for_a_comparison(tmp_path):
    keep = tmp_path / "c.games.jsonl"
    played = pairs.Games(make("cacti"), ("random", "greedy"), keep=keep)
    [*played.play([Job(("random", "greedy"), 0, 50)])]
    del played
    with pytest.raises(ValueError, match="holds other games: agents is None, not 'the same in all blocks'"):
        pairs.Games(make("cacti"), ("random", "greedy"), keep=keep, same_agents=True)
