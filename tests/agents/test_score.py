"""The benchmark's scale: ratings, the frozen fields, and scores."""

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from garden_agents import load_agent, score
from garden_agents.evaluation.positions import NUMBER, actions_of, states_of
from garden_agents.evaluation.ratings import Met, chances, rate_against
from garden_agents.evaluation.score import Direct, opponents_of, placed
from garden_agents.evaluation.score_command import Arguments, main
from garden_agents.evaluation.tasks import conditions, field_of, task_of, task_of_game, tasks
from garden_agents.identity import identity_of
from garden_agents.matches.pairs import Job, play_job
from garden_agents.networks.variants import with_card_set
from garden_agents.random_moves import WithRandomMoves
from garden_agents.training.measures import OPPONENTS, measure_of
from playing import dealt

from garden_core import Batch, GreedyPolicy, RandomPolicy, make


@pytest.mark.parametrize("n", [2, 3, 4])
def test_chances_are_those_of_plackett_and_luce(n):
    """In their model, the best of players wins whose strengths have Gumbel's errors."""
    rng = np.random.default_rng(0)
    (equal, ahead), (slope, _) = chances(np.array([0.0, 100.0]), n)
    assert equal == pytest.approx(1 / n)
    assert slope == pytest.approx((chances(np.array([0.1]), n)[0][0] - equal) / 0.1, rel=1e-3)
    drawn = rng.gumbel(size=(400_000, n)) * 400 / math.log(10)
    drawn[:, 0] += 100
    assert ahead == pytest.approx((drawn.argmax(1) == 0).mean(), abs=0.004)


def test_a_rating_against_known_agents_has_an_interval():
    (won,), _ = chances(np.array([100.0]), 2)
    best, low, high = rate_against([Met(0, float(won), 500), Met(200, 1 - float(won), 500)], 2)
    assert best == 100
    assert 15 < best - low < 30
    assert high - best == pytest.approx(best - low, abs=2)
    assert rate_against([Met(0, 1.0, 10)], 2)[2] == math.inf
    assert rate_against([Met(0, 0.0, 10)], 2)[1] == -math.inf


def test_a_share_of_moves_is_random():
    batch = dealt("mars", 2000, 3)
    greedy = GreedyPolicy(5)(batch, batch.all_rows)
    weaker = WithRandomMoves(GreedyPolicy(5), 0.3, 5)(batch, batch.all_rows)
    legal = batch.action_mask.sum(1)
    same = 0.7 + 0.3 / legal.mean()
    assert np.mean(weaker == greedy) == pytest.approx(same, abs=0.05)
    assert (WithRandomMoves(GreedyPolicy(5), 0.0, 5)(batch, batch.all_rows) == greedy).all()
    drawn = WithRandomMoves(GreedyPolicy(5), 1.0, 5)(batch, batch.all_rows)
    assert (drawn == RandomPolicy(5)(batch, batch.all_rows)).all()


@pytest.mark.parametrize("name", ["greedy~0.3", "mcts:5~1", "cacti-2:main~0.05", "cacti-2:main-mcts:4~0.5"])
def test_weaker_players_by_name(name):
    game = make("cacti")
    batch = dealt(game, 5, 3)
    agent, share = load_agent(name, game, 4), float(name.partition("~")[2])
    assert agent.share == share
    assert not identity_of(name, game).unseen, "its games are kept"
    first = agent(batch, batch.all_rows)
    assert (load_agent(name, game, 4)(batch, batch.all_rows) == first).all()
    seeds = np.arange(5, dtype=np.uint64)
    agent.reseed(batch.all_rows, seeds)
    again = agent(batch, batch.all_rows)
    agent.reseed(batch.all_rows, seeds)
    assert (agent(batch, batch.all_rows) == again).all()


