"""Whole games of Botanicus, decision by decision: what must hold in each is worked out anew from what snapshots tell."""

import itertools
from collections import Counter

import numpy as np
import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    CROSSINGS,
    DATA,
    KINDS,
    MONEY_3,
    PLANT_1,
    PLANT_3,
    POLICIES,
    TRACKS,
    WALK_5,
    WATER_2,
    Record,
    by_formula,
    made_up,
    mine,
    of,
    put,
    written,
)

pytestmark = pytest.mark.many_games


def parsed(action):
    kind, n = action.split()
    return (f"prize {n}", 1) if kind == "prize" else (kind, int(n))


def edges_of(data, track, number):
    """The edges from a node, as (way, place of the node it leads to, cost)."""
    nodes = data["tracks"][track]
    names = [node["name"] for node in nodes]
    return [
        (way, names.index(nodes[number][way]["to"]), nodes[number][way].get("cost", 0))
        for way in ("upper", "lower")
        if way in nodes[number]
    ]


def track_at_hand(now):
    """The track of the action at hand, its free steps left and the place of the piece."""
    track, left = now["hand_action"]
    return track, left, now["tracks"][now["current_player"]][TRACKS.index(track)]


def bed_label(i):
    return f"bed {i // 4},{i % 4}"


def far(crossing, other):
    (a, b), (c, d) = CROSSINGS[crossing], CROSSINGS[other]
    return abs(a - c) + abs(b - d)


def by_text(now, data):
    """What the text allows in a position, in the order of the labels."""
    p, asked = now["current_player"], now["asked"]
    if asked == "over":
        return []
    if asked == "assign":
        return [f"assign {j}" for j, task in enumerate(now["dealt"][p]) if task not in now["tasks"][p]]
    if asked == "neutral":
        return [f"neutral {s}" for s in range(4)]
    coins, here = now["coins"][p], now["gardeners"][p]
    if asked == "start":
        legal = ["pass"] if now["round"] == 3 else []
        if not now["walked"]:
            legal += [f"walk {r},{c}" for i, (r, c) in enumerate(CROSSINGS) if 0 < far(i, here) <= coins]
        if now["round"] == 3:
            legal += [f"resolve {track}" for track in TRACKS]
        if not now["played"]:
            held = [data["cards"][kind]["action"] for kind, n in enumerate(now["hands"][p]) if n]
            legal += [f"use {card}" for card in held if coins >= 2] + [f"sell {card}" for card in held]
        if now["round"] < 3:
            spaces = zip(data["board"][now["column"] - 1], now["flowers"], strict=True)
            legal += [
                f"flower {s}"
                for s, (what, there) in enumerate(spaces)
                if what.startswith("pole") or coins >= 3 * len(there)
            ]
        return legal
    if asked == "choose":
        pending = {kind for kind, _ in now["pending"][-1]}
        return ["pass", *(f"resolve {kind}" for kind in KINDS if kind in pending)]
    if asked == "walk":
        n = now["hand_action"][1]
        return ["pass", *(f"walk {r},{c}" for i, (r, c) in enumerate(CROSSINGS) if 0 < far(i, here) <= n)]
    if asked == "track":
        track, left, node = track_at_hand(now)
        extra = 0 if left else 3
        return [
            "pass",
            *(f"advance {way}" for way, _, cost in edges_of(data, track, node) if cost + extra <= coins),
        ]
    r, c = CROSSINGS[here]
    reach = [4 * i + j for i, j in ((r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1))]
    garden, kind = now["gardens"][p], now["hand_action"][0]
    if kind == "water":
        return ["pass", *(bed_label(i) for i in reach if 1 <= garden[i] <= 3)]
    return ["pass", *(bed_label(i) for i in reach if garden[i] not in (-1, int(kind[-1])))]


