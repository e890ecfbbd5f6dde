"""Whole games of Cacti, decision by decision, and what a player sees of them."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
import tomli_w
from cacti_tools import DATA, FULL, Table, basics_in, counts, made_up, position

pytestmark = pytest.mark.many_games

# --- whole games ---


def cost(label, data):
    """The cacti that an action discards, by type."""
    if label == "plant starting":
        return data["starting"]["cost"]
    if label.startswith("plant"):
        *_, k, half = label.split()
        return data["basic"][int(k)][half]["cost"]
    return [0] * len(data["types"])


def by_text(now, data):
    """What the text allows in a position, in the order of the labels."""
    if now["asked"] == "over":
        return []
    if now["asked"] == "last_card":
        return ["take card", "leave card"]
    seat, types = now["current_player"], data["types"]
    nursery = now["nurseries"][seat]
    plants = [
        f"plant basic {k} {half}"
        for k in sorted(now["basic_in_hand"][seat] + now["arrangement_deck"][:1])
        for half in ("upper", "lower")
    ] + ["plant starting"] * now["starting_in_hand"][seat]
    legal = [f"grow {types[t]}" for t, n in enumerate(now["middle"]) if n]
    legal += [label for label in plants if all(map(int.__ge__, nursery, cost(label, data)))]
    if now["asked"] == "action" and now["special"][seat] is None:
        legal += [f"special {types[t]}" for t, n in enumerate(now["middle"]) if n + nursery[t]]
    return legal


def visible(now, data):
    """Each seat's points of planted Arrangements and of the Special Planter."""
    return [
        sum(
            data["basic"][card[0]][card[1]]["points"] if card[1:] else data["starting"]["points"]
            for card in planted
        )
        + sum(under or ())
        for planted, under in zip(now["planted"], now["special"], strict=True)
    ]


def by_formula(now, data):
    """Each seat's score."""
    scores = visible(now, data)
    for seat, nursery in enumerate(now["nurseries"]):
        rest = [n for t, n in enumerate(nursery) if n and t != now["bonus"][seat]]
        scores[seat] += nursery[now["bonus"][seat]] - sum(rest) * len(rest)
    return scores


def preferring(*wishes, by):
    """A policy: actions of the first kind in its list that is legal; among equals, the least in `by`."""

    def policy(rng, now, legal, data):
        def rank(label):
            kind = [label.startswith(wish) for wish in wishes]
            return kind.index(True) if any(kind) else len(wishes), by(label, now, data), rng.random()

        return min(legal, key=rank)

    return policy


def small(label, now, data):
    """How many cacti a Grow takes, or an Arrangement costs."""
    if label.startswith("grow"):
        return now["middle"][data["types"].index(label.removeprefix("grow "))]
    return sum(cost(label, data))


def large(label, now, data):
    return -small(label, now, data)


POLICIES = {
    "uniform": lambda rng, now, legal, data: rng.choice(legal),
    "always the first": lambda rng, now, legal, data: legal[0],
    "always the last": lambda rng, now, legal, data: legal[-1],
    "plant cheaply, grow little": preferring("plant", "leave", "grow", by=small),
    "plant dearly, grow much": preferring("plant", "take", "grow", by=large),
    "plant from much": preferring("plant", "leave", "grow", by=large),
    "never plant, grow little": preferring("grow", "leave", by=small),
    "never plant, grow much": preferring("grow", "take", by=large),
    "special at once, then grow little": preferring("special", "leave", "grow", by=small),
    "special at once, then plant": preferring("special", "plant", "take", by=small),
    "special rather than plant": preferring("special", "grow", "leave", by=large),
}


class Record:
    """A whole game: its data, snapshots, actions and rewards."""

    def __init__(self, data, policy, seed, **options):
        table = Table(**options).deal(seed)
        rng = random.Random(seed)
        self.data, self.game = data, table.game
        self.nows, self.legal, self.taken, self.rewards = [table.now], [table.legal], [], []
        while not table.over:
            assert self.legal[-1], f"{table.game} seed {seed}: nothing is legal"
            self.taken.append(POLICIES[policy](rng, self.nows[-1], self.legal[-1], data))
            table.take(self.taken[-1])
            self.nows.append(table.now)
            self.legal.append(table.legal)
            self.rewards.append(table.rewards)

    @property
    def steps(self):
        """Triples of snapshot before, action, snapshot after."""
        return zip(self.nows, self.taken, self.nows[1:], strict=False)


def lasting():
    """Cards for long games: many cacti of many types, cheap Arrangements."""
    one = [{"cost": counts([t], 6), "points": t} for t in range(6)]
    basic = [{"upper": one[k % 6], "lower": one[(k + 1) % 6]} for k in range(32)]
    types = ["a", "b", "c", "d", "e", "f"]
    return {"types": types, "count": [20] * 6, "bonus": types, "starting": one[0], "basic": basic}


