"""garden-envs as a verifiers environment: a language model plays whole games against a rated opponent, or another model.

vf-eval garden-verifiers --taskset.game cacti --taskset.opponent greedy

With `--taskset.opponent model` the role `player` has one seat and the role `other` each further one, so that two models, or
one model twice, play against each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator
from typing import Any, Literal

import verifiers.v1 as vf
from garden_agents.text.session import Session
from pydantic import Field

from garden_core import untrusted_game

__all__ = ["GardenEnv", "GardenTaskset"]


class GardenConfig(vf.TasksetConfig):
    """The games to play."""

    game: str = "mars"
    """name of an installed game"""
    options: dict[str, Any] = Field(default_factory=dict)
    """its options, for example num_players"""
    reward: Literal["outcome", "margin"] = "outcome"
    """the reward: first place, from -1 to 1, or the lead in points"""
    opponent: str = "greedy"
    """random, greedy, mcts:100, network, network-mcts:100; model: the role `other`"""
    mode: Literal["legal", "form"] = "legal"
    """what prompts say about actions"""
    rules: Literal["short", "full", "none"] = "short"
    """which rules they contain"""
    disguise: int | None = None
    """seed of other names for everything in the game"""
    retries: int = 2
    """wrong answers of a decision that may be repeated"""


class GardenData(vf.TaskData):
    """One game: the arguments of a `Session`."""

    info: dict[str, Any]


class GardenTask(vf.Task[GardenData, vf.State, vf.TaskConfig]):
    """One seat of a game; its reward is the game's, -1 for one that was not finished."""

    @vf.reward
    async def game(self, trace: vf.Trace) -> float:
        """Return the model's reward."""
        return float(trace.info.get("reward", -1.0))

    @vf.metric
    async def legal_answers(self, trace: vf.Trace) -> float:
        """Return the share of answers that named a legal action."""
        outcomes = trace.info.get("outcomes", {})
        return outcomes.get("legal", 0) / max(sum(outcomes.values()), 1)

    @vf.metric
    async def illegal(self, trace: vf.Trace) -> float:
        """Return the number of answers that named an action that was not legal."""
        return float(trace.info.get("outcomes", {}).get("illegal", 0))

    @vf.metric
    async def unreadable(self, trace: vf.Trace) -> float:
        """Return the number of answers that named no action, or several."""
        return float(trace.info.get("outcomes", {}).get("unreadable", 0))

    @vf.metric
    async def truncated(self, trace: vf.Trace) -> float:
        """Return the number of answers that were cut off at the limit of tokens."""
        return float(trace.info.get("outcomes", {}).get("truncated", 0))

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return whether a player who takes the first legal action can play the game to its end."""

        def play() -> bool:
            session = session_of(self.data.info | {"mode": "legal"})
            while not session.done:
                session.answer("ACTION: 1")
            outcomes = session.outcomes[session.seat]
            return outcomes["legal"] == sum(outcomes.values()) > 0

        return await asyncio.to_thread(play)


def session_of(info: dict[str, Any]) -> Session:
    """Return a new game; a task of a stranger imports no code and opens no file."""
    opponent = None if info["opponent"] == "model" else info["opponent"]
    whole = 10**9  # tokens: the conversation is kept here, not in the session
    return Session.requested(**{**info, "opponent": opponent, "max_prompt_tokens": whole})


class GardenEnvConfig(vf.EnvConfig):
    """The model under evaluation or training, and the one that has the other seats if no opponent is named."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})
    other: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class GardenEnv(vf.Env[GardenEnvConfig]):
    """Plays a game: every answer leads to the next position, or to the reason why it is wrong."""

    async def run(self, task: GardenTask, agents: Any) -> None:
        """Play one game."""
        info = task.data.info
        session, talks = await asyncio.to_thread(session_of, info), {}
        async with contextlib.AsyncExitStack() as stack:
            while not session.done:
                seat = session.seat
                if seat not in talks:
                    system = session.messages[0]["content"]
                    own = GardenData(
                        name=f"{task.data.name}-{seat}", system_prompt=system, prompt=None, info=info
                    )
                    role = agents.player if seat == info["seat"] else agents.other
                    talks[seat] = await stack.enter_async_context(
                        role.interaction(GardenTask(own, task.config))
                    )
                segment = await talks[seat].turn(session.messages[-1]["content"])
                if segment.terminated:
                    await asyncio.to_thread(session.forfeit)
                else:
                    finish = talks[seat].trace.calls[-1].finish_reason
                    await asyncio.to_thread(session.answer, segment.last_reply, finish or "")
            for seat, talk in talks.items():
                talk.trace.info |= {
                    "seat": seat,
                    "reward": float(session.rewards[seat]),
                    "outcomes": session.outcomes[seat],
                    "result": session.result,
                }


class GardenTaskset(vf.Taskset[GardenTask, GardenConfig]):
    """Games without end: deal after deal, the model in each seat in turn."""

    INFINITE = True

    def load(self) -> Iterator[GardenTask]:
        """Yield the games."""
        c = self.config
        options = {**c.options, "reward": c.reward}
        num_players = untrusted_game(c.game, options).num_players
        for number in itertools.count():
            deal, seat = divmod(number, num_players)
            info = {
                "game": c.game,
                "options": options,
                "opponent": c.opponent,
                "seat": seat,
                "seed": deal,
                "mode": c.mode,
                "rules": c.rules,
                "disguise": c.disguise,
                "retries": c.retries,
            }
            messages = session_of(info).messages
            system, first = messages[0]["content"], messages[-1]["content"]
            data = GardenData(name=f"{c.game}-{number}", system_prompt=system, prompt=first, info=info)
            yield GardenTask(data, c.task)
