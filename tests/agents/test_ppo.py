"""PPO by self-play: which reward belongs to which decision, whose decisions are learned from, and what a run leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import NetworkAgent, save_network
from garden_agents.training import credit, ppo
from garden_agents.training import ppo_update as update
from garden_agents.training.checkpoint import CHECKPOINT
from garden_agents.training.pool import OpponentPool
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.torch_network import TorchNetwork
from small_runs import LEFT, SHORT, SMALL, rows_of
from variants import shortened

from garden_core import list_games, make
from garden_core.jit import kernels
from mars_env import Mars


def tiny(**changes) -> ppo.Arguments:
    return ppo.Arguments(**(SHORT | {"steps": 1000, "minibatch": 128} | changes))


def self_play(game, seed=0, **changes) -> SelfPlay:
    arguments = tiny(**changes)
    network = TorchNetwork(new_network(game, SMALL, target_of(game)))
    pool = OpponentPool((0.5, 0.5, 0.0), 0)
    return SelfPlay(game, network, pool, arguments, seed)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> Path:
    """A run of a thousand decisions."""
    return ppo.train(tiny(run=tmp_path_factory.mktemp("runs") / "small"))


# --- credit ---


@pytest.mark.parametrize(
    ("name", "num_players"),
    [(name, n) for name in list_games() for n in (2, 3) if n <= make(name).max_players],
)
def test_every_decision_is_paid_until_its_seats_next_one(name, num_players):
    """Held against a slow account of the same games."""
    game = shortened(name, 60, num_players=num_players, reward="margin")
    games, n = self_play(game, rollout=150), num_players
    batch, account, open_entries, last_entries, ended = games.batch, [], {}, {}, 0
    step, decide, final = batch.step, games._decide, np.zeros(num_players, np.int32)

    def noted_decide(rows, with_greedy):
        first = games.count
        for i, row in enumerate(rows.tolist()):
            seat = int(batch.current_player[row])
            entry = {"paid": np.zeros(n), "first": np.zeros(n), "next": credit.OPEN, "after": credit.OPEN}
            if (row, seat) in open_entries:
                account[open_entries[row, seat]]["next"] = first + i
            if row in last_entries:
                account[last_entries[row]]["after"] = first + i
                account[last_entries[row]]["so_far"] = account[last_entries[row]]["paid"].copy()
            open_entries[row, seat] = last_entries[row] = first + i
            account.append(entry)
        return decide(rows, with_greedy)

    def noted_step(actions):
        nonlocal ended
        step(actions)
        for (row, seat), number in list(open_entries.items()):
            entry = account[number]
            entry["paid"] += np.roll(batch.rewards[row], -seat)
            if batch.terminated[row] or batch.truncated[row]:
                ended += 1
                kernels.standings(batch.last_states[row], game.params[0], final)
                entry["first"] = np.roll((final == final.max()) / (final == final.max()).sum(), -seat)
                entry["next"] = credit.OVER
                del open_entries[row, seat]
                if last_entries.get(row) == number:
                    entry["after"] = credit.OVER
                    del last_entries[row]

    games._decide, batch.step = noted_decide, noted_step
    games.play(with_greedy=False)
    d = games.decisions
    assert games.count == len(account) > 500
    assert ended > 10
    assert d.next[: games.count].tolist() == [entry["next"] for entry in account]
    np.testing.assert_allclose(d.rewards[: games.count, :n], [e["first"] for e in account], atol=1e-6)
    np.testing.assert_allclose(d.rewards[: games.count, n:], [e["paid"] for e in account], atol=1e-5)
    assert d.after[: games.count].tolist() == [entry["after"] for entry in account]
    firsts = [e["first"] if e["after"] == credit.OVER else np.zeros(n) for e in account]
    np.testing.assert_allclose(d.paid[: games.count, :n], firsts, atol=1e-6)
    np.testing.assert_allclose(
        d.paid[: games.count, n:], [e.get("so_far", e["paid"]) for e in account], atol=1e-5
    )


def test_values_learn_from_what_is_expected_for_the_same_seats_later():
    """Two games of three seats: one that ends, one that goes on; and a decision that is settled."""
    rng, lambda_ = np.random.default_rng(0), 0.8
    games, size = [np.arange(0, 20, 2), np.arange(1, 20, 2)], 21
    after = np.full(size, credit.TARGET_FINAL)
    for own, end in zip(games, (credit.OVER, credit.OPEN), strict=True):
        after[own[:-1]], after[own[-1]] = own[1:], end
    deciders = rng.integers(3, size=size)
    values, paid = rng.normal(size=(2, size, 6)).astype(np.float32)
    targets = np.full((size, 6), 7.0, np.float32)
    credit.value_targets(after, deciders, values, paid, lambda_, targets)
    by_seat = [np.roll(array.reshape(size, 2, 3), 0, 2) for array in (values, paid, targets)]
    for array in by_seat:
        for i in range(size):
            array[i] = np.roll(array[i], deciders[i], 1)
    values, paid, found = by_seat
    assert (found[20] == 7).all()
    for own, over in zip(games, (True, False), strict=True):
        for start in range(len(own)):
            expected, got, weight = 0.0, 0.0, 1.0
            for k in range(start, len(own)):
                if k == len(own) - 1:
                    expected = expected + weight * (got + paid[own[k]] if over else got + values[own[k]])
                    break
                got = got + paid[own[k]]
                share = weight * (1 - lambda_)
                expected = expected + share * (got + values[own[k + 1]])
                weight *= lambda_
            np.testing.assert_allclose(found[own[start]], expected, atol=1e-5)


def test_advantages_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    size = 40
    following = np.full(size, credit.OPEN)
    for seat in range(3):  # three trajectories in turn: one that goes on, two that end
        own = np.arange(seat, size, 3)
        following[own[:-1]] = own[1:]
        following[own[-1]] = credit.OPEN if seat == 0 else credit.OVER
    values, rewards = rng.normal(size=(2, size, 2)).astype(np.float32)
    found = np.zeros((size, 2), np.float32)
    credit.advantages(following, values, rewards, 0.9, found)
    for start in range(size):
        path = [start]
        while following[path[-1]] >= 0:
            path.append(following[path[-1]])
        expected = np.zeros(2)
        for k, i in enumerate(path):
            if following[i] == credit.OPEN:
                break
            after = values[following[i]] if following[i] >= 0 else 0
            expected += 0.9**k * (rewards[i] + after - values[i])
        np.testing.assert_allclose(found[start], expected, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 4, 6])
@pytest.mark.parametrize(("imitation", "entropy"), [(0.0, 0.0), (0.0, 0.05), (0.7, 0.05), (1.0, 0.0)])
def test_compiled_losses_are_those_of_torch(columns, imitation, entropy):
    """And so are their derivatives."""
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
    )
    weights = update.Weights(1.0, entropy, imitation)
    logits = torch.from_numpy(rng.normal(0, 0.3, masks.shape).astype(np.float32)).requires_grad_()
    raw = torch.from_numpy(rng.normal(size=(rows, columns)).astype(np.float32)).requires_grad_()
    total, means = update.torch_loss(logits, raw, update.Minibatch(*map(torch.from_numpy, about)), weights)
    total.backward()
    sums, d_logits, d_raw = np.zeros(5), np.empty(masks.shape, np.float32), np.empty_like(targets)
    seen = [tensor.detach().numpy() for tensor in (logits, raw)]
    update.compiled_loss(about, weights, rows)(np.arange(rows), *seen, d_logits, d_raw, sums)
    np.testing.assert_allclose(sums / rows, means, rtol=1e-4, atol=1e-5)
    assert 0.1 < means[4] < 0.95  # some are clipped
    np.testing.assert_allclose(d_logits, logits.grad, atol=1e-6)
    np.testing.assert_allclose(d_raw, raw.grad, atol=1e-6)
    without = weights._replace(policy=0.0)
    logits.grad = None
    update.torch_loss(logits, raw, update.Minibatch(*map(torch.from_numpy, about)), without)[0].backward()
    update.compiled_loss(about, without, rows)(np.arange(rows), *seen, d_logits, d_raw, sums)
    assert not d_logits.any()
    assert not logits.grad.any()


def test_open_decisions_are_carried_over():
    games = self_play(Mars(reward="margin"), rollout=16)
    games.play(with_greedy=False)
    before = games.count
    still_open = games.decisions.next[:before] == credit.OPEN
    kept = {
        "actions": games.decisions.actions[:before][still_open].copy(),
        "rewards": games.decisions.rewards[:before][still_open].copy(),
        "features": games.inputs[0][:before][still_open].copy(),
    }
    assert still_open.sum() == 32
    games.advantages()
    kept["targets"] = games.decisions.targets[:before][still_open].copy()
    settled = games.decisions.after[:before][still_open] != credit.OPEN
    games._keep_open_decisions()
    assert games.count == 32
    assert ((games.decisions.after[:32] == credit.TARGET_FINAL) == settled).all()
    assert set(games.last) == set(np.flatnonzero(~settled))
    np.testing.assert_array_equal(games.decisions.actions[:32], kept["actions"])
    np.testing.assert_array_equal(games.decisions.rewards[:32], kept["rewards"])
    np.testing.assert_array_equal(games.inputs[0][:32], kept["features"])
    games.play(with_greedy=False)
    assert (games.decisions.next[:32] != credit.OPEN).all()
    games.advantages()
    np.testing.assert_array_equal(games.decisions.targets[:32][settled], kept["targets"][settled])
    assert (games.decisions.targets[:32][~settled] != kept["targets"][~settled]).any()


# --- who plays ---


def test_against_the_pool_one_seat_is_learned_from():
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


def test_decisions_with_one_legal_action_are_not_learned_from():
    games = self_play(Mars(reward="margin"), rollout=100)
    games.play(with_greedy=True)
    d = games.decisions
    assert (d.masks[: games.count].sum(1) > 1).all()
    chosen = np.arange(games.count)
    assert d.masks[chosen, d.actions[chosen]].all()
    assert d.masks[chosen, d.greedy[chosen]].all()


# --- runs ---


def test_a_run_leaves_everything(small_run):
    left = {path.name for path in small_run.iterdir()}
    assert {name for name in left if "tfevents" not in name} == LEFT
    results = json.loads((small_run / "evaluation.json").read_text())["results"]
    assert [r["opponent"] for r in results] == ["random", "greedy"]
    rows = rows_of(small_run / "metrics.csv")
    assert float(rows[-1]["decisions"]) >= 1000
    assert float(rows[-1]["first_place_share"]) == 1
    assert {"policy_loss", "value_loss", "entropy", "approx_kl", "imitation"} <= set(rows[0])
    agent = NetworkAgent.load(small_run, Mars())
    assert agent.value_target == "seats"
    assert agent.config["origin"]["command"].startswith("garden train mars ")


def test_resume_goes_on(tmp_path):
    folder = tmp_path / "run"
    ppo.train(tiny(run=folder, eval_games=0))
    ppo.train(ppo.Arguments(resume=folder, steps=2000))
    rows = rows_of(folder / "metrics.csv")
    decisions = [float(row["decisions"]) for row in rows]
    assert decisions == sorted(decisions)
    assert decisions[-1] >= 2000
    assert NetworkAgent.load(folder, Mars()).config["origin"]["decisions"] <= decisions[-1]
    with pytest.raises(ValueError, match=r"a resumed run keeps its entropy, here 0\.01: leave it out"):
        ppo.train(ppo.Arguments(resume=folder, steps=3000, entropy=0.5))


def test_rollouts_may_be_too_short_to_learn_from(tmp_path):
    """With one decision in one game, nothing is known of it before the seat's next one."""
    folder = ppo.train(tiny(run=tmp_path / "run", envs=1, rollout=1, steps=3, eval_games=0))
    assert float(rows_of(folder / "metrics.csv")[-1]["decisions"]) >= 3


