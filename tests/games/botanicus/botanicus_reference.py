"""Botanicus, played slowly and plainly: the oracle that the compiled kernels are compared with.

Written from the rulebook and our reading alone, sharing no code with the package. The methods follow the
order of the rules. All chance comes from outside:

- The constructor takes the deal: `stack` (players, top first), `tiles` (per even column four tile indexes),
  `dealt` (per player five task indexes) and `pile` (card kinds, top first), each exactly as the snapshot of a
  game not yet begun shows it.
- `step` takes `shuffle`, called with the discards (kinds, ascending) when a card is drawn from an empty pile;
  it returns them as the new pile, top first. No step reshuffles twice and only one player draws in a step, so
  the snapshot after the step tells all: those of the cards that are not in its pile were drawn, in any order,
  and its pile follows.
"""

from fractions import Fraction

import numpy as np

ROWS, COLUMNS = 5, 4
BEDS = ROWS * COLUMNS
LEVELS = [1, 2, 3, 4]
CROSSINGS = [(r, c) for r in range(ROWS - 1) for c in range(COLUMNS - 1)]
AT_ONCE = ["coins", "points", "animal", "card", "prize"]
CHOSEN = ["plant_1", "plant_2", "plant_3", "plant_4", "water", "walk", "money", "wheelbarrow", "shovel"]
KINDS = AT_ONCE + CHOSEN
TRACKS = ["money", "wheelbarrow", "shovel"]
PRIZES = ["money", "shovel"]
EDGES = ["upper", "lower"]
ASKED = ["assign", "neutral", "start", "choose", "plant", "water", "walk", "track"]

SPACES = 4  # of a column of the board
LAST_COLUMN = 8
LAST_TURN = 3  # the "round" that it counts as
TASKS_EACH = 5
COINS_AT_START = 6
COINS_TO_USE = 2  # a Garden card
COINS_FOR_SALE = 3
COINS_PER_FLOWER = 3  # that is already on the space
COINS_PER_STEP = 3  # beyond those that a track action gives
COINS_PER_POINT = 3  # in final scoring

MAX_SEATS = 4
MAX_CARD_KINDS = 12
MAX_TRACK_NODES = 10
MOST_IN_OBSERVATION = 127
MARGIN_SCALE = 20


def parse(text):
    """`water 2` as ("water", 2); a prize names its stack instead of an amount."""
    kind, amount = text.split()
    return (kind, amount) if kind == "prize" else (kind, int(amount))


