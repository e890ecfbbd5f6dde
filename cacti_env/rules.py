"""The compiled rules of Cacti: one function per rule, in the order of a game.

A whole number handed to another function is an np.int64: a bare literal has its own Numba type and triggers another
compilation.
Numbers in brackets name the sections and paragraphs of `rules.md`, next to this file.
"""

from __future__ import annotations

import numpy as np

from cacti_env.cards import MAX_TYPES, MIDDLE, NUM_PLAYERS
from cacti_env.state import ACTION, LAST_CARD, MOST_COUNTED, RESPONSE
from garden_core.jit import compiled
from garden_core.jit.rng import bounded, seed_rng, shuffle

TIE_BREAK = 1000  # a standing is score x this + cacti under planters, of which there are fewer


# --- setup ---


@compiled
def deal(state, params, seed):
    """Shuffle and deal everything; seat 0 begins [2]."""
    seed_rng(state.rng, seed)
    state.nursery[:, :] = 0
    state.under_special[:, :] = 0
    state.special_used[:] = 0
    state.starting_in_hand[:] = 1
    state.planted[:, :] = 0
    state.num_planted[:] = 0
    state.arrangement_points[:] = 0
    state.middle[:] = 0
    state.last_turn = 0
    state.grown[:, :] = 0
    state.passed_by[:, :] = 0
    state.not_planted[:, :] = 0
    state.deck[:] = 0
    for t in range(MAX_TYPES):  # a new deck is made of the discards, so all cards begin there
        state.discards[t] = params.count[t]
    _shuffle_discards(state, params)
    _refill(state)
    _deal_hands(state, params)
    _begin_turn(state, params, np.int64(0))


@compiled
def _deal_hands(state, params):
    """Deal a Bonus Planter and a Basic Arrangement to each player [2.3, 2.5]."""
    first = bounded(state.rng, np.int64(params.num_bonus))
    second = bounded(state.rng, np.int64(params.num_bonus) - 1)
    second += second >= first
    state.bonus[0] = params.bonus[first]
    state.bonus[1] = params.bonus[second]
    n = np.int64(params.num_basic)
    state.arrangement_deck[:] = 0
    for k in range(n):
        state.arrangement_deck[k] = k
    shuffle(state.rng, state.arrangement_deck, n)
    for p in range(NUM_PLAYERS):
        n -= 1
        state.basic_in_hand[p] = state.arrangement_deck[n]
    state.arrangements_left = n


# --- the turn ---


@compiled
def _begin_turn(state, params, player):
    """Begin a turn; the opening card is taken automatically, except in the last turn [3.2, 4.4]."""
    state.active_player = player
    state.current_player = player
    if state.last_turn and state.deck_left > 0:
        state.asked = LAST_CARD
        return
    _take_opening_card(state)
    _ask_action(state, params)


@compiled
def _take_opening_card(state):
    if state.deck_left > 0:
        state.deck_left -= 1
        state.nursery[state.active_player, state.deck[state.deck_left]] += 1


@compiled
def _ask_action(state, params):
    """Ask for the action; the game ends if there is none, which can happen only in the last turn [3.3, 4.6]."""
    state.asked = ACTION
    if state.last_turn and not _can_act(state, params, np.int64(state.current_player)):
        state.terminated = 1


@compiled
def _ask_response(state, params):
    """Ask the other player, after a Grow, for a Grow or a Plant, if one is possible [3.5]."""
    state.asked = RESPONSE
    state.current_player = 1 - state.active_player
    if not _can_act(state, params, np.int64(state.current_player)):
        state.current_player = state.active_player
        _end_turn(state, params)


@compiled
def _end_turn(state, params):
    """Refill the middle; pass the turn on, or end the game by way of a last turn [3.8, 4.2, 4.3, 4.5]."""
    full = _refill(state)
    if state.last_turn:
        state.terminated = 1
    elif full:
        _begin_turn(state, params, np.int64(1 - state.active_player))
    elif state.active_player == 1:
        state.terminated = 1
    else:
        _shuffle_discards(state, params)
        _refill(state)
        state.last_turn = 1
        _begin_turn(state, params, np.int64(1))