class Expected:
    """What the text makes of one step: coins paid and gained, points, cards, prizes, animals."""

    def __init__(self, now, label, data):
        self.now, self.data, self.player = now, data, now["current_player"]
        self.paid = self.unused = 0
        self.gains = []
        verb, _, what = label.partition(" ")
        if now["asked"] == "start":
            if verb == "walk":
                r, c = map(int, what.split(","))
                self.paid = far(now["gardeners"][self.player], CROSSINGS.index((r, c)))
            elif verb == "use":
                self.paid = 2
                self.gains = [parsed(what)]
            elif verb == "sell":
                self.paid = -3
            elif verb == "flower":
                self.flower(int(what))
            elif verb == "resolve":
                self.gains = [(what, 1)]
        elif now["asked"] == "track":
            self.track(label)

    def flower(self, space):
        now, column = self.now, self.now["column"]
        kind, n = parsed(self.data["board"][column - 1][space])
        height = len(now["flowers"][space])
        if kind == "pole":
            self.gains = [("coins", n)] * (not height)
        else:
            self.paid, self.gains = 3 * height, [(kind, n)]
        if column % 2 == 0 and not height:
            tile = now["tiles"][column // 2 - 1][space]
            sides = [*self.data["tiles"]["spotted"], *self.data["tiles"]["striped"]][tile]
            self.gains.append(parsed(sides[now["round"] - 1]))

    def track(self, label):
        track, left, node = track_at_hand(self.now)
        end = len(self.data["tracks"][track]) - 1
        moved, stopped = self.now["steps_taken"] > 0, label == "pass"
        if label != "pass":
            edge = next(e for e in edges_of(self.data, track, node) if e[0] == label.split()[1])
            node, self.paid, moved = edge[1], edge[2] + (0 if left else 3), True
            left = max(left - 1, 0)
            rest = self.now["coins"][self.player] - self.paid
            cheapest = min((cost for *_, cost in edges_of(self.data, track, node)), default=0)
            stopped = node == end or rest < cheapest + (0 if left else 3)
        if stopped:
            self.unused = left
            if moved:
                self.gains = [parsed(gain) for gain in self.data["tracks"][track][node].get("gains", [])]

    def stuck(self, label, after):
        """The points of track actions that began where no edge could be paid, and so were over at once."""
        groups = [[tuple(chosen) for chosen in group] for group in self.now["pending"]]
        if (self.now["asked"], label) == ("choose", "pass"):
            groups.pop()  # forfeited
        before = Counter(chosen for group in [*groups, self.gains] for chosen in group if chosen[0] in TRACKS)
        still = [tuple(chosen) for group in after["pending"] for chosen in group]
        if after["hand_action"] and not after["steps_taken"]:
            still.append(tuple(after["hand_action"]))
        over = list((before - Counter(still)).elements())
        for track, _ in over:
            node, coins = after["tracks"][self.player][TRACKS.index(track)], after["coins"][self.player]
            assert all(cost > coins for *_, cost in edges_of(self.data, track, node))
        return sum(n for _, n in over)

    def total(self, kind):
        return sum(n for what, n in self.gains if what == kind)

    @property
    def coins(self):
        return self.total("coins") - self.paid

    @property
    def drawn(self):
        return min(self.total("card"), len(self.now["pile"]) + sum(self.now["discards"]))

    @property
    def animals(self):
        return min(self.total("animal"), 5 - self.now["animals"][self.player])

    def prizes(self, stack):
        return self.now["prizes"][stack][: self.total(f"prize {('money', 'shovel')[stack]}")]

    @property
    def points(self):
        had = self.now["animals"][self.player]
        score = self.unused + self.total("points")
        score += sum(self.data["animals"][had : had + self.animals])
        return score + sum(self.prizes(0)) + sum(self.prizes(1))


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy for 2, 3 and 4 players, with the packaged and with made-up data."""
    folder = tmp_path_factory.mktemp("tables")
    played = []
    for n, (i, policy) in itertools.product((2, 3, 4), enumerate([*POLICIES, "greedy"])):
        for seed in range(1 if policy == "greedy" else 3):
            reward = ("outcome", "margin")[(seed + i) % 2]
            played.append(Record(DATA, policy, seed + 10 * n, num_players=n, reward=reward))
    for seed in range(100, 118):
        data = made_up(seed)
        path = written(data, folder, str(seed))
        policy, reward = POLICIES[seed % 3], ("outcome", "margin")[seed // 2 % 2]
        played.append(Record(data, policy, seed, num_players=2 + seed // 3 % 3, tables=path, reward=reward))
    return played


def test_what_is_legal_is_what_the_text_allows(games):
    for game in games:
        for now, legal in zip(game.nows, game.legal, strict=True):
            assert legal == by_text(now, game.data)


def test_whoever_is_to_move_has_more_than_pass(games):
    for game in games:
        for legal in game.legal[:-1]:
            assert legal
            assert legal != ["pass"]
            if game.data is DATA:
                assert len(legal) <= 25


def test_games_end_by_the_rules_well_before_the_cap(games):
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) < (500 if game.data is DATA else 1000)
        assert [now["decisions"] for now in game.nows] == list(range(len(game.nows)))
        starts = [
            (now["round"], now["column"], now["current_player"])
            for now in game.nows
            if now["asked"] == "start"
        ]
        assert Counter(player for _, _, player in set(starts)) == dict.fromkeys(range(game.n), 17)


def test_every_card_is_always_in_exactly_one_place(games):
    for game in games:
        copies = [card["copies"] for card in game.data["cards"]]
        for now in game.nows:
            piles = Counter(now["pile"])
            in_play = [int(kind == now["in_play"]) for kind in range(len(copies))]
            places = [*now["hands"], now["discards"], in_play, [piles[kind] for kind in range(len(copies))]]
            assert np.sum(places, axis=0).tolist() == copies


def test_every_prize_is_in_its_stack_or_was_scored(games):
    left_out = {2: 2, 3: 1, 4: 0}
    for game in games:
        for stack, name in enumerate(("money", "shovel")):
            whole = game.data["prizes"][name]
            assert game.nows[0]["prizes"][stack] == whole[left_out[game.n] :]
            for before, label, after in game.steps:
                taken = Expected(before, label, game.data).prizes(stack)
                assert after["prizes"][stack] == before["prizes"][stack][len(taken) :]


def test_every_flower_is_on_the_board_or_yet_to_come(games):
    for game in games:
        for now in game.nows:
            there = list(itertools.chain(*now["flowers"]))
            neutral = game.n == 2 and now["round"] < 3 and now["asked"] not in ("assign", "neutral")
            assert there.count("neutral") == neutral
            players = [p for p in there if p != "neutral"]
            if now["round"] == 3:
                assert players == []
            else:
                assert sorted(players + now["order"]) == list(range(game.n))
            assert sorted(now["stack"]) == list(range(game.n))
            assert now["order"] == now["stack"][game.n - len(now["order"]) :]


def test_tiles_and_beds_and_dealt_tasks_never_change_place(games):
    for game in games:
        first = game.nows[0]
        beds_there = [bed >= 0 for bed in first["gardens"][0]]
        assert beds_there == [bool(bed) for row in game.data["beds"] for bed in row]
        for now in game.nows:
            assert (now["tiles"], now["dealt"]) == (first["tiles"], first["dealt"])
            assert all([bed >= 0 for bed in garden] == beds_there for garden in now["gardens"])
            for own, dealt_own in zip(now["tasks"], now["dealt"], strict=True):
                assigned = [task for task in own if task >= 0]
                assert len(set(assigned)) == len(assigned)
                assert set(assigned) <= set(dealt_own)
                assert len(assigned) == 5 or now["asked"] in ("assign", "over")


def test_tiles_are_covered_by_the_first_flower_and_uncovered_with_round_two(games):
    for game in games:
        for before, label, after in game.steps:
            covered = [list(place) for place in before["covered"]]
            verb, _, space = label.partition(" ")
            if verb in ("flower", "neutral") and before["column"] % 2 == 0:
                covered[before["column"] // 2 - 1][int(space)] = True
            if (before["round"], after["round"]) == (1, 2):
                covered = [[False] * 4] * 4
            assert after["covered"] == covered


def test_every_change_of_coins_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            coins = list(before["coins"])
            coins[before["current_player"]] += Expected(before, label, game.data).coins
            assert after["coins"] == coins
            assert min(coins) >= 0


def test_every_change_of_points_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            points, p = list(before["points"]), before["current_player"]
            expected = Expected(before, label, game.data)
            points[p] += expected.points + expected.stuck(label, after)
            for row in range(5):
                if after["basic_done"][p][row] > before["basic_done"][p][row]:
                    points[p] += game.data["basic"][row]["points"]
                if after["special_done"][p][row] > before["special_done"][p][row]:
                    points[p] += game.data["special"][after["tasks"][p][row]]["points"]
            assert after["points"] == points


def test_every_change_of_animals_and_hands_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            p, expected = before["current_player"], Expected(before, label, game.data)
            animals, hands = list(before["animals"]), [list(hand) for hand in before["hands"]]
            animals[p] += expected.animals
            assert after["animals"] == animals
            if label.startswith(("use", "sell")):
                hands[p][[card["action"] for card in game.data["cards"]].index(label.partition(" ")[2])] -= 1
            assert after["hands"][:p] + after["hands"][p + 1 :] == hands[:p] + hands[p + 1 :]
            drawn = np.subtract(after["hands"][p], hands[p])
            assert drawn.min() >= 0
            assert drawn.sum() == expected.drawn
            if expected.drawn <= len(before["pile"]):
                assert after["pile"] == before["pile"][expected.drawn :]
                top = Counter(before["pile"][: expected.drawn])
                assert drawn.tolist() == [top[kind] for kind in range(len(drawn))]


def test_every_change_of_a_garden_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            gardens, p = [list(garden) for garden in before["gardens"]], before["current_player"]
            if label.startswith("bed"):
                bed = BEDS.index(tuple(map(int, label[4:].split(","))))
                kind = before["hand_action"][0]
                gardens[p][bed] = gardens[p][bed] + 1 if kind == "water" else int(kind[-1])
            assert after["gardens"] == gardens


def test_every_change_of_a_gardener_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            gardeners = list(before["gardeners"])
            if label.startswith("walk"):
                gardeners[before["current_player"]] = CROSSINGS.index(tuple(map(int, label[5:].split(","))))
            assert after["gardeners"] == gardeners


def meets(garden, row, plants):
    return all(garden[4 * row : 4 * row + 4].count(level) >= n for level, n in enumerate(plants, 1))


def test_tasks_are_done_exactly_as_the_text_says(games):
    for game in games:
        basic, special = game.data["basic"], game.data["special"]
        for before, _, after in game.steps:
            for p, row in itertools.product(range(game.n), range(5)):
                garden, task = after["gardens"][p], after["tasks"][p][row]
                done = before["basic_done"][p][row] or meets(garden, row, basic[row]["plants"])
                assert after["basic_done"][p][row] == done
                more = before["special_done"][p][row] or (
                    done and task >= 0 and meets(garden, row, special[task]["plants"])
                )
                assert after["special_done"][p][row] == more


def test_who_is_to_move_follows_from_the_flowers(games):
    for game in games:
        for before, label, after in game.steps:
            verb, _, space = label.partition(" ")
            there = [list(stack) for stack in before["flowers"]]
            if verb in ("flower", "neutral"):
                there[int(space)].append("neutral" if verb == "neutral" else before["current_player"])
            new_column = (after["round"], after["column"]) != (before["round"], before["column"])
            if new_column:
                reading = [p for stack in there for p in stack[::-1] if p != "neutral"]
                assert after["stack"] == after["order"] == reading
                following = {1: 2, 2: 3}[before["round"]] if before["column"] == 8 else before["round"]
                column = 8 if following == 3 else before["column"] % 8 + 1
                assert (after["round"], after["column"]) == (following, column)
                assert after["flowers"] == [[]] * 4
            else:
                assert after["stack"] == before["stack"]
                assert after["flowers"] == there
            if after["asked"] in ("start", "neutral"):
                assert after["current_player"] == after["order"][0]
            if after["asked"] == "neutral":
                assert not any(after["flowers"])
            if after["asked"] in ("choose", "plant", "water", "walk", "track"):
                assert after["current_player"] == before["current_player"]
                assert (after["in_play"] is not None) == (after["current_player"] in after["order"])


def test_phase_1_marks_are_kept_and_forgotten(games):
    for game in games:
        for before, label, after in game.steps:
            if after["asked"] == "over":
                assert not after["walked"]
                assert not after["played"]
                continue
            in_phase_1 = before["order"] == after["order"] and before["current_player"] in before["order"]
            if after["asked"] == "start" and in_phase_1 and before["asked"] not in ("assign", "neutral"):
                walked = before["walked"] or (before["asked"] == "start" and label.startswith("walk"))
                assert after["walked"] == walked
                assert after["played"] == (before["played"] or label.startswith(("use", "sell")))
            elif after["asked"] in ("start", "neutral"):
                assert not after["walked"]
                assert not after["played"]


def test_pieces_move_along_the_edges_and_go_home_from_the_end(games):
    for game in games:
        ends = [len(game.data["tracks"][track]) - 1 for track in TRACKS]
        for before, label, after in game.steps:
            for p, i in itertools.product(range(game.n), range(3)):
                was, is_now = before["tracks"][p][i], after["tracks"][p][i]
                moved = label.startswith("advance") and p == before["current_player"]
                if moved and before["hand_action"][0] == TRACKS[i]:
                    to = next(e[1] for e in edges_of(game.data, TRACKS[i], was) if e[0] == label.split()[1])
                    assert is_now in ((to,) if to != ends[i] else (to, 0))
                elif was == ends[i]:
                    assert is_now in (was, 0)
                else:
                    assert is_now == was
            if after["asked"] in ("start", "neutral", "over"):
                assert all(
                    place != end for own in after["tracks"] for place, end in zip(own, ends, strict=True)
                )


def test_pending_is_never_deeper_than_two_groups_of_three(games):
    deepest, widest = 0, 0
    for game in games:
        for now in game.nows:
            deepest = max(deepest, len(now["pending"]))
            widest = max(widest, *map(len, now["pending"]), 0)
            for kind, n in itertools.chain(*now["pending"]):
                assert kind in KINDS
                assert n >= 1
            if now["asked"] in ("assign", "neutral", "start", "over"):
                assert now["pending"] == []
                assert (now["hand_action"], now["steps_taken"], now["in_play"]) == (None, 0, None)
            else:
                assert now["pending"]
                assert (now["hand_action"] is None) == (now["asked"] == "choose")
            if now["asked"] == "choose":
                assert len({kind for kind, _ in now["pending"][-1]}) > 1
            if now["asked"] in ("plant", "water", "walk"):
                assert now["hand_action"][0].startswith(now["asked"])
                assert now["hand_action"][1] >= 1
                assert now["steps_taken"] == 0
    assert deepest == 2
    assert widest <= 3


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_outcome_pays_by_score_and_then_by_the_last_stack(games):
    for game in games:
        if game.game.option_values["reward"] == "outcome":
            assert all(rewards == [0] * game.n for rewards in game.rewards[:-1])
            now = game.nows[-1]
            ranked = sorted(range(game.n), key=lambda p: (-now["scores"][p], now["stack"].index(p)))
            paid = [game.rewards[-1][p] for p in ranked]
            assert paid == pytest.approx(np.linspace(1, -1, game.n).tolist())


def test_margin_pays_each_change_and_sums_to_a_twentieth_of_the_lead(games):
    for game in games:
        if game.game.option_values["reward"] == "margin":
            scores = np.array([now["scores"] for now in game.nows], float)
            lead = scores - (scores.sum(axis=1, keepdims=True) - scores) / (game.n - 1)
            assert np.allclose(game.rewards, np.diff(lead, axis=0) / 20, atol=1e-5)
            assert np.allclose(np.sum(game.rewards, axis=0), lead[-1] / 20, atol=1e-4)
            assert np.allclose(np.sum(game.rewards, axis=1), 0, atol=1e-5)


def test_packaged_games_come_near_the_figures_of_the_reading(games):
    for game in games:
        if game.data is DATA:
            last_now = game.nows[-1]
            assert max(max(now["coins"]) for now in game.nows) < 60
            assert max(last_now["scores"]) < 180
            assert 60 < last_now["decisions"] < 500


def test_one_seed_and_the_same_actions_give_the_same_game():
    one, other = (Record(DATA, "busy", 4, num_players=3) for _ in range(2))
    assert (one.nows, one.taken) == (other.nows, other.taken)


def test_a_copied_state_plays_on_alike():
    table = mine(
        column=4, pile=[], discards=[PLANT_1] * 3 + [WATER_2] * 3 + [PLANT_3, MONEY_3, WALK_5, ANIMAL_1]
    )
    twin = table.copy()
    assert put(table, "flower 2").now == put(twin, "flower 2").now
    assert sum(of(table, "hands")) == 1
