"""The example with hidden hands: its rules, and that its redraws keep to voids, which check_game cannot find."""

from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
import tricks
from playing import dealt
from statistics_tools import assert_uniform
from tricks import Tricks

from garden_core import RandomPolicy, make
from garden_core.testing import check_game

IGNORED = " and not (state.void[one, suit] or state.void[other, suit])"
"""A part of the rules, without which redraws ignore voids."""


@pytest.mark.parametrize("game", [Tricks(), Tricks(reward="margin", max_decisions=20)], ids=repr)
def test_tricks_keeps_the_contract(game):
    check_game(game)


@pytest.mark.parametrize("seed", range(20))
def test_a_game_by_the_sentences_of_the_rules(seed):
    batch, policy = dealt(Tricks(), 1, seed, autoreset=False), RandomPolicy(seed)
    game, state = batch.game, batch.states[0]
    hands, won = game.snapshot(state)["hands"], [0, 0, 0]
    # "Moons, stars and suns have cards from 1 to 9. Each of three players gets nine of these cards and sees no others."
    assert sorted(card for hand in hands for card in hand) == [
        f"{suit} {rank}" for suit in ("moon", "star", "sun") for rank in range(1, 10)
    ]
    assert [game.seat_view(state, seat)["hands"][seat] for seat in range(3)] == hands
    assert game.seat_view(state, 1)["hands"] == [9, hands[1], 9]
    leader = 0  # "player_0 leads the first trick"
    for _ in range(9):  # "After nine tricks, …"
        trick = {}
        for seat in (
            leader,
            (leader + 1) % 3,
            (leader + 2) % 3,
        ):  # "… the two others play a card each, in turn."
            assert batch.current_player[0] == seat
            led = trick[leader].split()[0] if trick else ""
            # "A player who has cards of the suit that was led must play one of them; a player who has none may play any"
            following = [card for card in hands[seat] if card.startswith(led)] or hands[seat]
            assert [game.labels[action] for action in np.flatnonzero(batch.action_mask[0])] == following
            shown = batch.observation[0, game.observation_slices["trick"]].reshape(3, 27)
            assert {(seat + i) % 3: game.labels[card] for i, card in np.argwhere(shown)} == trick
            (action,) = policy(batch, batch.all_rows)
            trick[seat] = game.labels[action]
            hands[seat].remove(trick[seat])
            batch.step([action])
        # "The highest moon wins the trick or, if there is none, the highest card of the suit that was led."
        suit = "moon" if any("moon" in card for card in trick.values()) else trick[leader].split()[0]
        leader = max((card, seat) for seat, card in trick.items() if suit in card)[1]  # "The winner leads"
        won[leader] += 1
        assert game.scores(state) == won
    assert batch.over[0]
    assert (batch.rewards[0] == batch.rewards[0].max()).tolist() == [each == max(won) for each in won]


def positions(game):
    """Yield games in which a void is known: the batch, and (seat, suit) for all voids, from the moves."""
    for seed in range(16):
        batch, policy, void = dealt(game, 1, seed), RandomPolicy(seed), set()
        for number in range(14 + seed % 4):
            (card,) = policy(batch, batch.all_rows)
            if number % 3 == 0:
                led = card // 9
            elif card // 9 != led:
                void.add((int(batch.current_player[0]), int(led)))
            batch.step([card])
        if void:
            yield batch, void


def check_voids(batch, void):
    """Check that all hands that agree with the moves are redrawn, equally often and no others; return what voids exclude."""
    holder, excluded = batch.states["holder"][0], 0
    for seat in range(3):
        one, other = (seat + 1) % 3, (seat + 2) % 3
        unseen, size = set(np.flatnonzero((holder == one) | (holder == other))), np.sum(holder == one)
        possible = [
            hand
            for hand in combinations(sorted(unseen), size)
            if void.isdisjoint(
                {(one, card // 9) for card in hand} | {(other, card // 9) for card in unseen - {*hand}}
            )
        ]
        redraws = batch.redraws(100 * len(possible), seed=1, player=seat)[0]["holder"]
        assert_uniform(
            Counter(tuple(np.flatnonzero(each == one)) for each in redraws), dict.fromkeys(possible, 1)
        )
        excluded += comb(len(unseen), size) - len(possible)
    return excluded


def test_redraws_are_the_deals_that_agree_with_the_moves():
    assert sum(check_voids(*position) > 0 for position in positions(Tricks())) >= 5


def test_redraws_that_ignore_voids_pass_check_game_only(tmp_path, monkeypatch):
    """As docs/own-game.md says."""
    source = Path(tricks.__file__).read_text("utf-8")
    assert IGNORED in source
    (tmp_path / "ignorant.py").write_text(source.replace(IGNORED, ""), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    game = make("ignorant:Tricks")
    check_game(game)
    batch, void = next(positions(game))
    with pytest.raises(AssertionError):
        check_voids(batch, void)