@pytest.mark.parametrize("name", tasks())
def test_a_field_is_of_its_task(name):
    task, field = task_of(name), field_of(name)
    assert {member.agent for member in field.members} == {*task.members}
    ratings = [member.rating for member in field.members]
    assert (field.members[0].agent, field.members[0].rating) == ("random", 0)
    assert ratings == sorted(ratings)
    assert len(task.members) <= 20
    assert not [agent for agent in task.members if agent.startswith(("network", "ppo"))], (
        "shipped networks change"
    )
    assert field.game == json.loads(json.dumps(conditions(task.make(), task.card_sets)))


@pytest.mark.parametrize("name", tasks())
def test_positions_offer_choices(name):
    batch = Batch(task_of(name).make(), NUMBER, autoreset=False)
    batch.set_states(batch.all_rows, states_of(name))
    assert (batch.action_mask.sum(1) > 1).all()
    lengths = batch.states["decisions"]
    assert np.unique(lengths).size > 20


@pytest.mark.thorough
@pytest.mark.parametrize("name", tasks())
def test_members_play_as_they_did_when_they_were_rated(name):
    """Of the 1,000 actions a few may differ: the last digits of a network's output depend on the processor and on BLAS."""
    for member in field_of(name).members:
        if not member.agent.endswith("mcts:100"):
            did = np.array(actions_of(member.agent, name))
            assert np.mean(did == np.array(member.actions)) >= 0.98, member.agent


@pytest.mark.parametrize("task", ["cacti-2", "cacti-unseen"])
def test_a_score_is_the_same_again_interrupted_and_in_two_processes(task, tmp_path):
    whole = score("greedy~0.1", task, games=300, seed=3)
    assert whole == score("greedy~0.1", task, games=300, seed=3)

    kept = tmp_path / "games"

    def stop(games):
        if len(kept.read_text("utf-8").splitlines()) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score("greedy~0.1", task, games=300, seed=3, keep=kept, on_finished=stop)
    assert score("greedy~0.1", task, games=300, seed=3, keep=kept, processes=2) == whole
    assert score("greedy~0.1", task, games=300, seed=4) != whole


def test_games_with_unseen_cards_have_other_cards_in_each_part():
    """Five deals of a job have the same cards; agents with names and policies play the same games."""
    game, job, cards = make("cacti", cards_shown="values"), Job(("greedy", "mcts:5"), 1, 30), range(7, 10)
    played = play_job(game, job, 5, cards=cards)
    for i, seed in enumerate((9, 7, 8)):  # block 1 begins with part 5
        part = play_job(with_card_set(game, seed), Job(job.agents, 5 + i, 10), 5)
        assert played.scores[10 * i : 10 * i + 10] == part.scores
    with pytest.raises(ValueError, match="at most 50 games"):  # the next block would repeat the others
        play_job(game, job._replace(games=60), 5, cards=cards)
    direct = Direct(game, load_agent("greedy", game), 5, cards=cards)
    assert [*direct.play([job], 1)] == [job]
    assert len({*map(str, direct.done[job].scores)}) > 10


def test_a_training_with_generated_cards_is_rated_with_unseen_ones():
    game = make("cacti", cards_shown="values", reward="margin")
    for variants in ([with_card_set(game, 0)], [with_card_set(game, seed) for seed in range(2)]):
        assert measure_of(variants, 40, 0, (), 1, generated=True).field.task == "cacti-unseen"
    assert measure_of([game], 40, 0, (), 1).columns == OPPONENTS  # other cards are not for it
    assert task_of_game(make("cacti", cards_shown="values", memory="history")) is None


def test_a_member_is_scored_as_if_it_were_unknown():
    found = score("greedy", "cacti-2", games=1500, precision=0)
    assert "greedy" not in [each.agent for each in found.against]
    (greedy,) = [member.rating for member in field_of("cacti-2").members if member.agent == "greedy"]
    assert found.interval[0] < greedy < found.interval[1]
    assert 1400 < found.games <= 1500


def test_games_end_when_the_rating_is_known():
    found = score("greedy", "cacti-2", precision=60)
    assert found.interval[1] - found.interval[0] <= 120
    assert found.games < 3000