def test_same_seed_same_training(tmp_path):
    runs = [ppo.train(tiny(run=tmp_path / name, eval_games=0, seed=3, pool_share=0.5)) for name in "ab"]
    one, other = (NetworkAgent.load(folder, Mars()).network.parameters for folder in runs)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


class InTensors(SelfPlay):
    """Self-play on the CPU whose rollouts are tensors."""

    def rollout(self, with_greedy):
        decisions, inputs, chosen, advantages = super().rollout(with_greedy)
        tensor = torch.from_numpy
        columns = credit.Decisions(*map(tensor, decisions))
        return credit.Rollout(columns, tuple(map(tensor, inputs)), tensor(chosen), tensor(advantages))


@pytest.mark.parametrize("name", ["mars", "cacti"])
def test_torchs_own_operations_train_the_same_network(name, tmp_path, monkeypatch):
    """On another device than the CPU training goes by them; here it learns from the same games."""
    few = {"game": name, "steps": 300, "envs": 8, "eval_games": 0, "pool_share": 0.3}
    runs = [ppo.train(tiny(run=tmp_path / "own", **few))]
    begin = TorchNetwork.__init__
    monkeypatch.setattr(
        TorchNetwork,
        "__init__",
        lambda self, *a, **k: (begin(self, *a, **k), setattr(self, "by_torch", True))[0],
    )
    monkeypatch.setattr(ppo, "TensorSelfPlay", InTensors)
    runs.append(ppo.train(tiny(run=tmp_path / "torch", **few)))
    one, other = (NetworkAgent.load(folder, make(name)).network.parameters for folder in runs)
    np.testing.assert_allclose(one, other, atol=2e-3)
    assert not np.allclose(one, new_network(make(name), SMALL, "seats", 0).parameters, atol=2e-3)


