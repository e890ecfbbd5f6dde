"""A bot for `garden arena` and `garden play` that needs nothing of this project: it reads positions, and writes actions.

    garden play mars --seats human "program:python examples/line_bot.py"

It plants where it can, and else takes an action at random.
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