@compiled
def _refill(state):
    """Fill the middle from the deck; return whether it is full [3.8, 4.1]."""
    missing = np.int64(MIDDLE)
    for t in range(MAX_TYPES):
        missing -= state.middle[t]
    while missing > 0 and state.deck_left > 0:
        state.deck_left -= 1
        state.middle[state.deck[state.deck_left]] += 1
        missing -= 1
    return missing == 0


@compiled
def _shuffle_discards(state, params):
    """Make a new deck of the discards [4.3]."""
    n = 0
    for t in range(params.num_types):
        for _ in range(state.discards[t]):
            state.deck[n] = t
            n += 1
        state.discards[t] = 0
    shuffle(state.rng, state.deck, n)
    state.deck_left = n


# --- the decisions ---


@compiled
def apply_action(state, params, action):
    """Carry out a legal action up to the next decision. Blocks: Grow, Plant, Special, the opening card."""
    types, plants = np.int64(params.num_types), _num_plants(params)
    if state.asked == LAST_CARD:
        if action == 2 * types + plants:
            _take_opening_card(state)
        _ask_action(state, params)
        return
    if params.memory:
        _remember(state, params, action)
    if action < types:
        _grow(state, action)
        if state.asked == ACTION:
            _ask_response(state, params)
            return
    elif action < types + plants:
        half = action - types
        if params.cards_shown:
            half = _offered(state, params, np.int64(state.current_player), half)
        _plant(state, params, half)
    else:
        _use_special(state, action - types - plants)
    _end_turn(state, params)


@compiled
def _num_plants(params):
    """Return the number of actions that plant: one for each half, or one for each that can be offered."""
    return np.int64(_NUM_OFFERED) if params.cards_shown else 2 * np.int64(params.num_basic) + 1


@compiled
def _grow(state, t):
    """Take all cacti of a type from the middle [3.4]."""
    state.nursery[state.current_player, t] += state.middle[t]
    state.middle[t] = 0


@compiled
def _plant(state, params, half):
    """Discard the cost of a half and keep its card [3.6]."""
    player = np.int64(state.current_player)
    for t in range(params.num_types):
        state.nursery[player, t] -= params.cost[half, t]
        state.discards[t] += params.cost[half, t]
    state.arrangement_points[player] += params.points[half]
    state.planted[player, state.num_planted[player]] = half
    state.num_planted[player] += 1
    if half == 2 * params.num_basic:
        state.starting_in_hand[player] = 0
    elif half // 2 == state.basic_in_hand[player]:
        state.basic_in_hand[player] = -1
    else:
        state.arrangements_left -= 1


@compiled
def _use_special(state, t):
    """Put all cacti of a type from middle and Nursery under the Special Planter, for good [3.7]."""
    player = np.int64(state.current_player)
    state.under_special[player, t] = state.middle[t] + state.nursery[player, t]
    state.middle[t] = 0
    state.nursery[player, t] = 0
    state.special_used[player] = 1


