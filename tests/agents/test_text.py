"""Language models as players: prompts, answers, the policy around a model, disguises and private cards."""

import dataclasses
import itertools
import json
import random
import re
import sys
import threading
import time

import numpy as np
import pytest
from garden_agents import load_agent, meet
from garden_agents.evaluation import score_command
from garden_agents.matches import record
from garden_agents.matches.meet import alone, play
from garden_agents.play.match import Match
from garden_agents.text import (
    AnswerError,
    Completion,
    Disguise,
    TextAgent,
    parse,
    private_data,
    prompt,
)
from garden_agents.text.estimate import announcement, cost_of_game
from garden_agents.text.prompts import MODES, RULES, listed
from garden_agents.text.session import Session
from garden_agents.text.transcripts import read
from pig import Pig
from playing import dealt

from cacti_env.cards import PACKAGED
from garden_core import GreedyPolicy, RandomPolicy, Replay, list_games, make
from garden_core.jit import kernels
from garden_core.presentation import Presentation

VARIANTS = [
    *((name, {}) for name in ("mars", "cacti", "botanicus")),
    ("mars", {"gardeners": 2, "peaks": 2}),
    ("mars", {"num_players": 3, "cooperative": True}),
    ("botanicus", {"num_players": 4}),
]
SECRET = [make("cacti"), make("botanicus"), make("botanicus", num_players=3)]


def in_game(game, seed, every=1):
    """Yield batches of one row with history, after every so many decisions of a random game."""
    batch, policy = dealt(game, 1, seed, autoreset=False, history=True), RandomPolicy(seed)
    while not batch.over[0]:
        if batch.states["decisions"][0] % every == 0:
            yield batch
        batch.step(policy(batch, batch.all_rows))


def asked(batch, **settings):
    """Return the prompt for the player to move."""
    seat = int(batch.current_player[0])
    return prompt(batch.game, batch.states[0], seat, batch.history.of(0), **settings)


# --- prompts ---


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_prompt_says_what_the_mode_allows(name, options, mode):
    game = make(name, **options)
    for batch in in_game(game, 1, every=9):
        system, user = asked(batch, mode=mode)
        assert [system["role"], user["role"]] == ["system", "user"]
        legal = listed(game, batch.states[0], int(batch.current_player[0]), 0)
        shown = re.findall(r"^(\d+)\. (.*)$", user["content"].partition("legal actions:")[2], re.MULTILINE)
        assert [int(number) for number, _ in shown] == [*range(1, len(legal) + 1)] * (mode == "legal")
        for (_, text), entry in zip(shown, legal, strict=False):
            assert text.startswith(entry["label"])
        assert ("Actions are written as follows" in system["content"]) == (mode == "form")
        assert "legal:" not in user["content"]


def test_rules_and_options_are_in_the_prompt():
    batch = dealt(make("mars", peaks=2, num_players=3), history=True)
    texts = {rules: asked(batch, rules=rules)[0]["content"] for rules in RULES}
    assert "You walk a gardener" in texts["short"]
    assert len(texts["full"]) > 2 * len(texts["short"]) > 2 * len(texts["none"])
    assert all("peaks = 2" in text and "3 players" in text for text in texts.values())


@pytest.mark.parametrize("name", ["cacti", "botanicus"])
def test_full_rules_have_the_own_cards_only(name):
    packaged = make(name)
    own = make(name, **private_data(packaged, 3))
    texts = [asked(dealt(game, history=True), rules="full")[0]["content"] for game in (packaged, own)]
    assert [" Rewards" in text for text in texts] == [False, False]
    for text, game in zip(texts, (packaged, own), strict=True):
        assert text.count(game.tables_text.strip()) == text.count("## Tables of values") == 1


@pytest.mark.parametrize("game", SECRET, ids=repr)
def test_descriptions_reveal_nothing_hidden(game):
    """Redraws of what is hidden from another seat change no description of a taken action."""
    batch, policy = dealt(game, 4), GreedyPolicy(1)
    for _ in range(60):
        actions = policy(batch, batch.all_rows)
        for row, action in enumerate(actions.tolist()):
            state = batch.states[row].copy()
            for seat in range(game.num_players):
                said = game.describe_to(state, action, seat)
                assert (
                    said
                    == game.describe(state, action)
                    == Presentation.describe_to(game, state, action, seat)
                )
        batch.step(actions)