@pytest.mark.parametrize(
    ("name", "num_players", "options"),
    [
        *((name, None, {}) for name in list_games()),
        ("mars", 4, {}),
        ("mars", 1, {"cooperative": "true"}),
        ("mars", 3, {"cooperative": "true"}),
    ],
)
def test_training_for_any_game(name, num_players, options, tmp_path):
    changes = {"game": name, "num_players": num_players, "options": options, "steps": 300, "eval_games": 0}
    folder = ppo.train(tiny(run=tmp_path / "run", **changes))
    assert rows_of(folder / "evaluations.csv")


def test_values_alone_leave_the_policy_as_it_is(tmp_path):
    same = {"game": "cacti", "network": "flat", "separate_values": True, "eval_games": 0}
    first = ppo.train(tiny(run=tmp_path / "first", **same))
    start = {"start": first / "network.safetensors", "values_only": True}
    second = ppo.train(tiny(run=tmp_path / "second", **start, **same))
    one, other = (NetworkAgent.load(folder, make("cacti")).network.weights for folder in (first, second))
    learned = {name for name, weight in one.items() if not np.array_equal(weight, other[name])}
    assert {name.split(".")[0] for name in learned} == {"value_first", "value_second", "values"}
    last = rows_of(second / "metrics.csv")[-1]
    assert float(last["value_loss"]) > 0
    assert last["policy_loss"] == "nan"