def test_an_agent_that_one_number_does_not_describe():
    """Where a member is rated 400 points too high, the agent does better against it than its rating says."""
    field = field_of("cacti-2")
    members = tuple(
        msgspec.structs.replace(member, rating=member.rating + 400 * (member.agent == "greedy"))
        for member in field.members
    )
    wrong = msgspec.structs.replace(field, members=tuple(sorted(members, key=lambda member: member.rating)))
    found = score("greedy~0.2", "cacti-2", games=1000, field=wrong)
    assert max(found.surprises, key=lambda each: each.surprise).agent == "greedy"


def test_the_command_writes_a_file_and_a_picture(tmp_path, capsys):
    (found,) = main(Arguments("random", ("cacti-2",), games=200, output=tmp_path, processes=1))
    content = json.loads((tmp_path / "cacti-2-random.json").read_text("utf-8"))
    assert (content["rating"], content["task"], content["version"]) == (found.rating, "cacti-2", 1)
    assert (tmp_path / "cacti-2-random.png").stat().st_size > 10_000
    assert "random in cacti-2, version 1: rating" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="there is no task chess"):
        main(Arguments("random", ("chess",), output=tmp_path))
    with pytest.raises(SystemExit, match="can play no task; botanicus-unseen: unknown agent"):
        main(Arguments("unknown", output=tmp_path))


def test_a_field_of_another_game_is_refused(monkeypatch):
    task = task_of("cacti-2")
    other = {**tasks(), "cacti-2": msgspec.structs.replace(task, version=2)}
    monkeypatch.setattr("garden_agents.evaluation.tasks.tasks", lambda: other)
    field_of.cache_clear()
    try:
        with pytest.raises(ValueError, match="must be rated again"):
            field_of("cacti-2")
    finally:
        field_of.cache_clear()


# --- the task of a game ---


def test_a_game_with_another_reward_has_the_same_task_and_one_with_other_options_none():
    assert task_of_game(make("cacti", reward="margin")) == "cacti-2"
    assert task_of_game(make("mars")) == "mars-2"
    assert task_of_game(make("mars", special_actions=True)) is None
    assert task_of_game(make("mars", num_players=5)) is None

    class Other(type(make("cacti"))):
        """Another game of this name."""

    assert task_of_game(Other()) is None


# --- opponents, and wrong arguments ---


def test_an_agent_does_not_play_against_itself_under_another_name():
    field, game = field_of("cacti-2"), make("cacti")
    everyone = [member.agent for member in field.members]

    def left_out(agent):
        return [name for name in everyone if name not in opponents_of(agent, field, game)]

    assert left_out("network") == ["cacti-2:main"]
    assert left_out("network-mcts:100") == ["cacti-2:main-mcts:100"]
    assert left_out("network-mcts:99") == left_out("network~0.1") == left_out("my_agent:make") == []
    assert left_out("greedy") == ["greedy"]


def test_the_rating_of_an_agent_that_loses_all_games_is_a_bound():
    field = field_of("cacti-2")
    found = placed("worst", field, {member.agent: ("00" * 20,) for member in field.members}, 2)
    assert found.interval[0] == -math.inf
    assert found.rating == found.interval[1] < 0
    assert found.plain["interval"][0] is None
    best = placed("best", field, {member.agent: ("11" * 20,) for member in field.members}, 2)
    assert best.rating == best.interval[0] > field.members[-1].rating
    assert best.plain["interval"][1] is None


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        ("greedy", {"precision": -1}),
        (GreedyPolicy(), {"processes": 2}),
        (GreedyPolicy(), {"keep": Path("games.jsonl")}),
    ],
)
def test_arguments_without_effect_are_refused(agent, settings):
    with pytest.raises(ValueError, match=r"precision must be|for an agent with a name"):
        score(agent, "cacti-2", games=20, **settings)
