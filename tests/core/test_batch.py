"""The core against plain Python: generator, rewards, registry, imports, batches, PettingZoo environment."""

import copy
import itertools
import pickle
import warnings
from collections import Counter

import numba
import numpy as np
import pytest
from pig import HOLD, ROLL, Pig

import garden_core
from botanicus_env import botanicus_v0
from cacti_env import cacti_v0
from garden_core import Batch, kernels, list_games, loops, make, rewards, rng
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.interfaces.registration import register_environments
from mars_env import Mars, mars_v0

with warnings.catch_warnings():  # PettingZoo's own tests import what PettingZoo deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test

# --- the generator, against Python integers ---

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
    rng.seed_words(words, np.uint64(seed))
    return words


def chi_square(counts, values):
    """Statistic against equal frequencies; `values` are all that can be drawn."""
    assert set(counts) <= set(values)
    expected = sum(counts.values()) / len(values)
    return sum((counts[value] - expected) ** 2 / expected for value in values)


def test_published_vectors():
    assert splitmix64(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    words = np.array([1, 2, 3, 4], np.uint64)
    drawn = [int(rng.next_uint64(words)) for _ in range(6)]
    assert drawn == [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_seed_words_is_splitmix64(seed):
    assert seeded(seed).tolist() == splitmix64(seed, 4)


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


def test_game_seeds_are_all_different():
    grid = itertools.product(range(8), range(40), range(40))
    seeds = {int(rng.game_seed(*map(np.uint64, at))) for at in grid}
    assert len(seeds) == 8 * 40 * 40


def test_seed_rows():
    words = np.zeros((5, 4), np.uint64)
    rng.seed_rows(words, np.uint64(9))
    for row in range(5):
        seed = rng.game_seed(np.uint64(9), np.uint64(row), np.uint64(0))
        assert words[row].tolist() == splitmix64(int(seed), 4)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 91, 2**31, 3 * 2**30, 2**32 - 2, 2**32 - 1])
def test_bounded_is_lemires_method(n):
    words, plain = seeded(n), Xoshiro(splitmix64(n, 4))
    for _ in range(500):
        assert rng.bounded(words, n) == plain.bounded(n)
    assert words.tolist() == plain.s, "as many rejections"


