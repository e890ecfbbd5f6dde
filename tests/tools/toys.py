"""Toy games for tests, besides examples/pig.py: one with hidden cards, and one without chance."""

from garden_core import Game, Option, compiled
from garden_core.jit.kernels import Kernels
from garden_core.jit.rng import seed_rng, shuffle

MAX_PLAYERS = 3
DECK = 8


@compiled
def cards_deal(state, params, seed):
    seed_rng(state.rng, seed)
    for i in range(DECK):
        state.deck[i] = i
    shuffle(state.rng, state.deck, DECK)
    for p in range(MAX_PLAYERS):
        state.hand[p] = state.deck[p]
    state.next_card = MAX_PLAYERS
    state.asked_seats = 0
    state.current_player = 0


@compiled
def cards_legal_actions(state, params, mask):
    mask[:] = 1
    return 2


@compiled
def cards_apply_action(state, params, action):
    """Keep the card, or take the next one of the deck for it; then the next seat, once round."""
    player = state.current_player
    if action == 1:
        state.hand[player] = state.deck[state.next_card]
        state.next_card += 1
    state.asked_seats += 1
    state.current_player = (player + 1) % params.num_players
    if state.asked_seats == params.num_players:
        state.terminated = 1


@compiled
def cards_observe(state, params, player, out):
    """The own card, at the end all cards; how many were asked and drawn."""
    n = params.num_players
    out[:] = 0
    for offset in range(n):
        if offset == 0 or state.terminated:
            out[offset] = 1 + state.hand[(player + offset) % n]
    out[MAX_PLAYERS] = state.asked_seats
    out[MAX_PLAYERS + 1] = state.next_card


@compiled
def cards_points(state, params, out):
    for p in range(MAX_PLAYERS):
        out[p] = state.hand[p]


@compiled
def cards_public_points(state, params, out):
    out[:] = 0


@compiled
def cards_resample(state, params, player, seed):
    """Shuffle all cards but the own one, and deal the others again; discarded cards count as unseen."""
    seed_rng(state.rng, seed)
    own, n = state.hand[player], 0
    for card in range(DECK):
        if card != own:
            state.deck[n] = card
            n += 1
    shuffle(state.rng, state.deck, n)
    state.deck[n] = own
    for p in range(MAX_PLAYERS):
        if p != player:
            state.hand[p] = state.deck[p]  # the deck from next_card >= 3 on holds other cards


class Cards(Game):
    """Every seat has a hidden card, and may once change it for the next of the deck. The highest wins."""

    name, title, chance, information = "cards", "Cards", "deal", "imperfect"
    options = (
        Option("num_players", 2, "players", low=2, high=MAX_PLAYERS),
        Option("max_decisions", 10, "cap", low=1, high=99),
    )
    state_fields = (
        ("deck", "i1", DECK),
        ("hand", "i1", MAX_PLAYERS),
        ("next_card", "i1"),
        ("asked_seats", "i1"),
    )
    rules = Kernels(
        cards_deal,
        cards_legal_actions,
        cards_apply_action,
        cards_observe,
        cards_points,
        cards_public_points,
        cards_points,
        cards_resample,
    )
    labels = ("keep", "change")
    observation_shape = (MAX_PLAYERS + 2,)
    reward_divisor = DECK

    def own_snapshot(self, state):
        over = bool(state["terminated"] or state["truncated"])
        return {
            "asked": "over" if over else "change",
            "hands": state["hand"].tolist(),
            "deck": state["deck"][int(state["next_card"]) :].tolist(),
            "current_player": int(state["current_player"]),
            "scores": self.scores(state),
        }

    def seen(self, snapshot, seat):
        """The own card, at the end all cards; of the deck the number of cards."""
        hidden = {}
        if not snapshot["terminated"]:
            for key in ("hands", "scores"):
                hidden[key] = [value if p == seat else None for p, value in enumerate(snapshot[key])]
        return snapshot | {"deck": len(snapshot["deck"])} | hidden


@compiled
def nim_deal(state, params, seed):
    seed_rng(state.rng, seed)
    state.asked_seats = 0
    state.current_player = 0


@compiled
def nim_apply_action(state, params, action):
    """Count on by one or two; who comes to ten wins."""
    state.asked_seats += 1 + action
    if state.asked_seats >= 10:
        state.terminated = 1
    else:
        state.current_player = (state.current_player + 1) % params.num_players


@compiled
def nim_observe(state, params, player, out):
    out[0] = state.asked_seats
    out[1] = player == state.current_player


@compiled
def nim_points(state, params, out):
    for p in range(MAX_PLAYERS):
        out[p] = state.terminated and p == state.current_player


@compiled
def nim_resample(state, params, player, seed):
    seed_rng(state.rng, seed)


class Nim(Cards):
    """Perfect information, no chance."""

    name, title, chance, information = "nim", "Nim", "none", "perfect"
    state_fields = Cards.state_fields[3:]
    rules = Kernels(
        nim_deal,
        cards_legal_actions,
        nim_apply_action,
        nim_observe,
        nim_points,
        nim_points,
        nim_points,
        nim_resample,
    )
    labels = ("one", "two")
    observation_shape = (2,)

    def own_snapshot(self, state):
        return {
            "asked": "over" if state["terminated"] or state["truncated"] else "count",
            "counted": int(state["asked_seats"]),
            "current_player": int(state["current_player"]),
            "scores": self.scores(state),
        }

    seen = Game.seen
