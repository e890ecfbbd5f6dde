"""Features of each hex for networks: points for planting there, points in reach, a lookahead; checked by playing on by hand."""

import itertools

import numpy as np
import pytest
from garden_agents.games import hints_of
from garden_agents.games.mars.features import num_features
from garden_agents.networks.board_features import COUNT_SCALE, cell_features, num_cell_features
from mars_tools import COLOURS, DIRECTIONS, HEXES, INDEX, neighbours

from garden_core import Batch
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.jit import kernels
from mars_env import Mars
from mars_env.state import MOVE, PLACE, PLANT

OPTIONS = (
    {"num_players": 2},
    {"num_players": 2, "gardeners": 2, "peaks": 3},
    {"num_players": 4, "peaks": 1},
    {"num_players": 5},
    {"num_players": 1, "cooperative": True},
    {"num_players": 3, "special_actions": True},
)
CENTRE = INDEX[0, 0]
MEAN = len(COLOURS) + 1  # the first feature after the points
AHEAD = MEAN + 2  # the first feature of the lookahead


def positions(options, greedy):
    """Play games; yield at every fifth decision the batch and the features of all rows in points."""
    game = Mars(**options)
    board, batch = hints_of(game).board(game), Batch(game, 6)
    batch.reset(3)
    policy = GreedyPolicy(1) if greedy else RandomPolicy(1)
    for decision in range(120):
        if decision % 5 == 0:
            features = cell_features(board, batch.flat)
            assert features.shape[2] == num_cell_features(board)
            yield batch, features[:, :, -num_features(options.get("gardeners", 1)) :] / COUNT_SCALE
        batch.step(policy(batch, batch.all_rows))


def gained(batch, *actions):
    """Return the spaces of the score track that the decisions gain the player to move in row 0."""
    state, player = batch.states[:1].copy()[0], batch.current_player[0]
    before = int(state["score"][player])
    for action in actions:
        kernels.apply_action(state, batch.game.params[0], action)
    return int(state["score"][player]) - before


def target(hex_, direction, value, blocked):
    """Return the hex to which a die moves a gardener in this direction, or None."""
    (q, r), (dq, dr) = HEXES[hex_], direction
    path = [INDEX.get((q + dq * step, r + dr * step)) for step in range(1, value + 1)]
    return None if {None, *blocked} & set(path) or path[-1] == CENTRE else path[-1]


def group_size(flowers, hex_, colour):
    """Return the size of the group of a flower of this colour on the hex."""
    group, rim = {hex_}, [hex_]
    while rim:
        around = {INDEX[h] for h in neighbours(HEXES[rim.pop()])} - group
        same = [h for h in around if flowers[h] == colour]
        group.update(same)
        rim += same
    return len(group)


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_points_equal_the_gain_of_planting_and_of_stepping_on_flowers(options, greedy):
    further, backward = set(), set()  # spaces that scorers slide
    for batch, features in positions(options, greedy):
        game, state = batch.game, batch.states[0]
        if game.snapshot(state)["phase"] != "move":
            continue
        plant = [game.labels.index(f"plant {colour}") for colour in COLOURS]
        colours = np.flatnonzero(state["stocks"][batch.current_player[0]])
        for action in np.flatnonzero(batch.action_mask[0, : len(HEXES) * options.get("gardeners", 1)]):
            hex_ = action % len(HEXES)
            expected = np.zeros(MEAN)
            if state["flowers"][hex_] >= 0:
                expected[-1] = gained(batch, action)
                backward.add(expected[-1])
            else:
                for colour in colours:
                    rest = [plant[colour]] if len(colours) > 1 else []  # one colour is no decision
                    expected[colour] = gained(batch, action, *rest)
                    further.add(expected[colour] - group_size(state["flowers"], hex_, colour))
                expected[-1] = expected[:-1].max()
            np.testing.assert_allclose(features[0, hex_, :MEAN], expected, atol=1e-5)
    assert 0 in further
    assert greedy or -1 in backward
    assert max(further) > 0 or options["num_players"] == 1


def in_reach(state, player, hex_, each):
    """Return for each value of the die the largest group of a move from the hex, or -1."""
    flowers, own = state["flowers"], np.flatnonzero(state["stocks"][player])
    others = {h for seat, row in enumerate(state["gardeners"]) for h in row[:each] if seat != player}
    blocked = others | set(np.flatnonzero(state["peaks"]))
    for value in range(1, 7):
        ends = {target(hex_, direction, value, blocked) for direction in DIRECTIONS} - {None}
        sizes = [group_size(flowers, end, colour) for end in ends if flowers[end] < 0 for colour in own]
        yield max([0, *sizes]) if any(flowers[end] < 0 for end in ends) else -1


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_targets_are_the_hexes_of_the_legal_actions(options):
    phases = set()
    for batch, features in positions(options, greedy=True):
        legal = batch.action_mask[:, : len(HEXES) * options.get("gardeners", 1)].reshape(6, -1, len(HEXES))
        np.testing.assert_allclose(features[:, :, -1], legal.any(1), atol=1e-6)
        phases |= set(batch.states["phase"].tolist())
    assert phases == {PLACE, MOVE, PLANT}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_reach_is_the_mean_and_the_best_gain_of_the_next_die_from_a_hex(options):
    each = options.get("gardeners", 1)
    means = set()
    for batch, features in positions(options, greedy=True):
        for row in range(0, 6, 3):
            state, player = batch.states[row], int(batch.current_player[row])
            for hex_ in range(0, len(HEXES), 6):
                best = list(in_reach(state, player, hex_, each))
                assert features[row, hex_, MEAN] == pytest.approx(sum(best) / 6, abs=1e-5)
                assert features[row, hex_, MEAN + 1] == pytest.approx(max(best))
                means.add(sum(best))
    assert len(means) > 20