class BotanicusReference:
    """One game, from the deal to the end."""

    # ---------------------------------------------------------------- setup

    def __init__(
        self,
        *,
        data,
        num_players=2,
        max_decisions=2000,
        reward="outcome",
        stack,
        tiles,
        dealt,
        pile,
    ):
        if num_players not in (2, 3, 4):
            raise ValueError("num_players: 2 to 4")
        if max_decisions < 1:
            raise ValueError("max_decisions: at least 1")
        if reward not in ("outcome", "margin"):
            raise ValueError("reward: outcome or margin")
        self.num_players = num_players
        self.max_decisions = max_decisions
        self.reward = reward
        self.seats = range(num_players)

        self.read_data(data)
        self.stack = [int(player) for player in stack]  # top first
        self.tiles = [[int(tile) for tile in column] for column in tiles]
        self.dealt = [[int(task) for task in tasks] for tasks in dealt]
        self.pile = [int(kind) for kind in pile]  # top first
        self.check_deal()

        self.gardens = [[0 if bed else -1 for bed in self.beds] for _ in self.seats]
        self.gardeners = [self.fountain for _ in self.seats]
        self.coins = [COINS_AT_START for _ in self.seats]
        self.points = [0 for _ in self.seats]  # scored so far, without final scoring
        self.animals = [0 for _ in self.seats]
        self.hands = [[0] * len(self.cards) for _ in self.seats]
        self.discards = [0] * len(self.cards)
        self.pieces = [{track: 0 for track in TRACKS} for _ in self.seats]
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
        if sorted(self.stack) != list(self.seats):
            raise ValueError("stack: each player once")
        laid = [tile for column in self.tiles for tile in column]
        if [len(column) for column in self.tiles] != [SPACES] * (LAST_COLUMN // 2):
            raise ValueError("tiles: four for each even column")
        if sorted(laid) != list(range(len(self.tile_sides))):
            raise ValueError("tiles: each once")
        for column in self.tiles:
            if [tile < self.spotted for tile in column] != [True, True, False, False]:
                raise ValueError("tiles: spotted on the two upper spaces, striped on the two lower ones")
        if [len(tasks) for tasks in self.dealt] != [TASKS_EACH] * self.num_players:
            raise ValueError("dealt: five tasks for each player")
        every_task = [task for tasks in self.dealt for task in tasks]
        if len(set(every_task)) != len(every_task) or not set(every_task) <= set(range(len(self.special))):
            raise ValueError("dealt: special tasks that there are, each at most once")
        if [self.pile.count(kind) for kind in range(len(self.cards))] != self.copies:
            raise ValueError("pile: each card as often as there are copies of it")
        if len(self.pile) != sum(self.copies):
            raise ValueError("pile: a card that there is not")

    def name_actions(self):
        # ("pass",) | ("walk", crossing) | ("bed", b) | ("resolve", kind) | ("advance", edge) | ("use", card)
        # | ("sell", card) | ("flower", space) | ("neutral", space) | ("assign", j)
        self.action_names = [("pass",)]
        self.labels = ["pass"]
        for r, c in CROSSINGS:
            self.action_names.append(("walk", (r, c)))
            self.labels.append(f"walk {r},{c}")
        for bed in range(BEDS):
            self.action_names.append(("bed", bed))
            self.labels.append(f"bed {bed // COLUMNS},{bed % COLUMNS}")
        for kind in CHOSEN:
            self.action_names.append(("resolve", kind))
            self.labels.append(f"resolve {kind}")
        for edge in range(len(EDGES)):
            self.action_names.append(("advance", edge))
            self.labels.append(f"advance {EDGES[edge]}")
        for verb in ("use", "sell"):
            for card in range(MAX_CARD_KINDS):
                self.action_names.append((verb, card))
                name = self.card_names[card] if card < len(self.cards) else f"kind {card}"
                self.labels.append(f"{verb} {name}")
        for verb in ("flower", "neutral"):
            for space in range(SPACES):
                self.action_names.append((verb, space))
                self.labels.append(f"{verb} {space}")
        for j in range(TASKS_EACH):
            self.action_names.append(("assign", j))
            self.labels.append(f"assign {j}")
        self.num_actions = len(self.labels)

    # ---------------------------------------------------------------- decisions

    def legal(self):
        """The indexes of the actions the player who is asked may take, ascending."""
        allowed = self.allowed()
        return [index for index, name in enumerate(self.action_names) if name in allowed]

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
        """Carry out one decision and everything the rules do by themselves after it."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal now")
        scores_before = self.scores
        name = self.action_names[action]
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
        """Row after row; the last task goes to the last row by itself, and then the next player is asked."""
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
        """The Flowers of the column before are looked at from the top: who is higher up is earlier."""
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
        """Phase 1 is over; what is left of the turn is the action."""
        self.order.remove(self.current_player)

    def place_flower(self, space, shuffle):
        """The printed action, and the tile's for the first Flower on it; a pole pays only the first."""
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

    # ---------------------------------------------------------------- gained actions

    def gain(self, gains, shuffle):
        """What can only help happens now; the rest is a new group, resolved before all gained earlier."""
        for kind in AT_ONCE:
            for gain in gains:
                if gain[0] == kind:
                    self.carry_out_at_once(gain, shuffle)
        self.pending.append([gain for gain in gains if gain[0] in CHOSEN])

    def go_on(self, shuffle):
        """Up to the next decision, be it about the action at hand, among the pending ones, or of a turn."""
        while self.hand is not None or self.pending:
            if self.hand is not None:
                if self.allowed_at_hand():
                    self.ask_about_hand()
                    return
                self.let_go(shuffle)  # to pass would be all there is
            elif not self.pending[-1]:
                self.pending.pop()
                self.return_pieces()
            elif len({kind for kind, _ in self.pending[-1]}) > 1:
                self.asked = "choose"
                return
            else:
                self.take_to_hand(self.pending[-1][0][0])
        self.all_resolved()

    def all_resolved(self):
        """Phase 1 goes on; but once the Flower is placed or the last action chosen, the turn ends."""
        if self.in_play is not None:
            self.discards[self.in_play] += 1
            self.in_play = None
        if self.current_player in self.order:
            self.asked = "start"
        else:
            self.end_turn()

    def answer_choice(self, name):
        if name == ("pass",):
            self.pending[-1] = []
        else:
            self.take_to_hand(name[1])

    def take_to_hand(self, kind):
        """Of several of this kind the one gained first."""
        group = self.pending[-1]
        self.hand = next(action for action in group if action[0] == kind)
        group.remove(self.hand)

    def ask_about_hand(self):
        kind = self.hand[0]
        if kind in TRACKS:
            self.asked = "track"
        else:
            self.asked = "plant" if kind.startswith("plant") else kind

    def allowed_at_hand(self):
        """All there is to do with the action at hand, except to pass."""
        kind, left = self.hand
        if kind in TRACKS:
            return self.allowed_advances()
        if kind == "walk":
            return self.crossings_within(left)
        if kind == "water":
            return self.allowed_waterings()
        return self.allowed_plantings()

    def carry_out_at_hand(self, name, shuffle):
        if name == ("pass",):
            self.let_go(shuffle)
        elif name[0] == "advance":
            self.advance(name[1], shuffle)
        elif name[0] == "walk":
            self.gardeners[self.current_player] = name[1]
            self.hand = None
        elif self.hand[0] == "water":
            self.water(name[1])
        else:
            self.plant(name[1])

    def let_go(self, shuffle):
        """Forfeit what is left of the action at hand; on a track that is to stop."""
        if self.hand[0] in TRACKS:
            self.stop(shuffle)
        else:
            self.hand = None

    def take_one_off_hand(self):
        kind, left = self.hand
        self.hand = (kind, left - 1) if left > 1 else None

    # ---------------------------------------------------------------- actions: what happens at once

    def carry_out_at_once(self, gain, shuffle):
        player = self.current_player
        kind, amount = gain
        if kind == "coins":
            self.coins[player] += amount
        elif kind == "points":
            self.points[player] += amount
        elif kind == "prize":
            self.take_prize(amount)
        else:
            for _ in range(amount):
                if kind == "animal":
                    self.take_animal()
                else:
                    self.draw_card(shuffle)

    def take_animal(self):
        """There are as many as the garden has places for."""
        player = self.current_player
        if self.animals[player] < len(self.animal_points):
            self.points[player] += self.animal_points[self.animals[player]]
            self.animals[player] += 1

    def take_prize(self, name):
        if self.prizes[name]:
            self.points[self.current_player] += self.prizes[name].pop(0)

    def draw_card(self, shuffle):
        """From an empty pile only once the discards have become a new one; nothing if there are none."""
        if not self.pile:
            self.reshuffle(shuffle)
        if self.pile:
            self.hands[self.current_player][self.pile.pop(0)] += 1

    def reshuffle(self, shuffle):
        cards = []
        for card in range(len(self.cards)):
            cards += [card] * self.discards[card]
        if cards:
            self.pile = [int(card) for card in shuffle(list(cards))]
            assert sorted(self.pile) == cards
            self.discards = [0] * len(self.cards)

    # ---------------------------------------------------------------- actions: tracks

    def edges_here(self):
        """Of the node where the piece stands: (node, cost), upper first."""
        track = self.hand[0]
        return self.node_edges[track][self.pieces[self.current_player][track]]

    def advance_cost(self, edge):
        """What the edge itself costs, and the price of a step beyond those that the action gives."""
        cost = self.edges_here()[edge][1]
        return cost if self.hand[1] > 0 else cost + COINS_PER_STEP

    def allowed_advances(self):
        coins = self.coins[self.current_player]
        edges = range(len(self.edges_here()))
        return {("advance", edge) for edge in edges if coins >= self.advance_cost(edge)}

    def advance(self, edge, shuffle):
        """Never past the last node: there the movement stops."""
        player = self.current_player
        track, left = self.hand
        self.coins[player] -= self.advance_cost(edge)
        self.pieces[player][track] = self.edges_here()[edge][0]
        self.hand = (track, max(0, left - 1))
        self.steps_taken += 1
        if not self.edges_here():
            self.stop(shuffle)

    def stop(self, shuffle):
        """A point for each unused step; what the node shows only after a step."""
        player = self.current_player
        track, left = self.hand
        moved = self.steps_taken > 0
        self.points[player] += left
        self.hand = None
        self.steps_taken = 0
        if moved:
            self.gain(self.node_gains[track][self.pieces[player][track]], shuffle)

    def return_pieces(self):
        """Once the gains of the last node are resolved, the piece goes back to the start."""
        pieces = self.pieces[self.current_player]
        for track in TRACKS:
            if not self.node_edges[track][pieces[track]]:
                pieces[track] = 0

    # ---------------------------------------------------------------- actions: planting and watering

    def beds_in_range(self):
        """The beds around the Gardener's crossing."""
        r, c = self.gardeners[self.current_player]
        around = [COLUMNS * row + column for row in (r, r + 1) for column in (c, c + 1)]
        return [bed for bed in around if self.beds[bed]]

    def level_at_hand(self):
        return int(self.hand[0].removeprefix("plant_"))

    def allowed_plantings(self):
        """An empty bed, or one whose plant is of another level."""
        garden = self.gardens[self.current_player]
        return {("bed", bed) for bed in self.beds_in_range() if garden[bed] != self.level_at_hand()}

    def plant(self, bed):
        self.gardens[self.current_player][bed] = self.level_at_hand()
        self.take_one_off_hand()
        self.check_tasks(bed // COLUMNS)

    def allowed_waterings(self):
        garden = self.gardens[self.current_player]
        return {("bed", bed) for bed in self.beds_in_range() if 0 < garden[bed] < LEVELS[-1]}

    def water(self, bed):
        self.gardens[self.current_player][bed] += 1
        self.take_one_off_hand()
        self.check_tasks(bed // COLUMNS)

    # ---------------------------------------------------------------- tasks

    def meets(self, row, plants):
        """As many plants of each level as the task asks for; more do no harm."""
        levels = self.gardens[self.current_player][COLUMNS * row : COLUMNS * (row + 1)]
        return all(levels.count(level) >= plants[level - 1] for level in LEVELS)

    def check_tasks(self, row):
        """The basic task first; once it has scored, the special one. What is scored stays scored."""
        player = self.current_player
        plants, points = self.basic[row]
        if not self.basic_done[player][row] and self.meets(row, plants):
            self.basic_done[player][row] = True
            self.points[player] += points
        plants, points = self.special[self.tasks[player][row]]
        if self.basic_done[player][row] and not self.special_done[player][row] and self.meets(row, plants):
            self.special_done[player][row] = True
            self.points[player] += points

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
        """What is scored so far and what final scoring would give now."""
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
        standings = self.standings()
        rewards = []
        for own in standings:
            better = len([s for s in standings if s > own])
            rewards.append(float(1 - Fraction(2 * better, self.num_players - 1)))
        return rewards

    # ---------------------------------------------------------------- what is seen

    def snapshot(self):
        return {
            "game": "botanicus",
            "num_players": self.num_players,
            "round": self.round,
            "column": self.column,
            "current_player": self.current_player,
            "asked": self.asked,
            "hand_action": None if self.hand is None else list(self.hand),
            "steps_taken": self.steps_taken,
            "in_play": self.in_play,
            "pending": [[list(action) for action in group] for group in self.pending],
            "gardens": [list(garden) for garden in self.gardens],
            "gardeners": [CROSSINGS.index(crossing) for crossing in self.gardeners],
            "coins": list(self.coins),
            "points": list(self.points),
            "animals": list(self.animals),
            "hands": [list(hand) for hand in self.hands],
            "tracks": [[pieces[track] for track in TRACKS] for pieces in self.pieces],
            "tasks": [list(tasks) for tasks in self.tasks],
            "dealt": [list(tasks) for tasks in self.dealt],
            "basic_done": [list(done) for done in self.basic_done],
            "special_done": [list(done) for done in self.special_done],
            "flowers": [list(flowers) for flowers in self.flowers],
            "order": list(self.order),
            "stack": list(self.stack),
            "walked": self.walked,
            "played": self.played,
            "prizes": [list(self.prizes[name]) for name in PRIZES],
            "tiles": [list(tiles) for tiles in self.tiles],
            "covered": [list(covered) for covered in self.covered],
            "pile": list(self.pile),
            "discards": list(self.discards),
            "scores": self.scores,
            "decisions": self.decisions,
            "terminated": self.terminated,
            "truncated": self.truncated,
        }

    def one_hot(self, value, values):
        return [1 if value == other else 0 for other in values]

    def padded(self, numbers, length):
        return list(numbers) + [0] * (length - len(numbers))

    def seen_task(self, task):
        plants, points = self.special[task]
        return [*plants, points]

    def seen_rows(self, player):
        """The special task of each row, and whether the row has beds enough for it; 0 while there is none."""
        numbers = []
        for row, task in enumerate(self.tasks[player]):
            if task < 0:
                numbers += [0] * 6
                continue
            beds = sum(self.beds[COLUMNS * row : COLUMNS * (row + 1)])
            numbers += [*self.seen_task(task), 1 if sum(self.special[task][0]) <= beds else 0]
        return numbers

    def seen_flower(self, player):
        """The space, one-hot, and the height in its stack, the lowest Flower being at 1."""
        for space, flowers in enumerate(self.flowers):
            if player in flowers:
                return [*self.one_hot(space, range(SPACES)), flowers.index(player) + 1]
        return [0] * (SPACES + 1)

    def seen_player(self, player):
        numbers = []
        for level in self.gardens[player]:
            numbers += self.one_hot(level, LEVELS)
        numbers += self.one_hot(self.gardeners[player], CROSSINGS)
        hand = sum(self.hands[player])
        numbers += [self.coins[player], self.points[player] // 2, self.animals[player], hand]
        for track in TRACKS:
            numbers += self.one_hot(self.pieces[player][track], range(MAX_TRACK_NODES))
        numbers += [1 if done else 0 for done in self.basic_done[player]]
        numbers += [1 if done else 0 for done in self.special_done[player]]
        numbers += self.seen_rows(player)
        numbers += self.seen_flower(player)
        numbers += [self.stack.index(player) + 1]  # place in the turn order of this column
        return numbers

    def seen_action(self, action, kinds):
        """Its kind one-hot, and its amount; a prize's is 1 for the money stack and 2 for the other."""
        kind, amount = action
        if kind == "prize":
            amount = PRIZES.index(amount) + 1
        return [*self.one_hot(kind, kinds), amount]

    def seen_column(self, column, flowers):
        numbers = []
        for space in range(SPACES):
            numbers += self.seen_action(self.space_action(column, space), [*KINDS, "pole"])
            numbers += [len(flowers[space])]
        return numbers

    def seen_next_column(self):
        """After column 8 of round one comes column 1; after that of round two, none."""
        nobody = [[] for _ in range(SPACES)]
        if self.column < LAST_COLUMN:
            return self.seen_column(self.column + 1, nobody)
        if self.round == 1:
            return self.seen_column(1, nobody)
        return [0] * len(self.seen_column(1, nobody))

    def seen_tiles(self):
        numbers = []
        for i, covered in enumerate(self.covered):
            for space in range(SPACES):
                seen = self.seen_action(self.tile_action(2 * (i + 1), space), KINDS)
                numbers += [0] * len(seen) if covered[space] else seen
        return numbers

    def seen_hand_action(self):
        if self.hand is None:
            return [0] * (len(CHOSEN) + 2)
        return [*self.seen_action(self.hand, CHOSEN), self.steps_taken]

    def seen_pending(self):
        """By kind, the amounts of all groups together."""
        amounts = dict.fromkeys(CHOSEN, 0)
        for group in self.pending:
            for kind, amount in group:
                amounts[kind] += amount
        return [amounts[kind] for kind in CHOSEN]

    def seen_dealt(self, player):
        """The own tasks that are still to be assigned, each at its place among those dealt."""
        numbers = []
        for task in self.dealt[player]:
            numbers += self.seen_task(task) if task in self.unassigned(player) else [0] * 5
        return numbers

    def seen_table(self):
        numbers = self.seen_column(self.column, self.flowers) + self.seen_next_column()
        numbers += self.seen_tiles()
        for name in PRIZES:
            prizes = self.prizes[name]
            numbers += [prizes[0] if prizes else 0, len(prizes)]
        numbers += self.padded(self.discards, MAX_CARD_KINDS)
        numbers += [len(self.pile), self.round, self.column]
        numbers += self.one_hot(self.asked, ASKED)
        return numbers

    def observation(self, player):
        """Flat, told from this player's seat."""
        seats = [(player + i) % self.num_players for i in self.seats]
        numbers = []
        for seat in seats:
            numbers += self.seen_player(seat)
        numbers += [0] * len(self.seen_player(player)) * (MAX_SEATS - self.num_players)
        numbers += self.padded(self.hands[player], MAX_CARD_KINDS)
        numbers += self.seen_table()
        numbers += self.seen_hand_action() + self.seen_pending()
        numbers += self.seen_dealt(player)
        numbers += [self.num_players]
        return np.array([min(number, MOST_IN_OBSERVATION) for number in numbers], dtype=np.int8)
