"""Entries of a leaderboard with made-up results."""

import json
from datetime import date

import tomli_w
from garden_agents.evaluation.score import placed
from garden_agents.evaluation.tasks import field_of, task_of

DESCRIPTION = {"author": "Someone", "date": date(2026, 12, 1), "command": "garden score"}


def made_up(task, agent, games="10" * 20, **others):
    """The content of a score's file: these results against each member of a field of two players, or others by its name."""
    results = {m.agent: (others.get(m.agent, games),) for m in field_of(task).members if m.agent != agent}
    score = placed(agent, field_of(task), results, task_of(task).make().num_players)
    return json.loads(json.dumps(score.plain | {"weights": "", "garden-envs": "1.0.0"}))


def enter(folder, name, agent="mcts:5", score=None, **changes):
    """Add an entry to the folder of a task, with changes of its description."""
    folder.mkdir(parents=True, exist_ok=True)
    score = made_up(folder.name, agent) if score is None else score
    (folder / f"{name}.json").write_text(json.dumps(score), "utf-8")
    (folder / f"{name}.toml").write_text(tomli_w.dumps(DESCRIPTION | changes), "utf-8")
