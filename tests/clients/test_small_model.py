"""A real model as a real client: SmolLM2 with 135 million parameters, served here (`make test-clients` installs it)."""

import json
import os
import subprocess

import pytest
from garden_agents.evaluation import score_command
from garden_agents.text.transcripts import read
from test_language_models import OPENENV, ROOT, VERIFIERS, free_port, ran, wait_for

SMALL = "openai:smollm2?max_tokens=32&retries=0&fallback=random&limit=1"
CLIENT = """
import json, sys, urllib.request
from garden import GardenAction, GardenEnv

def answer(messages):
    body = json.dumps({"model": "smollm2", "messages": messages, "max_completion_tokens": 32}).encode()
    asked = urllib.request.Request(f"{sys.argv[2]}/chat/completions", body, {"Content-Type": "application/json"})
    choice = json.load(urllib.request.urlopen(asked))["choices"][0]
    return GardenAction(text=choice["message"]["content"], finish=choice["finish_reason"])

with GardenEnv(base_url=sys.argv[1]).sync() as env:
    step = env.reset(seed=1, game="cacti", opponent="random")
    while not step.done and sum(step.observation.outcomes.values()) < 6:
        step = env.step(answer(step.observation.messages))
    print(json.dumps(step.observation.outcomes))
"""


@pytest.fixture(scope="module")
def url():
    port = free_port()
    command = [ROOT / ".venv-llama" / "bin" / "python", ROOT / "examples" / "small_model.py", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


@pytest.mark.parametrize("structured", [False, True])
def test_whole_games(structured, url, tmp_path):
    agent = SMALL + "&structured=true" * structured
    score_command.main(score_command.Arguments(agent, ("cacti-2",), 16, output=tmp_path, base_url=url))
    (results,), (transcript,) = tmp_path.glob("*.json"), tmp_path.glob("*.transcript.jsonl")
    counts, lines = json.loads(results.read_text("utf-8"))["counts"], read(transcript)
    assert counts["decisions"] == counts["answers"] == len(lines) > 10
    assert counts["prompt_tokens"] > 500 * counts["answers"]
    if structured:
        assert counts["legal_at_once"] + counts["truncated"] == counts["answers"]
    else:
        assert counts["unreadable"] + counts["truncated"] > counts["answers"] / 2
    for line in lines:
        assert (line.finish == "length") == (line.outcome == "truncated")


def test_verifiers_plays_it(url, tmp_path):
    ran(
        *(VERIFIERS / "vf-eval", "garden-verifiers", "-m", "smollm2", "-n", "1", "-o", tmp_path),
        *("--env.taskset.game", "cacti", "--env.taskset.opponent", "random"),
        *("--client.base-url", url, "--client.api-key-var", "KEY", "--no-push", "--no-rich"),
        *("--env.player.sampling.max-tokens", "32"),
        env={**os.environ, "KEY": "none"},
    )
    (path,) = tmp_path.rglob("traces.jsonl")
    (episode,) = map(json.loads, path.read_text("utf-8").splitlines())
    assert sum(episode["traces"][0]["info"]["outcomes"].values()) >= 3


def test_openenv_plays_it(url):
    port = free_port()
    command = [OPENENV / "python", "-m", "server.app", "--port", str(port)]
    folder, nothing = ROOT / "examples" / "openenv", subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stderr=nothing, stdout=nothing) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health")
            printed = ran(OPENENV / "python", "-c", CLIENT, f"http://127.0.0.1:{port}", url)
        finally:
            server.terminate()
    assert sum(json.loads(printed.splitlines()[-1]).values()) >= 3
