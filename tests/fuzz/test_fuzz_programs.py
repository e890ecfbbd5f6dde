"""Programs that answer as no program should lose their game, and the others go on."""

import shlex
import sys
import warnings

import fuzzing
import numpy as np
from garden_agents.programs import ProgramAgent
from processes import ROOT

from garden_core import Batch
from garden_core.batch.policies import FORFEIT

COMMAND = [sys.executable, "-S", "-E", str(ROOT / "tests" / "tools" / "fuzzed_program.py")]


@fuzzing.each_block
def test_every_answer_is_legal_or_a_forfeit(numbers):
    batch = Batch("cacti", 5)
    batch.reset(numbers.start)
    agent = ProgramAgent(shlex.join([*COMMAND, str(numbers.start)]), batch.game, seconds=2)
    lost = answered = 0
    try:
        with fuzzing.within(120), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while answered < 10 * len(numbers):  # one in ten is odd
                answer = agent(batch, batch.all_rows)
                given_up = answer == FORFEIT
                assert batch.action_mask[batch.all_rows, np.where(given_up, 0, answer)][~given_up].all()
                answered, lost = answered + len(answer), lost + int(given_up.sum())
                batch.step(np.where(given_up, batch.action_mask.argmax(1), answer))
    finally:
        agent.close()
    assert 0 < lost < answered