def test_training_begins_with_a_network(small_run, tmp_path):
    still = {"learning_rate": 0.0, "eval_games": 0}
    folder = ppo.train(tiny(run=tmp_path / "run", start=small_run / "network.safetensors", **still))
    one, other = (NetworkAgent.load(path, Mars()).network.parameters for path in (small_run, folder))
    np.testing.assert_array_equal(one, other)
    start = {"start": small_run / "network.safetensors", "num_players": 4}
    more = NetworkAgent.load(ppo.train(tiny(run=tmp_path / "more", **start, **still)), Mars(num_players=4))
    for name, weight in NetworkAgent.load(small_run, Mars()).network.weights.items():
        if "values" not in name:
            np.testing.assert_array_equal(weight, more.network.weights[name])
    with pytest.raises(ValueError, match=r"has the architecture .*'channels': 4.* is needed"):
        ppo.train(tiny(run=tmp_path / "other", start=small_run / "network.safetensors", channels=8))
    assert not (tmp_path / "other").exists()


def test_separate_values_are_not_read_from_other_layers(tmp_path):
    game, path = make("cacti"), tmp_path / "first.safetensors"
    separate = Architecture("flat", hidden=8, separate_values=True)
    save_network(path, game, new_network(game, separate, "seats"), separate, "seats", {})
    with pytest.raises(ValueError, match=r"has the architecture .*'separate_values': True.* is needed"):
        ppo.train(tiny(game="cacti", network="flat", hidden=8, start=path, run=tmp_path / "run"))


def test_a_team_plays_against_no_pool(tmp_path):
    with pytest.raises(SystemExit, match="there are no opponents for a pool: leave out pool_share"):
        ppo.train(tiny(options={"cooperative": "true"}, pool_share=0.5, run=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["cut", "other network", "other pool"])
def test_damaged_checkpoints_are_explained(name, small_run, tmp_path):
    folder = tmp_path / "run"
    ppo.train(tiny(run=folder, eval_games=0, **({"hidden": 24} if name == "other network" else {})))
    content = (small_run / CHECKPOINT).read_bytes()
    (folder / CHECKPOINT).write_bytes(content[:-50] if name == "cut" else content)
    if name == "other pool":
        config = (folder / "config.toml").read_text()
        agents = config.replace("pool_share = 0.0", "pool_share = 0.5")
        (folder / "config.toml").write_text(agents.replace("pool_agents = []", 'pool_agents = ["greedy"]'))
    with pytest.raises(ValueError, match="is no checkpoint of this training: "):
        ppo.train(ppo.Arguments(resume=folder, steps=3000))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"minibatch": 0}, "minibatch must be at least 1, not 0"),
        ({"imitation": 2}, "imitation must be at most 1, not 2"),
        ({"pool_share": float("nan")}, "pool_share must be a finite number, not nan"),
        ({"device": "tpu"}, "device must be cpu or cuda, not 'tpu'"),
        ({"values_only": True}, "values_only needs initial weights"),
        ({"gae_lambda": 1.5}, "gae_lambda must be at most 1, not 1.5"),
        ({"learning_rate": -1e-4}, "learning_rate must be at least 0, not -0.0001"),
        ({"pool_agents": ("greedy",)}, "pool_agents are not drawn unless"),
    ],
)
def test_refuses_arguments_out_of_range(wrong, message):
    with pytest.raises(ValueError, match=message):
        tiny(**wrong)


@pytest.mark.slow
def test_training_learns_to_beat_greedy(tmp_path):
    folder = ppo.train(ppo.Arguments("cacti", run=tmp_path / "run", steps=600_000, eval_games=400))
    result = json.loads((folder / "evaluation.json").read_text())["results"][1]
    assert result["interval"][0] >= 0.6
