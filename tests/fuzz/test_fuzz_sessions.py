"""Requests of strangers to a server of games for language models: a session, or an error in one line; then any answers."""

import json
import random

import fuzzing
import pytest
from garden_agents.text.session import Session

from garden_core import UntrustedError

REQUEST = {
    "game": "cacti",
    "options": {"memory": "history", "reward": "margin", "max_decisions": 40},
    "opponent": "greedy",
    "seat": 1,
    "seed": 3,
    "mode": "legal",
    "rules": "short",
    "disguise": 4,
    "retries": 1,
}
ANSWERS = [
    "ACTION: 1",
    "ACTION: 2",
    "ACTION: grow barrel",
    "",
    "{}",
    "ACTION: \ud800",
    "ſ",
    "the fıfth option",
    "\0" * 9,
]


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile what sessions need, which takes longer than any of them may."""
    for opponent in ("random", "greedy", "network"):
        requested({"opponent": opponent, "seat": 1})


def requested(request):
    """Return a session as a server makes it from JSON."""
    arguments = {"game": "cacti", "options": {}, "opponent": "random"} | request
    return Session.requested(**arguments)


@fuzzing.each_block
def test_requests(numbers):
    made = 0
    for number in numbers:
        rng = random.Random(number)
        request = fuzzing.mutated(REQUEST, rng)
        if not isinstance(request, dict) or not all(isinstance(key, str) for key in request):
            continue  # servers take objects only
        session, _ = fuzzing.outcome(
            lambda request=request: requested(request), (ValueError, TypeError, UntrustedError), seconds=20
        )
        if session is None:
            continue
        made += 1
        for _ in range(4):
            if session.done:
                break
            answer = rng.choice(
                [
                    *ANSWERS,
                    *fuzzing.STRANGE_TEXTS,
                    fuzzing.damaged(b"ACTION: 1", rng).decode("utf-8", "replace"),
                ]
            )
            with fuzzing.within(20):
                session.answer(answer)
        assert session.done or session.messages[-1]["role"] == "user"
        json.dumps(session.messages)
    assert made > len(numbers) // 20
