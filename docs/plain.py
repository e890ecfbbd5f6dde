"""Pages are short and their words plain: `python docs/plain.py` names what is not; `make lint` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = {
    "README.md": 115,
    "start.md": 75,
    "environments.md": 80,
    "batches.md": 56,
    "many-variants.md": 60,
    "sb3.md": 40,
    "libraries.md": 158,
    "render.md": 70,
    "search-code.md": 55,
    "hidden-information.md": 147,
    "own-model.md": 138,
    "train.md": 120,
    "exploit.md": 40,
    "compare.md": 98,
    "play.md": 66,
    "programs.md": 61,
    "language-models.md": 80,
    "webassembly.md": 60,
    "datasets.md": 100,
    "gpu.md": 45,
    "many-cores.md": 80,
    "own-game.md": 166,
    "change-a-rule.md": 155,
    "faq.md": 90,
    "mars.md": 200,
    "cacti.md": 220,
    "botanicus.md": 245,
    "printed-values.md": 40,
    "rewards.md": 135,
    "commands.md": 210,
    "agents.md": 91,
    "benchmark.md": 150,
    "files.md": 70,
    "guarantees.md": 50,
    "glossary.md": 60,
    "training.md": 85,
    "tree-search.md": 60,
    "speed.md": 75,
    "architecture.md": 116,
    "testing.md": 65,
    "AGENTS.md": 60,
}
"""Lines that a page may have."""
UNBOUNDED = {"index.md", "api.md", "changelog.md", "contributing.md", "leaderboard.md", "notebooks.md"} | {
    "releasing.md",
    "SECURITY.md",
    "security.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
}
"""Pages that are lists, or show another file."""
AVOIDED = re.compile(
    r"\b(told|held against|foresees?|foresaw|foreseen|owed|whoever|whatever|nobody)\b", re.IGNORECASE
)
"""Words that readers stumbled over."""
CODE = ("garden_core", "agents", "mars_env", "cacti_env", "botanicus_env", "benchmarks", "examples", "docs")


def pages() -> list[Path]:
    """Return the pages, without those of the report."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "leaderboard" / "README.md"]
    return sorted(page for page in found if page.parent.name not in ("api", "report", "cards", "rules"))


def faults() -> Iterator[str]:
    """Yield what is too long or not plain, with its place."""
    texts = {path: path.read_text("utf-8") for path in pages()}
    for path, text in texts.items():
        lines = len(text.splitlines())
        limit = LONGEST.get(path.name, 0)
        if path.name not in UNBOUNDED and path.parent.name != "leaderboard" and lines > limit:
            yield f"{path.relative_to(ROOT)} has {lines} lines, and may have {limit} (LONGEST)"
        if re.search(r"--$", text, re.MULTILINE):
            yield f"{path.relative_to(ROOT)}: an option is broken between lines"
    files = [
        path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py")) if path != Path(__file__)
    ]
    files += [*(ROOT / "docs" / "rules").iterdir(), *(path for path in texts if path.name != "CHANGELOG.md")]
    for path in files:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for word in AVOIDED.finditer(line):
                yield f"{path.relative_to(ROOT)}:{number}: {word[0]}"


if __name__ == "__main__":
    raise SystemExit("\n".join(faults()) or None)