def test_bounded_is_unbiased():
    words = seeded(3)
    counts = Counter(int(rng.bounded(words, 6)) for _ in range(60_000))
    assert chi_square(counts, range(6)) < 36  # 1 in a million above, with 5 degrees of freedom
    # Without rejection every third result of 3 * 2**30 would be twice as likely as the others.
    counts = Counter(int(rng.bounded(words, 3 * 2**30)) % 3 for _ in range(30_000))
    assert chi_square(counts, range(3)) < 28
    counts = Counter(int(rng.bounded(words, 2**32 - 1)) * 16 // 2**32 for _ in range(32_000))
    assert chi_square(counts, range(16)) < 57


def test_next_float():
    words, plain = seeded(5), Xoshiro(splitmix64(5, 4))
    drawn = [rng.next_float(words) for _ in range(1000)]
    assert drawn == [(plain.draw() >> 11) / 2**53 for _ in range(1000)]
    assert min(drawn) >= 0
    assert max(drawn) < 1


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


def test_shuffle_gives_every_order_equally_often():
    words, orders = seeded(7), Counter()
    for _ in range(24_000):
        items = np.arange(4)
        rng.shuffle(words, items, 4)
        orders[tuple(items.tolist())] += 1
    assert chi_square(orders, list(itertools.permutations(range(4)))) < 76  # 23 degrees of freedom


# --- rewards, against plain formulas ---


def by_rank(standings):
    """Mean over the ranks 0 … n-1 that a seat's tie covers, from +1 to -1."""
    n, paid = len(standings), []
    for own in standings:
        first = sum(other > own for other in standings)
        ranks = range(first, first + standings.count(own))
        paid.append(sum(1 - 2 * rank / (n - 1) for rank in ranks) / len(ranks))
    return paid


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_outcome(n):
    for standings in itertools.product(range(n), repeat=n):
        paid = np.full(n + 1, 9, np.float32)
        rewards.outcome(np.array([*standings, 99], np.int32), n, paid)
        assert paid[:n].tolist() == pytest.approx(by_rank(standings))
        assert paid[n] == 9, "an absent seat"
        assert paid[:n].sum() == pytest.approx(0, abs=1e-6)


def test_outcome_examples():
    for standings, expected in [
        ([3, 8], [-1, 1]),
        ([5, 5], [0, 0]),
        ([1, 9, 4], [-1, 1, 0]),
        ([7, 7, 2], [0.5, 0.5, -1]),
        ([-3, 0, 0, 0], [-1, 1 / 3, 1 / 3, 1 / 3]),
    ]:
        paid = np.zeros(5, np.float32)
        rewards.outcome(np.array(standings, np.int32), len(standings), paid)
        assert paid[: len(standings)].tolist() == pytest.approx(expected)


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


def test_one_player_cooperates_alone():
    paid = np.zeros(5, np.float32)
    rewards.cooperative(np.array([2, 0], np.int32), np.array([7, 0], np.int32), 1, 10.0, paid)
    assert paid[0] == 0.5


# --- registry ---


def announce(folder, monkeypatch, **games):
    """Have another package announce games, as one that is installed does."""
    about = folder / "toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    lines = [f"{name} = {where}" for name, where in games.items()]
    (about / "entry_points.txt").write_text("[garden_core.games]\n" + "\n".join(lines))
    monkeypatch.syspath_prepend(str(folder))


def test_make():
    assert make("mars", num_players=3) == Mars(num_players=3)
    assert "mars" in list_games()
    assert list_games() == sorted(list_games())


def test_another_package_adds_a_game_and_only_the_one_named_is_loaded(tmp_path, monkeypatch):
    announce(tmp_path, monkeypatch, pig="pig:Pig", broken="no_such_module:Game")
    assert {"broken", "mars", "pig"} <= set(list_games())
    assert make("pig", goal=50) == Pig(goal=50)
    with pytest.raises(ModuleNotFoundError):
        make("broken")


def test_unknown_name_lists_the_known_ones(tmp_path, monkeypatch):
    announce(tmp_path, monkeypatch, pig="pig:Pig")
    with pytest.raises(ValueError, match=r"unknown game 'chess'; installed are: .*\bmars, .*\bpig"):
        make("chess")


def test_unknown_option_is_named_with_the_known_ones():
    with pytest.raises(
        TypeError, match=r"mars has no option 'colour'; its options are num_players, .*reward"
    ):
        make("mars", colour="red")


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("num_players", 6, "from 1 to 5"),
        ("num_players", True, "from 1 to 5"),
        ("max_decisions", 0, "from 1 to"),
        ("special_actions", 1, "True or False"),
        ("reward", "win", "'outcome' or 'margin'"),
        ("peaks", 4, "0 to 3 with num_players=2"),
        ("gardeners", "2", "from 1 to 2"),
    ],
)
def test_value_out_of_range_is_named_with_what_is_allowed(option, value, allowed):
    with pytest.raises(ValueError, match=f"^{option} must be .*{allowed}.*, not {value!r}"):
        make("mars", **{option: value})


def test_numpy_values_become_plain():
    game = Mars(num_players=np.int64(3), special_actions=np.bool_(True))
    assert game == Mars(num_players=3, special_actions=True)
    assert type(game.chosen["num_players"]) is int


def test_games_are_values():
    assert Mars(peaks=1) == Mars(peaks=1)
    assert hash(Mars(peaks=1)) == hash(Mars(peaks=1))
    assert Mars(peaks=1) != Mars()
    assert Mars() != Pig()
    assert repr(Mars(peaks=1, reward="margin")) == "Mars(peaks=1, reward='margin')"


def test_environments_are_registered_once():
    import gymnasium

    before = gymnasium.registry["garden/Mars-v0"]
    register_environments()
    assert gymnasium.registry["garden/Mars-v0"] is before


# --- records and dispatch ---


def foreign():
    """A state that nobody has registered: the fields of Pig's but another build."""
    fields = [(name, Pig.state_dtype[name]) for name in Pig.state_dtype.names[:-1]]
    return np.zeros(1, np.dtype([*fields, ("build_0123", "u1")]))