# --- legal actions ---


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (num_actions,), for the player to move; return how many are legal."""
    mask[:] = 0
    types = np.int64(params.num_types)
    specials = types + _num_plants(params)
    if state.asked == LAST_CARD:
        mask[specials + types] = 1
        mask[specials + types + 1] = 1
        return 2
    player = np.int64(state.current_player)
    n = 0
    for t in range(types):
        if state.middle[t] > 0:
            mask[t] = 1
            n += 1
    for i in range(_NUM_OFFERED):
        half = _offered(state, params, player, i)
        if half >= 0 and _can_pay(state, params, player, half):
            mask[types + (i if params.cards_shown else half)] = 1
            n += 1
    if state.asked == ACTION and not state.special_used[player]:
        for t in range(types):
            if state.middle[t] + state.nursery[player, t] > 0:
                mask[specials + t] = 1
                n += 1
    return n


_NUM_OFFERED = (
    5  # halves that a player may plant: of the own Basic Arrangement, of the top of the deck, Starting
)


@compiled
def _offered(state, params, player, i):
    """Return half `i` of those that the player may plant, -1 if there is none [3.6]."""
    if i == 4:
        return 2 * np.int64(params.num_basic) if state.starting_in_hand[player] else np.int64(-1)
    k = np.int64(-1)
    if i < 2:
        k = np.int64(state.basic_in_hand[player])
    elif state.arrangements_left > 0:
        k = np.int64(state.arrangement_deck[state.arrangements_left - 1])
    return 2 * k + (i & 1) if k >= 0 else np.int64(-1)


@compiled
def _can_pay(state, params, player, half):
    """Return whether the player's Nursery holds the cost of a half [3.6]."""
    for t in range(params.num_types):
        if state.nursery[player, t] < params.cost[half, t]:
            return False
    return True


@compiled
def _can_act(state, params, player):
    """Return whether the player has a legal action or response [3.5, 4.6]."""
    for t in range(params.num_types):
        if state.middle[t] > 0:
            return True
        if state.asked == ACTION and not state.special_used[player] and state.nursery[player, t] > 0:
            return True
    for i in range(_NUM_OFFERED):
        half = _offered(state, params, player, i)
        if half >= 0 and _can_pay(state, params, player, half):
            return True
    return False


