"""Playing in the terminal: input, hidden information, saved games."""

import itertools
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from garden_agents.play.match import Arguments
from garden_agents.play.terminal import MANY, find, list_actions, sum_in_words
from garden_agents.play.terminal import table as table_of
from processes import garden
from quick import seeds
from variants import each_game, hidden_games

from garden_core import GreedyPolicy, Replay, make, record

HEXES = ["hex 1,0", "hex -1,0", "hex 1,2", "Plant Blue", "plant blue bed", "pass"]


class Thinker:
    """An agent, `test_play:Thinker`, that takes the first legal action and gives an estimate."""

    def __init__(self, game, seed):
        pass

    def __call__(self, batch, rows):
        return batch.action_mask[rows].argmax(axis=1)

    def estimate(self, batch, row):
        return f"decision {batch.states[row]['decisions']}\nlooks good"


@pytest.fixture
def typing(monkeypatch, capsys):
    """A function that plays with typed lines (then Ctrl-D) and returns the table and the output before each line and after."""

    def play(lines, game="cacti", **arguments):
        shown, lines = [], iter(lines)
        capsys.readouterr()

        def answer(prompt):
            shown.append(capsys.readouterr().out + prompt)
            line = next(lines, EOFError)
            if isinstance(line, type):
                raise line
            return line(table) if callable(line) else line

        monkeypatch.setattr("builtins.input", answer)
        table = table_of(Arguments(game, **({"seed": 1} | arguments)))
        table.play()
        return table, [*shown, capsys.readouterr().out]

    return play


# --- what can be typed ---


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("2", "hex -1,0"),
        ("hex 1,0", "hex 1,0"),
        ("  HEX   -1,0 ", "hex -1,0"),
        ("hex -", "hex -1,0"),
        ("plant blue", "Plant Blue"),
        ("plant blue b", "plant blue bed"),
        ("1,2", "hex 1,2"),
        ("bed", "plant blue bed"),
        *((text, None) for text in ("p", "hex 1", "", " ", "0", "7", "²", "ass")),
    ],
)
def test_an_action_is_found_by_number_label_or_prefix(text, label):
    if label is None:
        with pytest.raises(ValueError, match=r"fits|not in the list"):
            find(text, HEXES)
    else:
        assert HEXES[find(text, HEXES)] == label


