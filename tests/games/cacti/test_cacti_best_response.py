"""The exact best response: it solves the game of the kernels, and no policy does better."""

from __future__ import annotations

import tomllib
import zlib
from pathlib import Path

import numpy as np
import own_agents
import pytest
from best_response import best_response, deals, orders, response_of
from cacti_reference import CactiReference
from garden_agents.matches.meet import meet

from cacti_env import Cacti
from garden_core.batch.policies import RandomPolicy

FEW_CARDS = Path(__file__).with_name("few_cards.toml")
FEWER = {"count": [10, 2]}
"""Even fewer cards, for quick tests."""


def data_of(**changes) -> dict:
    return tomllib.loads(FEW_CARDS.read_text("utf-8")) | changes


def by_checksum(observation: np.ndarray, legal: list[int]) -> int:
    return legal[zlib.crc32(observation.tobytes()) % len(legal)]


def first_legal(observation: np.ndarray, legal: list[int]) -> int:
    return legal[0]


def test_all_deals_are_there_once():
    data = data_of()
    worlds = deals(data)
    assert sum(probability for probability, _ in worlds) == pytest.approx(1)
    assert len({str(game.snapshot()) for _, game in worlds}) == len(worlds)
    assert all(isinstance(game, CactiReference) for _, game in worlds)
    assert len(orders([0] * 8 + [1] * 4)) == 495
    assert orders([1, 0]) == [(0, 1), (1, 0)]


def test_win_rates_over_all_deals_equal_played_ones():
    game = Cacti(cards=str(FEW_CARDS))
    agents = [make(game, 0) for make in (own_agents.by_checksum, own_agents.first_legal)]
    played = meet(game, ("checksum", "first"), (agents[0], agents[1]), 20_000, 1).by_seat
    for seat, rate in enumerate(played):
        exact = response_of(data_of(), first_legal, seat, by_checksum)
        assert rate == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 10_000))


@pytest.mark.parametrize("seat", [0, 1])
def test_no_response_is_better(seat):
    data = data_of(**FEWER)
    best = best_response(data, by_checksum, seat)
    for response in (by_checksum, first_legal, lambda seen, legal: legal[-1]):
        assert response_of(data, by_checksum, seat, response) < best


def test_a_best_response_knows_the_agent():
    """Against a fixed agent it wins more than random play."""
    best = np.mean([best_response(data_of(**FEWER), first_legal, seat) for seat in (0, 1)])
    game = Cacti(cards=str(FEW_CARDS))
    random = meet(game, ("random", "first"), (RandomPolicy(0), own_agents.first_legal(game, 0)), 2000, 1)
    assert best > random.win_rate + 0.2


@pytest.mark.long
def test_garden_exploit_comes_near_the_best_response(tmp_path):
    """Within 0.02 of the best response, both computed over all deals."""
    training = pytest.importorskip("garden_agents.training.exploit")
    from garden_agents.networks.network_agent import NetworkAgent

    changes = {"agent": "own_agents:by_checksum", "options": {"cards": str(FEW_CARDS)}, "steps": 4_000_000}
    folder = training.exploit(training.Arguments.for_game("cacti", run=tmp_path / "run", **changes))
    network = NetworkAgent.load(folder, Cacti(cards=str(FEW_CARDS))).network

    def trained(observation: np.ndarray, legal: list[int]) -> int:
        logits, _ = network.evaluate(observation[None])
        return max(legal, key=lambda action: logits[0, action])

    trained_rate = np.mean([response_of(data_of(), by_checksum, seat, trained) for seat in (0, 1)])
    best = np.mean([best_response(data_of(), by_checksum, seat) for seat in (0, 1)])
    assert best - 0.02 < trained_rate < best


@pytest.mark.long
def test_the_docs_numbers_of_the_best_response():
    exact = [best_response(data_of(), by_checksum, seat) for seat in (0, 1)]
    assert exact == pytest.approx([0.9248, 0.8819], abs=5e-5)
