"""Advantages and returns of all seats, compared with those of each seat's decisions alone."""

import numpy as np
import pytest
import torch
from garden_agents import advantages

from garden_core import Batch, make


def rollout(game, steps=40, games=6):
    """Random games: players, rewards, over, and values that are random."""
    batch, rng, rows = Batch(game, games), np.random.default_rng(2), []
    batch.reset(1)
    for _ in range(steps):
        players = batch.current_player.copy()
        batch.step((rng.random(batch.action_mask.shape) * batch.action_mask).argmax(1))
        rows.append((players, batch.rewards.copy(), batch.terminated | batch.truncated))
    players, rewards, over = map(np.stack, zip(*rows, strict=True))
    values = rng.normal(size=(steps, games))
    return players, rewards, over, values, rng.normal(size=(games, game.num_players))


def plain(players, rewards, over, values, last_values, gae_lambda):
    """By the definition, for one game and one seat after the other."""
    out, (steps, games) = np.zeros(values.shape), values.shape
    for n in range(games):
        for seat in range(last_values.shape[1]):
            own = [t for t in range(steps) if players[t, n] == seat]
            for k, t in enumerate(own):
                advantage, weight = 0.0, 1.0
                for i, now in enumerate(own[k:], k):
                    until = own[i + 1] if i + 1 < len(own) else steps
                    ends = [u for u in range(now, until) if over[u, n]]
                    stop = ends[0] + 1 if ends else until
                    paid = rewards[now:stop, n, seat].sum()
                    following = 0.0 if ends else values[until, n] if until < steps else last_values[n, seat]
                    advantage += weight * (paid + following - values[now, n])
                    weight *= gae_lambda
                    if ends:
                        break
                out[t, n] = advantage
    return out


@pytest.mark.parametrize("gae_lambda", [0, 0.9, 1])
@pytest.mark.parametrize(("name", "options"), [("cacti", {"reward": "margin"}), ("mars", {"num_players": 3})])
def test_each_seat_is_credited_for_its_own_decisions(name, options, gae_lambda):
    given = rollout(make(name, max_decisions=13, **options))
    assert given[2].sum() > 10
    found, returns = advantages(*map(torch.as_tensor, given), gae_lambda)
    np.testing.assert_allclose(found, plain(*given, gae_lambda), atol=2e-5)
    np.testing.assert_allclose(returns, found + given[3], atol=1e-5)


def test_wrong_arguments():
    given = list(rollout(make("cacti"), 3, 2))
    for index in range(5):
        wrong = [*given]
        wrong[index] = wrong[index][:-1]
        with pytest.raises(ValueError, match=r"must be \(T, N\)"):
            advantages(*wrong)
    with pytest.raises(ValueError, match="players must be 0 to 1"):
        advantages(given[0] + 2, *given[1:])
    with pytest.raises(ValueError, match="gae_lambda must be 0 to 1, not 2"):
        advantages(*given, 2)