class Table:
    """A position that is played on by hand: each turn for the largest group, with unknown dice still to roll."""

    def __init__(self, state, player, n, each, scenario):
        seats = [(player + offset) % n for offset in range(n)]
        self.flowers = state["flowers"].copy()
        self.peaks = set(np.flatnonzero(state["peaks"]))
        self.gardeners = [list(state["gardeners"][seat, :each]) for seat in seats]
        self.stocks = [state["stocks"][seat].copy() for seat in seats]
        self.scores = [int(state["score"][seat]) for seat in seats]
        self.dice = [v for v in range(1, 7) for _ in range(state["dice"][v])]
        self.unknown, self.over = 0, False
        self.quantile = (0.25, 0.75)[scenario]
        self.order = [(k + 2 * scenario) % 6 for k in range(6)]

    def gain(self, seat, hex_):
        if hex_ is None or self.flowers[hex_] >= 0:
            return -1
        return max(group_size(self.flowers, hex_, colour) for colour in np.flatnonzero(self.stocks[seat]))

    def space(self, seat, points):
        others = {score for other, score in enumerate(self.scores) if other != seat}
        space = max(self.scores[seat] + points, 0)
        while space > 0 and space in others:
            space += 1 if points > 0 else -1
        return space

    def moves(self, seat):
        """Return by value of the die the gain, the gardener and the hex of the best move, the first of equals."""
        blocked = self.peaks | {hex_ for row in self.gardeners for hex_ in row}
        best = {}
        for value in range(1, 7):
            ends = [
                (g, target(start, DIRECTIONS[k], value, blocked))
                for g, start in enumerate(self.gardeners[seat])
                for k in self.order
            ]
            moves = [(self.gain(seat, end), g, end) for g, end in ends if end is not None]
            best[value] = max(moves, key=lambda move: move[0], default=(-1, None, None))
        return best

    def go(self, seat, g, hex_):
        gain = self.gain(seat, hex_)
        if hex_ is not None:
            self.gardeners[seat][g] = hex_
        if gain > 0:
            colours = [colour for colour in self.order if self.stocks[seat][colour]]
            colour = max(colours, key=lambda c: group_size(self.flowers, hex_, c))
            self.flowers[hex_] = colour
            self.stocks[seat][colour] -= 1
            self.over = not self.stocks[seat].any()
        self.scores[seat] = self.space(seat, gain)

    def turn(self, seat):
        if self.over:
            return 0
        if not self.dice and not self.unknown:
            around = ([INDEX[h] for h in neighbours(HEXES[hex_])] for hex_ in self.gardeners[seat])
            self.unknown = max(int((self.flowers[hexes] < 0).sum()) for hexes in around)
            if not self.unknown:
                return 0
        best = self.moves(seat)
        points = {value: self.space(seat, gain) - self.scores[seat] for value, (gain, _, _) in best.items()}
        if self.dice:
            value = max((k + 1 for k in self.order if k + 1 in self.dice), key=lambda v: best[v][0])
            self.dice.remove(value)
            mean = points[value]
        else:
            ranked = sorted(best, key=lambda v: best[v][0])
            at_most = [(rank / 6) ** self.unknown for rank in range(7)]
            mean = np.diff(at_most) @ [points[v] for v in ranked]
            value = next(v for rank, v in enumerate(ranked, 1) if at_most[rank] >= self.quantile)
            self.unknown -= 1
        self.go(seat, *best[value][1:])
        return mean


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_lookahead_plays_two_rounds_on(options):
    each, n = options.get("gardeners", 1), options["num_players"]
    others, own, overs = [], [], 0
    for batch, features in positions(options, greedy=True):
        for row in range(0, 6, 2):
            state, player = batch.states[row], int(batch.current_player[row])
            lookahead = features[row, :, AHEAD:-1].T
            expected = np.zeros_like(lookahead)
            reachable = batch.action_mask[row, : len(HEXES) * each].reshape(each, -1)
            if batch.game.snapshot(state)["phase"] != "move":
                reachable = np.zeros_like(reachable)
            for (g, hex_), scenario in itertools.product(np.argwhere(reachable), range(2)):
                table = Table(state, player, n, each, scenario)
                start = np.array(HEXES[table.gardeners[0][g]])
                table.dice.remove(int(np.abs(np.array(HEXES[hex_]) - start).max()))
                table.go(0, g, int(hex_))
                for at in (4 * g, 4 * g + 2):
                    others.append(sum(table.turn(seat) for seat in range(1, n)))
                    own.append(table.turn(0))
                    expected[at : at + 2, hex_] += others[-1] / 2, own[-1] / 2
                overs += table.over
            np.testing.assert_allclose(lookahead, expected, atol=1e-4)
    assert len(set(own)) > 20
    assert len(set(others)) > 20 or n == 1
    assert any(gain != int(gain) for gain in own)  # unknown dice
    assert overs or each == 2