@pytest.mark.parametrize(
    "call",
    [
        lambda state, params: kernels.deal(state, params, 1),
        lambda state, params: kernels.apply_action(state, params, 0),
        lambda state, params: kernels.legal_actions(state, params, np.zeros(2, np.int8)),
        lambda state, params: kernels.observe(state, params, 0, np.zeros(9, np.int8)),
        lambda state, params: kernels.points(state, params, np.zeros(4, np.int32)),
        lambda state, params: kernels.public_points(state, params, np.zeros(4, np.int32)),
        lambda state, params: kernels.standings(state, params, np.zeros(4, np.int32)),
        lambda state, params: kernels.resample(state, params, 0, 1),
    ],
)
def test_unregistered_record_is_refused_from_python(call):
    with pytest.raises((TypeError, numba.TypingError), match="not the state of a registered game"):
        call(foreign()[0], Pig().params[0])


def test_unregistered_record_is_refused_by_compiled_loops():
    with pytest.raises(numba.TypingError, match="not the state of a registered game"):
        loops.observe_rows(foreign(), Pig().params, np.zeros(1, np.int64), np.zeros((1, 9), np.int8))


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="list is not the state of a registered game"):
        kernels.points([], Pig().params[0], np.zeros(4, np.int32))


def test_registering_a_type_twice_is_refused():
    with pytest.raises(
        ValueError, match=r"the state type with field 'build_[0-9a-f]+' is registered already"
    ):
        kernels.register(Pig.state_dtype, Pig.rules)
    with pytest.raises(ValueError, match="is registered already"):

        class Pig2(Pig):
            rules = Pig.rules


def test_a_kernel_with_other_argument_names_is_refused():
    def points(state, parameters, out):
        out[:] = 0

    faulty = Pig.rules._replace(points=points)
    with pytest.raises(
        TypeError, match=r"points\(state, parameters, out\) must be points\(state, params, out\)"
    ):
        kernels.register(foreign().dtype, faulty)


def test_a_field_named_like_an_attribute_of_records_is_refused():
    with pytest.raises(TypeError, match="a field must not be called 'round'"):

        class Rounds(Pig):
            rules = Pig.rules
            state_fields = (("round", "i1"),)


def test_a_subclass_with_the_same_rules_shares_the_type():
    class Quiet(Pig):
        title = "Quiet Pig"

    assert Quiet.state_dtype is Pig.state_dtype


def defined_below(state, out):
    """A rule that the test below takes away again."""


def test_a_class_above_its_rules_is_refused(monkeypatch):
    """The build could not tell a change of a rule that is defined later."""

    @garden_core.compiled
    def points(state, params, out):
        defined_below(state, out)

    monkeypatch.delitem(globals(), "defined_below")

    with pytest.raises(NameError, match=r"'defined_below', which .*points uses, is not defined yet"):

        class Early(Pig):
            rules = Pig.rules._replace(points=points)


# --- Batch ---


def rows_of(batch):
    return [batch.states[row].tobytes() for row in range(batch.num_envs)]


def everything(batch):
    arrays = {name: value.copy() for name, value in vars(batch).items() if isinstance(value, np.ndarray)}
    return {name: value.tobytes() for name, value in arrays.items()}


def play(batch, steps, seed=0):
    choose = np.random.default_rng(seed)
    for _ in range(steps):
        batch.step([int(choose.choice(np.flatnonzero(mask))) for mask in batch.action_mask])


def pig_batch(n=4, autoreset=True, seed=1, **options):
    batch = Batch(Pig(**options), n, autoreset=autoreset)
    batch.reset(seed=seed)
    return batch


def test_batch_arrays():
    batch = pig_batch(3, num_players=4)
    for array, dtype, shape in [
        (batch.observation, np.int8, (3, 10)),
        (batch.action_mask, np.int8, (3, 2)),
        (batch.current_player, np.int64, (3,)),
        (batch.rewards, np.float32, (3, 4)),
        (batch.terminated, np.bool_, (3,)),
        (batch.truncated, np.bool_, (3,)),
    ]:
        assert array.dtype == dtype
        assert array.shape == shape
    planes = Batch(Mars(view="planes"), 2)
    planes.reset(seed=1)
    assert planes.observation.shape == (2, 75, 11, 11)
    held = batch.observation
    batch.step([ROLL] * 3)
    assert np.shares_memory(held, batch.observation), "arrays are owned by the batch and overwritten"
    assert held[:, 8].tolist() == batch.states["turn_sum"].tolist()


