"""A program that plays, and now and then answers as no program should."""

import json
import random
import sys
import time

rng = random.Random(int(sys.argv[1]))
LEGAL = 9
"""Right answers for each wrong one: after a wrong one the program is started again."""


def odd(legal):
    """Answer with something odd, or with nothing."""
    number = rng.choice([-1, 10**30, -(2**63), 1.5, True, None, "0", [legal], {"action": legal}, 1e999])
    line = rng.choice(
        [
            json.dumps({"action": number}),
            json.dumps(number),
            json.dumps({"Action": legal}),
            "{",
            "",
            "[" * 50_000,
            "x" * rng.choice([50_000, 200_000]),
            '{"action": ' + "9" * 5_000 + "}",
            f'{{"action": {legal}}} {{"action": {legal}}}',
            "\x00\x1b[2J\u202e",
        ]
    )
    way = rng.randrange(6)
    if way == 0:
        sys.exit(rng.randrange(3))
    if way == 1:
        sys.stdout.buffer.write(b"\xff\xfe" + line.encode()[:100] + b"\n")
    elif way == 2:
        sys.stdout.write(line[:100])  # and no end of the line
        sys.stdout.flush()
        sys.exit(0)
    elif way == 3:
        print(line, *[json.dumps({"action": legal})] * rng.randrange(1, 50), sep="\n")
    else:
        print(line)
    sys.stdout.flush()
    if rng.random() < 0.002:
        time.sleep(60)


for text in sys.stdin:
    message = json.loads(text)
    if message["type"] != "move":
        rng.seed(f"{sys.argv[1]} {time.time_ns()}")  # another program after each start
        continue
    actions = [one["action"] for one in message["view"]["legal"]]
    if rng.randrange(LEGAL + 1):
        print(json.dumps({"action": rng.choice(actions)}), flush=True)
    else:
        odd(actions[0])
