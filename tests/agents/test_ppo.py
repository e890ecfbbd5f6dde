"""PPO by self-play: which reward belongs to which decision, whose decisions are learned from, and what a run leaves."""

import numpy as np
import pytest
import torch
from garden_agents import NetworkAgent
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import save_network
from garden_agents.training import credit, ppo
from garden_agents.training import ppo_update as update
from garden_agents.training.gpu.self_play import TensorSelfPlay
from garden_agents.training.pool import OpponentPool
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.torch_network import TorchNetwork
from processes import garden_here
from small_runs import SMALL, parameters_of, rows_of, score_of, tiny_ppo
from variants import shortened

from garden_core import kernels, list_games, make
from mars_env import Mars


def self_play(*games, seed=0, kind=SelfPlay, **changes):
    arguments = tiny_ppo(**changes)
    seats = max(game.num_players for game in games)
    network = TorchNetwork(new_network(games[0], SMALL, target_of(games[0]), num_players=seats))
    pool = OpponentPool((0.5, 0.5, 0.0), 0)
    return kind(games, network, pool, arguments, seed)


# --- credit ---


@pytest.mark.parametrize(
    ("name", "numbers"),
    [(name, [n]) for name in list_games() for n in (2, 3) if n <= make(name).max_players]
    + [("mars", [2, 5, 3])],
)
@pytest.mark.parametrize("kind", [SelfPlay, TensorSelfPlay])
@torch.no_grad()
def test_a_decision_receives_the_rewards_up_to_its_seats_next_one(kind, name, numbers):
    """Compared with a slow count of the same games; also in variants with other numbers of players."""
    variants = [shortened(name, 60, num_players=n, reward="margin") for n in numbers]
    games, most = self_play(*variants, kind=kind, rollout=150), max(numbers)
    batch, decide, step = games.batch, games._decide, games.batch.step
    playing, finished, numbers = [[] for _ in range(batch.num_envs)], [], {}

    def noted_decide(rows, with_greedy):
        numbers.update(zip(rows.tolist(), range(games.count, games.count + len(rows)), strict=True))
        return decide(rows, with_greedy)

    def noted_step(actions):
        seats, playing_now = batch.current_player.copy(), batch.variant.copy()
        assert all(games.decisions.actions[number] == actions[row] for row, number in numbers.items())
        step(actions)
        for row, steps in enumerate(playing):
            steps.append((numbers.pop(row, None), seats[row], batch.rewards[row].copy()))
            if batch.terminated[row] or batch.truncated[row]:
                game = variants[playing_now[row]]
                final = np.zeros(game.max_players, np.int32)
                kernels.standings(batch.last_states[row], game.params[0], final)
                first = final[: game.num_players] == final[: game.num_players].max()
                finished.append((steps, first / first.sum(), credit.OVER))
                playing[row] = []

    games._decide, batch.step = noted_decide, noted_step
    games.play(with_greedy=False)
    assert games.count > 500
    assert len(finished) > 10
    d = games.decisions
    still = [np.zeros(variants[variant].num_players) for variant in batch.variant]
    going_on = [(*each, credit.OPEN) for each in zip(playing, still, strict=True)]
    for steps, first, end in [*finished, *going_on]:
        n = len(first)
        decisions = [(i, number, seat) for i, (number, seat, _) in enumerate(steps) if number is not None]
        for k, (i, number, seat) in enumerate(decisions):
            later = decisions[k + 1 :]
            own = [each for each in later if each[2] == seat]
            for following, links, rewards in ((own, d.next, d.rewards), (later, d.after, d.paid)):
                until, link, _ = following[0] if following else (None, end, seat)
                received = sum(step_rewards[:n] for *_, step_rewards in steps[i:until])
                expected = np.zeros((2, most))
                expected[:, :n] = np.roll([first * (not following), received], -seat, 1)
                assert links[number] == link
                assert d.seats[number] == n
                np.testing.assert_allclose(rewards[number], expected.ravel(), atol=1e-5)


def with_absent_seats(columns):
    """Columns of three seats as in a training with games of five: those of further seats are 0."""
    return np.pad(columns.reshape(len(columns), 2, 3), [(0, 0), (0, 0), (0, 2)]).reshape(len(columns), 10)


