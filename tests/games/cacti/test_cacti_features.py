"""Features where cards are shown by value: what each half still lacks, and the scores, against a plain count from snapshots."""

import numpy as np
import pytest
from garden_agents.games import TEST_SEEDS, hints_of

from cacti_env import Cacti
from garden_core import Batch, RandomPolicy


def lacking(half, nursery, types):
    return sum(max(half.cost[t] - nursery[t], 0) for t in types)


@pytest.mark.parametrize("seed", [None, *TEST_SEEDS[:2]])
def test_features_are_what_a_player_would_count(seed):
    own = {} if seed is None else hints_of(Cacti).private_data(seed)
    game = Cacti(cards_shown="values", **own)
    features = hints_of(game).features(game)
    batch, policy, types = Batch(game, 40), RandomPolicy(1), range(len(game.cards.types))
    batch.reset(3)
    width = 2 * len(types) + 4  # of a half that the observer can plant
    payable = 0
    for _ in range(60):
        out = np.full((40, features.num), np.nan, np.float32)
        features.fill(batch.flat, features.params, out)
        assert np.isfinite(out).all()
        for row, (found, state) in enumerate(zip(out, batch.states, strict=True)):
            player, seen = int(batch.current_player[row]), game.snapshot(state)
            first = features.num - 6 - 3 * (len(types) + 2) - 5 * width
            hand, left = int(state["basic_in_hand"][player]), int(state["arrangements_left"])
            top = int(state["arrangement_deck"][left - 1]) if left else -1
            cards = [None if k < 0 else game.cards.basic[game.file_places[k]] for k in (hand, top)]
            halves = [half for card in cards for half in ((card.upper, card.lower) if card else (None, None))]
            halves.append(game.cards.starting if state["starting_in_hand"][player] else None)
            nursery, middle = state["nursery"][player].astype(int), state["middle"].astype(int)
            for number, half in enumerate(halves):
                part = found[first + number * width : first + (number + 1) * width]
                if half is None:
                    assert not part.any()
                    continue
                short = lacking(half, nursery, types)
                assert part[0] == (short == 0)
                assert part[1] == short / 4
                grown = [nursery + middle * (np.arange(len(middle)) == t) for t in types]
                assert list(part[2 + len(types) : 2 + 2 * len(types)] * 4) == [
                    lacking(half, after, types) for after in grown
                ]
                if state["asked"] < 2:  # an action or a response
                    assert batch.action_mask[row, len(types) + number] == part[0]
                    payable += part[0]
            sheets = game.score_sheet(seen)
            for k, seat in enumerate((player, 1 - player)):
                assert (
                    found[features.num - 6 + 2 * k] * 8 == sheets[seat]["planted"] + sheets[seat]["special"]
                )
            assert found[features.num - 5] * 8 == -sheets[player]["left_over"]
        batch.step(policy(batch, batch.all_rows))
    assert payable > 50