# --- observations ---


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8, as seat `player` sees it [6]: the parts of `Cacti.observation_parts`, in this order."""
    types, other = np.int64(params.num_types), 1 - player
    for t in range(types):
        out[t] = state.middle[t]
        out[types + t] = state.nursery[player, t]
        out[2 * types + t] = state.nursery[other, t]
        out[3 * types + t] = state.under_special[player, t]
        out[4 * types + t] = state.under_special[other, t]
    at = 5 * types
    out[at] = state.special_used[player]
    out[at + 1] = state.special_used[other]
    at += 2
    out[at:] = 0
    out[at + np.int64(state.bonus[player])] = 1
    at += types
    out[at] = state.starting_in_hand[player]
    at += 1
    if params.cards_shown:
        at = _observe_values(state, params, player, out, at)
    else:
        at = _observe_places(state, params, player, out, at)
    out[at] = np.int64(state.starting_in_hand[other]) + (state.basic_in_hand[other] >= 0)
    out[at + 1] = state.deck_left
    at += 2
    for t in range(types):
        out[at + t] = state.discards[t]
    at += types
    out[at] = state.arrangements_left
    at += 1
    if not (state.terminated or state.truncated):
        out[at + np.int64(state.asked)] = 1
    at += 3
    out[at] = player
    out[at + 1] = state.last_turn
    if params.memory:
        _observe_memory(state, params, player, out)


@compiled
def _observe_places(state, params, player, out, at):
    """Fill `out` from `at` on with the Arrangements by their places in the data file; return where this ends."""
    basics, other = np.int64(params.num_basic), 1 - player
    if state.basic_in_hand[player] >= 0:
        out[at + np.int64(state.basic_in_hand[player])] = 1
    at += basics
    if state.arrangements_left > 0:
        out[at + np.int64(state.arrangement_deck[state.arrangements_left - 1])] = 1
    at += basics
    for i in range(state.num_planted[player]):
        out[at + np.int64(state.planted[player, i])] = 1
    at += 2 * basics + 1
    for i in range(state.num_planted[other]):
        out[at + np.int64(state.planted[other, i])] = 1
    at += 2 * basics + 1
    return at


@compiled
def _observe_values(state, params, player, out, at):
    """Fill `out` from `at` on with the Arrangements by cost and points; return where this ends."""
    types, basics, other = np.int64(params.num_types), np.int64(params.num_basic), 1 - player
    own, top = np.int64(state.basic_in_hand[player]), np.int64(-1)
    if state.arrangements_left > 0:
        top = np.int64(state.arrangement_deck[state.arrangements_left - 1])
    out[at] = state.starting_in_hand[other]
    at = _show_half(params, 2 * basics, out, at + 1)
    seen = np.int64(0)  # a bit for each Basic Arrangement
    for k in (own, top):
        if k >= 0:
            _show_basic(params, k, out, at)
            seen |= 1 << k
        at += 2 * types + 2
    for seat in (player, other):
        out[at] = state.num_planted[seat]
        out[at + 1] = min(np.int64(state.arrangement_points[seat]), MOST_COUNTED)
        at += 2
        for i in range(state.num_planted[seat]):
            seen |= 1 << (np.int64(state.planted[seat, i]) // 2)
    shown = np.int64(
        0
    )  # unseen is the rest, not what is in the deck: a search supposes other hands in past states
    for k in range(basics):
        if not seen >> k & 1:
            place = k  # of equal cards the first places are filled, so that nothing depends on which of them is seen
            while place > 0 and not shown >> (place - 1) & 1 and _equal(params, place - 1, k):
                place -= 1
            shown |= 1 << place
            _show_basic(params, np.int64(k), out, at + place * (2 * types + 2))
    at += basics * (2 * types + 2)
    for t in range(types):
        out[at + t] = params.count[t]
    at += types
    for i in range(params.num_bonus):
        out[at + np.int64(params.bonus[i])] += 1
    return at + types


@compiled
def _show_half(params, half, out, at):
    """Fill `out` from `at` on with the cost and the points of a half; return where this ends."""
    types = np.int64(params.num_types)
    for t in range(types):
        out[at + t] = params.cost[half, t]
    out[at + types] = params.points[half]
    return at + types + 1


@compiled
def _show_basic(params, k, out, at):
    """Fill `out` from `at` on with both halves of a Basic Arrangement."""
    _show_half(params, 2 * k + 1, out, _show_half(params, 2 * k, out, at))


@compiled
def _equal(params, one, other):
    """Return whether two Basic Arrangements have the same values."""
    for i in range(2):
        if params.points[2 * one + i] != params.points[2 * other + i]:
            return False
        for t in range(params.num_types):
            if params.cost[2 * one + i, t] != params.cost[2 * other + i, t]:
                return False
    return True


@compiled
def observe_hidden(state, params, player, out):
    """Fill `out`, int8, with what seat `player` cannot see: the parts of `Cacti.hidden_parts`, in this order."""
    types, basics = np.int64(params.num_types), np.int64(params.num_basic)
    other = 1 - player
    width = 2 * types + 2 if params.cards_shown else basics  # of the other's Basic Arrangement
    out[:] = 0
    out[np.int64(state.bonus[other])] = 1
    if state.basic_in_hand[other] >= 0:
        if params.cards_shown:
            _show_basic(params, np.int64(state.basic_in_hand[other]), out, types)
        else:
            out[types + np.int64(state.basic_in_hand[other])] = 1
    at, left = types + width, np.int64(state.deck_left)
    for i in range(left):
        out[at + i] = state.deck[left - 1 - i] + 1
    each = width if params.cards_shown else np.int64(1)
    at, left = out.shape[0] - basics * each, np.int64(state.arrangements_left) - 1
    for i in range(left):
        k = np.int64(state.arrangement_deck[left - 1 - i])
        if params.cards_shown:
            _show_basic(params, k, out, at + i * each)
        else:
            out[at + i] = k + 1


# --- memory ---


@compiled
def _remember(state, params, action):
    """Count what the player to move takes and passes up, before an action or a response."""
    player = state.current_player
    for t in range(params.num_types):
        if action == t:
            state.grown[player, t] = min(state.grown[player, t] + 1, MOST_COUNTED)
        elif state.middle[t] > 0:
            state.passed_by[player, t] = min(state.passed_by[player, t] + 1, MOST_COUNTED)
    if params.cards_shown:  # this observation has no places for halves
        return
    for half in range(2 * params.num_basic + 1):
        if action != params.num_types + half and _can_pay(state, params, player, half):
            state.not_planted[player, half] = min(state.not_planted[player, half] + 1, MOST_COUNTED)


@compiled
def _observe_memory(state, params, player, out):
    """Fill the end of `out` with the counts of the seat and of the other one."""
    types = np.int64(params.num_types)
    halves = np.int64(0) if params.cards_shown else 2 * np.int64(params.num_basic) + 1
    size = 2 * types + halves
    at = out.shape[0] - 2 * size
    for seat in (player, 1 - player):
        for t in range(types):
            out[at + t] = state.grown[seat, t]
            out[at + types + t] = state.passed_by[seat, t]
        for half in range(halves):
            out[at + 2 * types + half] = state.not_planted[seat, half]
        at += size


# --- the outcome ---


@compiled
def public_points(state, params, out):
    """Fill `out`, int32 (2,), with the points of planted Arrangements and Special Planters [7.2]."""
    for p in range(NUM_PLAYERS):
        out[p] = state.arrangement_points[p]
        for t in range(MAX_TYPES):
            out[p] += state.under_special[p, t]


@compiled
def points(state, params, out):
    """Fill `out`, int32 (2,), with the scores if the game ended now [5.1, 5.2, 5.3]."""
    public_points(state, params, out)
    for p in range(NUM_PLAYERS):
        cacti, kinds = 0, 0
        for t in range(MAX_TYPES):
            if t != state.bonus[p] and state.nursery[p, t] > 0:
                cacti += np.int64(state.nursery[p, t])
                kinds += 1
        out[p] += state.nursery[p, state.bonus[p]] - cacti * kinds


@compiled
def standings(state, params, out):
    """Fill `out`, int32 (2,): by score, level ones by the cacti under both planters [5.4]."""
    points(state, params, out)
    for p in range(NUM_PLAYERS):
        under_planters = np.int64(state.nursery[p, state.bonus[p]])
        for t in range(MAX_TYPES):
            under_planters += state.under_special[p, t]
        out[p] = out[p] * TIE_BREAK + under_planters


# --- hidden information ---


@compiled
def resample(state, params, player, seed):
    """Redraw the decks below what is open and the other's hand; Bonus Planters are open in the end [5.1, 6.1].

    If the other player is to move, the new hand allows a move, as a player without one is skipped.
    """
    seed_rng(state.rng, seed)
    other = 1 - player
    over = state.terminated or state.truncated
    shuffle(state.rng, state.deck, np.int64(state.deck_left))
    if not over:
        _redraw_bonus(state, params, player, other)
    while True:
        _redraw_arrangements(state, other)
        if over or state.current_player != other or state.asked == LAST_CARD:
            return
        if _can_act(state, params, other):
            return


@compiled
def _redraw_bonus(state, params, player, other):
    own = np.int64(0)
    while params.bonus[own] != state.bonus[player]:
        own += 1
    drawn = bounded(state.rng, np.int64(params.num_bonus) - 1)
    drawn += drawn >= own
    state.bonus[other] = params.bonus[drawn]


@compiled
def _redraw_arrangements(state, other):
    """Mix the other player's Basic Arrangement with the deck below its top card."""
    below = max(np.int64(state.arrangements_left) - 1, 0)
    if state.basic_in_hand[other] >= 0:
        drawn = bounded(state.rng, below + 1)
        if drawn < below:
            held = state.basic_in_hand[other]
            state.basic_in_hand[other] = state.arrangement_deck[drawn]
            state.arrangement_deck[drawn] = held
    shuffle(state.rng, state.arrangement_deck, below)