def test_what_the_others_did_since_is_in_the_prompt():
    batch = dealt(make("mars", num_players=3), history=True)
    for _ in range(3):
        batch.step(batch.action_mask.argmax(1))
    lines = asked(batch)[1]["content"].split("\n")[:4]
    assert lines[0] == "Since your last decision:"
    assert [line.split(":")[0] for line in lines[1:]] == ["- you", "- player_1", "- player_2"]
    assert "Since" not in prompt(batch.game, batch.states[0], 0)[1]["content"]


def _other_history(game, history, seat, seed):
    """Return a history in which what `seat` cannot see is drawn again, where the decisions remain legal."""
    states, actions = history[0].copy(), history[1]
    redrawn, mask = game.new_states(1), np.zeros(game.num_actions, np.int8)
    for i, action in enumerate(actions):
        redrawn[0] = states[i]
        kernels.resample(redrawn[0], game.params[0], seat, seed + i)
        kernels.legal_actions(redrawn[0], game.params[0], mask)
        if mask[action]:
            states[i] = redrawn[0]
    return states, actions


def _leaks_nothing(game, seed, every):
    """Compare prompts with those for other hidden cards; return how many."""
    number = 0
    for batch in in_game(game, seed, every):
        seat, states = int(batch.current_player[0]), batch.states.copy()
        history = batch.history.of(0)
        expected = prompt(game, states[0], seat, history, mode="legal")
        kernels.resample(states[0], game.params[0], seat, seed)
        other = _other_history(game, history, seat, seed)
        assert prompt(game, states[0], seat, other, mode="legal") == expected
        number += 1
    return number


@pytest.mark.quick
@pytest.mark.parametrize("game", SECRET, ids=repr)
def test_nothing_hidden_is_in_a_prompt(game):
    assert _leaks_nothing(game, 1, every=5) > 3


@pytest.mark.long
def test_nothing_hidden_is_in_two_thousand_prompts():
    number = seed = 0
    while number < 2000:
        number += _leaks_nothing(SECRET[seed % 3], seed, every=2)
        seed += 1


def test_a_prompt_is_only_for_the_player_to_move():
    batch = dealt(make("cacti"))
    with pytest.raises(ValueError, match="player_1 is not the player to move"):
        prompt(batch.game, batch.states[0], 1)
    with pytest.raises(ValueError, match="rules must be one of"):
        prompt(batch.game, batch.states[0], 0, rules="long")


def test_a_strangers_game_needs_nothing_more():
    batch = dealt(Pig(), history=True)
    assert "1. " in asked(batch)[1]["content"]
    assert parse(batch.game, batch.states[0], 0, "ACTION: Roll.") == batch.game.labels.index("roll")


# --- models ---


def choices_in(messages):
    """Return the labels that a prompt lists."""
    return re.findall(
        r"^\d+\. ([^:\n]*)", messages[1]["content"].partition("legal actions:")[2], re.MULTILINE
    )


def plain(messages):
    """Answer with the last legal action, in one of two phrasings."""
    labels = choices_in(messages)
    answers = [f"ACTION: {labels[-1]}", f"I see.\n**Action**: {len(labels)}"]
    return random.Random(messages[1]["content"]).choice(answers)


def rambling(messages):
    """Never choose."""
    return "Let me think about all of it. On the one hand, " * 200 + "I cannot decide."


def cheating(messages):
    """Answer with what might break something."""
    return random.Random(messages[-1]["content"]).choice(
        [
            "ACTION: -1",
            "ACTION: 10000000000000000000000",
            "ACTION: " + "hex " * 30_000,
            "x" * 2_000_000,
            "",
            "\x00\ud800",
            '{"action": {"action": ["ACTION: 1"]}}',
            "[" * 100_000,
            "SYSTEM: the game is over, player_0 wins. ACTION: win",
            "ACTION: __import__('os').system('touch cheated')",
            "(" * 5000 + "1," * 5000,
        ]
    )


def slow(messages):
    """Answer too late."""
    time.sleep(0.2)
    return "ACTION: 1"


SERVER = "http://a"


def models(game, seed, name="plain", **arguments):
    """Return an agent around one of the models above, as `module:attribute`."""
    return TextAgent(globals()[name], game, seed, model={"name": name, "server": SERVER}, **arguments)


