"""Estimates of what games cost: the prompts and tokens of a language model, which is not asked."""

from __future__ import annotations

import copy
import functools
from typing import Any, NamedTuple

import numpy as np

from garden_agents.text.agent import SECONDS, Counts, TextAgent
from garden_agents.text.conversations import tokens_of
from garden_agents.text.prompts import Message
from garden_agents.text.transcripts import Transcript
from garden_core.batch.batch import Batch
from garden_core.batch.policies import RandomPolicy
from garden_core.checks import one_line


class Cost(NamedTuple):
    """The number of prompts, and about how many tokens they have (`tokens_of`)."""

    prompts: float
    tokens: float


def cost_of_game(agent: TextAgent, seed: int = 0) -> Cost:
    """Return about what a game costs: the mean of one deal's games, with the agent in each seat against random moves.

    Nothing is sent, as a random answer takes the place of the model's. Counts and transcript of the agent do not change.

    Args:
        agent: the agent.
        seed: seed of the deal and of the random moves.

    Example:
        >>> from garden_agents.text import TextAgent
        >>> from garden_agents.text.estimate import cost_of_game
        >>> from garden_core import make
        >>> prompts, tokens = cost_of_game(TextAgent(lambda messages: "", make("cacti")))
        >>> 5 < prompts < 20, 500 < tokens / prompts < 3000
        (True, True)
    """
    n, lengths = agent.game.num_players, list[int]()
    stub = copy.copy(agent)
    stub.complete, stub.structured, stub.seconds = functools.partial(_any_action, lengths), True, SECONDS
    stub.counts, stub.transcript = Counts(), Transcript(None)
    batch, others = Batch(agent.game, n, autoreset=False, history=True), RandomPolicy(seed)
    batch.reset([seed] * n)  # in row k the agent has seat k
    while not batch.over.all():
        running = np.flatnonzero(~batch.over)
        own = batch.current_player[running] == running
        actions = np.zeros(len(running), np.int64)
        for policy, asked in ((stub, own), (others, ~own)):
            if asked.any():
                actions[asked] = policy(batch, running[asked])
        batch.step(actions, running)
    return Cost(len(lengths) / n, sum(lengths) / n)


def announcement(agent: TextAgent, task: str, games: int) -> str:
    """Return a line that names the model and its server, and says about what games of a task cost."""
    model = agent.model if isinstance(agent.model, dict) else {"name": agent.model}
    server = f" at {model['server']}" if "server" in model else ""
    prompts, tokens = cost_of_game(agent)
    return (
        f"asking {one_line(model.get('name') or 'a language model')}{one_line(server)}: {games} games of {task}, "
        f"about {games * prompts:,.0f} prompts with {games * tokens:,.0f} tokens"
    )


def _any_action(lengths: list[int], messages: list[Message], schema: dict[str, Any]) -> str:
    """Answer with the first legal action, a random one; append the prompt's number of tokens to `lengths`."""
    lengths.append(tokens_of(messages))
    return f"ACTION: {schema['properties']['action']['enum'][0]}"