def test_a_row_does_not_depend_on_the_batch_size():
    small, large = pig_batch(2), pig_batch(7)
    for _ in range(40):
        assert rows_of(small) == rows_of(large)[:2]
        actions = [int(np.flatnonzero(mask)[-1]) for mask in large.action_mask]
        small.step(actions[:2])
        large.step(actions)


def test_seeds():
    batch = pig_batch(4, seed=5)
    first = rows_of(batch)
    assert len(set(first)) == 4
    batch.reset(seed=np.uint64(5))
    assert rows_of(batch) == first, "the same seed deals the same games"
    batch.reset(seed=6)
    assert not set(rows_of(batch)) & set(first)
    batch.reset(seed=[5, 5, 9, 5])
    assert rows_of(batch)[0] == rows_of(batch)[1] == first[0], "a seed of its own makes a row row 0"
    assert rows_of(batch)[2] != first[0]
    batch.reset(seed=[5], rows=[2])
    assert rows_of(batch)[2] == first[0]
    batch.reset(seed=2**64 - 1)
    assert len(set(rows_of(batch))) == 4


def test_reset_without_seed_goes_on():
    batch = pig_batch(3, seed=5)
    first = rows_of(batch)
    batch.reset()
    second = rows_of(batch)
    assert not set(second) & set(first)
    batch.reset(seed=5)
    batch.reset()
    assert rows_of(batch) == second, "by the same seed with the same games"
    direct = Pig().new_states(1)
    kernels.deal(direct[0], Pig().params[0], rng.game_seed(np.uint64(5), np.uint64(2), np.uint64(1)))
    assert second[2] == direct.tobytes(), "game 1 of row 2"
    one, other = Batch(Pig(), 2), Batch(Pig(), 2)
    one.reset()
    other.reset()
    assert rows_of(one) != rows_of(other), "the first time from a random seed"


@pytest.mark.parametrize("rows", [[1, 3], np.array([1, 3]), np.array([False, True, False, True])], ids=repr)
def test_reset_of_some_rows_leaves_the_others(rows):
    batch = pig_batch(4)
    play(batch, 5)
    before = rows_of(batch)
    batch.reset(rows=rows)
    assert [row for row in range(4) if rows_of(batch)[row] == before[row]] == [0, 2]
    assert batch.states["decisions"].tolist() == [5, 0, 5, 0]


def test_step_of_some_rows_leaves_the_others():
    batch = pig_batch(4)
    batch.step([ROLL, ROLL], rows=[2, 0])
    assert batch.states["decisions"].tolist() == [1, 0, 1, 0]
    batch.step([ROLL], rows=np.array([False, True, False, False]))
    assert batch.states["decisions"].tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("actions", "rows", "message"),
    [
        ([ROLL, HOLD, ROLL], None, r"row 1: action 1 \('hold'\) is illegal; legal are 'roll'"),
        ([ROLL, ROLL, 2], None, r"row 2: action 2 does not exist \(0 to 1\); legal are 'roll'"),
        ([-1, ROLL, ROLL], None, r"row 0: action -1 does not exist"),
        ([ROLL, HOLD], [0, 2], r"row 2: action 1 \('hold'\) is illegal"),
        ([ROLL, ROLL], None, r"actions must have shape \(3,\), one for each row, not \(2,\)"),
        ([0.0, 0.0, 0.0], None, "actions must be integers, not float64"),
        ([ROLL, ROLL], [1, 1], r"a row can be stepped only once: \[1, 1\]"),
        (np.full(3, 2**64 - 1, np.uint64), None, "row 0: action -1 does not exist"),
    ],
)
def test_wrong_actions_are_named_and_change_nothing(actions, rows, message):
    batch = pig_batch(3)
    before = everything(batch)
    with pytest.raises(ValueError, match=message):
        batch.step(actions, rows=rows)
    assert everything(batch) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_actions_of_any_integer_type(dtype):
    batch = pig_batch(3)
    batch.step(np.zeros(3, dtype))
    assert batch.states["decisions"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda batch: Batch(Pig(), 0), ValueError, "num_envs must be at least 1, not 0"),
        (lambda batch: Batch(Pig(), 2).step([0, 0]), RuntimeError, r"call reset\(\) before step"),
        (lambda batch: Batch(Pig(), 2).reset(rows=[0]), ValueError, "first reset must deal all rows"),
        (lambda batch: batch.reset(seed=-1), ValueError, r"seed must be 0 to 2\*\*64 - 1, not -1"),
        (lambda batch: batch.reset(seed=2**64), ValueError, "seed must be 0"),
        (lambda batch: batch.reset(seed=[1, 2]), ValueError, "seed has 2 entries for 3 rows"),
        (lambda batch: batch.reset(rows=[3]), IndexError, r"rows must be 0 to 2, not \[3\]"),
        (lambda batch: batch.reset(rows=[-1]), IndexError, "rows must be 0 to 2"),
        (lambda batch: batch.reset(rows=np.array([True, False])), ValueError, r"must have shape \(3,\)"),
        (lambda batch: batch.step([0], rows=[5]), IndexError, "rows must be 0 to 2"),
        (lambda batch: batch.observe(2), ValueError, "player must be 0 to 1, not 2"),
        (lambda batch: batch.observe(-1), ValueError, "player must be 0 to 1, not -1"),
    ],
)
def test_batch_errors(call, error, message):
    batch = pig_batch(3)
    before = everything(batch)
    with pytest.raises(error, match=message):
        call(batch)
    assert everything(batch) == before