@pytest.mark.parametrize("width", [30, 200])
def test_actions_are_listed_with_what_they_do(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    labels = ["plant red", "go 1", "look around", *(f"point {i}" for i in range(50)), "stand 12", "stand 2"]
    described = ["plant red: a group of 12, 12 points and 1 more to pass player_1", *labels[1:]]
    list_actions(labels, described)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    assert " ".join(" ".join(lines).split()) == (
        "point …: any of 50, such as point 25 1 plant red a group of 12, 12 points and 1 more to pass player_1 "
        "2 go 1 3 look around 54 stand 12 55 stand 2"
    )


@each_game
def test_no_action_is_called_like_a_command_or_a_number(name):
    for label in make(name).labels:
        assert label.split()[0].lower() not in ("help", "rules", "hint", "save", "quit")
        assert not label.isdecimal()


def test_wrong_input_is_explained_in_a_line_and_changes_nothing(typing):
    wrong = ["", "99", "0", "foo", "grow", "plant basic 0 upper", "save", "quit now"]
    table, shown = typing(wrong)
    assert table.match.moves == []
    for line, answer in zip(wrong, shown[1:-1], strict=True):
        assert answer.count("\n") == 2  # the line itself, which was not typed at a terminal, and the answer
        assert answer.startswith(f"{line}\n")
        assert "number from 1 to" in answer or "fits" in answer or "save FILE" in answer


def test_help_and_hint(typing):
    table, shown = typing(["help", "HINT", "1"], seats=["human", "test_play:Thinker"], show_estimate=True)
    assert "save FILE" in shown[1]
    assert "the rules in short" in shown[1]
    assert all(part.meaning.split()[0] in shown[1] for part in table.game.action_parts)
    assert any(f"network-mcts:100 would choose {label}" in shown[2] for label in table.game.labels)
    assert len(table.match.moves) >= 1


@each_game
def test_rules(name, typing):
    _, shown = typing(["rules", "Rules  all"], name)
    short, whole = (text.partition("\n")[2].partition("\nplayer_0 (you)> ")[0] for text in shown[1:3])
    assert max(map(len, short.splitlines())) <= 80
    where = f'Type "rules all" for the full rules. More is in docs/{name}.md.'
    assert short.split() == [*make(name).summary.split(), *where.split()]
    assert whole.split() == make(name).rules_text.split()
    assert all(len(line) <= 80 or line.startswith("|") for line in whole.splitlines())


def test_all_the_rules_with_own_cards(typing):
    few = str(Path(__file__).parents[1] / "games" / "cacti" / "few_cards.toml")
    _, shown = typing(["rules all"], options={"cards": few})
    assert make("cacti", cards=few).tables_text in shown[1]
    assert "saguaro" not in shown[1]


# --- whole games ---


@each_game
def test_a_game_from_start_to_end(name, typing, tmp_path):
    path = tmp_path / "game.json"
    others = make(name).num_players - 1
    table, shown = typing(itertools.repeat("1"), name, seats=["human", *["greedy"] * others], save=path)
    replay = Replay.load(path)
    opponents = [GreedyPolicy(2 + number) for number in range(others)]
    assert replay == record(make(name), [Thinker(None, 0), *opponents], seed=1)
    assert replay.players == ("human", *["greedy"] * others)
    assert replay.ended == "terminated"
    *decisions, _ = replay.states()
    asked = [replay.game.legal_labels(state) for state in decisions if state["current_player"] == 0]
    for piece, legal in zip(shown[:-1], asked, strict=True):
        listed = " ".join(piece.partition("can choose ")[2].split())
        numbered = (f"{number} {label}" for number, label in enumerate(legal, 1))
        assert len(legal) > MANY or all(each in listed for each in numbered)
    end = " ".join(shown[-1].split())
    sheets = table.game.score_sheet(table.game.snapshot(table.match.state))
    for seat, sheet in enumerate(sheets):
        points = f"player_{seat} ({'greedy' if seat else 'you'}): {replay.scores[seat]} points"
        assert points + sum_in_words(sheet) in end
    assert shown[-1].endswith(f"saved in {path}\n")


@pytest.mark.parametrize(
    ("name", "seats", "options", "ending"),
    [
        ("mars", ["human", "random"], {"max_decisions": "2"}, "1. (tied) player_1"),
        ("mars", ["human"], {"cooperative": "true", "max_decisions": "2"}, "the team has 0 points"),
        ("botanicus", ["human"] * 2, {"max_decisions": "1"}, "2. player_1 (human): 2 points"),
        ("cacti", ["greedy", "random"], {}, "game over"),
    ],
)
def test_the_end_is_announced(name, seats, options, ending, typing):
    _, shown = typing(itertools.repeat("1"), name, seats=seats, options=options)
    assert ending in shown[-1]
    cap = f"stopped by the cap of {options.get('max_decisions')} decisions: scored as it stands"
    assert (cap in shown[-1]) == ("max_decisions" in options)


def test_the_parts_of_a_score_in_words():
    parts = {"planted": 14, "special": 0, "left_over": -4}
    assert sum_in_words(parts) == " = planted 14 + special 0 - left over 4"
    assert sum_in_words({"score": 3}) == ""


@pytest.mark.parametrize("shows", [True, False])
def test_estimates_are_shown_if_asked_for(shows, typing):
    _, shown = typing(["1"] * 3, "mars", seats=["human", "test_play:Thinker"], show_estimate=shows)
    assert ("put the gardener on -5,1\n    decision 1\n    looks good\n" in shown[1]) == shows
    assert shows or "looks good" not in "".join(shown)


# --- leaving and coming back ---


@pytest.mark.parametrize("leaving", ["quit", EOFError, KeyboardInterrupt])
def test_an_interrupted_game_is_saved_and_resumed(leaving, typing, tmp_path):
    path, whole = tmp_path / "a game.json", tmp_path / "whole.json"
    seats = ["human", "test_play:Thinker"]
    table, shown = typing(["1", "1", leaving], seats=seats, save=path)
    assert Replay.load(path) == table.match.replay()
    assert Replay.load(path).ended == "running"
    assert f"--seats human test_play:Thinker --resume '{path}'\nsaved in {path}\n" in shown[-1]
    typing(itertools.repeat("1"), seats=seats, resume=path)
    typing(itertools.repeat("1"), seats=seats, save=whole)
    assert path.read_bytes() == whole.read_bytes()


def test_without_a_file_nothing_is_saved(typing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, shown = typing(["1"])
    assert "it was not saved" in shown[-1]
    assert list(tmp_path.iterdir()) == []


def test_saving_in_between(typing, tmp_path):
    other, path, missing = (tmp_path / name for name in ("other.json", "Game.json", "missing/x.json"))
    other.write_text("precious", "utf-8")
    lines = ["1", f"save {other}", f"save {missing}", f"SAVE {path}", "1", "save", "1"]
    table, shown = typing(lines)
    assert other.read_text("utf-8") == "precious"
    assert "needs the name of a new file" in shown[2]
    assert "No such file" in shown[3]
    assert f"saved in {path}" in shown[4]
    assert f"saved in {path}" in shown[6]
    assert Replay.load(path).actions == table.match.replay().actions


def test_a_game_is_saved_when_an_agent_fails(typing, tmp_path, monkeypatch):
    path = tmp_path / "game.json"
    monkeypatch.setattr(Thinker, "__call__", lambda self, batch, rows: np.array([-2]))
    with pytest.raises(ValueError, match="action -2"):
        typing(itertools.repeat("1"), "mars", seats=["human", "test_play:Thinker"], save=path)
    assert Replay.load(path).actions == ("hex -5,0",)


# --- what is hidden ---


@hidden_games
@pytest.mark.parametrize("seed", seeds(3, 0))
def test_a_person_sees_nothing_that_another_hides(name, seed, typing):
    rng = random.Random(seed)

    def any_action(table):
        return rng.choice(table.game.legal_labels(table.match.state) or [""])

    table, shown = typing(itertools.repeat(any_action), name, seats=["human", "human"], seed=seed)
    assert table.match.state["terminated"]
    states, hidden, viewer, passed = table.match.replay().states(), 0, None, 0
    for piece in shown[:-1]:
        if piece.endswith("press Enter: "):  # before the next person looks
            assert "points on the table" not in piece
            viewer, passed = None, passed + 1
            continue
        state = next(states)
        seat = int(state["current_player"])
        assert f"player_{seat} (human)> " in piece
        assert viewer in (None, seat)
        viewer = seat
        own, others = (set(table.game.text(state, s).splitlines()) for s in (seat, 1 - seat))
        hidden += len(others - own)
        printed = set(piece.splitlines())
        assert not (others - own) & printed
        assert {line for line in own if not line.startswith(("legal: ", " " * 7))} <= printed
    assert hidden > 0
    assert passed > 1


def test_the_log_describes_the_last_moves(typing):
    _, shown = typing(["", "grow star", ""], seats=["human", "human"])
    log = "player_0 (human): take 3 star from the middle; then player_1 responds"
    assert f"since your last move:\n{log}\n" in shown[3]


@pytest.mark.parametrize("other", ["human", "greedy"])
def test_the_log_shows_nothing_hidden(other, typing, monkeypatch):
    def describe(self, state, action):
        return f"by the mover's Bonus Planter {state['bonus'][state['current_player']]}"

    monkeypatch.setattr(type(make("cacti")), "describe", describe)
    lines = ["", "1", ""] if other == "human" else ["1"]
    _, shown = typing(lines, seats=["human", other])
    moves = [line for line in "".join(shown).splitlines() if re.match(r"player_\d \(\w+\): grow", line)]
    assert moves
    for line in moves:
        assert ("Bonus Planter" in line) == line.startswith("player_0 (you)")


def test_the_screen_is_cleared_before_another_person_looks(typing, monkeypatch):
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    clear = "\033[H\033[2J\033[3J"
    _, shown = typing(["", "1", "", "1", "1"], seats=["human", "human"])
    assert [piece.count(clear) for piece in shown] == [1, 0, 1, 0, 0, 1, 0]
    assert "player_0 (human): take" in shown[2].partition(clear)[0]
    assert "since your last move:\nplayer_0 (human): " in shown[3]
    for game, seats in (("cacti", ["human", "greedy"]), ("mars", ["human", "human"])):
        _, shown = typing(["1"] * 6, game, seats=seats)
        assert "\033" not in "".join(shown)
        assert "press Enter" not in "".join(shown)


# --- the command line ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"game": "mars", "num_players": 3}, "3 players need as many names in --seats, not 2"),
        ({"seats": ["human", "deepblue"]}, "unknown agent 'deepblue'"),
        ({"options": {"peaks": "2"}}, "cacti got an unexpected keyword argument 'peaks'"),
        ({"save": Path("missing/game.json")}, "a new file in a folder that exists"),
        ({"save": Path("finished.json")}, "a new file in a folder that exists"),
        ({"resume": Path("missing.json")}, "missing.json"),
        ({"resume": Path("finished.json")}, "no unfinished game of cacti"),
        ({"game": "mars", "resume": Path("begun.json")}, "no unfinished game of mars"),
    ],
)
def test_errors_before_the_game_starts(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", None)
    replay = record(make("cacti"), [GreedyPolicy(), GreedyPolicy()])
    replay.save("finished.json")
    Replay.of(replay.game, replay.seed, replay.actions[:3]).save("begun.json")
    with pytest.raises(SystemExit) as caught:
        table_of(Arguments(**({"game": "cacti"} | arguments)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""


def test_piped_input(tmp_path):
    words = "play cacti --seats human greedy --seed 1 --save"
    ran = garden(words, tmp_path / "game.json", typed="grow\n1\n")
    assert ran.stderr == ""
    assert "player_0 (you)> grow\n'grow' fits" in ran.stdout
    assert "player_0 (you)> 1\nplayer_0 (you): " in ran.stdout
    assert "\033" not in ran.stdout
    assert ran.stdout.rstrip().endswith(f"saved in {tmp_path / 'game.json'}")
    assert len(Replay.load(tmp_path / "game.json").actions) >= 1
