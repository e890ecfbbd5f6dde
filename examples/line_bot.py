"""A bot for `garden arena` and `garden play` that imports nothing from this project: it reads positions and writes actions.

    garden play mars --seats human "program:python examples/line_bot.py"

It plants if it can, and otherwise takes a random action.
"""

import json
import random
import sys

choose = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "game":
        choose.seed(message["seed"])
    elif message["type"] == "move":
        legal = message["view"]["legal"]
        plants = [one for one in legal if one["label"].startswith("plant")]
        print(json.dumps({"action": choose.choice(plants or legal)["action"]}), flush=True)