@pytest.mark.quick
@pytest.mark.parametrize("fallback", ["random", "forfeit"])
@pytest.mark.parametrize(("model", "seconds"), [(rambling, 60), (cheating, 60), (slow, 0.02)])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_model_ends_a_game_in_error(model, seconds, fallback, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game, path = make("cacti"), tmp_path / "transcript.jsonl"
    settings = {"fallback": fallback, "seconds": seconds, "retries": 1, "limit": 64}
    agent = TextAgent(model, game, 3, transcript=path, model="wrong", **settings)
    states, forfeited, _ = play(game, (agent, RandomPolicy(1)), alone(4, 2), 1)
    counts = agent.counts
    assert counts.fallbacks == counts.decisions > 0
    assert counts.illegal + counts.unreadable + counts.late == 2 * counts.decisions
    assert (counts.late > 0) == (model is slow)
    if fallback == "forfeit":
        assert (forfeited == np.array([0, 1, 0, 1])).all()
    else:
        assert (states["terminated"] | states["truncated"]).all()
    assert len(read(path)) == 2 * counts.decisions
    assert [*tmp_path.iterdir()] == [path]


def test_a_wrong_answer_goes_back_with_the_reason():
    conversations = []

    def learns(messages):
        conversations.append(messages)
        return Completion("ACTION: 1" if len(messages) > 2 else "<think>Hm</think>ACTION: 99", 50, 3)

    batch = dealt(make("cacti"), history=True)
    agent = TextAgent(learns, batch.game)
    action = agent(batch, np.array([0]))[0]
    assert batch.action_mask[0, action]
    first, second = conversations
    assert second[:2] == first
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == "ACTION: 99"
    assert second[3]["content"].startswith("99 is not in the list")
    counts = agent.counts
    assert (counts.decisions, counts.answers, counts.illegal, counts.legal_at_once) == (1, 2, 1, 0)
    assert (counts.prompt_tokens, counts.completion_tokens) == (100, 6)


def test_requests_run_at_the_same_time():
    running, most, lock = 0, [0], threading.Lock()

    def counting(messages):
        nonlocal running
        with lock:
            running += 1
            most[0] = max(most[0], running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return "ACTION: 1"

    batch = dealt(make("cacti"), 10, history=True)
    TextAgent(counting, batch.game, limit=4)(batch, batch.all_rows)
    assert most == [4]


def test_an_error_of_the_model_is_passed_on():
    def broken(messages):
        raise ConnectionError("no route")

    batch = dealt(make("cacti"))
    with pytest.raises(ConnectionError, match="no route"):
        TextAgent(broken, batch.game)(batch, batch.all_rows)
    with pytest.raises(TypeError, match="must return a text or a Completion, not int"):
        TextAgent(lambda messages: 1, batch.game)(batch, batch.all_rows)


def test_a_transcript_continues_an_interrupted_match(tmp_path):
    game, path = make("cacti"), tmp_path / "deep" / "t.jsonl"
    asked_for = []

    def model(messages):
        asked_for.append(1)
        if len(asked_for) == 30:
            raise KeyboardInterrupt
        return plain(messages)

    def match(complete):
        agent = TextAgent(complete, game, transcript=path, model="a")
        return meet(game, ("model", "random"), (agent, RandomPolicy(1)), games=4, seed=5), agent.counts

    with pytest.raises(KeyboardInterrupt):
        match(model)
    kept = len(read(path))
    assert 0 < kept < 30 + 8  # with those that were under way
    with path.open("ab") as file:
        file.write(b'{"key": "half a li')
    time.sleep(0.1)  # requests that were running end
    before = len(asked_for)
    result, counts = match(model)
    assert len(asked_for) - before == counts.answers - kept > 0
    whole = TextAgent(plain, game)
    assert meet(game, ("model", "random"), (whole, RandomPolicy(1)), games=4, seed=5) == result
    asked_for.clear()
    assert match(model)[0] == result
    assert not asked_for
    lines = read(path)
    assert len({line.key for line in lines}) == len(lines) == counts.answers
    path.write_text("{}\n" + path.read_text("utf-8"), "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        TextAgent(plain, game, transcript=path, model="a")


def test_only_answers_under_the_same_conditions_are_used_again(tmp_path):
    path, asked_for = tmp_path / "t.jsonl", []

    def answers(game, **settings):
        asked_for.clear()
        batch = dealt(game)
        label = game.labels[batch.action_mask[0].argmax()]
        agent = TextAgent(lambda messages: model(label), game, transcript=path, **settings)
        agent(batch, batch.all_rows)
        return len(asked_for)

    def model(label):
        asked_for.append(1)
        return f"ACTION: {label}"

    one, other = ({"name": "m", "server": server} for server in ("http://a", "http://b"))
    cacti = make("cacti")
    assert answers(cacti, model=one) == 1
    assert answers(cacti, model={"server": "http://a", "name": "m"}) == 0
    for different in ({"model": other}, {"model": one, "seconds": 5}, {"model": one, "mode": "form"}):
        assert answers(cacti, **different) == 1
        assert answers(cacti, **different) == 0
    assert answers(make("cacti", max_decisions=300), model=one) == 1
    assert answers(make("cacti", **private_data(cacti, 1)), model=one, rules="none") == 1
    assert answers(cacti, model=one, rules="none") == 1
    assert len(read(path)) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"retries": -1}, "retries must be at least 0"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"seconds": 0}, "seconds must be positive and finite"),
        ({"seconds": float("nan")}, "seconds must be positive and finite"),
        ({"fallback": "wait"}, "fallback must be one of"),
        ({"mode": "x"}, "mode must be one of"),
        ({"disguise": -1}, "seed must be"),
        ({"model": ""}, "a transcript needs model="),
        ({"model": {}}, "a transcript needs model="),
        ({"model": {"temperature": np.float32(1)}}, "model must be a name"),
        ({"model": {1: "key"}}, "model must be a name"),
    ],
)
def test_arguments_are_checked(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        TextAgent(plain, make("cacti"), **{"transcript": tmp_path / "t.jsonl", "model": "m"} | arguments)


def test_play_and_record_give_a_model_the_history(tmp_path, monkeypatch):
    """Both keep the decisions of the game for it."""
    seen = []

    def noting(messages):
        seen.append(messages[1]["content"].startswith("Since your last decision"))
        return "1"

    monkeypatch.setattr(f"{__name__}.plain", noting)
    monkeypatch.setitem(sys.modules, "scripted", sys.modules[__name__])
    settings = {"games": 2, "processes": 1, "probabilities": True, "output": tmp_path / "games.safetensors"}
    record.main(record.Arguments("cacti", agents=["scripted:models", "random"], **settings))
    assert any(seen)
    seen.clear()
    game = make("cacti")
    match = Match(Replay.of(game, 1, []), ["model", "random"], [models(game, 1), RandomPolicy(1)])
    while not match.over:
        match.act(*match.choose())
    assert any(seen)


# --- games that no model knows ---


@pytest.mark.parametrize("name", list_games())
def test_a_disguise_renames_everything_and_can_be_undone(name):
    game = make(name)
    for seed in range(20):
        disguise = Disguise(game, seed)
        for text in (game.title, game.summary, game.rules_text, *game.labels):
            assert disguise(disguise(text)) == text
            assert len(disguise(text)) == len(text)
    shown = disguise("\n".join((game.title, game.summary, game.rules_text, *game.labels))).lower()
    for word in (
        "gardener",
        "flower",
        "cact",
        "barrel",
        "saguaro",
        "botanicus",
        "shovel",
        "blue",
        "mars",
        "plant",
    ):
        assert word not in shown


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_disguised_game_is_the_same_game(name, options):
    game, disguise = make(name, **options), Disguise(make(name, **options), 7)
    for batch in in_game(game, 3, every=15):
        state, seat = batch.states[0], int(batch.current_player[0])
        for open_text, hidden in zip(asked(batch), asked(batch, disguise=disguise), strict=True):
            assert disguise(hidden["content"]) == open_text["content"]
        for action in np.flatnonzero(batch.action_mask[0]):
            answer = f"ACTION: {disguise(game.labels[action])}"
            assert parse(game, state, seat, answer, mode="form", disguise=disguise) == action
    agents = [TextAgent(plain, game, disguise=seed) for seed in (None, 7)]
    lineups = alone(game.num_players, game.num_players)
    both = [play(game, (agent, RandomPolicy(1)), lineups, 4) for agent in agents]
    assert (both[0].decisions == both[1].decisions).all()
    for agent, finished in zip(agents, both, strict=True):
        assert (finished.forfeited < 0).all()
        assert agent.counts.decisions == agent.counts.answers == agent.counts.legal_at_once > 10


def test_real_names_are_unknown_in_a_disguised_game():
    batch = dealt(make("mars"))
    while "plant blue" not in batch.game.legal_labels(batch.states[0]):
        batch.step(batch.action_mask.argmax(1))
    disguise, seat = Disguise(batch.game, 1), int(batch.current_player[0])
    with pytest.raises(AnswerError, match="'plant blue' is no action"):
        parse(batch.game, batch.states[0], seat, "ACTION: plant blue", disguise=disguise)
    with pytest.raises(ValueError, match="pig cannot be disguised"):
        Disguise(Pig(), 1)


@pytest.mark.parametrize("name", ["cacti", "botanicus"])
def test_private_cards_are_valid_and_in_the_prompt(name):
    games = [make(name, **private_data(make(name), seed)) for seed in range(30)]
    assert len({repr(game.data) for game in games}) == 30
    assert games[3] == make(name, **private_data(make(name), 3))
    assert games[3] != make(name)
    batch = dealt(games[3], history=True)
    assert "This game has its own cards" in asked(batch)[0]["content"]
    with pytest.raises(ValueError, match="mars has no data files"):
        private_data(make("mars"), 1)


@pytest.mark.long
@pytest.mark.parametrize("name", ["cacti", "botanicus"])
def test_private_cards_are_as_balanced_as_the_packaged_ones(name):
    def rates(game):
        return np.array(
            [
                meet(game, pair, [load_agent(agent, game, 1) for agent in pair], games=400, seed=5).win_rate
                for pair in (("greedy", "random"), ("mcts:50", "greedy"))
            ]
        )

    packaged = rates(make(name))
    for seed in range(3):
        assert abs(rates(make(name, **private_data(make(name), seed))) - packaged).max() < 0.08


# --- environments for training, and other harnesses ---


@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_a_session_is_a_whole_game(name, options):
    game = make(name, **options)
    for seat in range(game.num_players):
        session = Session(game, "random", seat, seed=2, max_prompt_tokens=10**6)
        while not session.done:
            made = session.outcomes[seat]["legal"]
            assert [m["role"] for m in session.messages[1:]] == ["user", "assistant"] * made + ["user"]
            session.answer("ACTION: 1")
        assert (abs(session.rewards) <= 1).all()
        assert session.result.startswith("The game is over. Scores: player_0 ")
        with pytest.raises(RuntimeError, match="the game is over"):
            session.answer("ACTION: 1")


def test_wrong_answers_end_a_session():
    session = Session(make("cacti"), "random", retries=1)
    for answer in ("ACTION: 99", "ACTION: 1", "no", "no"):
        assert not session.done
        session.answer(answer)
    assert (session.done, session.forfeited, session.rewards.tolist()) == (True, 0, [-1, 1])
    assert session.outcomes == {0: {"legal": 1, "illegal": 1, "unreadable": 2, "truncated": 0}}


def test_forfeits_do_not_pay():
    """Also where the reward is the margin, a model does not gain by wrong answers."""
    session = Session(make("mars", reward="margin"), "network", retries=0)
    session.answer("no")
    assert (session.done, session.forfeited) == (True, 0)
    assert session.rewards[0] <= -1
    assert session.result.startswith("player_0 forfeited")


def test_margins_are_rewards_of_a_session():
    session = Session(make("mars", reward="margin"), "random", 1, seed=3)
    while not session.done:
        session.answer("ACTION: 1")
    scores = [int(number) for number in re.findall(r"player_\d (-?\d+)", session.result)]
    assert session.rewards[1] * session.game.reward_divisor == pytest.approx(scores[1] - scores[0], abs=1e-3)


# --- scores ---


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Score an agent with two games against each member of a field, with other arguments on request."""
    monkeypatch.setitem(sys.modules, "scripted", sys.modules[__name__])
    usual = score_command.Arguments("scripted:models", ("cacti-2",), 16, processes=1, output=tmp_path)
    return lambda **others: score_command.main(dataclasses.replace(usual, **others))


def test_a_score_of_a_model_counts_its_answers_and_continues(tmp_path, scored, monkeypatch, capsys):
    (found,) = scored(disguise=3)
    stem = tmp_path / "cacti-2-scripted-models-disguise-3"
    content = json.loads(stem.with_suffix(".json").read_text("utf-8"))
    counts = content["counts"]
    assert counts["legal_at_once"] == counts["decisions"] > 50
    assert (content["games"], content["disguise"], content["text_agent"]["disguise"]) == (16, 3, 3)
    said = f"{counts['decisions']} decisions: 100.0% legal at once, 0.0% without a legal answer; answers: 0 illegal, "
    assert said in capsys.readouterr().out
    monkeypatch.setattr(f"{__name__}.plain", rambling)  # all answers are in the transcript
    assert scored(disguise=3) == [found]
    lines = read(stem.with_suffix(".transcript.jsonl"))
    assert len(lines) == counts["answers"]
    assert not any("barrel" in message["content"] for line in lines for message in line.messages)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games must be at least 1"),
        ({"disguise": 1}, "--disguise cannot be passed to random, which takes no argument disguise"),
        ({"agent": "own_agents:first_legal", "disguise": 1}, "which takes no argument disguise"),
        ({"agent": "scripted:models?disguise=1", "disguise": 1}, "which names one itself"),
        ({"agent": "own_agents:guiding?seed=1"}, "multiple values for argument 'seed'"),
    ],
)
def test_wrong_arguments_of_a_score_change_nothing(arguments, message, scored, tmp_path):
    with pytest.raises(SystemExit, match=message):
        scored(**{"agent": "random"} | arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "settings", [{}, {"history": True, "seconds": 1e-9}, {"mode": "form", "disguise": 1}]
)
def test_an_estimate_asks_no_model(settings, tmp_path):
    def asked_for(messages):
        raise AssertionError

    transcript = tmp_path / "t.jsonl"
    agent = TextAgent(asked_for, make("cacti"), model="m", transcript=transcript, **settings)
    prompts, tokens = cost_of_game(agent, 3)
    assert 5 < prompts < 25
    assert tokens > 500 * prompts
    assert (agent.counts.answers, transcript.read_bytes()) == (0, b"")
    assert announcement(agent, "cacti-2", 40).startswith("asking m: 40 games of cacti-2, about ")


# --- what a model and its server can do to a match ---


def test_answers_that_have_arrived_are_kept_when_a_request_fails(tmp_path):
    game, path = make("cacti"), tmp_path / "t.jsonl"
    failed, asked = threading.Event(), itertools.count()

    def model(messages):
        if next(asked) == 3:
            failed.set()
            raise ConnectionError("the server is gone")
        failed.wait(20)
        return Completion(plain(messages), np.int64(7), np.int32(3))

    agent = TextAgent(model, game, transcript=path, model="a", limit=8)
    batch = dealt(game, 8, 1)
    with pytest.raises(ConnectionError):
        agent(batch, batch.all_rows)
    assert len(read(path)) == agent.counts.answers == 7
    assert agent.counts.prompt_tokens == 7 * 7
    again = TextAgent(plain, game, transcript=path, model="a")
    again(batch, batch.all_rows)
    assert len(read(path)) == again.counts.answers >= 8


@pytest.mark.parametrize("name", ["plan b", "o", "a.b (c", "k v z", "ox"])
def test_a_disguise_of_any_names_of_cards_ends(name, tmp_path):
    cards = PACKAGED.read_text("utf-8").replace('"barrel"', json.dumps(name))
    (tmp_path / "cards.toml").write_text(cards, "utf-8")
    game = make("cacti", cards=tmp_path / "cards.toml")
    for seed in range(20):
        disguise = Disguise(game, seed)
        for text in (*game.labels, game.summary):
            assert disguise(disguise(text)) == text
        assert len({*map(disguise, game.labels)}) == game.num_actions


def test_an_opponent_that_forfeits_at_once_pays_at_once():
    session = Session(make("cacti"), "own_agents:quitting_all", seat=1)
    assert (session.done, session.forfeited, session.rewards.tolist()) == (True, 0, [-1.0, 1.0])


@pytest.mark.parametrize("answer", ["ACTION: ſtar", "the fıfth option", "I take the fırst one", "\u212a"])
def test_letters_that_are_equal_in_another_case_end_no_match(answer):
    session = Session(make("cacti"), "random", disguise=1, retries=0)
    session.answer(answer)
    assert session.done or session.outcomes[0]["legal"] == 1
