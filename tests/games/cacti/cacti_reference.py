"""A slow and plain Cacti: the oracle for the compiled kernels.

Written from the rules alone, it shares no code with the package. Its methods follow the order of the
rules. All chance comes from outside: the constructor takes the deal, `step` the reshuffle.
"""

from collections import Counter

import numpy as np

FACE_UP = 5
HALVES = ["upper", "lower"]
ASKED = ["action", "response", "last_card"]
MARGIN_SCALE = 10
STANDING_PER_POINT = 1000  # more than there can be cards under planters


class CactiReference:
    """One game, from the deal to the end."""

    # ---------------------------------------------------------------- setup

    def __init__(
        self,
        *,
        data,
        max_decisions=200,
        reward="outcome",
        cards_shown="places",
        deck,
        middle,
        bonus,
        basic_in_hand,
        arrangement_deck,
    ):
        self.max_decisions = max_decisions
        self.reward = reward
        self.by_value = cards_shown == "values"

        self.types = list(data["types"])
        self.count = list(data["count"])
        self.starting = data["starting"]
        self.basic = data["basic"]
        # A Bonus Planter's type may be given by its index or by its name.
        self.bonus_planters = [self.types.index(t) if isinstance(t, str) else t for t in data["bonus"]]
        self.num_types = len(self.types)

        self.deck = list(deck)  # top first
        self.middle = list(middle)
        self.bonus = list(bonus)
        self.basic_in_hand = [list(hand) for hand in basic_in_hand]
        self.arrangement_deck = list(arrangement_deck)  # top first
        self.check_deal()

        self.nurseries = [[0] * self.num_types for _ in range(2)]
        self.special = [None, None]  # counts by type, once used
        self.starting_in_hand = [True, True]
        self.planted = [[], []]  # (k, half) or ("starting",), in the order planted
        self.discards = [0] * self.num_types
        self.last_turn = False
        self.decisions = 0
        self.terminated = False
        self.truncated = False
        self.rewards = [0.0, 0.0]

        self.name_actions()
        self.begin_turn(0, None)  # with a full middle nothing is passed over, so nothing is shuffled

    def check_deal(self):
        """Every card of the data is dealt exactly once; Bonus Planters not dealt are out of the game."""
        assert sum(self.middle) == FACE_UP
        for t in range(self.num_types):
            assert self.deck.count(t) + self.middle[t] == self.count[t], f"cards of type {t}"
            assert self.bonus.count(t) <= self.bonus_planters.count(t), f"Bonus Planters of type {t}"
        assert len(self.bonus) == 2
        assert [len(hand) for hand in self.basic_in_hand] == [1, 1]
        assert sorted(sum(self.basic_in_hand, self.arrangement_deck)) == list(range(len(self.basic)))

    def name_actions(self):
        """By label: ("grow", t), ("basic", k, half), ("starting",), ("special", t), ("take",) or ("leave",).

        By value, ("hand", half) and ("open", half) take the place of ("basic", k, half).
        """
        self.actions = {f"grow {name}": ("grow", t) for t, name in enumerate(self.types)}
        if self.by_value:
            for place in ("hand", "open"):
                for half in HALVES:
                    self.actions[f"plant {place} {half}"] = (place, half)
        else:
            for k in range(len(self.basic)):
                for half in HALVES:
                    self.actions[f"plant basic {k} {half}"] = ("basic", k, half)
        self.actions["plant starting"] = ("starting",)
        for t, name in enumerate(self.types):
            self.actions[f"special {name}"] = ("special", t)
        self.actions |= {"take card": ("take",), "leave card": ("leave",)}
        self.labels = list(self.actions)

    # ---------------------------------------------------------------- decisions

    def legal(self):
        """The indexes of the legal actions, ascending."""
        allowed = self.allowed()
        return [index for index, name in enumerate(self.actions.values()) if self.meant(name) in allowed]

    def meant(self, name):
        """The action with its card: what lies in a place now."""
        if name[0] not in ("hand", "open"):
            return name
        cards = self.basic_in_hand[self.current_player] if name[0] == "hand" else self.arrangement_deck[:1]
        return ("basic", cards[0], name[1]) if cards else None

    def allowed(self):
        if self.asked == "last_card":
            return {("take",), ("leave",)}
        if self.asked == "action":
            return self.allowed_grows() | self.allowed_plants() | self.allowed_specials()
        if self.asked == "response":
            return self.allowed_grows() | self.allowed_plants()
        return set()

    def step(self, action, shuffle):
        """Carry out one decision and everything that follows without one."""
        assert action in self.legal()
        counted_before = self.counted_points()
        name = self.meant(self.actions[self.labels[action]])
        self.decisions += 1
        if self.asked == "last_card":
            self.answer_last_card(name, shuffle)
        elif self.asked == "response":
            self.carry_out(name)
            self.end_turn(shuffle)
        else:
            self.carry_out(name)
            if name[0] == "grow":
                self.ask_response(shuffle)
            else:
                self.end_turn(shuffle)
        # The cap comes last: the step is done in full, and a game just ended by the rules is not truncated.
        if not self.terminated and self.decisions >= self.max_decisions:
            self.truncated = True
            self.asked = "over"
        self.rewards = self.rewards_since(counted_before)

    def carry_out(self, name):
        """One of the three actions, by the player who is asked."""
        if name[0] == "grow":
            self.grow(name[1])
        elif name[0] == "basic":
            self.plant_basic(name[1], name[2])
        elif name[0] == "starting":
            self.plant_starting()
        else:
            self.use_special(name[1])

    # ---------------------------------------------------------------- turn, 1: the opening card

    def begin_turn(self, player, shuffle):
        """Take the opening card; in the last turn the player decides about it."""
        self.active_player = self.current_player = player
        if self.last_turn and self.deck:
            self.asked = "last_card"
            return
        if self.deck:
            self.take_opening_card()
        self.ask_action(shuffle)

    def take_opening_card(self):
        self.nurseries[self.active_player][self.deck.pop(0)] += 1

    def answer_last_card(self, name, shuffle):
        if name == ("take",):
            self.take_opening_card()
        self.ask_action(shuffle)

    # ---------------------------------------------------------------- turn, 2: one action

    def ask_action(self, shuffle):
        """Compulsory; passed over where nothing can be done, which takes an empty middle."""
        self.asked = "action"
        if not self.allowed():
            self.end_turn(shuffle)

    # ---------------------------------------------------------------- turn, 2a: grow, and the response to it

    def allowed_grows(self):
        return {("grow", t) for t in range(self.num_types) if self.middle[t] > 0}

    def grow(self, t):
        self.nurseries[self.current_player][t] += self.middle[t]
        self.middle[t] = 0

    def ask_response(self, shuffle):
        """The other player grows (from the rest of the middle) or plants; skipped if neither is possible."""
        self.asked = "response"
        self.current_player = 1 - self.active_player
        if not self.allowed():
            self.current_player = self.active_player
            self.end_turn(shuffle)

    # ---------------------------------------------------------------- turn, 2b: plant

    def can_pay(self, cost):
        nursery = self.nurseries[self.current_player]
        return all(nursery[t] >= cost[t] for t in range(self.num_types))

    def allowed_plants(self):
        """Arrangements in the own hand or on top of the deck whose cacti are in the own Nursery."""
        plants = set()
        for k in self.basic_in_hand[self.current_player] + self.arrangement_deck[:1]:
            for half in HALVES:
                if self.can_pay(self.basic[k][half]["cost"]):
                    plants.add(("basic", k, half))
        if self.starting_in_hand[self.current_player] and self.can_pay(self.starting["cost"]):
            plants.add(("starting",))
        return plants

    def pay(self, cost):
        for t in range(self.num_types):
            self.nurseries[self.current_player][t] -= cost[t]
            self.discards[t] += cost[t]

    def plant_basic(self, k, half):
        self.pay(self.basic[k][half]["cost"])
        if k in self.basic_in_hand[self.current_player]:
            self.basic_in_hand[self.current_player].remove(k)
        else:
            self.arrangement_deck.pop(0)
        self.planted[self.current_player].append((k, half))

    def plant_starting(self):
        self.pay(self.starting["cost"])
        self.starting_in_hand[self.current_player] = False
        self.planted[self.current_player].append(("starting",))

    # ---------------------------------------------------------------- turn, 2c: special

    def allowed_specials(self):
        """Once a game, of a type that is in the middle or in the own Nursery."""
        if self.special[self.current_player] is not None:
            return set()
        nursery = self.nurseries[self.current_player]
        return {("special", t) for t in range(self.num_types) if self.middle[t] + nursery[t] > 0}

    def use_special(self, t):
        nursery = self.nurseries[self.current_player]
        under = [0] * self.num_types
        under[t] = self.middle[t] + nursery[t]
        self.middle[t] = 0
        nursery[t] = 0
        self.special[self.current_player] = under

    # ---------------------------------------------------------------- turn, 3: refill, and the turn passes

    def refill(self):
        while sum(self.middle) < FACE_UP and self.deck:
            self.middle[self.deck.pop(0)] += 1

    def end_turn(self, shuffle):
        self.refill()
        if self.last_turn:
            self.end_game()
        elif sum(self.middle) == FACE_UP:
            self.begin_turn(1 - self.active_player, shuffle)
        elif self.active_player == 1:
            self.end_game()
        else:
            self.reshuffle(shuffle)
            self.refill()
            self.last_turn = True
            self.begin_turn(1, shuffle)

    # ---------------------------------------------------------------- end of the game

    def reshuffle(self, shuffle):
        """The discards become the deck; without any there is nothing to shuffle."""
        cards = []
        for t in range(self.num_types):
            cards += [t] * self.discards[t]
        if cards:
            self.deck = list(shuffle(cards))
            assert sorted(self.deck) == cards
            self.discards = [0] * self.num_types

    def end_game(self):
        self.terminated = True
        self.asked = "over"

    # ---------------------------------------------------------------- scoring

    def open_points(self, player):
        """Arrangements planted and cacti under the Special Planter, which both players can count."""
        points = 0
        for card in self.planted[player]:
            if card == ("starting",):
                points += self.starting["points"]
            else:
                k, half = card
                points += self.basic[k][half]["points"]
        return points + sum(self.special[player] or [])

    def under_planters(self, player):
        """Cards under both planters, once the Bonus Planter has taken its type from the Nursery."""
        return sum(self.special[player] or []) + self.nurseries[player][self.bonus[player]]

    def penalty(self, player):
        """Cacti times types in the Nursery, without the type of the Bonus Planter."""
        left = list(self.nurseries[player])
        left[self.bonus[player]] = 0
        return sum(left) * len([n for n in left if n > 0])

    def score(self, player):
        under_bonus = self.nurseries[player][self.bonus[player]]
        return self.open_points(player) + under_bonus - self.penalty(player)

    @property
    def scores(self):
        """By the formula, if the game ended now."""
        return [self.score(player) for player in range(2)]

    def standings(self):
        """Per seat, higher is better: score first, then cards under planters."""
        return [self.score(p) * STANDING_PER_POINT + self.under_planters(p) for p in range(2)]

    def counted_points(self):
        """The points that the margin counts: open ones until the end, then the whole score."""
        if self.asked == "over":
            return self.scores
        return [self.open_points(player) for player in range(2)]

    def rewards_since(self, counted_before):
        if self.reward == "margin":
            lead_before, lead = (own - other for own, other in (counted_before, self.counted_points()))
            own = (lead - lead_before) / MARGIN_SCALE
        else:
            first, second = self.standings()
            own = float((first > second) - (first < second)) if self.asked == "over" else 0.0
        return [own, -own]

    # ---------------------------------------------------------------- observations

    def snapshot(self):
        names = (
            "current_player active_player asked middle nurseries special bonus starting_in_hand basic_in_hand "
            "arrangement_deck deck discards last_turn scores decisions terminated truncated"
        )
        plain = {name: getattr(self, name) for name in names.split()}
        return plain | {
            "game": "cacti",
            "planted": [[list(card) for card in cards] for cards in self.planted],
        }

    def one_hot_basics(self, ks):
        return [k in ks for k in range(len(self.basic))]

    def planted_flags(self, player):
        """Both halves of every Basic Arrangement, then the Starting Arrangement."""
        halves = [(k, half) for k in range(len(self.basic)) for half in HALVES]
        return [card in self.planted[player] for card in [*halves, ("starting",)]]

    def observation(self, player):
        """Flat, as seen from this player's seat."""
        other = 1 - player
        seats = (player, other)
        numbers = list(self.middle)
        for seat in seats:
            numbers += self.nurseries[seat]
        for seat in seats:
            numbers += self.special[seat] or [0] * self.num_types
        numbers += [self.special[seat] is not None for seat in seats]
        numbers += [t == self.bonus[player] for t in range(self.num_types)]
        numbers += [self.starting_in_hand[player]]
        if self.by_value:
            numbers += self.arrangements_by_value(player, other)
        else:
            numbers += self.one_hot_basics(self.basic_in_hand[player])
            numbers += self.one_hot_basics(self.arrangement_deck[:1])
            for seat in seats:
                numbers += self.planted_flags(seat)
        numbers += [len(self.basic_in_hand[other]) + self.starting_in_hand[other]]
        numbers += [len(self.deck)]
        numbers += self.discards
        numbers += [len(self.arrangement_deck)]
        numbers += [self.asked == asked for asked in ASKED]
        numbers += [player, self.last_turn]
        return np.array(numbers, dtype=np.int8)

    def values(self, k):
        """Cost and points of the upper half, then of the lower one."""
        return [n for half in HALVES for n in (*self.basic[k][half]["cost"], self.basic[k][half]["points"])]

    def values_or_zeros(self, ks):
        return self.values(ks[0]) if ks else [0] * (2 * self.num_types + 2)

    def arrangements_by_value(self, player, other):
        numbers = [self.starting_in_hand[other], *self.starting["cost"], self.starting["points"]]
        numbers += self.values_or_zeros(self.basic_in_hand[player])
        numbers += self.values_or_zeros(self.arrangement_deck[:1])
        for seat in (player, other):
            special = sum(self.special[seat] or [])
            numbers += [len(self.planted[seat]), min(127, self.open_points(seat) - special)]
        unseen = Counter(tuple(self.values(k)) for k in self.arrangement_deck[1:] + self.basic_in_hand[other])
        for card in sorted(tuple(self.values(k)) for k in range(len(self.basic))):
            numbers += card if unseen[card] > 0 else [0] * len(card)
            unseen[card] -= 1
        return numbers + self.count + [self.bonus_planters.count(t) for t in range(self.num_types)]
