"""The strict protocol of language models' answers: what is an action, and what is none."""

import json
from pathlib import Path

import fuzzing
import pytest
from garden_agents.text import AnswerError, parse, prompt
from garden_agents.text.answers import TAGS, match
from playing import dealt

from garden_core import make

LABELS = [
    "grow barrel",
    "grow star",
    "special star",
    "plant 2*2: upper",
    "don't-touch",
    "why?",
    "café",
    "pass",
]
LEGAL = [0, 1, 3, 4, 5, 6, 7]
"""All but one; the second in the list is `grow star`."""


def chosen(answer, mode="legal"):
    """The label that an answer names, None if it names no action, "illegal" if it is not legal."""
    try:
        return LABELS[match(LABELS, LEGAL, answer, mode)]
    except AnswerError as error:
        return error.outcome if error.outcome == "illegal" else None


@pytest.mark.parametrize(
    "answer",
    [
        "ACTION: grow star",
        "ACTION: 2",
        "Action: Grow Star.",
        "I think.\n\n**ACTION:** `grow star`\n\nThis is why.",
        "**Action: 2**",
        "__ACTION__: **2**.",
        "> ACTION: “grow star”",
        "## Action: 2",
        "- ACTION: 2",
        "`ACTION: 2`",
        "ＡＣＴＩＯＮ： ２",
        "ACTION: 2\nACTION: grow star\nAction: 2.",
        "grow star",
        "**Grow star**",
        "2",
        " 2.\n",
        '{"action": "grow star"}',
        '{"action": 2}',
        '{"thought": "…", "answer": {"action": "2"}}',
        '```json\n{"action": 2}\n```',
        "<think>ACTION: 1</think>ACTION: 2",
        "ACTION: 1</think>\n\nACTION: 2",
        "[THINK]ACTION: 1[/THINK]ACTION: 2",
        "<think>ACTION: 1</think>ACTION: 2<think>but ACTION: 1",
        "<|channel|>analysis<|message|>ACTION: 1<|end|><|start|>assistant<|channel|>final<|message|>ACTION: 2",
        "Write ACTION: <number or name> at the end.\nACTION: <number or name>\nACTION: 2",
        *(
            f"ACTION: 2{stop}"
            for stop in (
                "<|im_end|>",
                "<|eot_id|>",
                "</s>",
                " <end_of_turn>\n",
                "<｜end▁of▁sentence｜>",
                "<|end|><|endoftext|>",
            )
        ),
        "ACTION: 2<|im_end|>\nand more",
    ],
)
def test_an_action(answer):
    assert chosen(answer) == "grow star"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "I take the second one.",
        "grow the star",
        "option 2",
        "Option 2 is the worst.",
        "avoid option 2",
        "never 2",
        "(2 please",
        "- 2",
        "4 - 3",
        "1 and 2",
        "2. grow star",
        "2) grow star",
        "ACTION: 2. grow star",
        "ACTION: option 2",
        "ACTION: 1 or 2",
        "ACTION: grow star because it pays",
        "ACTION: not grow star",
        "ACTION: grow star?",
        "ACTION: grow",
        "ACTION:\ngrow star",
        "ACTION: 1\nACTION: 2",
        "ACTION: 2\nACTION: nothing",
        "ACTION: <number or name>",
        "ACTION 2",
        "The ACTION: 2",
        "grow barrel\ngrow star",
        "1. grow barrel\n2. grow star",
        "<think>ACTION: 2",
        *(f"Well. {opening}ACTION: 2" for opening in TAGS),
        '{"action": ["grow star"]}',
        '{"action": true}',
        '{"action": 1, "other": {"action": 2}}',
        '{"actions": 2}',
        "[2]",
        '{"action": ' * 3000,
        "[" * 100_000,
        "ACTION: -2",
        "ACTION: 2.0",
        "ACTION: ٢",
    ],
)
def test_no_action(answer):
    assert chosen(answer) is None


def test_what_is_not_allowed_now_is_told_apart():
    for answer in ("ACTION: special star", "Special Star.", "ACTION: 8", "ACTION: 0", "999999999"):
        assert chosen(answer) == "illegal"
    for answer in ("ACTION: 2", "2", '{"action": 2}'):
        assert chosen(answer, "form") is None


def test_a_name_counts_whatever_it_contains():
    for label in ("don't-touch", "why?", "café", "plant 2*2: upper"):
        for answer in (label, f"ACTION: {label}", f"ACTION: {label}.", f"**ACTION: {label.upper()}**"):
            assert chosen(answer, "form") == label
    assert chosen("ACTION: cafe\u0301") == "café"


@pytest.mark.parametrize("mode", ["legal", "form"])
@pytest.mark.parametrize("name", ["mars", "cacti", "botanicus"])
def test_no_line_of_the_prompt_and_no_copy_of_the_list_is_an_action(name, mode):
    game = make(name)
    batch = dealt(game, 1, 3, autoreset=False, history=True)
    for decision in range(12):
        state, seat = batch.states[0], int(batch.current_player[0])
        messages = prompt(game, state, seat, batch.history.of(0), mode=mode, rules="full")
        texts = [message["content"] for message in messages]
        listed = texts[1].rpartition("\n\n")[2]
        lines = [line for text in texts for line in text.splitlines()]
        for answer in (*texts, *lines, listed, listed[: len(listed) // 2], "\n".join(game.labels)):
            with pytest.raises(AnswerError):
                print(answer, game.labels[parse(game, state, seat, answer, mode=mode)])
        batch.step([int(batch.action_mask[0].nonzero()[0][decision % batch.action_mask[0].sum()])])


READER = json.loads((Path(__file__).parent / "answers.json").read_text("utf-8"))
"""Positions, and answers that a reader who knew only their prompts wrote, with the actions that they mean; null for none."""


@pytest.mark.parametrize("place", READER, ids=lambda place: f"{place['game']}-{place['mode']}")
def test_answers_that_a_reader_wrote(place):
    game = make(place["game"])
    batch = dealt(game, 1, place["seed"])
    for action in place["moves"]:
        batch.step([action])
    legal = [*batch.action_mask[0].nonzero()[0]]  # the reader's list was not shuffled
    wrong = []
    for answer, label in place["answers"]:
        try:
            found = game.labels[match(game.labels, legal, answer, place["mode"])]
        except AnswerError:
            found = None
        if found != label:
            wrong.append((answer, label, found))
    assert not wrong


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " ",
        "ACTION",
        "*",
        "<|",
        "<|x|>",
        "<think>",
        "</think>",
        "ACTION:",
        "{",
        '"action":',
        "[THINK]",
        "\u0301",
    ],
)
def test_reading_takes_time_in_proportion(piece):
    """Within a few seconds for the longest answers, on a busy machine."""
    for answer in (piece * (1_000_000 // len(piece)), piece * 50_000 + "x", f"ACTION: {piece * 50_000}"):
        with fuzzing.within(20):
            chosen(answer)
