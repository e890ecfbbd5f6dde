"""Conversations: their length, the order of their lists, sessions of several models, recorded games as chat messages."""

import collections
import json
import re

import numpy as np
import pytest
from garden_agents.matches.meet import alone, play
from garden_agents.text import Completion, TextAgent, parse, prompt
from garden_agents.text.conversations import LEFT_OUT, Conversation, tokens_of
from garden_agents.text.prompts import listed, order_of
from garden_agents.text.session import Session
from garden_agents.text.transcripts import read
from playing import dealt
from processes import garden_here

from garden_core import Dataset, RandomPolicy, list_games, make


def first(messages):
    return "ACTION: 1"


# --- the order of the list ---


@pytest.mark.parametrize("name", list_games())
def test_the_place_in_the_list_carries_nothing(name):
    """In one position, each legal action stands first about equally often, and numbers follow the list."""
    batch = dealt(make(name))
    (game, state), places, seeds = (batch.game, batch.states[0]), collections.Counter(), range(400)
    for seed in seeds:
        order = order_of(seed, 5, state)
        shown = [entry["action"] for entry in listed(game, state, 0, order)]
        assert sorted(shown) == np.flatnonzero(batch.action_mask[0]).tolist()
        places[shown[0]] += 1
        assert f"\n1. {game.labels[shown[0]]}" in prompt(game, state, 0, order=order)[1]["content"]
        assert parse(game, state, 0, f"ACTION: {len(shown)}", order=order) == shown[-1]
    mean = len(seeds) / len(shown)
    assert all(abs(places[action] - mean) < 5 * mean**0.5 for action in shown)


def test_the_order_is_in_the_transcript(tmp_path):
    path, game = tmp_path / "t.jsonl", make("cacti")
    batch = dealt(game, 3)
    actions = TextAgent(first, game, 4, transcript=path, model="first")(batch, batch.all_rows)
    lines = {line.game_seed: line for line in read(path)}
    for row, action in enumerate(actions):
        order = lines[batch.game_seed(row)].order
        assert listed(game, batch.states[row], 0, order)[0]["action"] == action


# --- the length of a conversation ---


def test_a_long_game_stays_within_its_tokens():
    """The oldest moves are left out, which is marked."""
    session = Session(make("botanicus", num_players=4), "random", seed=1, max_prompt_tokens=5000)
    system, longest = session.messages[0], 0
    while not session.done:
        first, *messages = session.messages
        assert first == system
        assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + [
            "user"
        ]
        longest = max(longest, tokens_of(session.messages))
        if session.outcomes[0]["legal"] % 5 == 4:
            session.answer("wrong")
        session.answer("ACTION: 1")
    assert 4000 < longest < 5100
    assert messages[0]["content"].startswith(LEFT_OUT)
    assert str(messages).count(LEFT_OUT) == 1
    assert session.outcomes[0]["legal"] * 2 + 1 > len(session.messages)
    with pytest.raises(ValueError, match="max_prompt_tokens must be at least 1"):
        Conversation(0)


def test_a_game_can_be_one_conversation(tmp_path):
    game, asked, path = make("cacti"), [], tmp_path / "t.jsonl"

    def model(messages):
        asked.append(messages)
        return "ACTION: 99" if len(asked) == 3 else "ACTION: 1"

    def played():
        agent = TextAgent(model, game, history=True, limit=1, transcript=path, model="m")
        return play(game, (agent, RandomPolicy(1)), alone(2, 2), 3).decisions.tolist()

    decisions = played()
    last = max(asked, key=len)
    assert [message["role"] for message in last[1:]] == ["user", "assistant"] * (len(last) // 2 - 1) + [
        "user"
    ]
    assert sum("is not in the list" in message["content"] for each in asked for message in each[-1:]) == 1
    before = len(asked)
    assert played() == decisions
    assert len(asked) == before


# --- outcomes ---


def test_answers_that_were_cut_off_do_not_count():
    asked = []

    def cut(messages):
        asked.append(messages)
        return Completion("ACTION: 1", finish="length" if len(asked) < 3 else "stop")

    batch = dealt(make("cacti"))
    agent = TextAgent(cut, batch.game)
    agent(batch, batch.all_rows)
    assert (agent.counts.truncated, agent.counts.answers, agent.counts.unreadable) == (2, 3, 0)
    assert "cut off" in asked[-1][-1]["content"]
    session = Session(batch.game, "random", retries=0)
    session.answer("ACTION: 1", finish="length")
    assert (session.forfeited, session.outcomes[0]["truncated"]) == (0, 1)


def test_a_model_can_be_held_to_the_legal_actions():
    schemas = []

    def model(messages, schema):
        schemas.append(schema)
        return json.dumps({"action": schema["properties"]["action"]["enum"][-1]})

    batch = dealt(make("cacti"), 2)
    agent = TextAgent(model, batch.game, structured=True, disguise=1)
    agent(batch, batch.all_rows)
    assert agent.counts.legal_at_once == 2
    legal = {agent.disguise(label) for label in batch.game.legal_labels(batch.states[0])}
    assert any({*schema["properties"]["action"]["enum"]} == legal for schema in schemas)


# --- several models at one table ---


@pytest.mark.parametrize(("name", "players"), [("cacti", 2), ("mars", 3), ("botanicus", 4)])
def test_models_have_all_seats(name, players):
    session = Session(make(name, num_players=players), None, seed=2)
    seats = set()
    while not session.done:
        seats.add(session.seat)
        assert f"you are player_{session.seat}" in session.messages[-1]["content"]
        assert session.messages[0]["content"].startswith(f"You are player_{session.seat}")
        session.answer("ACTION: 1")
    assert seats == {*range(players)}
    assert abs(session.rewards.sum()) < 1e-6
    for seat in seats:
        assert len(session.conversation(seat)) >= 3
        assert session.outcomes[seat]["legal"] > 0


def test_one_of_several_models_forfeits():
    session = Session(make("mars", num_players=3), None, retries=0)
    session.answer("ACTION: 1")
    seat = session.seat
    session.answer("no")
    assert (session.done, session.forfeited) == (True, seat)
    assert session.rewards[seat] <= -1
    assert [reward for each, reward in enumerate(session.rewards) if each != seat] == [1, 1]


# --- recorded games ---


@pytest.mark.parametrize("name", list_games())
def test_recorded_games_are_conversations(name, tmp_path):
    path, dataset = tmp_path / "talk.jsonl", tmp_path / "games.safetensors"
    words = f"record {name} --games 2 --agents greedy random"
    _, error = garden_here(words, "--output", dataset, "--conversations", path)
    assert error is None
    games, lines = Dataset.load(dataset), [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == games.num_decisions
    numbers = collections.Counter()
    for line, action in zip(lines, games.record.actions, strict=True):
        system, user, said = line["messages"]
        label = games.game.labels[action]
        assert (system["role"], said) == ("system", {"role": "assistant", "content": f"ACTION: {label}"})
        assert re.search(rf"^\d+\. {re.escape(label)}(:|$)", user["content"], re.MULTILINE)
        assert line["agent"] == games.agents[games.record.lineups[line["game"], line["seat"]]]
        numbers[line["game"]] += 1
    assert [*numbers.values()] == games.record.lengths.tolist()
    _, error = garden_here(words, "--output", tmp_path / "b.safetensors", "--conversations", path)
    assert "is there already; choose another --conversations" in error