def test_value_targets_are_lambda_returns_over_all_seats():
    """One game of three seats ends, one goes on, and one decision already has its target."""
    rng, lambda_ = np.random.default_rng(0), 0.8
    games, size = [np.arange(0, 20, 2), np.arange(1, 20, 2)], 21
    after = np.full(size, credit.TARGET_FINAL)
    for own, end in zip(games, (credit.OVER, credit.OPEN), strict=True):
        after[own[:-1]], after[own[-1]] = own[1:], end
    deciders = rng.integers(3, size=size)
    values, paid = rng.normal(size=(2, size, 6)).astype(np.float32)
    targets = np.full((size, 6), 7.0, np.float32)
    seats = np.full(size, 3)
    credit.value_targets(after, deciders, seats, values, paid, lambda_, targets)
    wider = [with_absent_seats(array) for array in (values, paid, np.full((size, 6), 7.0, np.float32))]
    credit.value_targets(after, deciders, seats, *wider[:2], lambda_, wider[2])
    np.testing.assert_array_equal(wider[2], with_absent_seats(targets))
    by_seat = [np.roll(array.reshape(size, 2, 3), 0, 2) for array in (values, paid, targets)]
    for array in by_seat:
        for i in range(size):
            array[i] = np.roll(array[i], deciders[i], 1)
    values, paid, computed = by_seat
    assert (computed[20] == 7).all()
    for (*own, last), at_the_end in zip(games, (paid, values), strict=True):
        expected = at_the_end[last]
        np.testing.assert_allclose(computed[last], expected, atol=1e-5)
        for decision, following in zip(own[::-1], [last, *own[:0:-1]], strict=True):
            expected = paid[decision] + (1 - lambda_) * values[following] + lambda_ * expected
            np.testing.assert_allclose(computed[decision], expected, atol=1e-5)


def test_advantages_follow_their_definition():
    rng = np.random.default_rng(0)
    size = 40
    following = np.full(size, credit.OPEN)
    for seat in range(3):  # three trajectories in turn: one that goes on, two that end
        own = np.arange(seat, size, 3)
        following[own[:-1]] = own[1:]
        following[own[-1]] = credit.OPEN if seat == 0 else credit.OVER
    values, rewards = rng.normal(size=(2, size, 2)).astype(np.float32)
    computed = np.zeros((size, 2), np.float32)
    credit.advantages(following, values, rewards, 0.9, computed)
    expected = np.zeros((size + 1, 2))
    values = np.append(values, [[0, 0]], 0)  # of what follows a game
    for i in reversed(range(size)):
        if following[i] != credit.OPEN:
            after = following[i] if following[i] >= 0 else size
            expected[i] = rewards[i] + values[after] - values[i] + 0.9 * expected[after]
    np.testing.assert_allclose(computed, expected[:size], atol=1e-5)


@pytest.mark.parametrize("columns", [1, 4, 6])
@pytest.mark.parametrize(("imitation", "entropy"), [(0.0, 0.0), (0.0, 0.05), (0.7, 0.05), (1.0, 0.0)])
def test_compiled_losses_agree_with_torch(columns, imitation, entropy):
    """And so do their derivatives."""
    rng, rows, n = np.random.default_rng(columns), 50, columns // 2
    masks = (rng.random((rows, 9)) < 0.6).astype(np.int8)
    masks[:, 4] = 1
    targets = rng.normal(size=(rows, columns)).astype(np.float32)
    targets[:, :n] = rng.dirichlet(np.ones(n), rows) if n else 0
    legal = [rng.choice(np.flatnonzero(mask), 2) for mask in masks]
    about = update.Minibatch(
        masks,
        np.array([first for first, _ in legal]),
        rng.normal(-1.7, 0.3, rows).astype(np.float32),
        np.array([second for _, second in legal]),
        rng.normal(size=rows).astype(np.float32),
        targets,
        (rng.random(rows) < 0.7).astype(np.float32),
        np.full(rows, n),
    )
    schedule = update.Schedule(0.0, entropy, imitation, 0.0)
    logits = torch.from_numpy(rng.normal(0, 0.3, masks.shape).astype(np.float32)).requires_grad_()
    raw = torch.from_numpy(rng.normal(size=(rows, columns)).astype(np.float32)).requires_grad_()
    total, means = update.torch_loss(logits, raw, update.Minibatch(*map(torch.from_numpy, about)), schedule)
    total.backward()
    sums, d_logits, d_raw = np.zeros(5), np.empty(masks.shape, np.float32), np.empty_like(targets)
    seen = [tensor.detach().numpy() for tensor in (logits, raw)]
    update.compiled_loss(about, schedule, rows)(np.arange(rows), *seen, d_logits, d_raw, sums)
    np.testing.assert_allclose(sums / rows, means, rtol=1e-4, atol=1e-5)
    assert 0.1 < means[4] < 0.95  # some are clipped
    np.testing.assert_allclose(d_logits, logits.grad, atol=1e-6)
    np.testing.assert_allclose(d_raw, raw.grad, atol=1e-6)
    if columns == 6:  # raw values of seats that a game lacks change nothing
        wider, same = with_absent_seats(seen[1]), np.zeros(5)
        wider[with_absent_seats(np.ones_like(targets)) == 0] = 3
        d_wider = np.empty_like(wider)
        about = about._replace(targets=with_absent_seats(targets))
        update.compiled_loss(about, schedule, rows)(np.arange(rows), seen[0], wider, d_logits, d_wider, same)
        np.testing.assert_array_equal(d_wider, with_absent_seats(d_raw))
        np.testing.assert_array_equal(same, sums)


def test_open_decisions_are_carried_over():
    games = self_play(Mars(reward="margin"), rollout=16)
    games.play(with_greedy=False)
    d, features = games.decisions, games.inputs[0]
    still_open = np.flatnonzero(d.next[: games.count] == credit.OPEN)
    assert len(still_open) == 32  # of each game the last decision of each seat
    games.advantages()
    kept = [array[still_open].copy() for array in (d.actions, d.rewards, features)]
    games._keep_open_decisions()
    assert games.count == 32
    for computed, expected in zip((d.actions, d.rewards, features), kept, strict=True):
        np.testing.assert_array_equal(computed[:32], expected)


