"""Agents that are programs: they play, and a wrong answer loses the game with a clear message."""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from garden_agents import load_agent, programs
from garden_agents.evaluation.arena import round_robin
from garden_agents.matches.meet import alone, places, play
from garden_agents.programs import ProgramAgent
from garden_agents.untrusted import is_built_in
from own_agents import first_legal
from playing import dealt
from processes import ROOT, garden_here, started

from garden_core import GreedyPolicy, RandomPolicy, make

BOT = ROOT / "examples" / "line_bot.py"
GAME = make("cacti")


def program(body, **arguments):
    """Return an agent whose program runs `body` for each message to answer, with `legal` and `message`."""
    code = f"""if True:
    import json, sys, time
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "move":
            legal = [o["action"] for o in message["view"]["legal"]]
            {body}
            sys.stdout.flush()
    """
    agent = ProgramAgent("x", GAME, **arguments)
    agent.command = [sys.executable, "-c", code]
    return agent


FIRST = "print(json.dumps({'action': legal[0]}))"


def test_a_program_plays_as_its_policy_would():
    agent = program(FIRST)
    by_program, by_policy = (
        play(GAME, [first, RandomPolicy(1)], alone(6, 2), seed=3) for first in (agent, first_legal(GAME, 0))
    )
    assert by_program.states.tobytes() == by_policy.states.tobytes()
    assert (by_program.forfeited == -1).all()
    agent.close()


def test_several_processes_share_the_games(tmp_path):
    """They think at the same time, with their own seeds, and the games are those of one process."""
    body = f"""open({str(tmp_path)!r} + f"/{{time.monotonic()}}", "w").close(); time.sleep(0.05); {FIRST}"""
    ended, started = [], []
    for processes in (1, 3):
        agent = program(body, processes=processes)
        finished = play(GAME, [agent, RandomPolicy(1)], alone(6, 2), seed=3)
        ended.append(finished.states.tobytes())
        started.append(len({id(process) for process in agent._processes}))
        assert (finished.forfeited == -1).all()
        agent.close()
        assert agent._processes == [None] * processes
    assert ended[0] == ended[1]
    assert started == [1, 3]
    assert len({programs._program_seed(5, number) for number in range(3)}) == 3


def test_every_game_has_its_own_number():
    """Also if the game before in its row, or in the same row of another batch, ended after fewer decisions."""
    numbers, one, other = programs.GameNumbers(), dealt(GAME, 1), dealt(GAME, 1)

    def after(batch, decisions):
        for _ in range(decisions):
            batch.step(batch.action_mask.argmax(1))
        return numbers.of(batch, 0)

    assert [after(one, 1), after(one, 2), after(other, 4)] == [0, 0, 1]
    while not one.over[0]:  # the next game is dealt at once
        one.step(one.action_mask.argmax(1))
    assert after(one, 20) == 2
    one.reset(seed=1)
    assert after(one, 21) == 3
    one.reset(seed=1)
    assert after(one, 22) == 4
    one.set_states(one.all_rows, other.states.copy())
    assert [after(one, 23), after(one, 1)] == [5, 5]


def test_a_process_that_ends_loses_only_its_game():
    agent = program(f"sys.exit() if message['game_id'] == 1 else {FIRST}", processes=3)
    with pytest.warns(UserWarning, match=r"loses a game: it ended \(exit status 0\)") as warned:
        finished = play(GAME, [agent, RandomPolicy(1)], alone(6, 2), seed=1)
    agent.close()
    assert len(warned) == 1
    assert (finished.forfeited >= 0).sum() == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(3)", r"it ended \(exit status 3\)"),
        ("time.sleep(30)", "it did not answer within 0.5 s"),
        ("print('[' * 50000)", "its answer is not JSON"),
        ("print(json.dumps({'action': True}))", 'no whole number "action"'),
        ("print(json.dumps({'action': 1.0}))", 'no whole number "action"'),
        ("print(json.dumps({'action': -1}))", "its action -1 is not legal"),
        ("print('{\"action\": 1' + '0' * 5000 + '}')", "not JSON|is not legal"),
        ("print('x' * 10**6)", "longer than 100,000 characters"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\n')", "not JSON"),
    ],
)
def test_a_wrong_answer_loses_the_game(body, message):
    agent = program(body, seconds=0.5)
    with pytest.warns(UserWarning, match=message):
        finished = play(GAME, [agent, GreedyPolicy(1)], alone(4, 2), seed=1)
    assert (finished.forfeited == [0, 1, 0, 1]).all()
    assert places(GAME, *finished[:2]).tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    agent.close()


