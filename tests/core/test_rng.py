"""The generator against Python integers: seeding, drawing, shuffling, and that nothing is drawn too often."""

import itertools

import numpy as np
import pytest

from garden_core.jit import rng

ALL_64 = 2**64 - 1
SEEDS = [0, 1, 42, 2**63, ALL_64]


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & ALL_64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & ALL_64
    return x ^ (x >> 31)


def splitmix64(seed, n):
    return [mix((seed + (i + 1) * 0x9E3779B97F4A7C15) & ALL_64) for i in range(n)]


def rotate(x, k):
    return ((x << k) | (x >> (64 - k))) & ALL_64


class Xoshiro:
    """xoshiro256++ as its authors wrote it, and bounded draws after Lemire."""

    def __init__(self, words):
        self.s = list(words)

    def draw(self):
        s = self.s
        result = (rotate((s[0] + s[3]) & ALL_64, 23) + s[0]) & ALL_64
        t = (s[1] << 17) & ALL_64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def bounded(self, n):
        while True:
            product = (self.draw() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32


def seeded(seed):
    words = np.zeros(4, np.uint64)
    rng.seed_rng(words, np.uint64(seed))
    return words


def test_published_vectors():
    assert splitmix64(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    words = np.array([1, 2, 3, 4], np.uint64)
    drawn = [int(rng.next_uint64(words)) for _ in range(6)]
    assert drawn == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_next_uint64_is_xoshiro256_plus_plus(seed):
    words, plain = seeded(seed), Xoshiro(splitmix64(seed, 4))
    for _ in range(1000):
        assert int(rng.next_uint64(words)) == plain.draw()
    assert words.tolist() == plain.s


def test_game_seed():
    for base, row, game in itertools.product(SEEDS, [0, 1, 12345, ALL_64], [0, 7, ALL_64]):
        x = splitmix64(base, 1)[0]
        x = splitmix64(x ^ row, 1)[0]
        x = splitmix64(x ^ game, 1)[0]
        assert int(rng.game_seed(np.uint64(base), np.uint64(row), np.uint64(game))) == x


def test_streams_of_policies():
    words, rows = np.zeros((5, 4), np.uint64), np.array([1, 4])
    rng.seed_streams(words, rows, np.uint64(2), np.uint64(9), rows.astype(np.uint64))
    for row in rows:
        seed = rng.game_seed(np.uint64(9), np.uint64(row), np.uint64(2**64 - 3))
        assert words[row].tolist() == splitmix64(int(seed), 4)
    assert not words[[0, 2, 3]].any()


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 91, 2**31, 3_000_000_019, 3 * 2**30, 2**32 - 2, 2**32 - 1])
def test_bounded_is_lemires_method(n):
    words, plain = seeded(n), Xoshiro(splitmix64(n, 4))
    for _ in range(500):
        assert rng.bounded(words, n) == plain.bounded(n)
    assert words.tolist() == plain.s, "as many rejections"


def test_next_float():
    words, plain = seeded(5), Xoshiro(splitmix64(5, 4))
    assert [rng.next_float(words) for _ in range(1000)] == [(plain.draw() >> 11) / 2**53 for _ in range(1000)]


def test_shuffle():
    words, plain = seeded(6), Xoshiro(splitmix64(6, 4))
    items, expected = np.arange(10, dtype=np.int8), list(range(10))
    for _ in range(50):
        rng.shuffle(words, items, 7)
        for i in range(6, 0, -1):
            j = plain.bounded(i + 1)
            expected[i], expected[j] = expected[j], expected[i]
        assert items.tolist() == expected
    assert expected[7:] == [7, 8, 9], "only the first n"


@pytest.mark.parametrize("length", range(1, 40))
def test_nth_legal_counts_the_ones_of_a_mask(length):
    choose = np.random.default_rng(length)
    for share in (0.1, 0.5, 1):
        mask = (choose.random(length) < share).astype(np.int8)
        legal = np.flatnonzero(mask)
        assert [rng.nth_legal(mask, n) for n in range(len(legal))] == legal.tolist()
