"""Language models behind a server, and what `garden score` says of them."""

import dataclasses
import json
import sys

import pytest
from garden_agents import commands, load_agent
from garden_agents.evaluation import score_command
from garden_agents.evaluation.tasks import tasks
from garden_agents.identity import identity_of
from garden_agents.text import served
from playing import dealt
from scripted_endpoint import ScriptedEndpoint

from garden_core import make


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(served, "RETRIES", 0)
    with ScriptedEndpoint() as server:
        yield server


@pytest.fixture
def scored(endpoint, tmp_path):
    """Score a served model, with other arguments on request; return the files of results."""
    folder = tmp_path / "out"
    usual = score_command.Arguments(
        "openai:m?temperature=0.5&max_tokens=9", ("cacti-2",), 16, output=folder, base_url=endpoint.url
    )

    def score(**others):
        score_command.main(dataclasses.replace(usual, **others))
        return [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]

    return score


def test_a_served_model_is_an_agent(endpoint, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    game = make("cacti")
    batch = dealt(game, 3)
    agent = load_agent("openai:m?structured=true&reasoning_effort=low&retries=0&fallback=random", game)
    agent(batch, batch.all_rows)
    assert (agent.counts.answers, agent.counts.prompt_tokens, agent.counts.unreadable) == (3, 300, 0)
    request = endpoint.requests[0]
    assert (request["model"], request["reasoning_effort"]) == ("m", "low")
    assert request["response_format"]["json_schema"]["schema"]["required"] == ["action"]
    assert agent.settings["model"] == {"name": "m", "server": f"{endpoint.url}/", "reasoning_effort": "low"}


def test_another_server_is_another_agent(endpoint):
    game = make("cacti")
    digests = {
        identity_of(f"openai:m?base_url=http://{server}/v1{more}", game).digest
        for server in ("a", "b")
        for more in ("", "&temperature=1")
    }
    assert len(digests) == 4
    assert not any(digest.startswith("?") for digest in digests)


@pytest.mark.parametrize(
    ("finish", "content", "outcome"),
    [("length", "ACTION: 1", "truncated"), ("stop", None, "unreadable"), ("stop", "ACTION: 99", "illegal")],
)
def test_what_a_server_says_is_an_outcome(finish, content, outcome, endpoint):
    endpoint.reply = {"finish_reason": finish, "message": {"role": "assistant", "content": content}}
    game = make("cacti")
    batch = dealt(game)
    agent = load_agent("openai:m?retries=1&fallback=random", game, arguments={"base_url": endpoint.url})
    agent(batch, batch.all_rows)
    assert getattr(agent.counts, outcome) == agent.counts.answers == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:m", "openai:m needs a key in OPENAI_API_KEY, or the address of a server: --base-url"),
        ("openai:m?base_url=http://a&max_tokens=0", "max_tokens must be at least 1"),
        (
            "openai:m?base_url=http://a&wide=1",
            "has no setting 'wide'; it has base_url, .*limit, .*max_tokens, .*mode, ",
        ),
        ("openai:m?base_url=http://a&temperature=high", "temperature must be a number"),
        ("openai:m?base_url=http://a&history=maybe", "history must be true or false, not 'maybe'"),
        ("openai:m?base_url=http://a&structured=no", "structured must be true or false"),
        ("openai:m?base_url=http://a&structured=true&mode=form", "which mode 'form' does not tell it"),
        ("openai:m?base_url=http://a&seconds=abc", "seconds must be positive and finite"),
    ],
)
def test_wrong_names_are_reported(name, message, endpoint):
    with pytest.raises((ValueError, TypeError), match=message):
        load_agent(name, make("cacti"))


def test_a_missing_client_is_named_in_one_line(endpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(
        SystemExit, match=r"needs the package 'openai': pip install '\.\[llm\]' in a checkout"
    ):
        commands.main(["score", "openai:m", "--task", "cacti-2", "--base-url", endpoint.url])
    with pytest.raises(ModuleNotFoundError, match=r"openai:m needs the package openai: .*\.\[llm\]"):
        load_agent("openai:m", make("cacti"))


@pytest.mark.parametrize(
    ("command", "module", "message"),
    [
        ("arena", "onnx.helper", r"needs the package 'onnx': pip install '\.\[onnx\]'"),
        ("arena", "tqdm", r"pip install '\.\[play\]'"),
        ("train", "tqdm", r"pip install '\.\[train\]'"),
        ("play", "markdown_it", r"pip install '\.\[web\]'"),
        ("arena", "own_module", "No module named"),
    ],
)
def test_only_packages_of_extras_are_named_as_such(command, module, message, monkeypatch):
    def fail(words):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setitem(commands.COMMANDS, command, fail)
    with pytest.raises((SystemExit, ModuleNotFoundError), match=message):
        commands.main([command])


def test_score_says_whom_it_asks_and_how_much(scored, endpoint, capsys):
    (found,) = scored(games=None)
    assert capsys.readouterr().err.startswith(f"asking m at {endpoint.url}/: 40 games of cacti-2, about ")
    assert found["games"] == 40
    assert found["text_agent"]["model"]["max_completion_tokens"] == 9
    counts = found["counts"]
    assert counts["legal_at_once"] == counts["decisions"] == len(endpoint.requests)
    scored(games=None)  # from the transcript
    assert counts["decisions"] == len(endpoint.requests)


def test_a_reply_without_a_message_is_a_failure(endpoint):
    endpoint.reply = {"finish_reason": "stop", "message": None}
    batch = dealt(make("cacti"))
    agent = load_agent("openai:m", batch.game, arguments={"base_url": endpoint.url})
    with pytest.raises(ConnectionError, match="replied without a message"):
        agent(batch, batch.all_rows)


def test_a_server_that_fails_stops_a_score_and_the_same_command_continues(scored, endpoint):
    endpoint.fails_after = 5
    with pytest.raises(SystemExit, match=f"{endpoint.url}/: "):
        scored(agent="openai:m?limit=1")
    endpoint.fails_after = None
    (found,) = scored(agent="openai:m?limit=1")
    assert found["counts"]["answers"] == found["counts"]["legal_at_once"] == len(endpoint.requests) - 1


def test_a_dry_run_sends_nothing(scored, endpoint, tmp_path, capsys):
    assert scored(dry_run=True, task=(), base_url=None) == []
    said = capsys.readouterr().err.splitlines()
    assert len(said) == sum(not task.card_sets for task in tasks().values())
    assert said[0].startswith("asking m at https://api.openai.com/v1/: ")
    assert not endpoint.requests
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit, match="--dry-run is for language models, not greedy"):
        scored(agent="greedy", base_url=None, dry_run=True)


def test_a_model_is_scored_with_private_cards(scored, endpoint, capsys):
    (found,) = scored(private_cards=3, disguise=2)
    assert (found["task"], found["private_cards"], found["disguise"]) == ("cacti-2", 3, 2)
    assert "This game has its own cards" in json.dumps(endpoint.requests[0])
    assert "ratings are those with the packaged cards" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="mars has no data files"):
        scored(private_cards=3, task=("mars-2",))


def test_an_address_is_for_served_models(scored):
    with pytest.raises(
        SystemExit, match="--base-url cannot be passed to greedy, which takes no argument base_url"
    ):
        scored(agent="greedy")
