"""A slow and plain Gardens of Mars: the oracle for the compiled kernels.

Written from the rules alone, it shares no code with the package. Its methods follow the order of the
rules. All chance comes from outside:

- The constructor takes `peak_hexes`, the peaks of the snapshot after the deal.
- `step` takes `roll`, which returns the values of a number of dice, and `draw`, which returns the flowers of each
  player as in the snapshot after the last placement.
"""

from fractions import Fraction

import numpy as np

COLOURS = ["blue", "yellow", "white", "grey", "red", "green"]
FLOWERS_PER_COLOUR = 10
CENTRE = (0, 0)
DIRECTIONS = [(+1, 0), (0, +1), (-1, +1), (-1, 0), (0, -1), (+1, -1)]
HEXES = sorted((q, r) for q in range(-5, 6) for r in range(-5, 6) if abs(q + r) <= 5)
BOARD = set(HEXES)
MAX_SEATS = 5
PHASES = ["place", "move", "plant"]
SPECIAL_SPACES_ABOVE = 25
TEAM_SCALE = {1: 200, 2: 100, 3: 60, 4: 50, 5: 40}  # D of the cooperative game
MARGIN_SCALE = {2: 25, 3: 10, 4: 10, 5: 10}


def neighbours(hexagon):
    """The hexes next to this one that are on the board."""
    q, r = hexagon
    return [(q + dq, r + dr) for dq, dr in DIRECTIONS if (q + dq, r + dr) in BOARD]


