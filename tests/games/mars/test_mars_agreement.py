"""The compiled kernels of Gardens of Mars and the plain reference agree in everything, decision by decision.

The kernels play; the deal and the dice are read off their snapshots and handed to the reference.
"""

import random
from collections import Counter

import numpy as np
import pytest
from mars_reference import MarsReference
from mars_tools import POLICIES, Table, choose, combinations, derived

pytestmark = pytest.mark.many_games

EVENTS = (
    "skip of a surrounded player",
    "left-over die used by a surrounded player",
    "landing on a flower",
    "give up",
    "give up with a choice of dice",
    "flower planted without a decision",
    "slide forward",
    "slide back",
    "slide back to 0",
    "score held at 0",
    "extra turn for a colour",
    "extra turn for a scorer",
    "extra turn for a scorer, moving back",
    "one extra turn for both reasons",
    "no extra turn without a die",
    "end by the last flower",
    "end in deadlock",
    "truncation",
    "tie at the end",
)


class Watched(MarsReference):
    """The reference, counting events in `met`."""

    def __init__(self, met, **options):
        super().__init__(**options)
        self.met = met

    def begin_turn(self, roll):
        before = self.current_player
        super().begin_turn(roll)
        if self.terminated:
            self.met["end in deadlock"] += 1
        elif self.current_player != before:
            self.met["skip of a surrounded player"] += 1

    def move(self, which, hexagon, roll):
        if self.dice_to_roll(self.current_player) == 0:
            self.met["left-over die used by a surrounded player"] += 1
        super().move(which, hexagon, roll)

    def land_on_flower(self, roll):
        self.met["landing on a flower"] += 1
        super().land_on_flower(roll)

    def land_on_empty_hex(self, hexagon, roll):
        self.met["flower planted without a decision"] += len(self.colours_left()) == 1
        super().land_on_empty_hex(hexagon, roll)

    def give_up(self, value, roll):
        self.met["give up"] += 1
        self.met["give up with a choice of dice"] += len(self.legal()) > 1
        super().give_up(value, roll)

    def move_scorer(self, points):
        player = self.current_player
        before = self.scores[player]
        super().move_scorer(points)
        after = self.scores[player]
        self.backwards = points < 0
        self.met["slide forward"] += after > before + points > before
        self.met["slide back"] += 0 <= after < before + points < before
        self.met["slide back to 0"] += 0 == after < before + points < before
        self.met["score held at 0"] += before == after == 0

    def earns_extra_turn(self):
        extra = super().earns_extra_turn()
        colour, scorer = self.planted_last_of_colour, self.met_another_scorer
        self.met["extra turn for a colour"] += extra and colour and not scorer
        self.met["extra turn for a scorer"] += extra and scorer and not colour
        self.met["extra turn for a scorer, moving back"] += extra and scorer and self.backwards
        self.met["one extra turn for both reasons"] += extra and scorer and colour
        self.met["no extra turn without a die"] += self.special_actions and not extra and (colour or scorer)
        return extra

    def end_game(self):
        super().end_game()
        self.met["end by the last flower"] += sum(self.stocks[self.current_player]) == 0


def play(options, seed, policy, met, seats_every=1):
    """Play one game on both; compare the mover's view at every decision, all seats' at every so many."""
    table = Table(**options).deal(seed)
    snapshot = table.now
    rules = {name: value for name, value in options.items() if name != "view"}
    reference = Watched(met, **rules, peak_hexes=snapshot["peaks"])
    assert list(table.game.labels) == reference.labels
    rng = random.Random(seed)
    taken = "the deal"
    while True:
        where = f"{table.game} seed {seed} policy {policy} decision {reference.decisions} after {taken}"
        legal = table.legal
        compare(table, snapshot, legal, reference, where, reference.decisions % seats_every == 0)
        if snapshot["phase"] == "over":
            met["truncation"] += reference.truncated
            met["tie at the end"] += len(set(reference.scores)) < len(reference.scores)
            return
        taken = choose(policy, rng, legal, snapshot)
        snapshot = table.take(taken).now

        def roll(n, dice=snapshot["dice"], where=where):
            assert n == len(dice), f"{where}: the kernels rolled {dice}, the reference {n} dice"
            return dice

        reference.step(reference.labels.index(taken), roll, lambda now=snapshot: now["stocks"])


def compare(table, snapshot, legal, reference, where, all_seats):
    game, state, expected = table.game, table.state, reference.snapshot()
    over = expected["phase"] == "over"
    if over:
        expected["current_player"] = snapshot["current_player"]  # without meaning
    for key in snapshot.keys() | expected.keys():
        assert snapshot.get(key) == expected.get(key), f"{where}: {key}"
    assert legal == [game.labels[action] for action in reference.legal()], where
    assert table.standings == reference.standings(), where
    assert game.scores(state) == reference.scores, where
    rewards = np.array(reference.rewards, np.float32)
    assert table.rewards == rewards.tolist(), where
    for name, value in derived(snapshot).items():
        assert np.array_equal(state[name], value), f"{where}: {name}"
    for seat in range(game.num_players):
        if all_seats or over or seat == expected["current_player"]:
            seen, should = table.observation(seat), reference.observation(seat, game.option_values["view"])
            assert np.array_equal(seen, should), f"{where}: seat {seat} at {np.argwhere(seen != should)[:5]}"


def games():
    """Six games of every combination, two with a small cap on decisions, shuffled: (options, seed, policy)."""
    rng = random.Random(0)
    made = []
    for i, options in enumerate(combinations()):
        for game in range(6):
            cap = {} if game % 3 else {"max_decisions": rng.randint(1, 80)}
            made.append((options | cap, 6 * i + game, POLICIES[(i + game) % 3]))
    rng.shuffle(made)
    return made


def few_games():
    """Four games of every number of players, peaks and gardeners, cooperative or not."""
    taken = Counter()
    for options, seed, policy in games():
        group = tuple(options[name] for name in ("num_players", "peaks", "gardeners", "cooperative"))
        taken[group] += 1
        if taken[group] <= 4:
            yield options, seed, policy


PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_reference_and_kernels_agree(part):
    for options, seed, policy in list(few_games())[part::PARTS]:
        play(options, seed, policy, Counter(), seats_every=3)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_reference_and_kernels_agree_in_every_combination_of_options(part):
    met = Counter()
    for options, seed, policy in games()[part::PARTS]:
        play(options, seed, policy, met)
    assert [event for event in EVENTS if not met[event]] == []
