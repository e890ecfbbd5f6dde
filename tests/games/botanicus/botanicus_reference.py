"""A slow and plain Botanicus: the oracle for the compiled kernels.

Written from the rules alone, it shares no code with the package. Its methods follow the order of the
rules. All chance comes from outside:

- The constructor takes the deal as in the snapshot after it: `stack` (players, top first), `tiles` (per even column
  four tile indexes), `dealt` (per player five task indexes) and `pile` (card kinds, top first).
- `step` takes `shuffle`, called with the discards (kinds, ascending) when a card is drawn from an empty pile;
  it returns them as the new pile, top first. No step reshuffles twice and only one player draws in a step. So
  the snapshot after the step suffices: the cards that are not in its pile were drawn first, in any order.
"""

import itertools
from fractions import Fraction

from botanicus_reference_parts import (
    BEDS,
    CHOSEN,
    COINS_AT_START,
    COINS_FOR_SALE,
    COINS_PER_FLOWER,
    COINS_PER_POINT,
    COINS_TO_USE,
    COLUMNS,
    CROSSINGS,
    EDGES,
    LAST_COLUMN,
    LAST_TURN,
    MARGIN_SCALE,
    MAX_CARD_KINDS,
    MAX_SEATS,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TRACKS,
    Actions,
    Views,
    parse,
)


