"""The rules of each game in words: what their text has, and that the code's references to it lead somewhere.

A reference is a list of section or paragraph numbers in brackets, `[3]`, `[3.2]` or `[3.2, 5]`, in a comment or
docstring of the game's package, or in the rules themselves. Code in backticks, and an index such as
state.flowers[i], is none.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from pathlib import Path

import msgspec
import pytest
from variants import own_file

from garden_core import make
from garden_core.files.data import DataFile
from garden_core.presentation import as_markdown
from garden_core.registry import game_class

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "examples")]

import generate
import pig

MARKS = {"reading", "reconstructed", "simplification"}
NUMBER = r"\d+(?:\.\d+)?"
REFERENCE = re.compile(rf"{NUMBER}(?:, {NUMBER})*")


def folder(name):
    return Path(sys.modules[game_class(name).__module__].__file__).parent


GAMES = generate.own_games()  # how others write their rules is their affair
EACH = pytest.mark.parametrize("name", GAMES)


def comments(source):
    """The comments and docstrings of Python source, as (line, text); strings that are values are not among them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield node.lineno, value.value


def brackets(text):
    """Yield what is in brackets in a text, as (lines before it, content), except indexes and code in backticks."""
    text = re.sub(r"`[^`]*`", lambda code: "\n" * code[0].count("\n") + "`", text)
    for found in re.finditer(r"(?<![\w\])`\"'])\[([^\[\]]*)\]", text):
        yield text.count("\n", 0, found.start()), " ".join(found[1].split())


def citations(path):
    """Yield what is in brackets in the comments and docstrings of a file, as (line, content)."""
    for line, text in comments(path.read_text("utf-8")):
        for below, content in brackets(text):
            yield line + below, content


def numbers(text):
    """The numbers of sections and paragraphs in the text of rules, in its order."""
    found = re.finditer(r"^## (\d+)\. |(?<=\n\n)(\d+\.\d+) ", text, re.MULTILINE)
    return [number[1] or number[2] for number in found]


def unresolved(text, cited):
    """Those of (line, content) that name no section or paragraph of the rules."""
    known = set(numbers(text))
    return [
        f"line {line}: [{content}]"
        for line, content in cited
        if not (REFERENCE.fullmatch(content) and known.issuperset(content.split(", ")))
    ]


# --- the tools above ---


def test_a_reference_that_leads_nowhere_is_found():
    text = "# Rules\n\n## 1. Play\n\n1.1 One.\n\n1.2 Two, with 3 dice,\n\n## 2. End\n\n2.1 Over.\n"
    assert numbers(text) == ["1", "1.1", "1.2", "2", "2.1"]
    assert unresolved(text, [(1, "1"), (2, "1.2, 2")]) == []
    wrong = ["3", "1.3", "1, 3", "1,2", "Play", "Turn 1", "", "1.", "q, r"]
    assert unresolved(text, enumerate(wrong)) == [
        f"line {line}: [{content}]" for line, content in enumerate(wrong)
    ]


# --- the rules of each game ---


@EACH
def test_every_reference_of_the_code_leads_somewhere(name):
    text, wrong = make(name).rules_text, []
    for path in sorted(folder(name).glob("*.py")):
        cited = list(citations(path))
        if path.name != "rules.py":  # elsewhere, other things may stand in brackets
            cited = [each for each in cited if REFERENCE.fullmatch(each[1])]
        wrong += [f"{path.name}, {each}" for each in unresolved(text, cited)]
    assert not wrong, "\n".join(wrong)


@EACH
def test_every_numbered_section_is_cited(name):
    """Sections that no code follows, such as an introduction, have no number."""
    cited = {
        number.partition(".")[0]
        for path in folder(name).glob("*.py")
        for _, content in citations(path)
        if REFERENCE.fullmatch(content)
        for number in content.split(", ")
    }
    assert {number for number in numbers(make(name).rules_text) if "." not in number} <= cited


@EACH
def test_sections_and_paragraphs_are_numbered_in_order(name):
    found = numbers(make(name).rules_text)
    section, paragraph, expected = 0, 0, []
    for number in found:
        if "." in number:
            paragraph += 1
            expected.append(f"{section}.{paragraph}")
        else:
            section, paragraph = section + 1, 0
            expected.append(f"{section}")
    assert found == expected


