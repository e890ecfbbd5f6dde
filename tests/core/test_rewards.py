"""Rewards against plain formulas: by rank, by margin, shared."""

import itertools

import numpy as np
import pytest

from garden_core.jit import rewards


def by_rank(standings):
    """Return for each seat the mean over the ranks of its tie, from +1 for the first to -1 for the last."""
    ranked = sorted(standings, reverse=True)
    by_place = np.linspace(1, -1, len(standings))
    return [by_place[np.equal(ranked, own)].mean() for own in standings]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_outcome(n):
    for standings in itertools.product(range(n), repeat=n):
        paid = np.full(n + 1, 9, np.float32)
        rewards.outcome(np.array([*standings, 99], np.int32), n, paid)
        assert paid[:n].tolist() == pytest.approx(by_rank(standings))
        assert paid[n] == 9, "an absent seat"
        assert paid[:n].sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_margin_and_cooperative(n):
    draw = np.random.default_rng(n)
    for scale in (10, 2**31 - 1):
        for _ in range(50):
            before, now = draw.integers(-scale, scale, (2, 6)).astype(np.int32)
            gained = [int(b) - int(a) for a, b in zip(before[:n], now[:n], strict=True)]
            paid = np.full(6, 9, np.float32)
            rewards.margin(before, now, n, 25.0, paid)
            expected = [(own - (sum(gained) - own) / (n - 1)) / 25 for own in gained]
            assert paid[:n].tolist() == pytest.approx(expected, rel=1e-5, abs=1e-5)
            rewards.cooperative(before, now, n, 40.0, paid)
            expected = (int(now[:n].min()) - int(before[:n].min())) / 40
            assert paid[:n].tolist() == pytest.approx([expected] * n, rel=1e-5)
            assert set(paid[n:]) == {9}, "absent seats"


def test_margin_of_a_seat():
    points = np.array([7, 1, 4, 99], np.int32)
    total = rewards.total(points, 3)
    assert total == 12
    assert [rewards.seat_margin(own, total, 3) for own in points[:3]] == [4.5, -4.5, 0]
