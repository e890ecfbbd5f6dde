"""Tricks, a card game for three with hidden hands, whose redraws keep to what the play has revealed (docs/own-game.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core import Game, Option, Part, compiled
from garden_core.jit import bounded, seed_rng, shuffle

RULES = """\
Moons, stars and suns have cards from 1 to 9. Each of three players gets nine of these cards and sees no others.

player_0 leads the first trick: it plays any card, and then the two others play a card each, in turn. A player who has cards
of the suit that was led must play one of them; a player who has none may play any card. The highest moon wins the trick or,
if there is none, the highest card of the suit that was led. The winner leads the next trick. After nine tricks, the player
who has won the most of them wins.
"""
NAMES = ("moon", "star", "sun")
SEATS, SUITS, RANKS = 3, 3, 9
CARDS = SUITS * RANKS  # a card is suit * RANKS + rank - 1
MOON, NONE = 0, -1
PLAYED, TRICK, VOID = CARDS, 2 * CARDS, (2 + SEATS) * CARDS  # where parts of an observation begin
LEADER = VOID + SEATS * SUITS
WON = LEADER + SEATS


@compiled
def deal(state, params, seed):
    """Deal nine cards to each seat; seat 0 leads."""
    seed_rng(state.rng, seed)
    for card in range(CARDS):
        state.holder[card] = card % SEATS
    shuffle(state.rng, state.holder, CARDS)
    state.trick[:] = NONE
    state.void[:] = 0
    state.won[:] = 0
    state.leader = state.current_player = 0


@compiled
def _suit_led(state):
    """Return the suit that was led to this trick, or NONE."""
    card = state.trick[state.leader]
    return NONE if card == NONE else card // RANKS


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (27,): the cards of the suit that was led, or all of the hand if it has none. Return their number."""
    player, led = state.current_player, _suit_led(state)
    must_follow, n = False, 0
    for card in range(CARDS):
        must_follow |= state.holder[card] == player and card // RANKS == led
    for card in range(CARDS):
        mask[card] = state.holder[card] == player and (card // RANKS == led or not must_follow)
        n += mask[card]
    return n


@compiled
def apply_action(state, params, action):
    """Play a card, and note a void. The last card of a trick decides who wins it and leads the next."""
    player, led = np.int64(state.current_player), _suit_led(state)
    if led != NONE and led != action // RANKS:
        state.void[player, led] = 1
    state.holder[action] = NONE
    state.trick[player] = action
    state.current_player = (player + 1) % SEATS
    if state.current_player == state.leader:
        winner = _winner(state)
        state.won[winner] += 1
        state.trick[:] = NONE
        state.leader = state.current_player = winner
        state.terminated = state.decisions == CARDS


@compiled
def _winner(state):
    """Return the seat that wins a trick of three cards."""
    best = np.int64(state.leader)
    for seat in range(SEATS):
        card, highest = state.trick[seat], state.trick[best]
        same_suit = card // RANKS == highest // RANKS
        if (same_suit and card > highest) or (not same_suit and card // RANKS == MOON):
            best = seat
    return best


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (150,), see `observation_parts`; seats are counted from the observer."""
    out[:] = 0
    for card in range(CARDS):
        out[card] = state.holder[card] == player
        out[PLAYED + card] = state.holder[card] == NONE
    for offset in range(SEATS):
        seat = (player + offset) % SEATS
        card = np.int64(state.trick[seat])
        if card != NONE:
            out[TRICK + offset * CARDS + card] = 1
        for suit in range(SUITS):
            out[VOID + offset * SUITS + suit] = state.void[seat, suit]
        out[LEADER + offset] = state.leader == seat
        out[WON + offset] = state.won[seat]


@compiled
def observe_hidden(state, params, player, out):
    """Fill `out`, int8 (54,), with the hands of the next seat and of the seat after it."""
    for card in range(CARDS):
        out[card] = state.holder[card] == (player + 1) % SEATS
        out[CARDS + card] = state.holder[card] == (player + 2) % SEATS


@compiled
def resample(state, params, player, seed):
    """Deal the two other hands again, so that neither has cards of a suit in which its seat is void.

    If one of the two is void in a suit, the other has all unseen cards of it, and keeps them. Of the `free` cards that are left,
    `wanted` go to the next seat: each card in turn with probability wanted / free. This is selection sampling (Knuth's
    Algorithm S): every choice is equally likely.
    """
    seed_rng(state.rng, seed)
    one, other = (player + 1) % SEATS, (player + 2) % SEATS
    free = wanted = 0
    for card in range(CARDS):
        if _is_free(state, card, one, other):
            free += 1
            wanted += state.holder[card] == one
    for card in range(CARDS):
        if _is_free(state, card, one, other):
            goes_to_one = bounded(state.rng, free) < wanted
            state.holder[card] = one if goes_to_one else other
            wanted -= goes_to_one
            free -= 1


@compiled
def _is_free(state, card, one, other):
    """Return whether each of two seats can have an unseen card, as far as a third seat knows."""
    suit, holder = card // RANKS, state.holder[card]
    return (holder in (one, other)) and not (state.void[one, suit] or state.void[other, suit])


@compiled
def points(state, params, out):
    """Fill `out`, int32 (3,), with the tricks won: also the public points and the standings."""
    for seat in range(SEATS):
        out[seat] = state.won[seat]


class Tricks(Game):
    """Tricks for three players. An action is a card; observation int8 (150,), see `observation_parts`."""

    name, title, chance, information = "tricks", "Tricks", "deal", "imperfect"
    summary = RULES
    options = (
        Option("num_players", SEATS, "players", low=SEATS, high=SEATS),
        Option("max_decisions", CARDS, "cap at which a game is truncated", low=1, high=CARDS),
    )
    state_fields = (
        ("holder", "i1", CARDS),  # the seat that has the card in its hand, or NONE once it is played
        ("trick", "i1", SEATS),  # the card that each seat has played to this trick, or NONE
        ("leader", "i1"),  # the seat that leads this trick
        ("void", "u1", (SEATS, SUITS)),  # 1 once the seat has not followed this suit
        ("won", "i1", SEATS),  # tricks won
    )
    labels = tuple(f"{suit} {rank}" for suit in NAMES for rank in range(1, RANKS + 1))
    reward_divisor = 3
    observation_parts = (
        Part("own hand", CARDS, "the observer's hand", private=True),
        Part("played", CARDS, "cards that were played"),
        Part("trick", SEATS * CARDS, "by seat, the card in this trick, one-hot"),
        Part("void", SEATS * SUITS, "by seat, suits that it has not followed"),
        Part("leader", SEATS, "the seat that leads this trick, one-hot"),
        Part("won", SEATS, "by seat, tricks won", "0 … 9"),
    )
    hidden_parts = tuple(Part(f"{seat} hand", CARDS, f"the {seat} seat's hand") for seat in ("next", "last"))

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values: by seat the hand, the card in this trick, the voids and the score."""
        over = bool(state["terminated"] or state["truncated"])
        hands = [np.flatnonzero(state["holder"] == seat) for seat in range(SEATS)]
        return {
            "phase": "over" if over else "play",
            "current_player": int(state["current_player"]),
            "leader": int(state["leader"]),
            "hands": [[self.labels[card] for card in hand] for hand in hands],
            "trick": [None if card == NONE else self.labels[card] for card in state["trick"]],
            "void": [[NAMES[suit] for suit in np.flatnonzero(row)] for row in state["void"]],
            "scores": self.scores(state),
        }

    def seen(self, snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a snapshot with the number of cards instead of each other hand."""
        hands = [hand if p == seat else len(hand) for p, hand in enumerate(snapshot["hands"])]
        return snapshot | {"hands": hands}