def play_until_one_ends(batch):
    """Hold whenever possible; return the rows that have just ended."""
    while True:
        batch.step([HOLD if mask[HOLD] else ROLL for mask in batch.action_mask])
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if len(ended):
            return ended


def test_autoreset_deals_the_next_game_in_the_same_step():
    batch = pig_batch(5, goal=10, seed=3)
    row = play_until_one_ends(batch)[0]
    assert batch.terminated[row]
    assert batch.states["decisions"][row] == 0
    direct = Pig(goal=10).new_states(1)
    kernels.deal(direct[0], batch.game.params[0], rng.game_seed(np.uint64(3), np.uint64(row), np.uint64(1)))
    assert batch.states[row].tobytes() == direct.tobytes()
    assert sorted(batch.rewards[row].tolist()) == [-1, 1]
    last = batch.last_states[row : row + 1]
    assert last["terminated"][0] == 1
    assert last["score"].max() >= 10
    winner = int(batch.rewards[row].argmax())
    seen = batch.observe(winner, batch.last_states)[row]
    assert seen[0] >= 10, "any seat's last view can be made"
    batch.step([np.flatnonzero(mask)[0] for mask in batch.action_mask])
    assert not batch.terminated[row], "only the last step counts"
    assert not batch.rewards[row].any()


def test_without_autoreset_a_finished_row_waits():
    batch = pig_batch(5, autoreset=False, goal=10, seed=3)
    row = int(play_until_one_ends(batch)[0])
    assert batch.action_mask[row].tolist() == [1, 1], "something to choose from for a masked policy"
    assert batch.states[row].tobytes() == batch.last_states[row].tobytes()
    before = everything(batch)
    with pytest.raises(ValueError, match=rf"row {row}: the game is over; reset\(rows=\[{row}\]\) first"):
        batch.step([np.flatnonzero(mask)[0] for mask in batch.action_mask])
    assert everything(batch) == before
    batch.reset(rows=[row])
    assert not batch.terminated[row]
    assert not batch.rewards[row].any()
    assert batch.states["decisions"][row] == 0
    assert batch.action_mask[row].tolist() == [1, 0]


def test_truncated_game_pays_and_is_not_terminated():
    batch = pig_batch(2, autoreset=False, max_decisions=3, reward="margin")
    batch.step([ROLL, ROLL])
    batch.step([np.flatnonzero(mask)[-1] for mask in batch.action_mask])
    assert not batch.truncated.any()
    batch.step([np.flatnonzero(mask)[-1] for mask in batch.action_mask])
    assert batch.truncated.all()
    assert not batch.terminated.any()


def test_observe():
    batch = pig_batch(6, num_players=3)
    play(batch, 30)
    for seat in range(3):
        seen = batch.observe(seat)
        for offset in range(3):
            assert seen[:, offset].tolist() == batch.states["score"][:, (seat + offset) % 3].tolist()
    assert np.array_equal(batch.observe(batch.current_player), batch.observation)
    assert not np.shares_memory(batch.observe(0), batch.observation)


def test_refresh_after_writing_states():
    batch, other = pig_batch(3), pig_batch(3, seed=9)
    play(other, 4)
    batch.states[1] = other.states[2]
    batch.refresh()
    assert np.array_equal(batch.observation[1], other.observation[2])
    assert np.array_equal(batch.action_mask[1], other.action_mask[2])
    assert batch.current_player[1] == other.current_player[2]


