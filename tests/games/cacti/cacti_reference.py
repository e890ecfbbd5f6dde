"""Cacti, played slowly and plainly: the oracle that the compiled kernels are compared with.

Written from the rules alone, sharing no code with the package. The methods follow the
order of the rules. All chance comes from outside: the deal with the constructor, the reshuffle with `step`.
"""

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
        deck,
        middle,
        bonus,
        basic_in_hand,
        arrangement_deck,
    ):
        if max_decisions < 1:
            raise ValueError("max_decisions: at least 1")
        if reward not in ("outcome", "margin"):
            raise ValueError("reward: outcome or margin")
        self.max_decisions = max_decisions
        self.reward = reward

        self.types = list(data["types"])
        self.count = list(data["count"])
        self.starting = data["starting"]
        self.basic = data["basic"]
        # A Bonus Planter's type may be given by its index or by its name.
        self.bonus_planters = [self.types.index(t) if isinstance(t, str) else t for t in data["bonus"]]
        self.num_types = len(self.types)

        self.deck = [int(t) for t in deck]  # top first
        self.middle = [int(n) for n in middle]
        self.bonus = [int(t) for t in bonus]
        self.basic_in_hand = [[int(k) for k in hand] for hand in basic_in_hand]
        self.arrangement_deck = [int(k) for k in arrangement_deck]  # top first
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
        if len(self.middle) != self.num_types or min(self.middle) < 0 or sum(self.middle) != FACE_UP:
            raise ValueError(f"middle: a count for each type, {FACE_UP} cards in all")
        if any(t not in range(self.num_types) for t in self.deck):
            raise ValueError("deck: a type that there is not")
        for t in range(self.num_types):
            if self.deck.count(t) + self.middle[t] != self.count[t]:
                raise ValueError(f"deck and middle: {self.count[t]} cards of type {t}")
        if len(self.bonus) != 2:
            raise ValueError("bonus: one for each player")
        for t in self.bonus:
            if self.bonus.count(t) > self.bonus_planters.count(t):
                raise ValueError(f"bonus: not so many Bonus Planters of type {t}")
        if [len(hand) for hand in self.basic_in_hand] != [1, 1]:
            raise ValueError("basic_in_hand: one for each player")
        basics = self.basic_in_hand[0] + self.basic_in_hand[1] + self.arrangement_deck
        if sorted(basics) != list(range(len(self.basic))):
            raise ValueError("basic_in_hand and arrangement_deck: each Basic Arrangement once")

    def name_actions(self):
        # ("grow", t) | ("basic", k, half) | ("starting",) | ("special", t) | ("take",) | ("leave",)
        self.action_names = []
        self.labels = []
        for t in range(self.num_types):
            self.action_names.append(("grow", t))
            self.labels.append(f"grow {self.types[t]}")
        for k in range(len(self.basic)):
            for half in HALVES:
                self.action_names.append(("basic", k, half))
                self.labels.append(f"plant basic {k} {half}")
        self.action_names.append(("starting",))
        self.labels.append("plant starting")
        for t in range(self.num_types):
            self.action_names.append(("special", t))
            self.labels.append(f"special {self.types[t]}")
        self.action_names.append(("take",))
        self.labels.append("take card")
        self.action_names.append(("leave",))
        self.labels.append("leave card")
        self.num_actions = len(self.labels)

    # ---------------------------------------------------------------- decisions

    def legal(self):
        """The indexes of the actions the player who is asked may take, ascending."""
        allowed = self.allowed()
        return [index for index, name in enumerate(self.action_names) if name in allowed]

    def allowed(self):
        if self.asked == "last_card":
            return {("take",), ("leave",)}
        if self.asked == "action":
            return self.allowed_grows() | self.allowed_plants() | self.allowed_specials()
        if self.asked == "response":
            return self.allowed_grows() | self.allowed_plants()
        return set()

    def step(self, action, shuffle):
        """Carry out one decision and everything the rules do by themselves after it."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal now")
        counted_before = self.counted_points()
        name = self.action_names[action]
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
        """The opening card comes by itself, but in the last turn the player decides about it."""
        self.active_player = player
        self.current_player = player
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
        """The other player grows (from what is left) or plants; skipped if neither is possible."""
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
            self.deck = [int(t) for t in shuffle(list(cards))]
            assert sorted(self.deck) == cards
            self.discards = [0] * self.num_types

    def end_game(self):
        self.terminated = True
        self.asked = "over"

    # ---------------------------------------------------------------- scoring

    def open_points(self, player):
        """Arrangements planted and cacti under the Special Planter: what both players can count."""
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
        """Cacti times types of what the Bonus Planter leaves in the Nursery."""
        left = list(self.nurseries[player])
        left[self.bonus[player]] = 0
        return sum(left) * len([n for n in left if n > 0])

    def score(self, player):
        under_bonus = self.nurseries[player][self.bonus[player]]
        return self.open_points(player) + under_bonus - self.penalty(player)

    @property
    def scores(self):
        """By the formula, on the state as it stands."""
        return [self.score(player) for player in range(2)]

    def standings(self):
        """Per seat, higher is better: score first, then cards under planters."""
        return [self.score(p) * STANDING_PER_POINT + self.under_planters(p) for p in range(2)]

    def counted_points(self):
        """What the margin counts: open points as long as the game goes on, the whole score at its end."""
        if self.asked == "over":
            return self.scores
        return [self.open_points(player) for player in range(2)]

    def rewards_since(self, counted_before):
        if self.reward == "margin":
            return self.margin_rewards(counted_before)
        if self.asked == "over":
            return self.outcome_rewards()
        return [0.0, 0.0]

    def margin_rewards(self, counted_before):
        """Change of (own points - other's points), scaled."""
        counted = self.counted_points()
        gains = [after - before for after, before in zip(counted, counted_before, strict=True)]
        return [(gains[player] - gains[1 - player]) / MARGIN_SCALE for player in range(2)]

    def outcome_rewards(self):
        first, second = self.standings()
        if first == second:
            return [0.0, 0.0]
        return [1.0, -1.0] if first > second else [-1.0, 1.0]

    # ---------------------------------------------------------------- what is seen

    def snapshot(self):
        return {
            "game": "cacti",
            "current_player": self.current_player,
            "active_player": self.active_player,
            "asked": self.asked,
            "middle": list(self.middle),
            "nurseries": [list(nursery) for nursery in self.nurseries],
            "special": [None if under is None else list(under) for under in self.special],
            "bonus": list(self.bonus),
            "starting_in_hand": list(self.starting_in_hand),
            "basic_in_hand": [sorted(hand) for hand in self.basic_in_hand],
            "arrangement_deck": list(self.arrangement_deck),
            "planted": [[list(card) for card in cards] for cards in self.planted],
            "deck": list(self.deck),
            "discards": list(self.discards),
            "last_turn": self.last_turn,
            "scores": self.scores,
            "decisions": self.decisions,
            "terminated": self.terminated,
            "truncated": self.truncated,
        }

    def one_hot_basics(self, ks):
        return [1 if k in ks else 0 for k in range(len(self.basic))]

    def planted_flags(self, player):
        """Both halves of every Basic Arrangement, then the Starting Arrangement."""
        flags = []
        for k in range(len(self.basic)):
            for half in HALVES:
                flags.append(1 if (k, half) in self.planted[player] else 0)
        flags.append(1 if ("starting",) in self.planted[player] else 0)
        return flags

    def observation(self, player):
        """Flat, as seen from this player's seat."""
        other = 1 - player
        nothing = [0] * self.num_types
        numbers = list(self.middle)
        for seat in (player, other):
            numbers += self.nurseries[seat]
        for seat in (player, other):
            numbers += self.special[seat] or nothing
        for seat in (player, other):
            numbers += [0 if self.special[seat] is None else 1]
        numbers += [1 if t == self.bonus[player] else 0 for t in range(self.num_types)]
        numbers += [1 if self.starting_in_hand[player] else 0]
        numbers += self.one_hot_basics(self.basic_in_hand[player])
        numbers += self.one_hot_basics(self.arrangement_deck[:1])
        for seat in (player, other):
            numbers += self.planted_flags(seat)
        numbers += [len(self.basic_in_hand[other]) + (1 if self.starting_in_hand[other] else 0)]
        numbers += [len(self.deck)]
        numbers += self.discards
        numbers += [len(self.arrangement_deck)]
        numbers += [1 if self.asked == asked else 0 for asked in ASKED]
        numbers += [player]
        numbers += [1 if self.last_turn else 0]
        return np.array(numbers, dtype=np.int8)
