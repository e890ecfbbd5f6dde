"""Model cards of the pretrained networks, made from their files and from result files, and a data card.

A card begins with YAML for model hubs, in the form of Hugging Face (https://huggingface.co/docs/hub/model-cards).
"""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from pathlib import Path
from typing import Any

from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.network_agent import load
from results import REPORT, ROOT, read_all, short, table, win_rate
from results import load as load_result
from strength import networks_with_metadata

from garden_core import make

FOLDER = Path(__file__).parent / "cards"
CARD = """\
---
license: mit
library_name: garden-envs
pipeline_tag: reinforcement-learning
tags: [reinforcement-learning, self-play, board-games, {game}]
model-index:
- name: {game}-{players}
  results:
  - task: {{type: reinforcement-learning, name: reinforcement learning}}
    dataset: {{type: garden-envs/{game}, name: "{title}, {players} players"}}
    metrics:
{metrics}
---

# Network of {title}, {players} players

A network that plays {title} with {players} players and the default options. It was trained by PPO in self-play
([How training works](../training.md)); at the start it imitated greedy play. No games of people were used.

```python
import garden_agents

agent = garden_agents.load("{game}", num_players={players})
```

{facts}

```bash
{command}
```

## Strength

The network's rating in the task `{task}`, version {version}, of the [benchmark](../benchmark.md) is {rating}, by {games:,} games. `random` has
0, and the agents in the table have the ratings in parentheses.{meaning}

{strength}
{exploited}
## Use and limits

The network is meant as an opponent, and as initial weights for further training. Other options and other data files change what it sees or
what scores points, so loading it for them is an error unless you ask for it. It has played only against programs; against people it is
untested.
"""
EXPLOITED = """
[Best responses](../report/exploitability.md) learned from {steps} decisions to beat the network, and a tree search of 100 simulations per
move used the network itself. Each played {games:,} games{equal}:

{rows}
"""

DATASET = """\
---
license: mit
task_categories: [reinforcement-learning]
tags: [reinforcement-learning, offline-rl, imitation-learning, board-games, cacti]
pretty_name: "Cacti, random and greedy play"
size_categories: [100K<n<1M]
---

# Dataset of random and greedy play in Cacti

Games of Cacti in which each seat is played by `random` or by `greedy`, each equally often. They are the data of the example
`examples/offline.py`; experiments with [offline learning](../report/learning.md#offline-learning) used games of the same kind. The file is not
shipped, as one command makes it again, with the same games:

```bash
garden record cacti --agents random greedy --games 40000 --options reward margin \\
    --output mixed.safetensors
```

|  |  |
|---|---|
| Content | game, options and card data; for each game seed, actions, which agent played in which seat, final scores |
| Fields | computed on reading, see [Datasets](../datasets.md#load): observations, masks, actions, rewards, returns |
| Games | 40,000; the decisions of both seats are in the data |
| Form | one safetensors file, which runs no code |
| Licence | MIT |

## Use and limits

The data is meant for imitation, offline reinforcement learning and value estimates. Both agents are weak: cloning all moves gives an agent
about as strong as `greedy`, and Q-learning one that wins 63 % against it ([report](../report/learning.md#offline-learning)). There are no
games of people in it, and positions of strong play are rare.
"""


def cards() -> dict[Path, str]:
    """Return the card of each pretrained network, and of the example dataset, by file."""
    return {FOLDER / "offline-cacti.md": DATASET} | {
        FOLDER / f"{config['game']}-{config['options']['num_players']}.md": _card(path, config)
        for path, config in networks_with_metadata()
    }


def _card(path: Path, config: dict[str, Any]) -> str:
    """Return the card of a network, from its file and the file's metadata."""
    name, players, origin = config["game"], config["options"]["num_players"], config["origin"]
    game, network = make(name, num_players=players), config["network"]
    found = json.loads((ROOT / "leaderboard" / f"{name}-{players}" / "network.json").read_text("utf-8"))
    rating = f"{found['rating']:.0f} ({found['interval'][0]:.0f} to {found['interval'][1]:.0f})"
    board = isinstance(load(game).network, BoardNetwork)
    architecture = f"board, {network['channels']} channels" if board else "flat"
    facts = {
        "File": f"`{path.relative_to(ROOT)}`, {path.stat().st_size / 1e6:.2f} MB",
        "SHA-256": f"`{hashlib.sha256(path.read_bytes()).hexdigest()}`",
        "Game": f"{game.title}, version {config['version']}",
        "Input and output": f"observation of {config['observation'][0]:,} int8; {config['actions']} actions, and values of all seats",
        "Architecture": f"{architecture}, hidden layers of {network['hidden']}",
        "Training": f"{short(origin['decisions'])} decisions in {origin['seconds'] / 60:.0f} minutes, up to the version that was kept",
        "Versions": ", ".join(f"{package} {version}" for package, version in origin["versions"].items()),
        "Licence": "MIT",
    }
    equal = "" if players == 2 else f"; equal agents would win {1 / players:.0%}"
    return CARD.format(
        title=game.title,
        game=name,
        players=players,
        metrics=_metric(found, rating),
        facts=table(("", ""), facts.items()),
        command="\n".join(map(_wrapped, origin["command"].split(" && "))),
        task=found["task"],
        version=found["version"],
        rating=rating,
        games=found["games"],
        meaning=""
        if players == 2
        else f" The network plays alone against {players - 1} copies of them, so an equal agent would win {1 / players:.0%}.",
        strength=table(
            ("against", "games", "wins (95 % interval)"),
            [
                (f"`{each['agent']}` ({each['rating']})", each["games"], win_rate(each))
                for each in reversed(found["against"])
            ],
        ),
        exploited=_exploited(name, players, equal),
    )


def _wrapped(command: str) -> str:
    """Return a command in lines of about 90 characters, broken before options."""
    unbroken = re.sub(r" (?!--)", "\0", command)
    lines = textwrap.wrap(unbroken, 84, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(lines).replace("\0", " ")


def _metric(found: dict[str, Any], rating: str) -> str:
    about = f"rating in {found['task']}, version {found['version']}, 95 % interval {rating}"
    return f"    - {{type: rating, value: {found['rating']:.0f}, name: {json.dumps(about)}}}"


def _exploited(name: str, players: int, equal: str) -> str:
    """Return the table of best responses and of search that knows the network, if there are any."""
    found = [
        measured
        for measured in read_all("exploit", REPORT)
        if measured["task"] == f"{name}-{players}" and ":" in measured["agent"]
    ]
    if not found:
        return ""
    rows = [(f"best response that begins with {each['way']}", win_rate(each["results"][0])) for each in found]
    search = found[0]["results"][1]
    rows.append(("tree search", win_rate(search)))
    return EXPLOITED.format(
        steps=short(load_result(f"exploit-{name}-{players}", REPORT)["settings"]["steps"]),
        games=search["games"],
        equal=equal,
        rows=table(("opponent", "wins (95 % interval)"), rows),
    )