# --- who plays ---


def test_against_the_pool_one_seat_learns():
    game = Mars(num_players=3, reward="margin", max_decisions=60)
    games = self_play(game, pool_share=1.0, rollout=120)
    assert ((games.opponents < 0).sum(1) == 1).all()
    games.play(with_greedy=False)
    assert games.count < 0.5 * 16 * 120
    assert games.pool.met[:2].all()
    share = self_play(game, pool_share=0.5, envs=400)
    alone = (share.opponents < 0).all(1).mean()
    assert 0.4 < alone < 0.6
    share.play(with_greedy=False)
    counted = share.decisions.counted[: share.count]
    assert set(counted) == {0, 1}  # values learn from the games of the network against itself
    assert 0.6 < counted.mean() < 0.9


def test_forced_decisions_are_not_learned_from():
    games = self_play(Mars(reward="margin"), rollout=100)
    games.play(with_greedy=True)
    d = games.decisions
    assert (d.masks[: games.count].sum(1) > 1).all()
    chosen = np.arange(games.count)
    assert d.masks[chosen, d.actions[chosen]].all()
    assert d.masks[chosen, d.greedy[chosen]].all()


# --- runs ---


def test_a_run_measures_what_it_learns_and_is_resumed(tmp_path):
    folder = ppo.train(tiny_ppo(run=tmp_path / "run"))
    last = rows_of(folder / "metrics.csv")[-1]
    assert float(last["decisions"]) >= 1000
    assert float(last["first_place_share"]) == 1
    assert {"policy_loss", "value_loss", "entropy", "approx_kl", "imitation"} <= last.keys()
    assert NetworkAgent.load(folder, Mars()).value_target == "seats"
    ppo.train(ppo.Arguments(resume=folder, steps=2000))
    decisions = [float(row["decisions"]) for row in rows_of(folder / "metrics.csv")]
    assert decisions == sorted(decisions)
    assert decisions[-1] >= 2000
    with pytest.raises(ValueError, match=r"a resumed run keeps its entropy, here 0\.01: leave it out"):
        ppo.train(ppo.Arguments(resume=folder, steps=3000, entropy=0.5))


def test_an_argument_with_its_default_is_refused_if_the_run_has_another_value(tmp_path):
    """Only the command line can distinguish an explicit default from a missing argument."""
    folder = ppo.train(tiny_ppo(run=tmp_path / "run", entropy=0.5))
    for given, message in [
        (0.01, "error: a resumed run keeps its entropy, here 0.5: leave it out"),
        (0.5, None),
    ]:
        assert garden_here(f"train --resume {folder} --steps 1000", "--entropy", given)[1] == message


def test_rollouts_may_be_too_short_to_learn_from(tmp_path):
    """With one decision in one game, nothing is known of it before the seat's next one."""
    folder = ppo.train(tiny_ppo(run=tmp_path / "run", envs=1, rollout=1, steps=3, final_games=0))
    assert float(rows_of(folder / "metrics.csv")[-1]["decisions"]) >= 3


@pytest.mark.parametrize("name", ["mars", "cacti"])
def test_torchs_own_operations_train_the_same_network(name, tmp_path, monkeypatch, by_torch):
    """On another device than the CPU training goes by them; here it learns from the same games."""

    def trained(run):
        few = {"game": name, "steps": 300, "envs": 8, "final_games": 0, "pool_share": 0.3}
        folder = ppo.train(tiny_ppo(run=tmp_path / run, **few))
        return parameters_of(folder, name)

    own = trained("own")
    by_torch()
    monkeypatch.setattr(ppo, "TensorSelfPlay", SelfPlay)
    np.testing.assert_allclose(own, trained("torch"), atol=2e-3)
    assert not np.allclose(own, new_network(make(name), SMALL, "seats", 0).parameters, atol=2e-3)


def test_separate_values_are_not_read_from_other_layers(tmp_path):
    game, separate = make("cacti"), Architecture("flat", hidden=8, separate_values=True)
    path = tmp_path / "first.safetensors"
    save_network(path, game, new_network(game, separate, "seats"), separate, "seats", {})
    with pytest.raises(
        ValueError, match=r"another architecture: to start from it, add --channels 32 --separate-values"
    ):
        ppo.train(tiny_ppo(game="cacti", network="flat", hidden=8, start=path, run=tmp_path / "run"))


def test_a_team_plays_against_no_pool(tmp_path):
    with pytest.raises(SystemExit, match="there are no opponents for a pool: leave out pool_share"):
        ppo.train(tiny_ppo(options={"cooperative": "true"}, pool_share=0.5, run=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_training_learns_to_beat_greedy(tmp_path):
    folder = ppo.train(ppo.Arguments("cacti", run=tmp_path / "run", steps=600_000, final_games=400))
    assert score_of(folder)["interval"][0] > 330  # which wins 60 % against greedy