def scarce():
    """The fewest cards allowed: 12 cacti of two types, two Bonus Planters of one, 3 Basic Arrangements."""
    card = {"upper": {"cost": [1, 0], "points": 1}, "lower": {"cost": [0, 2], "points": 3}}
    types, starting = ["a", "b"], {"cost": [1, 1], "points": 2}
    return {"types": types, "count": [6, 6], "bonus": ["a", "a"], "starting": starting, "basic": [card] * 3}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy with the packaged cards and with others, half of them with reward="margin"."""
    folder = tmp_path_factory.mktemp("cards")
    played = []

    def play(data, seeds, **options):
        for seed, (i, policy) in itertools.product(seeds, enumerate(POLICIES)):
            reward = ("outcome", "margin")[(seed + i) % 2]
            played.append(Record(data, policy, seed, reward=reward, max_decisions=10**6, **options))

    play(DATA, range(12))
    for i, data in enumerate([lasting(), scarce(), *map(made_up, range(10, 26))]):
        path = folder / f"{i}.toml"
        path.write_text(tomli_w.dumps(data))
        play(data, range(2 if i > 1 else 6), cards=str(path))
    return played


def test_every_cactus_is_always_in_exactly_one_place(games):
    for game in games:
        n = len(game.data["types"])
        for now in game.nows:
            places = [now["middle"], *now["nurseries"], counts(now["deck"], n), now["discards"]]
            places += [under for under in now["special"] if under]
            assert np.min(places) >= 0
            assert np.sum(places, axis=0).tolist() == game.data["count"]


def test_every_arrangement_is_always_in_exactly_one_place(games):
    for game in games:
        for now in game.nows:
            assert basics_in(now) == list(range(len(game.data["basic"])))
            assert [["starting"] not in planted for planted in now["planted"]] == now["starting_in_hand"]
            assert all(planted.count(["starting"]) <= 1 for planted in now["planted"])


def test_what_is_legal_is_what_the_text_allows(games):
    for game in games:
        for now, legal in zip(game.nows, game.legal, strict=True):
            assert legal == by_text(now, game.data)


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_outcome_pays_1_0_or_minus_1_at_the_end_only(games):
    paid = Counter()
    for game in games:
        if game.game.option_values["reward"] == "outcome":
            assert all(rewards == [0, 0] for rewards in game.rewards[:-1])
            now = game.nows[-1]
            planters = [now["nurseries"][p][now["bonus"][p]] + sum(now["special"][p] or ()) for p in range(2)]
            own, other = zip(now["scores"], planters, strict=True)
            sign = (own > other) - (own < other)
            assert game.rewards[-1] == [sign, -sign]
            paid[sign] += 1
    assert min(paid[1], paid[-1]) > 20


def test_margin_pays_what_all_can_see_and_sums_to_a_tenth_of_the_margin(games):
    seen = 0
    for game in games:
        if game.game.option_values["reward"] == "margin":
            leads = [np.subtract(*visible(now, game.data)) for now in game.nows[:-1]]
            leads.append(np.subtract(*game.nows[-1]["scores"]))
            assert np.allclose([r[0] for r in game.rewards], np.diff(leads) / 10, atol=1e-6)
            assert np.allclose(np.sum(game.rewards, axis=1), 0, atol=1e-6)
            own, other = game.nows[-1]["scores"]
            assert np.allclose(
                np.sum(game.rewards, axis=0), [(own - other) / 10, (other - own) / 10], atol=1e-5
            )
            seen += 1
    assert seen > 100


def test_margin_of_a_truncated_game_sums_to_a_tenth_of_the_margin():
    for cap, policy in itertools.product((1, 2, 7, 15), POLICIES):
        game = Record(DATA, policy, cap, reward="margin", max_decisions=cap)
        now = game.nows[-1]
        assert (now["truncated"], now["terminated"], now["decisions"]) == (True, False, cap)
        assert now["scores"] == by_formula(now, DATA)
        assert np.allclose(np.sum(game.rewards, axis=0)[0], np.subtract(*now["scores"]) / 10, atol=1e-6)


def test_games_end_by_the_rules_within_the_longest_length_told(games):
    longest = Counter()
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) <= game.game.max_game_length
        longest[game.data is DATA] = max(longest[game.data is DATA], len(game.taken))
    assert longest[True] < 200  # which is the cap if none is chosen
    assert longest[False] > 60


def test_the_longest_length_told_is_no_more_than_the_cap():
    assert Table(max_decisions=9).game.max_game_length == 9
    assert Table().game.max_game_length <= 200


def test_turns_alternate(games):
    for game in games:
        for before, label, after in game.steps:
            if after["asked"] == "over":
                continue
            if after["asked"] == "response":
                assert label.startswith("grow")
                assert before["asked"] == "action"
                same = True
            else:
                same = before["asked"] == "last_card"
            assert (after["active_player"] == before["active_player"]) == same
            assert after["current_player"] == (after["active_player"] + (after["asked"] == "response")) % 2
            assert after["decisions"] == before["decisions"] + 1


def test_every_turn_but_the_last_begins_with_five_in_the_middle(games):
    for game in games:
        for now in game.nows:
            if now["asked"] == "action" and not now["last_turn"]:
                assert sum(now["middle"]) == 5
            if now["asked"] == "last_card":
                assert (sum(now["middle"]), bool(now["deck"])) == (5, True)


def test_the_last_turn_is_the_second_players_and_comes_once(games):
    met = Counter()
    for game in games:
        turns = [now["active_player"] for now in game.nows[:-1] if now["last_turn"]]
        assert set(turns) <= {1}
        assert len(turns) <= 3
        assert sum(now["asked"] == "last_card" for now in game.nows) <= 1
        flags = [now["last_turn"] for now in game.nows]
        assert flags == sorted(flags)
        met[flags[-1]] += 1
    assert min(met.values()) > 20


def test_a_game_without_a_last_turn_ends_when_the_second_player_cannot_refill(games):
    for game in games:
        now = game.nows[-1]
        if not now["last_turn"]:
            assert now["active_player"] == 1
            assert sum(now["middle"]) < 5
            assert now["deck"] == []


def test_what_is_under_a_special_planter_never_changes_and_only_plants_discard(games):
    for game in games:
        for before, label, after in game.steps:
            for old, new in zip(before["special"], after["special"], strict=True):
                assert old is None or old == new
            if after["last_turn"] == before["last_turn"]:
                assert (np.array(before["discards"]) + cost(label, game.data)).tolist() == after["discards"]
            assert before["bonus"] == after["bonus"]
            for old, new in zip(before["planted"], after["planted"], strict=True):
                assert new[: len(old)] == old


def test_the_decks_are_drawn_from_the_top_only(games):
    for game in games:
        for before, _, after in game.steps:
            if after["last_turn"] == before["last_turn"]:
                drawn = len(before["deck"]) - len(after["deck"])
                assert drawn >= 0
                assert before["deck"][drawn:] == after["deck"]
            assert after["arrangement_deck"] in (before["arrangement_deck"], before["arrangement_deck"][1:])


def test_games_of_one_seed_are_alike():
    for policy in POLICIES:
        assert Record(DATA, policy, 5).nows == Record(DATA, policy, 5).nows


# --- what a player sees of the hands ---


def test_each_player_sees_the_own_hand_only():
    def seen(hand, bonus, deck=(0, 1, 2), below=(6, 7), seat=0):
        table = position(
            middle=FULL,
            nurseries=([1], [2]),
            hands=(["starting", 3], hand),
            bonus=(0, bonus),
            deck=deck,
            arrangement_deck=[5, *below],
        )
        return table.observation(seat).tolist()

    first = seen(["starting", 4], 1)
    assert seen(["starting", 8], 1) == first
    assert seen(["starting", 4], 2) == first
    assert seen(["starting", 4], 1, deck=(3, 0, 0)) == first
    assert seen(["starting", 4], 1, below=(7, 6)) == first
    assert seen(["starting"], 1) != first  # how many are held is open
    own = seen(["starting", 4], 1, seat=1)
    assert seen(["starting", 8], 1, seat=1) != own
    assert seen(["starting", 4], 2, seat=1) != own


def observed(now, seat, n, basics):
    """The observation, part by part."""

    def one_hot(chosen, size):
        return [int(i in chosen) for i in range(size)]

    def half(card):
        return 2 * basics if card == ["starting"] else 2 * card[0] + (card[1] == "lower")

    own, other = seat, 1 - seat
    under = [now["special"][p] or [0] * n for p in range(2)]
    planted = [one_hot([half(card) for card in now["planted"][p]], 2 * basics + 1) for p in range(2)]
    return [
        *now["middle"],
        *now["nurseries"][own],
        *now["nurseries"][other],
        *under[own],
        *under[other],
        *(int(now["special"][p] is not None) for p in (own, other)),
        *one_hot([now["bonus"][own]], n),
        int(now["starting_in_hand"][own]),
        *one_hot(now["basic_in_hand"][own], basics),
        *one_hot(now["arrangement_deck"][:1], basics),
        *planted[own],
        *planted[other],
        now["starting_in_hand"][other] + len(now["basic_in_hand"][other]),
        len(now["deck"]),
        *now["discards"],
        len(now["arrangement_deck"]),
        *one_hot([("action", "response", "last_card").index(now["asked"])], 3),
        seat,
        int(now["last_turn"]),
    ]


def test_an_observation_lists_what_the_reading_lists_in_its_order():
    rng = random.Random(4)
    for seed in range(12):
        table = Table().deal(seed)
        while not table.over:
            for seat in range(2):
                assert table.observation(seat).tolist() == observed(table.now, seat, 4, 12)
            table.take(rng.choice(table.legal))
