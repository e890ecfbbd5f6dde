"""A language model behind an OpenAI-style server as an agent. Not tested: it needs a server and the package `openai`.

MODEL=gpt-5 OPENAI_API_KEY=… garden evaluate examples.language_model:make
"""

import os

import openai
from garden_agents.text import Completion, TextAgent

client = openai.OpenAI(base_url=os.environ.get("BASE_URL"), max_retries=8)


def complete(messages):
    """Answer chat messages."""
    reply = client.chat.completions.create(model=os.environ["MODEL"], messages=messages)
    text = reply.choices[0].message.content or ""
    return Completion(text, reply.usage.prompt_tokens, reply.usage.completion_tokens)


def make(game, seed, **options):
    """Return the agent; options such as mode and limit are those of `TextAgent`."""
    model = {"name": os.environ["MODEL"], "server": str(client.base_url)}
    return TextAgent(complete, game, seed, model=model, **options)
