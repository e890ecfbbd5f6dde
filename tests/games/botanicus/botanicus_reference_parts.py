"""Parts of the plain Botanicus apart from the order of play: effects of actions, snapshots and observations."""

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


class Actions:
    """Gains, and how each action is carried out."""

    # ---------------------------------------------------------------- gained actions

    def gain(self, gains, shuffle):
        """Gains without a choice happen now; the others are a new group, resolved before all gained earlier."""
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
        """Forfeit the rest of the action at hand; on a track, stop."""
        if self.hand[0] in TRACKS:
            self.stop(shuffle)
        else:
            self.hand = None

    def take_one_off_hand(self):
        kind, left = self.hand
        self.hand = (kind, left - 1) if left > 1 else None

    # ---------------------------------------------------------------- actions: effects at once

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
            self.pile = list(shuffle(cards))
            assert sorted(self.pile) == cards
            self.discards = [0] * len(self.cards)

    # ---------------------------------------------------------------- actions: tracks

    def edges_here(self):
        """The edges of the piece's node: (node, cost), upper first."""
        track = self.hand[0]
        return self.node_edges[track][self.pieces[self.current_player][track]]

    def advance_cost(self, edge):
        """The cost of the edge, and of a step beyond those that the action gives."""
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
        """A point for each unused step; the gains of the node only after a step."""
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
        """The basic task first; once it has scored, the special one. Scores are final."""
        player = self.current_player
        plants, points = self.basic[row]
        if not self.basic_done[player][row] and self.meets(row, plants):
            self.basic_done[player][row] = True
            self.points[player] += points
        plants, points = self.special[self.tasks[player][row]]
        if self.basic_done[player][row] and not self.special_done[player][row] and self.meets(row, plants):
            self.special_done[player][row] = True
            self.points[player] += points


class Views:
    """Snapshots and observations."""

    def snapshot(self):
        names = (
            "num_players round column current_player asked steps_taken in_play gardens coins points animals hands "
            "tasks dealt basic_done special_done flowers order stack walked played tiles covered pile discards scores "
            "decisions terminated truncated"
        )
        plain = {name: getattr(self, name) for name in names.split()}
        return plain | {
            "game": "botanicus",
            "hand_action": self.hand and list(self.hand),
            "pending": [[list(action) for action in group] for group in self.pending],
            "gardeners": [CROSSINGS.index(crossing) for crossing in self.gardeners],
            "tracks": [[pieces[track] for track in TRACKS] for pieces in self.pieces],
            "prizes": list(self.prizes.values()),
        }

    def one_hot(self, value, values):
        return [value == other for other in values]

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
            numbers += [*self.seen_task(task), sum(self.special[task][0]) <= beds]
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
        numbers += self.basic_done[player] + self.special_done[player]
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
        """Column 1 follows column 8 of round one; no column follows it in round two."""
        empty = [[] for _ in range(SPACES)]
        if self.column < LAST_COLUMN:
            return self.seen_column(self.column + 1, empty)
        if self.round == 1:
            return self.seen_column(1, empty)
        return [0] * len(self.seen_column(1, empty))

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

    def seen_dealt(self, seats):
        """The unassigned tasks of all seats, each at its place among the tasks dealt to its seat."""
        numbers = []
        for seat in seats:
            for task in self.dealt[seat]:
                numbers += self.seen_task(task) if task in self.unassigned(seat) else [0] * 5
        return self.padded(numbers, 5 * TASKS_EACH * MAX_SEATS)

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

    def amounts(self, actions, without=()):
        """The sums by kind; a prize counts 1, by its stack."""
        kinds = [*AT_ONCE[:4], *(f"prize {stack}" for stack in PRIZES), *CHOSEN, "pole"]
        sums = {kind: 0 for kind in kinds if kind not in without}
        for kind, amount in actions:
            sums[f"prize {amount}" if kind == "prize" else kind] += 1 if kind == "prize" else amount
        return list(sums.values())

    def seen_node(self, track, node):
        return self.amounts(self.node_gains[track][node], without=[*TRACKS, "pole"])

    def seen_track(self, track, here):
        """What the node gives; then, for one to five steps ahead, two nodes with what they give and how to get there."""
        edges = self.node_edges[track]
        numbers = self.seen_node(track, here)
        reached = [(node, {way: [cost]}) for way, (node, cost) in enumerate(edges[here])]
        for _ in range(5):
            for node, ways in reached:
                numbers += self.seen_node(track, node)
                numbers += [not edges[node], 0 in ways, 1 in ways]
                numbers += [min(ways.get(way, [0])) for way in (0, 1)]
            numbers += [0] * 17 * (2 - len(reached))
            further = {}
            for node, ways in reached:
                for to, cost in edges[node]:
                    for way, costs in ways.items():
                        further.setdefault(to, {}).setdefault(way, []).append(min(costs) + cost)
            reached = list(further.items())[:2]
        return numbers

    def seen_values(self, player):
        numbers = []
        for track in TRACKS:
            numbers += self.seen_track(track, self.pieces[player][track])
        coming = [*range(1, LAST_COLUMN + 1)] * (2 if self.round == 1 else 1)
        coming = coming[self.column + 1 :][:6]
        for column in coming:
            for space in range(SPACES):
                numbers += self.amounts([self.space_action(column, space)])
        numbers += [0] * 4 * 16 * (6 - len(coming))
        for name in PRIZES:
            numbers += self.padded(self.prizes[name][1:], 7)
        cards = []
        for card, copies in zip(self.cards, self.copies, strict=True):
            cards += [*self.amounts([card], without=["pole"]), copies]
        numbers += self.padded(cards, 16 * MAX_CARD_KINDS)
        numbers += self.column_points + self.animal_points
        for plants, points in self.basic:
            numbers += [*plants, points]
        return numbers + self.beds

    def observation(self, player):
        """Flat, as seen from this player's seat."""
        seats = [(player + i) % self.num_players for i in self.seats]
        numbers = []
        for seat in seats:
            numbers += self.seen_player(seat)
        numbers += [0] * len(self.seen_player(player)) * (MAX_SEATS - self.num_players)
        numbers += self.padded(self.hands[player], MAX_CARD_KINDS)
        numbers += self.seen_table()
        numbers += self.seen_hand_action() + self.seen_pending()
        numbers += self.seen_dealt(seats)
        numbers += [self.num_players]
        if self.cards_shown == "values":
            numbers += self.seen_values(player)
        return np.minimum(numbers, MOST_IN_OBSERVATION).astype(np.int8)