class BotanicusReference(Actions, Views):
    """One game, from the deal to the end."""

    # ---------------------------------------------------------------- setup

    def __init__(
        self,
        *,
        data,
        num_players=2,
        max_decisions=2000,
        reward="outcome",
        cards_shown="places",
        stack,
        tiles,
        dealt,
        pile,
    ):
        self.num_players = num_players
        self.max_decisions = max_decisions
        self.reward = reward
        self.cards_shown = cards_shown
        self.seats = range(num_players)

        self.read_data(data)
        self.stack = list(stack)  # top first
        self.tiles, self.dealt = tiles, dealt
        self.pile = list(pile)  # top first
        self.check_deal()

        self.gardens = [[0 if bed else -1 for bed in self.beds] for _ in self.seats]
        self.gardeners = [self.fountain for _ in self.seats]
        self.coins = [COINS_AT_START for _ in self.seats]
        self.points = [0 for _ in self.seats]  # scored so far, without final scoring
        self.animals = [0 for _ in self.seats]
        self.hands = [[0] * len(self.cards) for _ in self.seats]
        self.discards = [0] * len(self.cards)
        self.pieces = [dict.fromkeys(TRACKS, 0) for _ in self.seats]
        self.tasks = [[-1] * ROWS for _ in self.seats]
        self.basic_done = [[False] * ROWS for _ in self.seats]
        self.special_done = [[False] * ROWS for _ in self.seats]
        # With fewer than four players the best prizes stay in the box.
        self.prizes = {name: self.all_prizes[name][MAX_SEATS - num_players :] for name in PRIZES}

        self.round = 1
        self.column = 1
        self.flowers = [[] for _ in range(SPACES)]  # of the current column, bottom to top
        self.covered = [[False] * SPACES for _ in self.tiles]
        self.walked = False
        self.played = False
        self.in_play = None  # the Garden card whose action is being resolved
        self.pending = []  # a list of (kind, amount) for each group of gained actions, innermost last
        self.hand = None  # the action at hand: (kind, left)
        self.steps_taken = 0
        self.decisions = 0
        self.terminated = False
        self.truncated = False
        self.rewards = [0.0 for _ in self.seats]

        self.name_actions()
        self.order = list(self.stack)
        self.ask_assignment(self.order[0])

    def read_data(self, data):
        self.beds = [bed == 1 for row in data["beds"] for bed in row]
        self.fountain = tuple(data["fountain"])
        self.column_points = list(data["columns"])
        self.animal_points = list(data["animals"])
        self.basic = [(task["plants"], task["points"]) for task in data["basic"]]
        self.special = [(task["plants"], task["points"]) for task in data["special"]]
        self.board = [[parse(space) for space in column] for column in data["board"]]
        # Spotted tiles first; each a pair, light side and dark side.
        tiles = data["tiles"]["spotted"] + data["tiles"]["striped"]
        self.tile_sides = [[parse(side) for side in tile] for tile in tiles]
        self.spotted = len(data["tiles"]["spotted"])
        self.cards = [parse(card["action"]) for card in data["cards"]]
        self.card_names = [card["action"] for card in data["cards"]]
        self.copies = [card["copies"] for card in data["cards"]]
        self.all_prizes = {name: list(data["prizes"][name]) for name in PRIZES}
        self.node_gains = {}  # by track, the actions that each node shows
        self.node_edges = {}  # by track, the edges (node, cost) of each node, upper first
        for track in TRACKS:
            nodes = data["tracks"][track]
            numbers = {node["name"]: number for number, node in enumerate(nodes)}
            self.node_gains[track] = [[parse(gain) for gain in node.get("gains", [])] for node in nodes]
            self.node_edges[track] = []
            for node in nodes:
                edges = [node[edge] for edge in EDGES if edge in node]
                self.node_edges[track].append([(numbers[edge["to"]], edge.get("cost", 0)) for edge in edges])

    def check_deal(self):
        """Every Flower, tile and card once; five different tasks each, none with two players."""
        assert sorted(self.stack) == list(self.seats)
        assert sorted(itertools.chain(*self.tiles)) == list(range(len(self.tile_sides)))
        for column in self.tiles:  # spotted tiles on the two upper spaces
            assert [tile < self.spotted for tile in column] == [True, True, False, False]
        assert [len(tasks) for tasks in self.dealt] == [TASKS_EACH] * self.num_players
        every_task = set(itertools.chain(*self.dealt))
        assert len(every_task) == TASKS_EACH * self.num_players
        assert every_task <= set(range(len(self.special)))
        assert [self.pile.count(kind) for kind in range(len(self.cards))] == self.copies
        assert len(self.pile) == sum(self.copies)

    def name_actions(self):
        """By label: ("pass",), ("walk", crossing), ("bed", b), ("resolve", kind), ("advance", edge), ("use", card) ..."""
        names = self.card_names + [f"kind {card}" for card in range(len(self.cards), MAX_CARD_KINDS)]
        self.actions = {"pass": ("pass",)}
        self.actions |= {f"walk {r},{c}": ("walk", (r, c)) for r, c in CROSSINGS}
        self.actions |= {f"bed {bed // COLUMNS},{bed % COLUMNS}": ("bed", bed) for bed in range(BEDS)}
        self.actions |= {f"resolve {kind}": ("resolve", kind) for kind in CHOSEN}
        self.actions |= {f"advance {name}": ("advance", edge) for edge, name in enumerate(EDGES)}
        for verb in ("use", "sell"):
            self.actions |= {f"{verb} {name}": (verb, card) for card, name in enumerate(names)}
        for verb in ("flower", "neutral"):
            self.actions |= {f"{verb} {space}": (verb, space) for space in range(SPACES)}
        self.actions |= {f"assign {j}": ("assign", j) for j in range(TASKS_EACH)}
        self.labels = list(self.actions)

    # ---------------------------------------------------------------- decisions

    def legal(self):
        """The indexes of the legal actions, ascending."""
        allowed = self.allowed()
        return [index for index, name in enumerate(self.actions.values()) if name in allowed]

    def allowed(self):
        if self.asked == "assign":
            return self.allowed_assignments()
        if self.asked == "neutral":
            return {("neutral", space) for space in range(SPACES)}
        if self.asked == "start":
            last_turn = self.round == LAST_TURN
            second_phase = self.allowed_last_actions() if last_turn else self.allowed_flowers()
            return self.allowed_walks_for_coins() | self.allowed_cards() | second_phase
        if self.asked == "choose":
            return {("resolve", kind) for kind, _ in self.pending[-1]} | {("pass",)}
        if self.hand is not None and self.asked != "over":
            return self.allowed_at_hand() | {("pass",)}
        return set()

    def step(self, action, shuffle):
        """Carry out one decision and everything that follows without one."""
        assert action in self.legal()
        scores_before = self.scores
        name = self.actions[self.labels[action]]
        self.decisions += 1
        if self.asked == "assign":
            self.assign(name[1])
        elif self.asked == "neutral":
            self.place_neutral(name[1])
        elif self.asked == "start":
            self.carry_out_at_start(name, shuffle)
        elif self.asked == "choose":
            self.answer_choice(name)
            self.go_on(shuffle)
        else:
            self.carry_out_at_hand(name, shuffle)
            self.go_on(shuffle)
        # The cap comes last: the step is done in full, and a game just ended by the rules is not truncated.
        if not self.terminated and self.decisions >= self.max_decisions:
            self.truncated = True
            self.asked = "over"
        self.rewards = self.rewards_since(scores_before)

    # ---------------------------------------------------------------- special tasks are assigned to the rows

    def ask_assignment(self, player):
        self.asked = "assign"
        self.current_player = player

    def unassigned(self, player):
        return [task for task in self.dealt[player] if task not in self.tasks[player]]

    def allowed_assignments(self):
        left = self.unassigned(self.current_player)
        return {("assign", j) for j, task in enumerate(self.dealt[self.current_player]) if task in left}

    def assign(self, j):
        """Row after row; the last task goes to the last row without a decision, and then the next player is asked."""
        player = self.current_player
        row = self.tasks[player].index(-1)
        self.tasks[player][row] = self.dealt[player][j]
        if row < ROWS - 2:
            return
        self.tasks[player][ROWS - 1] = self.unassigned(player)[0]
        later = self.order[self.order.index(player) + 1 :]
        if later:
            self.ask_assignment(later[0])
        else:
            self.begin_column()

    # ---------------------------------------------------------------- turn order

    def begin_column(self):
        """Turns follow the stack, which is the order of the Flowers of the previous column."""
        self.order = list(self.stack)
        self.flowers = [[] for _ in range(SPACES)]
        self.begin_turn()
        if self.num_players == 2 and self.round != LAST_TURN:
            self.asked = "neutral"

    def begin_turn(self):
        self.current_player = self.order[0]
        self.asked = "start"

    def place_neutral(self, space):
        """With two players the first of a column places a third Flower before the own turn."""
        self.put_flower("neutral", space)
        self.asked = "start"

    def order_of_column(self):
        """By space from top to bottom, within a space from the top of the stack down."""
        players = []
        for flowers in self.flowers:
            players += [flower for flower in reversed(flowers) if flower != "neutral"]
        return players

    def end_turn(self):
        """The next player of the column; after the last one the next column, round, last turn, or the end."""
        self.walked = False
        self.played = False
        if self.order:
            self.begin_turn()
        elif self.round == LAST_TURN:
            self.end_game()
        else:
            self.stack = self.order_of_column()
            if self.column < LAST_COLUMN:
                self.column += 1
            else:
                self.end_round()
            self.begin_column()

    def end_round(self):
        self.round += 1
        if self.round == LAST_TURN:
            return
        self.column = 1
        self.covered = [[False] * SPACES for _ in self.tiles]  # all tiles now show their dark side

    # ---------------------------------------------------------------- turn, 1a: walk for coins

    def distance(self, a, b):
        return abs(a[0] - b[0]) + abs(a[1] - b[1])

    def crossings_within(self, steps):
        """Where the Gardener can go; staying put is not a walk."""
        start = self.gardeners[self.current_player]
        return {("walk", to) for to in CROSSINGS if 1 <= self.distance(start, to) <= steps}

    def allowed_walks_for_coins(self):
        return set() if self.walked else self.crossings_within(self.coins[self.current_player])

    def walk_for_coins(self, crossing):
        player = self.current_player
        self.walked = True
        self.coins[player] -= self.distance(self.gardeners[player], crossing)
        self.gardeners[player] = crossing

    # ---------------------------------------------------------------- turn, 1b: play a Garden card

    def allowed_cards(self):
        """One a turn, to use it or to sell it."""
        if self.played:
            return set()
        player = self.current_player
        held = [card for card in range(len(self.cards)) if self.hands[player][card] > 0]
        sales = {("sell", card) for card in held}
        return sales | {("use", card) for card in held if self.coins[player] >= COINS_TO_USE}

    def use_card(self, card, shuffle):
        """It is in play until its action is resolved, and goes to the discards then."""
        self.played = True
        self.hands[self.current_player][card] -= 1
        self.coins[self.current_player] -= COINS_TO_USE
        self.in_play = card
        self.gain([self.cards[card]], shuffle)

    def sell_card(self, card):
        self.played = True
        self.hands[self.current_player][card] -= 1
        self.coins[self.current_player] += COINS_FOR_SALE
        self.discards[card] += 1

    def carry_out_at_start(self, name, shuffle):
        if name[0] == "walk":
            self.walk_for_coins(name[1])
        elif name[0] == "use":
            self.use_card(name[1], shuffle)
        elif name[0] == "sell":
            self.sell_card(name[1])
        elif name[0] == "flower":
            self.place_flower(name[1], shuffle)
        elif name[0] == "resolve":
            self.take_last_action(name[1], shuffle)
        else:
            self.leave_order()
        self.go_on(shuffle)

    # ---------------------------------------------------------------- turn, 2: place the Flower

    def space_action(self, column, space):
        return self.board[column - 1][space]

    def has_tile(self, column):
        return column % 2 == 0

    def tile_action(self, column, space):
        """The light side in round one, the dark side from then on."""
        light, dark = self.tile_sides[self.tiles[column // 2 - 1][space]]
        return light if self.round == 1 else dark

    def flower_cost(self, space):
        if self.space_action(self.column, space)[0] == "pole":
            return 0
        return COINS_PER_FLOWER * len(self.flowers[space])

    def allowed_flowers(self):
        coins = self.coins[self.current_player]
        return {("flower", space) for space in range(SPACES) if coins >= self.flower_cost(space)}

    def put_flower(self, flower, space):
        self.flowers[space].append(flower)
        if self.has_tile(self.column):
            self.covered[self.column // 2 - 1][space] = True

    def leave_order(self):
        """Phase 1 is over; only the action of the turn is left."""
        self.order.remove(self.current_player)

    def place_flower(self, space, shuffle):
        """The printed action, and the tile's for the first Flower on it; a pole gives coins to the first only."""
        self.coins[self.current_player] -= self.flower_cost(space)
        first = not self.flowers[space]
        self.put_flower(self.current_player, space)
        self.leave_order()
        printed = self.space_action(self.column, space)
        gains = []
        if printed[0] != "pole":
            gains.append(printed)
        elif first:
            gains.append(("coins", printed[1]))
        if first and self.has_tile(self.column):
            gains.append(self.tile_action(self.column, space))
        self.gain(gains, shuffle)

    # ---------------------------------------------------------------- the last turn: one action on a track

    def allowed_last_actions(self):
        return {("resolve", track) for track in TRACKS} | {("pass",)}

    def take_last_action(self, track, shuffle):
        self.leave_order()
        self.gain([(track, 1)], shuffle)

    # ---------------------------------------------------------------- end of the game

    def end_game(self):
        self.terminated = True
        self.asked = "over"

    # ---------------------------------------------------------------- final scoring

    def full_column_points(self, player):
        """Each column without an empty bed, by its highest plant."""
        points = 0
        for column in range(COLUMNS):
            levels = [level for level in self.gardens[player][column::COLUMNS] if level >= 0]
            if 0 not in levels:
                points += self.column_points[max(levels) - 1]
        return points

    @property
    def scores(self):
        """Points scored so far and in final scoring, if the game ended now."""
        scores = []
        for player in self.seats:
            final = self.full_column_points(player) + self.coins[player] // COINS_PER_POINT
            scores.append(self.points[player] + final)
        return scores

    def standings(self):
        """Per seat, higher is better: score first, then the Flower's height in the last stack. No ties."""
        heights = [self.num_players - 1 - self.stack.index(player) for player in self.seats]
        return [score * MAX_SEATS + height for score, height in zip(self.scores, heights, strict=True)]

    def rewards_since(self, scores_before):
        if self.reward == "margin":
            return self.margin_rewards(scores_before)
        if self.asked == "over":
            return self.outcome_rewards()
        return [0.0 for _ in self.seats]

    def margin_rewards(self, scores_before):
        """Change of (own score - mean score of the others), scaled."""
        gains = [after - before for after, before in zip(self.scores, scores_before, strict=True)]
        rewards = []
        for gain in gains:
            mean_of_others = (sum(gains) - gain) / (self.num_players - 1)
            rewards.append((gain - mean_of_others) / MARGIN_SCALE)
        return rewards

    def outcome_rewards(self):
        """By rank, evenly from +1 to -1."""
        ranked = sorted(self.standings(), reverse=True)
        ranks = [ranked.index(own) for own in self.standings()]
        return [float(1 - Fraction(2 * rank, self.num_players - 1)) for rank in ranks]