@pytest.mark.parametrize(
    "copied",
    [Batch.clone, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))],
    ids=["clone", "deepcopy", "pickle"],
)
def test_copies_play_on_alike_and_apart(copied):
    batch = pig_batch(4, goal=20)
    play(batch, 10)
    other = copied(batch)
    before = everything(batch)
    assert everything(other) == before
    play(other, 60, seed=8)
    assert everything(batch) == before, "the copy plays by itself"
    play(batch, 60, seed=8)
    assert everything(other) == everything(batch), "and alike, over several games"


# --- the PettingZoo environment ---


def pig_env(seed=1, **arguments):
    env = GardenEnv(Pig, **arguments)
    env.reset(seed=seed)
    return env


def in_progress(env):
    state = env.get_state()
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else value for name, value in state.items()
    }


def play_env(env, steps=10_000):
    """Hold whenever possible, at most `steps` times, until the game is over."""
    for _ in range(steps):
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return
        env.step(HOLD if env.observe(agent)["action_mask"][HOLD] else ROLL)


def test_calls_in_the_wrong_order():
    env = GardenEnv(Pig)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before step"):
        env.step(0)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before observe"):
        env.observe("player_0")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="unknown agent 'player_2'; agents are player_0, player_1"):
        env.observe("player_2")


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (HOLD, r"player_0: action 1 \('hold'\) is illegal; legal are 'roll'"),
        (2, r"player_0: action 2 does not exist \(0 to 1\); legal are 'roll'"),
        (-1, "player_0: action -1 does not exist"),
        (None, "player_0: an action must be a whole number, not None"),
        (0.0, r"player_0: an action must be a whole number, not 0\.0"),
        (False, "player_0: an action must be a whole number, not False"),
        ("roll", "player_0: an action must be a whole number, not 'roll'"),
    ],
)
def test_illegal_actions_are_named_and_change_nothing(action, message):
    env = pig_env()
    before = in_progress(env)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert in_progress(env) == before


def test_illegal_action_can_end_the_game():
    env = pig_env(illegal="terminate", num_players=3)
    env.step(ROLL)
    offender = env.agent_selection
    action = HOLD if not env.observe(offender)["action_mask"][HOLD] else 5
    env.step(action)
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.agents}
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    told = {}
    for agent in env.agent_iter():
        _, told[agent], terminated, _, _ = env.last()
        assert terminated
        env.step(None)
    assert told == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}


def test_agents_leave_by_dead_steps():
    env = pig_env(num_players=3, goal=10)
    play_env(env)
    assert len(env.agents) == 3
    agent = env.agent_selection
    with pytest.raises(ValueError, match=f"{agent}'s game is over; its only action is None, not 0"):
        env.step(0)
    left = []
    while env.agents:
        left.append(env.agent_selection)
        env.step(None)
    assert sorted(left) == env.possible_agents
    with pytest.raises(RuntimeError, match=r"the game is over for all agents; call reset\(\)"):
        env.step(None)
    env.reset()
    assert env.agents == env.possible_agents


def test_observe_after_the_end():
    env = pig_env(num_players=3, goal=10)
    play_env(env)
    score = env.states["score"][0].tolist()
    for _ in range(4):  # also while agents leave, and when none is left
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            assert seen["observation"][:3].tolist() == [score[(seat + offset) % 3] for offset in range(3)]
            assert not seen["action_mask"].any()
        if env.agents:
            env.step(None)
    assert env.agents == []


def test_observations_are_the_callers_own():
    env = pig_env()
    seen = env.observe("player_0")
    seen["observation"][:] = 9
    seen["action_mask"][:] = 9
    assert env.observe("player_0")["action_mask"].tolist() == [1, 0]
    assert env.observe("player_0")["observation"][0] == 0
    assert not env.observe("player_1")["action_mask"].any(), "the mask of who is not to move"
    for agent in env.agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.observation_space(agent).contains(env.observe(agent))


