"""What networks are told of each hex: the points for planting there, and what lies in reach; all by playing on by hand."""

import numpy as np
import pytest
from garden_agents.networks.board_features import SCALE, cell_features, num_cell_features
from mars_tools import COLOURS, DIRECTIONS, HEXES, INDEX

from garden_core import Batch, kernels
from garden_core.policies import GreedyPolicy, RandomPolicy
from mars_env import Mars
from mars_env.features import NUM_FEATURES

OPTIONS = (
    {"num_players": 2},
    {"num_players": 2, "gardeners": 2, "peaks": 3},
    {"num_players": 4, "peaks": 1},
    {"num_players": 5},
    {"num_players": 1, "cooperative": True},
    {"num_players": 3, "special_actions": True},
)


def positions(options, greedy):
    """Games from the deal on, every fifth decision: the batch, and the features of all rows in points."""
    game = Mars(**options)
    batch = Batch(game, 6)
    batch.reset(3)
    policy = GreedyPolicy(1) if greedy else RandomPolicy(1)
    for decision in range(120):
        if decision % 5 == 0:
            features = cell_features(game.board, batch.flat)
            assert features.shape[2] == num_cell_features(game.board)
            yield batch, features[:, :, -NUM_FEATURES:] / SCALE
        batch.step(policy(batch, batch.all_rows))


def brought(batch, *actions):
    """What the decisions bring the player to move in row 0, in spaces of the score track."""
    state, player = batch.states[:1].copy()[0], batch.current_player[0]
    before = int(state["score"][player])
    for action in actions:
        kernels.apply_action(state, batch.game.params[0], action)
    return int(state["score"][player]) - before


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_points_are_what_planting_and_stepping_on_flowers_bring(options, greedy):
    further, backward = set(), set()  # by how much scorers slide
    for batch, features in positions(options, greedy):
        game, state = batch.game, batch.states[0]
        if game.snapshot(state)["phase"] != "move":
            continue
        plant = [game.labels.index(f"plant {colour}") for colour in COLOURS]
        colours = np.flatnonzero(state["stocks"][batch.current_player[0]])
        for action in np.flatnonzero(batch.action_mask[0, : len(HEXES) * game.board.action_blocks]):
            hex_ = action % len(HEXES)
            told = features[0, hex_, : len(COLOURS) + 1]
            expected = np.zeros(len(COLOURS) + 1)
            if state["flowers"][hex_] >= 0:
                expected[-1] = brought(batch, action)
                backward.add(expected[-1])
            else:
                for colour in colours:
                    rest = [plant[colour]] if len(colours) > 1 else []  # one colour is no decision
                    expected[colour] = brought(batch, action, *rest)
                    further.add(expected[colour] - group_size(state["flowers"], hex_, colour))
                expected[-1] = expected[:-1].max()
            np.testing.assert_allclose(told, expected, atol=1e-5)
    assert 0 in further
    assert greedy or -1 in backward
    assert max(further) > 0 or options["num_players"] == 1


def in_reach(state, player, hex_, each):
    """By value of the die, the most that a move from the hex gains, spaces of the score track aside."""
    flowers, own = state["flowers"], state["stocks"][player]
    others = {
        int(h) for seat, row in enumerate(state["gardeners"]) for h in row[:each] if seat != player and h >= 0
    }
    others |= set(np.flatnonzero(state["peaks"]).tolist())
    best = {}
    for value in range(1, 7):
        best[value] = -1
        for dq, dr in DIRECTIONS:
            q, r = HEXES[hex_]
            path = [INDEX.get((q + dq * step, r + dr * step)) for step in range(1, value + 1)]
            if None in path or others & set(path) or path[-1] == INDEX[0, 0]:
                continue
            if flowers[path[-1]] < 0:
                sizes = [group_size(flowers, path[-1], colour) for colour in np.flatnonzero(own)]
                best[value] = max(best[value], *sizes, 0)
    return best


def group_size(flowers, hex_, colour):
    group, rim = {hex_}, [HEXES[hex_]]
    while rim:
        q, r = rim.pop()
        for dq, dr in DIRECTIONS:
            found = INDEX.get((q + dq, r + dr))
            if found is not None and found not in group and flowers[found] == colour:
                group.add(found)
                rim.append(HEXES[found])
    return len(group)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_reach_is_what_the_next_die_could_bring_from_a_hex(options):
    each = options.get("gardeners", 1)
    means = set()
    for batch, features in positions(options, greedy=True):
        for row in range(0, 6, 3):
            state, player = batch.states[row], int(batch.current_player[row])
            for hex_ in range(0, len(HEXES), 6):
                best = in_reach(state, player, hex_, each).values()
                assert features[row, hex_, -2] == pytest.approx(sum(best) / 6, abs=1e-5)
                assert features[row, hex_, -1] == pytest.approx(max(best))
                means.add(sum(best))
    assert len(means) > 20