def test_a_program_that_never_reads_its_input_is_not_waited_for():
    """It answers all the same, until its input is full."""
    code = "import time\nfor _ in range(1000): print('{}', flush=True)\ntime.sleep(60)"
    process = programs._Process([sys.executable, "-c", code])
    with pytest.raises(programs._LostError, match=r"did not read its input within 0\.5 s"):
        collections.deque(process.ask({"long": "x" * 10_000}, 0.5) for _ in range(100))
    process.kill()


def alive(pid):
    """Return whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "\nState:\tZ" in status.read_text("utf-8"))


@pytest.mark.parametrize(
    "start", ["sleep 57 &", "setsid sleep 57 &"], ids=["in its group", "in another group"]
)
def test_closing_ends_what_a_program_has_started_and_does_not_wait_for_it(start, tmp_path):
    agent = ProgramAgent("x", GAME, seconds=0.5)
    agent.command = ["sh", "-c", f"{start} echo $! > {tmp_path}/pid; wait; true"]
    with pytest.warns(UserWarning, match="did not answer"):
        play(GAME, [agent, GreedyPolicy(1)], alone(1, 2), seed=1)
    before = time.monotonic()
    agent.close()
    assert time.monotonic() - before < 5
    pid = int((tmp_path / "pid").read_text("utf-8"))
    if "setsid" in start and alive(pid):  # it has left the program's group on purpose
        os.kill(pid, signal.SIGKILL)
    while alive(pid) and time.monotonic() - before < 5:
        time.sleep(0.01)
    assert not alive(pid)


HOLDER = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
"""


def test_a_program_that_ends_is_not_waited_for_though_another_process_holds_its_pipe(tmp_path):
    """Nor does that process live longer than the agent, though it began a session of its own."""
    (tmp_path / "holder.py").write_text(HOLDER, "utf-8")
    before = sleepers()
    agent = ProgramAgent(f"{sys.executable} {tmp_path / 'holder.py'}", GAME, seconds=20)
    start, batch = time.monotonic(), dealt(GAME, 1, 1)
    with pytest.warns(UserWarning, match="it ended"):
        agent(batch, batch.all_rows)
    assert time.monotonic() - start < 10
    agent.close()
    assert sleepers() == before


def sleepers():
    """The processes of `HOLDER`."""
    return {path for path in Path("/proc").glob("[0-9]*") if b"time.sleep(600)" in _words(path)}


def _words(path):
    try:
        return (path / "cmdline").read_bytes()
    except OSError:
        return b""


def test_on_windows_a_backslash_is_no_escape(monkeypatch):
    assert ProgramAgent(r"C\:bot.exe 'a b'", GAME).command == ["C:bot.exe", "a b"]
    monkeypatch.setattr(programs, "ESCAPE", "")
    assert ProgramAgent(r'C:\bots\bot.exe "a b\c" x', GAME).command == [r"C:\bots\bot.exe", r"a b\c", "x"]


def test_a_program_is_started_again_after_a_wrong_answer(tmp_path):
    starts = tmp_path / "starts"
    agent = program(f"open({str(starts)!r}, 'a').write('x'); print('hello'); print('hello again')")
    with pytest.warns(UserWarning, match="not JSON"):
        play(GAME, [agent, GreedyPolicy(1)], alone(3, 2), seed=1)
    agent.close()
    assert starts.read_text("utf-8") == "xxx"  # one answer each, as the next game has a program of its own


