"""The compiled kernels of Gardens of Mars and the plain reference agree in everything, decision by decision.

The kernels play; the deal and the dice are read off their snapshots and handed to the reference.
"""

import random
from collections import Counter

import numpy as np
import pytest
from mars_tools import POLICIES, Table, choose, combinations, derived
from reference.mars import MarsReference

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
    "one extra turn for both",
    "no extra turn without a die",
    "end by the last flower",
    "end in deadlock",
    "truncation",
    "tie at the end",
)


class Watched(MarsReference):
    """The reference, counting in `met` what the rules make of a game."""

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
        self.met["one extra turn for both"] += extra and scorer and colour
        self.met["no extra turn without a die"] += self.special_actions and not extra and (colour or scorer)
        return extra

    def end_game(self):
        super().end_game()
        self.met["end by the last flower"] += sum(self.stocks[self.current_player]) == 0


def play(options, seed, policy, met, seats_every):
    """Play one game on both; compare the mover's view at every decision, all seats' at every so many."""
    table = Table(**options).deal(seed)
    rng = random.Random(seed)
    rules = {name: value for name, value in options.items() if name != "view"}
    start = table.now
    reference = Watched(met, **rules, stocks=start["stocks"], peak_hexes=start["peaks"])
    assert list(table.game.labels) == reference.labels
    taken = "the deal"
    while True:
        where = f"{table.game} seed {seed} policy {policy} decision {reference.decisions} after {taken}"
        compare(table, reference, where, all_seats=reference.decisions % seats_every == 0)
        if table.over:
            met["truncation"] += reference.truncated
            met["tie at the end"] += len(set(reference.scores)) < len(reference.scores)
            return
        taken = choose(policy, rng, table.legal, table.now)
        table.take(taken)
        dice = table.dice

        def roll(n, dice=dice, where=where):
            assert n == len(dice), f"{where}: the kernels rolled {dice}, the reference {n} dice"
            return dice

        reference.step(reference.labels.index(taken), roll)


def compare(table, reference, where, all_seats):
    game, state = table.game, table.state
    n = game.num_players
    snapshot, expected = table.now, reference.snapshot()
    assert list(snapshot) == list(expected), where
    for key in expected:
        if key != "current_player" or not table.over:
            assert snapshot[key] == expected[key], f"{where}: {key}"
    assert [game.labels.index(label) for label in table.legal] == reference.legal(), where
    assert table.standings == reference.standings(), where
    assert game.scores(state) == reference.scores, where
    # The mean of exact values is taken in floating point; rounding restores the 0 of a tie of all.
    rewards = np.array([round(reward, 14) for reward in reference.rewards], np.float32)
    assert state["rewards"][:n].tolist() == rewards.tolist(), where
    for name, value in derived(snapshot).items():
        assert np.array_equal(state[name], value), f"{where}: {name}"
    for seat in range(n):
        if all_seats or table.over or seat == snapshot["current_player"]:
            expected_view = reference.observation(seat, game.chosen["view"])
            different = np.argwhere(table.observation(seat) != expected_view)
            assert not len(different), f"{where}: view of seat {seat} at {different[:5].tolist()}"


def games():
    """Four games of every combination, twice with a small cap on decisions, shuffled: (options, seed, policy)."""
    rng = random.Random(0)
    made = []
    for i, options in enumerate(combinations()):
        for game in range(8):
            cap = {} if game % 4 else {"max_decisions": rng.randint(1, 80)}
            made.append((options | cap, 8 * i + game, POLICIES[(i + game) % 3]))
    rng.shuffle(made)
    return made


if __name__ == "__main__":
    import time
    met=Counter(); t=time.time(); d=0
    g=games()
    print(len(g))
    for o,s,p in g[:200]:
        play(o,s,p,met,1)
    print(time.time()-t)
    for e in EVENTS: print(e, met[e])