class MarsReference:
    """One game, from the deal to the end."""

    # ---------------------------------------------------------------- setup

    def __init__(
        self,
        *,
        num_players=2,
        peaks=0,
        special_actions=False,
        gardeners=1,
        cooperative=False,
        max_decisions=1000,
        reward="outcome",
        peak_hexes,
    ):
        self.num_players = num_players
        self.special_actions = special_actions
        self.gardeners_each = gardeners
        self.cooperative = cooperative
        self.max_decisions = max_decisions
        self.reward = reward

        self.peaks = {(q, r) for q, r in peak_hexes}
        self.check_peaks(peaks)

        self.stocks = [[0] * len(COLOURS) for _ in range(num_players)]  # drawn after all placements
        self.flowers = {}  # hex -> colour index
        self.gardeners = [[] for _ in range(num_players)]  # hexes, in the order of placing
        self.scores = [0] * num_players
        self.dice = []  # values on the table
        self.pending = None  # the hex waiting for a flower
        self.phase = "place"
        self.current_player = 0
        self.decisions = 0
        self.terminated = False
        self.truncated = False
        self.rewards = [0.0] * num_players

        # The two ways in which a turn earns an extra one.
        self.planted_last_of_colour = False
        self.met_another_scorer = False

        self.name_actions()

    def check_peaks(self, peaks):
        """As many as asked for; none on the centre; no part fenced off."""
        open_hexes = BOARD - self.peaks - {CENTRE}
        assert len(self.peaks) == peaks
        assert len(open_hexes) == len(HEXES) - 1 - peaks
        assert self.connected(min(open_hexes), open_hexes) == open_hexes

    def name_actions(self):
        """By label: ("hex", which gardener, hex), ("give up", value) or ("plant", colour)."""
        self.actions = {}
        for which in range(self.gardeners_each):
            for q, r in HEXES:
                self.actions[f"{'second ' * which}hex {q},{r}"] = ("hex", which, (q, r))
        self.actions |= {f"give up die {value}": ("give up", value) for value in range(1, 7)}
        self.actions |= {f"plant {name}": ("plant", colour) for colour, name in enumerate(COLOURS)}
        self.labels = list(self.actions)

    # ---------------------------------------------------------------- decisions

    def legal(self):
        """The indexes of the legal actions, ascending."""
        allowed = self.allowed()
        return [index for index, name in enumerate(self.actions.values()) if name in allowed]

    def allowed(self):
        if self.phase == "place":
            return self.allowed_places()
        if self.phase == "move":
            return self.allowed_moves() | self.allowed_give_ups()
        if self.phase == "plant":
            return {("plant", colour) for colour in self.colours_left()}
        return set()

    def step(self, action, roll, draw):
        """Carry out one decision and everything that follows without one."""
        assert action in self.legal()
        scores_before = list(self.scores)
        name = self.actions[self.labels[action]]
        self.decisions += 1
        if self.phase == "place":
            self.place(name[2], roll, draw)
        elif name[0] == "hex":
            self.move(name[1], name[2], roll)
        elif name[0] == "give up":
            self.give_up(name[1], roll)
        else:
            self.plant(name[1], roll)
        # The cap comes last: the step is done in full, and a game just ended by the rules is not truncated.
        if not self.terminated and self.decisions >= self.max_decisions:
            self.truncated = True
            self.phase = "over"
        self.rewards = self.rewards_since(scores_before)

    # ---------------------------------------------------------------- placing the gardeners

    def all_gardeners(self):
        return {h for hexes in self.gardeners for h in hexes}

    def allowed_places(self):
        """Any hex without peak or gardener, except the centre; the round says which gardener is placed."""
        which = len(self.gardeners[self.current_player])
        taken = self.peaks | self.all_gardeners() | {CENTRE}
        return {("hex", which, h) for h in HEXES if h not in taken}

    def place(self, hexagon, roll, draw):
        self.gardeners[self.current_player].append(hexagon)
        self.current_player = (self.current_player + 1) % self.num_players
        if all(len(hexes) == self.gardeners_each for hexes in self.gardeners):
            self.draw_flowers(draw)
            self.begin_turn(roll)  # seat 0 is next after the last seat

    def draw_flowers(self, draw):
        """Deal every colour out wholly, equally many flowers to each player, before any die is rolled."""
        self.stocks = [list(stock) for stock in draw()]
        assert [sum(stock) for stock in self.stocks] == [60 // self.num_players] * self.num_players
        assert [sum(colour) for colour in zip(*self.stocks, strict=True)] == [FLOWERS_PER_COLOUR] * 6

    # ---------------------------------------------------------------- turn, 1: dice

    def dice_to_roll(self, player):
        """Hexes on the board next to the gardener that hold no flower; with two gardeners the larger count.

        Centre, peaks and hexes with only a gardener hold no flower, so they count.
        """
        return max(len(set(neighbours(h)) - self.flowers.keys()) for h in self.gardeners[player])

    def begin_turn(self, roll):
        """The turn of the current player, or of the next one who can have dice."""
        self.phase = "move"
        self.planted_last_of_colour = False
        self.met_another_scorer = False
        if self.dice:
            return
        for _ in range(self.num_players):
            count = self.dice_to_roll(self.current_player)
            if count > 0:
                self.dice = list(roll(count))
                return
            self.current_player = (self.current_player + 1) % self.num_players  # surrounded: no penalty
        self.end_game()  # no dice, and no player can roll any

    # ---------------------------------------------------------------- turn, 2a: move the gardener

    def hexes_in_reach(self, player, which, value):
        """Where this gardener can go with a die of this value: exactly so far, in a straight line."""
        reach = set()
        obstacles = self.peaks | self.all_gardeners()
        for dq, dr in DIRECTIONS:
            q, r = self.gardeners[player][which]
            free = True
            for _ in range(value):
                q, r = q + dq, r + dr
                if (q, r) not in BOARD or (q, r) in obstacles:
                    free = False
            if free and (q, r) != CENTRE:  # the centre may be crossed, flowers too
                reach.add((q, r))
        return reach

    def allowed_moves(self):
        return {
            ("hex", which, hexagon)
            for which in range(self.gardeners_each)
            for value in self.dice
            for hexagon in self.hexes_in_reach(self.current_player, which, value)
        }

    def distance(self, a, b):
        dq, dr = b[0] - a[0], b[1] - a[1]
        return max(abs(dq), abs(dr), abs(dq + dr))

    def move(self, which, hexagon, roll):
        player = self.current_player
        self.dice.remove(self.distance(self.gardeners[player][which], hexagon))
        self.gardeners[player][which] = hexagon
        if hexagon in self.flowers:
            self.land_on_flower(roll)
        else:
            self.land_on_empty_hex(hexagon, roll)

    # ---------------------------------------------------------------- turn, 2b: a die that cannot move

    def allowed_give_ups(self):
        """A die may be given up only if none of the player's gardeners can move with it."""
        player, each = self.current_player, range(self.gardeners_each)
        return {
            ("give up", value)
            for value in self.dice
            if not any(self.hexes_in_reach(player, which, value) for which in each)
        }

    def give_up(self, value, roll):
        self.dice.remove(value)
        self.move_scorer(-1)
        self.end_turn(roll)

    # ---------------------------------------------------------------- turn, 2c: landing on a flower

    def land_on_flower(self, roll):
        self.move_scorer(-1)
        self.end_turn(roll)

    # ---------------------------------------------------------------- turn, 2d: planting on an empty hex

    def colours_left(self):
        return [colour for colour in range(6) if self.stocks[self.current_player][colour] > 0]

    def land_on_empty_hex(self, hexagon, roll):
        self.pending = hexagon
        self.phase = "plant"
        if len(self.colours_left()) == 1:  # no choice: planted within the same step
            self.plant(self.colours_left()[0], roll)

    def connected(self, start, hexes):
        """The part of the hexes that is connected with start."""
        group = {start}
        to_visit = [start]
        while to_visit:
            for h in neighbours(to_visit.pop()):
                if h in hexes and h not in group:
                    group.add(h)
                    to_visit.append(h)
        return group

    def plant(self, colour, roll):
        self.stocks[self.current_player][colour] -= 1
        self.flowers[self.pending] = colour
        same_colour = {h for h in self.flowers if self.flowers[h] == colour}
        self.move_scorer(len(self.connected(self.pending, same_colour)))
        self.planted_last_of_colour = len(same_colour) == FLOWERS_PER_COLOUR  # counting everyone's flowers
        self.pending = None
        if sum(self.stocks[self.current_player]) == 0:
            self.end_game()  # at once: no turn passes, no dice are rolled
        else:
            self.end_turn(roll)

    # ---------------------------------------------------------------- the score track

    def move_scorer(self, points):
        """Go to the space the points lead to; from a taken one on, the same way, to the next free one."""
        player = self.current_player
        others = [self.scores[p] for p in range(self.num_players) if p != player]
        space = max(0, self.scores[player] + points)
        # Only the space that the points themselves lead to can earn an extra turn.
        self.met_another_scorer = space > SPECIAL_SPACES_ABOVE and space in others
        while space > 0 and space in others:  # 0 is off the track and has room for all
            space += 1 if points > 0 else -1
        self.scores[player] = space

    # ---------------------------------------------------------------- turn, 2e: the turn passes

    def end_turn(self, roll):
        if not self.earns_extra_turn():
            self.current_player = (self.current_player + 1) % self.num_players
        self.begin_turn(roll)

    # ---------------------------------------------------------------- variant: special actions

    def earns_extra_turn(self):
        """Tenth flower of a colour, or a scorer met above 25; both count once; a die must be left."""
        if not self.special_actions or not self.dice:
            return False
        return self.planted_last_of_colour or self.met_another_scorer

    # ---------------------------------------------------------------- end of the game

    def end_game(self):
        self.terminated = True
        self.phase = "over"

    def standings(self):
        """Per seat, higher is better; in the cooperative game the lowest score counts for all."""
        if self.cooperative:
            return [min(self.scores)] * self.num_players
        return list(self.scores)

    def rewards_since(self, scores_before):
        if self.cooperative:
            return [self.team_reward(scores_before)] * self.num_players
        if self.reward == "margin":
            return self.margin_rewards(scores_before)
        if self.phase == "over":
            return self.outcome_rewards()
        return [0.0] * self.num_players

    def team_reward(self, scores_before):
        if self.reward == "margin":
            return (min(self.scores) - min(scores_before)) / TEAM_SCALE[self.num_players]
        if self.phase == "over":
            return min(self.scores) / TEAM_SCALE[self.num_players]
        return 0.0

    def margin_rewards(self, scores_before):
        """Change of (own score - mean score of the others), scaled."""
        gains = [after - before for after, before in zip(self.scores, scores_before, strict=True)]
        rewards = []
        for gain in gains:
            mean_of_others = (sum(gains) - gain) / (self.num_players - 1)
            rewards.append((gain - mean_of_others) / MARGIN_SCALE[self.num_players])
        return rewards

    def outcome_rewards(self):
        """By rank, evenly from +1 to -1; tied players share the mean of their ranks."""
        standings = self.standings()
        rewards = []
        for own in standings:
            first_rank = len([s for s in standings if s > own])
            mean_rank = first_rank + Fraction(standings.count(own) - 1, 2)
            rewards.append(float(1 - 2 * mean_rank / (self.num_players - 1)))
        return rewards

    # ---------------------------------------------------------------- observations

    def snapshot(self):
        names = "num_players phase current_player stocks scores decisions terminated truncated"
        plain = {name: getattr(self, name) for name in names.split()}
        return plain | {
            "game": "mars",
            "dice": sorted(self.dice),
            "gardeners": [[list(h) for h in hexes] for hexes in self.gardeners],
            "flowers": sorted([q, r, colour] for (q, r), colour in self.flowers.items()),
            "peaks": sorted(list(h) for h in self.peaks),
            "pending": self.pending and list(self.pending),
        }

    def seats_from(self, player):
        return [(player + i) % self.num_players for i in range(self.num_players)]

    def board_planes(self, player):
        """Fourteen sets of hexes."""
        planes = [{h for h in self.flowers if self.flowers[h] == colour} for colour in range(6)]
        seats = self.seats_from(player)
        for i in range(2 if self.gardeners_each == 2 else MAX_SEATS):
            for which in range(self.gardeners_each):
                hexes = self.gardeners[seats[i]] if i < self.num_players else []
                planes.append(set(hexes[which : which + 1]))
        planes.append(self.peaks)
        for which in range(self.gardeners_each):  # only for the player who moves a gardener now
            reach = set()
            if self.phase == "move" and self.current_player == player:
                for value in self.dice:
                    reach |= self.hexes_in_reach(player, which, value)
            planes.append(reach)
        planes.append({self.pending} - {None})
        return planes

    def scalars(self, player):
        """Sixty-one numbers."""
        seats = self.seats_from(player)
        numbers = []
        for seat in seats:
            numbers += [*self.stocks[seat], *divmod(self.scores[seat], 16)]
        numbers += [0] * 8 * (MAX_SEATS - self.num_players)
        turn = [0] * MAX_SEATS
        if self.phase != "over":
            turn[seats.index(self.current_player)] = 1
        numbers += turn
        numbers += [self.dice.count(value) for value in range(1, 7)]
        numbers += [self.phase == phase for phase in PHASES]
        numbers += [self.num_players]
        numbers += [list(self.flowers.values()).count(colour) for colour in range(6)]
        return numbers

    def observation(self, player, view):
        """`flat`: each board plane at the 91 hexes, then the scalars. `planes`: 11 x 11, row r, column q.

        `flat+special`: as `flat`, then whether there are special actions.
        """
        planes, scalars = self.board_planes(player), self.scalars(player)
        if view == "flat+special":
            scalars.append(self.special_actions)
        if view.startswith("flat"):
            return np.array([h in plane for plane in planes for h in HEXES] + scalars, dtype=np.int8)
        image = np.zeros((len(planes) + len(scalars), 11, 11), dtype=np.int8)
        for i, plane in enumerate(planes):
            for q, r in plane:
                image[i, r + 5, q + 5] = 1
        for i, number in enumerate(scalars):
            image[len(planes) + i, :, :] = number  # constant all over, outside the board too
        return image