def test_a_command_that_cannot_be_run_loses_its_games():
    agent = load_agent("program:./no/such/program", GAME)
    with pytest.warns(UserWarning, match="it cannot be run"):
        assert (play(GAME, [agent, RandomPolicy(1)], alone(2, 2)).forfeited >= 0).all()
    assert not is_built_in("program:x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("program:", "needs a command"),
        ("program:'", "No closing quotation"),
        ("program@0s:x", "must be positive"),
        ("program*0:x", "number of processes must be 1 to 256, not 0"),
        ("program*257@1s:x", "number of processes must be 1 to 256, not 257"),
    ],
)
def test_wrong_names_of_programs_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        load_agent(name, GAME)


BROKEN = "import sys; print(7, file=sys.stderr); print('no model', 'here', file=sys.stderr); sys.exit(3)"


@pytest.mark.parametrize(
    "command",
    [
        "arena cacti --output games.json random",
        "record cacti --output games --agents random",
        "play cacti --seats random",
        "train cacti --run games --pool-share 0.5 --pool-agents",
    ],
)
def test_a_program_that_does_not_start_is_an_error_before_any_game(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(BROKEN, "utf-8")
    for line, message in (
        (f"{sys.executable} bot.py", r"it ended \(exit status 3\); it wrote: 7 \| no model here$"),
        ("./no_such_program", "cannot be run: .*No such file"),
    ):
        _, error = garden_here(command, f"program:{line}")
        assert re.search(rf"program {re.escape(line)} .*{message}", error)
        assert [path.name for path in tmp_path.iterdir()] == ["bot.py"]


def test_a_program_that_answers_late_or_wrongly_has_started(monkeypatch):
    monkeypatch.setattr(programs, "START", 0.3)
    for body in ("time.sleep(9)", "print('hello')", FIRST, "sys.stdout.close(); time.sleep(9)"):
        program(body).check()


def test_a_program_does_not_get_the_seed_of_the_game(tmp_path):
    """Its seed is always the same for the same agent, and neither the agent's nor one that deals the same cards."""
    seeds = {}
    for seed in (0, 1, 0):
        agent = load_agent(f"program:sh -c 'head -n 1 > {tmp_path}/first'", GAME, seed)
        with pytest.warns(UserWarning, match="it ended"):
            play(GAME, [agent, RandomPolicy(1)], alone(2, 2), seed=seed)
        agent.close()
        program_seed = json.loads((tmp_path / "first").read_text("utf-8"))["seed"]
        assert seeds.setdefault(seed, program_seed) == program_seed != seed
        played, guessed = (dealt(GAME, 1, known).states["deck"].tobytes() for known in (seed, program_seed))
        assert played != guessed
    assert seeds[0] != seeds[1]


def test_a_program_at_the_table():
    """It answers, wrongly, and ends."""
    program = f'program:{sys.executable} -c "print(1)"'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed, _ = garden_here("play", "cacti", "--seats", program, "greedy", "--seed", 1)
    assert "loses the game" in printed
    assert "1. player_1 (greedy)" in printed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
@pytest.mark.parametrize("processes", [1, 2])
def test_an_arena_that_is_stopped_leaves_no_process(number, processes, tmp_path):
    """Hanging programs and the arena's processes end with it, unless it is a single process that is killed."""
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, signal, sys, time\n"
        f"open(f'{tmp_path}/{{os.getpid()}}.{{os.getppid()}}.pid', 'w').close()\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "time.sleep(300)\n",
        "utf-8",
    )
    words = f"arena cacti --games 100 --processes {processes} random"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started(words, f"program@100s:{sys.executable} {bot}", cwd=tmp_path, **silent) as arena:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("*.pid"))) < processes:
            assert time.monotonic() < deadline
            assert arena.poll() is None
            time.sleep(0.1)
        pids = {int(pid) for path in tmp_path.glob("*.pid") for pid in path.stem.split(".")}
        arena.send_signal(number)
        try:
            arena.wait(30)
        finally:
            arena.kill()
    programs_alone = {int(path.stem.split(".")[0]) for path in tmp_path.glob("*.pid")}
    if (number, processes) == (signal.SIGKILL, 1):
        for pid in programs_alone:
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"{left} of {pids} still run"
        time.sleep(0.1)


def test_programs_in_the_arena():
    names = (f"program:{sys.executable} {BOT}", "random")
    ((result,), _) = round_robin(GAME, names, 200, processes=2)
    assert result.interval[0] > 0.5