def test_cumulative_rewards_are_cleared_for_the_mover_alone():
    env = pig_env(reward="margin", num_players=3, seed=4)
    expected = dict.fromkeys(env.agents, 0.0)
    paid = 0
    while not any(env.terminations.values()):
        agent = env.agent_selection
        assert env.last()[1] == pytest.approx(expected[agent])
        env.step(HOLD if env.observe(agent)["action_mask"][HOLD] else ROLL)
        expected[agent] = 0.0
        for other in env.agents:
            expected[other] += env.rewards[other]
        assert env._cumulative_rewards == pytest.approx(expected)
        paid += any(env.rewards.values())
    assert paid > 10
    for agent in env.agent_iter():
        assert env.last()[1] == pytest.approx(expected[agent])
        env.step(None)


def test_outcome_is_paid_to_all_at_once():
    env = pig_env(num_players=2, goal=10)
    while not any(env.terminations.values()):
        assert set(env.rewards.values()) == {0.0}
        agent = env.agent_selection
        env.step(HOLD if env.observe(agent)["action_mask"][HOLD] else ROLL)
    assert sorted(env.rewards.values()) == [-1.0, 1.0]
    assert all(type(reward) is float for reward in env.rewards.values())
    assert {type(value) for value in (*env.terminations.values(), *env.truncations.values())} == {bool}


def test_truncated_environment():
    env = pig_env(max_decisions=2)
    play_env(env)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


def test_reset_without_seed_goes_on_as_a_batch_does():
    env, batch = pig_env(seed=5), pig_batch(1, seed=5)
    for _ in range(3):
        assert env.states[0].tobytes() == batch.states[0].tobytes()
        env.reset()
        batch.reset()
    env.reset(seed=5)
    batch.reset(seed=5)
    assert env.states[0].tobytes() == batch.states[0].tobytes()
    one, other = GardenEnv(Pig), GardenEnv(Pig)
    one.reset()
    other.reset()
    assert one.states.tobytes() != other.states.tobytes(), "the first time from a random seed"
    with pytest.raises(ValueError, match="seed must be 0"):
        env.reset(seed=-1)


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"]
)
def test_environment_copies_keep_the_game_in_progress(way):
    env = pig_env(goal=30)
    play_env(env, 7)
    other = way(env)
    play_env(other)
    assert env.states["decisions"][0] == 7
    play_env(env)
    assert in_progress(env) == in_progress(other)


def test_get_state_and_set_state():
    env = pig_env(goal=30)
    play_env(env, 7)
    kept = env.get_state()
    play_env(env)
    ended = in_progress(env)
    other = pig_env(goal=30, seed=9)
    other.set_state(kept)
    assert other.states["decisions"][0] == 7
    play_env(other)
    assert in_progress(other) == ended
    assert kept["states"]["decisions"][0] == 7, "what was kept stays as it was"
    with pytest.raises(ValueError, match="from another game"):
        mars_v0.env().set_state(kept)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"render_mode": "video"}, ValueError, "render_mode must be .*, not 'video'"),
        ({"illegal": "ignore"}, ValueError, "illegal must be 'raise' or 'terminate', not 'ignore'"),
        ({"goal": 0}, ValueError, "goal must be"),
        ({"colour": 1}, TypeError, "no option 'colour'"),
    ],
)
def test_environment_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        GardenEnv(Pig, **arguments)


def test_environment_of_a_game_takes_no_options():
    assert GardenEnv(Pig(goal=50)).game == GardenEnv(Pig, goal=50).game
    with pytest.raises(TypeError, match="options are chosen already; not taken: goal"):
        GardenEnv(Pig(), goal=50)


# PettingZoo's own warnings for every environment with an action mask in a dict of observations.
MASKED = [
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
]
SIZES = [
    (mars_v0, {"num_players": 1, "cooperative": True}),
    *((mars_v0, {"num_players": n}) for n in range(2, 6)),
    (mars_v0, {"view": "planes", "reward": "margin"}),
    *((botanicus_v0, {"num_players": n}) for n in range(2, 5)),
    (cacti_v0, {}),
    (cacti_v0, {"reward": "margin"}),
]
sizes = pytest.mark.parametrize(("module", "options"), SIZES, ids=lambda value: str(value)[:40])


@sizes
@pytest.mark.filterwarnings(*MASKED)
def test_pettingzoo_api(module, options):
    api_test(module.env(**options), num_cycles=300)


@sizes
def test_pettingzoo_seed(module, options):
    seed_test(lambda: module.env(**options), num_cycles=100)


@sizes
def test_pettingzoo_render(module, options):
    render_test(lambda render_mode: module.env(render_mode=render_mode, **options))