@EACH
def test_references_and_marks_within_the_rules(name):
    text = make(name).rules_text
    found = [(line + 1, content) for line, content in brackets(text) if content not in MARKS]
    assert unresolved(text, found) == []
    for mark in MARKS & {content for _, content in brackets(text)}:
        assert f"The word [{mark}] marks" in text


@EACH
def test_the_rules_are_written_as_markdown_that_reads_well_as_text(name):
    for number, line in enumerate(make(name).rules_text.splitlines(), 1):
        if not line.startswith("|"):
            assert len(line) <= 120, number
            assert not re.match(r"[+*>]|\d+[.)] ", line), number  # would begin a list or a quotation


def own_data(name):
    """Return options with a data file in which every value differs from the packaged ones."""
    option, path = own_file(name)
    content = tomllib.loads(path.read_text("utf-8"))
    if name == "cacti":
        content |= {
            "types": ["agave", "aloe", "yucca", "opuntia"],
            "count": [13, 14, 16, 17],
            "bonus": [0, 0, 1],
        }
    else:
        content |= {"beds": [[1] * 4] * 5, "fountain": [3, 0], "columns": [81, 82, 83, 84]}
        content |= {"animals": [91, 92, 93, 94, 95], "board": [["coins 19"] * 4] * 8}
        content["tiles"] = {sort: [["coins 17", "points 17"]] * 8 for sort in ("spotted", "striped")}
        content["prizes"] = {"money": [71, 72], "shovel": [73]}
        for track in content["tracks"].values():
            for node in track[1:]:
                node["gains"] = ["points 16"]
        for card in content["cards"]:
            card["copies"] += 1
    halves = (
        [half for card in content["basic"] for half in card.values()] if name == "cacti" else content["basic"]
    )
    for each in (*halves, content.get("starting", {}), *content.get("special", ())):
        each["points"] = 61
    return {option: DataFile("own.toml", msgspec.toml.encode(content).decode())}


@pytest.mark.parametrize("name", ["botanicus", "cacti"])
def test_the_rules_have_the_values_of_the_games_own_data_only(name):
    packaged, own = make(name), make(name, **own_data(name))
    lines = {game: {*game.rules_text.splitlines()} for game in (packaged, own)}
    for what, (head, rows) in own.data_tables.items():
        _, *shown = as_markdown((head, rows))
        _, *others = as_markdown(packaged.data_tables[what])
        assert lines[own].issuperset(shown)
        assert lines[packaged].issuperset(others)
        assert not lines[own] & {*others} - {*shown}, what
    sentences = "\n".join([own.summary, *(line for line in lines[own] if not line.startswith("|"))])
    for value in (
        "barrel",
        "prickly",
        "saguaro",
        "star",
        "15",
        "18",
        "21",
        "24",
        "48",
    ):  # printed, and not a rule
        assert not re.search(rf"\b{value}\b", sentences), value
    if name == "botanicus":
        assert "animals score 91, 92, 93, 94 and 95 points" in " ".join(own.summary.split())
        assert "planted scores 81, 82, 83 or 84 points" in " ".join(own.summary.split())


# --- what a game says of its rules ---


def test_rules_text_without_a_file_is_the_summary(monkeypatch):
    game = pig.Pig()
    assert game.rules_text == game.summary == ""
    monkeypatch.setattr(pig.Pig, "summary", "Roll, or hold.")
    assert game.rules_text == "Roll, or hold."


def test_rules_text_is_the_file_next_to_the_module(tmp_path, monkeypatch):
    source = (ROOT / "examples" / "pig.py").read_text("utf-8")
    (tmp_path / "own_pig.py").write_text(source.replace('name = "pig"', 'name = "own_pig"'), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    game = make("own_pig:Pig")
    assert game.rules_text == game.summary
    (tmp_path / "rules.md").write_text("# Pig\n\n## 1. Roll\n\n1.1 … or hold.\n", "utf-8")
    assert game.rules_text == "# Pig\n\n## 1. Roll\n\n1.1 … or hold.\n"
