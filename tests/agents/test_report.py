"""`garden report`: what the page of a run shows, also of a run that a stranger made or that is not finished."""

import html
import json
import re
import tracemalloc
from collections import defaultdict
from html.parser import HTMLParser

import numpy as np
import pytest
from garden_agents.matches.meet import wilson
from garden_agents.report import played
from garden_agents.report.page import page
from garden_agents.report.run_files import read_rows
from processes import garden_here, python
from written_runs import CONFIG, EVALUATIONS, METRICS, write_run

from garden_core import Replay, make

BAD = '"><img src=x onerror=alert(1)><script>alert(1)</script>'


class Elements(HTMLParser):
    """The attributes of a page's elements, by name."""

    def __init__(self, text):
        super().__init__()
        self.named = defaultdict(list)
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.named[name].append(dict(attributes))


def sections(text):
    """The sections of a page by heading."""
    return dict(re.findall(r"<section>\n<h2>(.*?)</h2>\n(.*?)\n</section>", text, re.DOTALL))


def rows(text):
    """The cells of all rows of tables, as text."""
    return [
        [html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", text)
    ]


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "my-run")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The page of a finished run, with games."""
    return page(write_run(tmp_path_factory.mktemp("runs") / "whole"), games=60)


# --- what the files hold ---


def test_settings_and_final_evaluation(run):
    text = page(run, games=0)
    assert "<h1>cacti: my-run</h1>" in text
    assert "This training is finished." in text
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    expected = {"game": "cacti", "trainer": "ppo", "seed": "7", "decisions": "3,000"}
    expected |= {"training time": "0:00:02 of 0:02:00", "best network": "kept after 2,000 decisions"}
    assert expected.items() <= facts.items()
    assert "garden train cacti --minutes 2.0" in facts["command"]
    assert ["evaluation_games", "63"] in rows(text)
    final = rows(sections(text)["Final evaluation"])[1]
    assert final == ["network", "greedy", "600", "91.0%", "88.5% … 93.0%", "21.2 : 5.5", "94%, 88%"]


def test_curves_of_evaluations(run):
    found = sections(page(run, games=0))["Evaluations during the training"]
    low, high = wilson(
        0.875 * 32, 32
    )  # 63 games of two opponents are rounded up, so that seats are shared equally
    assert rows(found)[2] == ["2,000", "0:01:00", f"87.5% ({low:.0%} … {high:.0%})", "75.0% (58% … 87%)"]
    assert "32 games of the same deals" in found
    svg = found[found.index("<svg") :]
    for text in ("against greedy", "chance, 50%", "decisions learned from", "minutes of training"):
        assert text in svg
    assert svg.count('id="FillBetween') == 4  # of two agents, over decisions and over time


def test_a_team_has_no_chance_line(run):
    (run / "evaluations.csv").write_text("decisions,seconds,team\n1000,30,-1.5\n2000,60,2.25\n", "utf-8")
    found = sections(page(run, games=0))["Evaluations during the training"]
    assert rows(found)[1:] == [["1,000", "0:00:30", "-1.5"], ["2,000", "0:01:00", "2.25"]]
    assert "chance" not in found
    assert "against team" not in found
    assert "FillBetween" not in found


def test_an_unfinished_run(run):
    (run / "evaluation.json").unlink()
    (run / "metrics.csv").write_text(METRICS + "4000,3.0,13", "utf-8")  # a line that is being written
    text = page(run, games=0)
    assert "running, or was interrupted" in text
    assert "There is none" in sections(text)["Final evaluation"]
    assert ">3,000<" in text


def test_a_run_without_results(run):
    for name in ("evaluations.csv", "metrics.csv", "network.safetensors"):
        (run / name).unlink()
    found = sections(page(run, games=1))
    assert "no evaluation yet" in found["Evaluations during the training"]
    assert "no network.safetensors yet" in found["How the network plays"]
    assert "Sample games" not in found


def test_a_long_log_is_thinned_out(run):
    lines = (f"{i},{i},{i % 2}\n" for i in range(1, 10_001))
    (run / "metrics.csv").write_text("decisions,seconds,loss\n" + "".join(lines), "utf-8")
    thin = read_rows(run / "metrics.csv", ("decisions",), 4000)
    assert (len(thin), thin[-1]["decisions"]) == (4000, "10000")
    text = page(run, games=0)
    assert "<dd>10,000</dd>" in text
    assert len(text) < 100_000


def test_a_best_response(run):
    results = (
        (run / "evaluation.json").read_text("utf-8").replace('"agent": "network"', '"agent": "best response"')
    )
    (run / "exploit.json").write_text(json.dumps({"agent": "network", **json.loads(results)}), "utf-8")
    final = rows(sections(page(run, games=0))["Final evaluation"])
    assert [row[0] for row in final[1:]] == ["network", "best response"]


def test_the_page_of_the_files_needs_no_torch(run):
    code = "import sys; from garden_agents.report.page import page; page(sys.argv[1], games=0); print(*sys.modules)"
    loaded = set(python("-c", code, run).stdout.split())
    assert not loaded & {"torch", "cacti_env"}


# --- games of the network ---


def test_the_same_run_makes_the_same_page(run):
    ended = []
    assert page(run, games=4) == page(run, games=4, on_finished=ended.append)
    assert sum(ended) == 4


def test_how_the_network_plays(whole):
    found = sections(whole)["How the network plays"]
    table = {row[0]: row[1:] for row in rows(found) if row}
    rates = [float(table[seat][0].rstrip("%")) for seat in ("player_0, who begins", "player_1")]
    assert sum(rates) == pytest.approx(100, abs=0.11)
    kinds = [table[part.meaning] for part in make("cacti").action_parts]
    numbers = np.array([[float(cell.strip("<%").replace("–", "0")) for cell in kind] for kind in kinds])
    np.testing.assert_allclose(numbers.sum(0), 100, atol=3)
    assert numbers[-1, 1:5].max() == 0  # the opening card is taken in the last turn
    assert numbers[-1, 5] > 0
    parts = [float(table[part][2]) for part in ("planted", "special", "bonus", "left_over")]
    assert sum(parts) == pytest.approx(float(table["all"][2]), abs=0.21)
    assert float(table["all"][2]) > 0


def test_values_are_compared_with_outcomes(whole):
    found = sections(whole)["Values and outcomes"]
    table = {row[0]: [float(cell) for cell in row[1:]] for row in rows(found) if row}
    assert table["correlation"][5] > table["correlation"][1]
    assert abs(table["mean outcome"][0]) < 0.2
    assert "mean outcome" in found
    assert found.count('id="patch_') > 10  # a bar for each tenth of the values


def test_sample_games_can_be_replayed(whole, tmp_path):
    frames = Elements(whole).named["iframe"]
    assert len(frames) == 3
    for i, frame in enumerate(frames):
        assert frame["sandbox"] == "allow-scripts"
        assert "srcdoc" not in frame  # it is loaded when it is opened
        path = tmp_path / f"{i}.html"
        path.write_text(frame["data-page"], "utf-8")
        replay = Replay.load(path)
        assert replay.ended == "terminated"
        assert " : ".join(map(str, replay.scores)) in frame["title"]
    assert len(whole) < 1_000_000


# --- strangers ---


def test_no_text_of_a_file_becomes_markup(tmp_path):
    run = write_run(tmp_path / "<b>run & co")
    text = json.dumps(BAD)
    config = CONFIG.replace('"cacti"', text).replace('"ppo"', text).replace('"0.1.0"', text)
    config = config.replace("num_players = 2", f"num_players = 2\n{text} = {text}")
    (run / "config.toml").write_text(config.replace('"garden train', f"{text[:-1]}"), "utf-8")
    column = '"' + BAD.replace('"', '""') + '"'
    (run / "metrics.csv").write_text(
        METRICS.replace("policy_loss", column).replace("random", column, 1), "utf-8"
    )
    (run / "evaluations.csv").write_text(EVALUATIONS.replace("greedy", column), "utf-8")
    (run / "evaluation.json").write_text(
        (run / "evaluation.json").read_text("utf-8").replace('"greedy"', text), "utf-8"
    )
    found = page(run, games=1)
    assert found.count("&lt;img") > 10
    elements = Elements(found).named
    assert not elements.keys() & {"img", "b"}
    assert len(elements["script"]) == 1
    attributes = {key for each in elements.values() for one in each for key in one}
    assert not {key for key in attributes if key in ("src", "href", "srcdoc") or key.startswith("on")}
    policy = next(each for each in elements["meta"] if "http-equiv" in each)
    assert policy["content"].startswith("default-src 'none'; ")


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("evaluations.csv", "Evaluations during the training"),
        ("evaluation.json", "Final evaluation"),
        ("network.safetensors", "How the network plays"),
    ],
)
@pytest.mark.parametrize("content", [b"\0\xff", b"decisions,seconds\n1,x\n"])
def test_a_damaged_file_spoils_only_its_section(run, name, heading, content):
    """Any other damage is for tests/fuzz/test_fuzz_reports.py."""
    before = sections(page(run, games=1))
    (run / name).write_bytes(content)
    after = sections(page(run, games=1))
    assert [key for key in after if after[key] != before[key]] == [heading]
    assert after[heading].startswith('<p class="quiet">')


def test_a_damaged_log_is_named(run):
    (run / "metrics.csv").write_bytes(b"decisions\n1\n")
    assert "metrics.csv is damaged: a column is missing" in page(run, games=0)


@pytest.mark.parametrize(
    "line", ["1e300,1e300,1e300,-1e300", "nan,1,5e-324,1", "-5,1,0,0", "1e15,1e-30,1,1", "1,9e14,1,1"]
)
def test_numbers_out_of_all_bounds(run, line):
    for more in ("", "10,10,0.5,0.5\n", "10,10,0,0\n"):
        for name in ("metrics.csv", "evaluations.csv"):
            (run / name).write_text(f"decisions,seconds,loss,other\n{line}\n{more}", "utf-8")
        text = page(run, games=0)
        assert not re.search(r'[ "](nan|inf)[ "]', text.partition("</style>")[2])


def test_a_game_that_is_code_is_run_only_if_it_is_named(run, trap):
    (run / "config.toml").write_text(CONFIG.replace('game = "cacti"', 'game = "trap:Pig"'), "utf-8")
    found = sections(page(run, games=1))["How the network plays"]
    assert "the game is code, trap:Pig; to run it, name it with --game" in found
    page(run, games=1, game="pig:Pig")
    assert not trap.exists()
    assert "holds a network for" in sections(page(run, games=1, game="trap:Pig"))["How the network plays"]
    assert trap.exists()


def test_a_run_cannot_make_games_longer(run, monkeypatch):
    caps = []

    def caught(game, *_):
        caps.append(game.option_values["max_decisions"])
        raise ValueError("enough")

    monkeypatch.setattr(played, "self_play", caught)
    for cap in ("2000000000", "9"):
        options = f'[arguments.options]\nmax_decisions = "{cap}"'
        (run / "config.toml").write_text(CONFIG.replace("[arguments.options]", options), "utf-8")
        assert "No games were played: enough" in page(run, games=1)
    assert caps == [make("cacti").option_values["max_decisions"], 9]


# --- the command ---


def test_the_command_writes_the_page_into_the_folder(run, tmp_path):
    assert garden_here("report --games 0", run) == (f"{run / 'report.html'}: 0.0 MB\n", None)
    assert (run / "report.html").read_text("utf-8") == page(run, games=0)
    garden_here("report --games 2 --output", tmp_path / "other.html", run)
    assert (tmp_path / "other.html").read_text("utf-8") == page(run, games=2)


@pytest.mark.parametrize(
    ("folder", "words", "message"),
    [
        ("my-run", "--games -1", "games must be 0 to 10,000, not -1"),
        ("my-run", "--output /nowhere/at/all.html --games 0", "No such file or directory"),
        ("nowhere", "", "nowhere is no folder of a training run"),
        (".", "", "config.toml cannot be read: No such file"),
    ],
)
def test_errors_take_one_line(run, folder, words, message):
    _, error = garden_here(f"report {words}", run.parent / folder)
    assert error.startswith("error: ")
    assert message in error
    assert "\n" not in error
    assert not list(run.parent.rglob("report.html"))


WIDE = ",".join(f"c{i}" for i in range(200_000)) + "\n" + "1\n" * 5000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (WIDE, "it has 200,000 columns; 1,000 are allowed"),
        ("decisions,seconds\n" + "1,2\n" * 500_001, "it has more than 500,000 rows"),
        ("decisions,seconds\n1,2\n3\n5,6\n", "a row has not as many values as there are columns"),
    ],
    ids=["columns", "rows", "short row"],
)
def test_tables_are_bounded_before_they_are_expanded(content, message, tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text(content, "utf-8")
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=f"metrics.csv is damaged: {message}"):
            read_rows(path, ("decisions",))
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
