"""Pages are short and their words plain: `python docs/plain.py` names what is not; `make lint` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_WORDS = {
    "README.md": 800,
    "AGENTS.md": 600,
    "glossary.md": 1100,
    "mars.md": 1700,
    "cacti.md": 1700,
    "botanicus.md": 1700,
    "architecture.md": 1600,
    "own-game.md": 1300,
    "benchmark.md": 1250,
    "report": 4700,
} | dict.fromkeys(("compare.md", "rewards.md", "training.md", "tree-search.md"), 1000)
MOST_WORDS |= dict.fromkeys(("files.md", "libraries.md", "train.md"), 720)
"""Words that a page may have, without code, generated parts and references; "report" is for the paper."""
OTHERWISE = 600
"""Words of every other page."""
LONGEST_SENTENCE = 30
"""Words of a sentence, or in a table of what a semicolon ends."""
UNBOUNDED = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages that are lists."""
AVOIDED = re.compile(
    r"\b(told|held against|foresees?|foresaw|foreseen|owed|whoever|whatever|nobody)\b", re.IGNORECASE
)
"""Words that readers stumbled over."""
CODE = ("garden_core", "agents", "mars_env", "cacti_env", "botanicus_env", "benchmarks", "examples", "docs")


def pages() -> list[Path]:
    """Return the pages, with the report."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "leaderboard" / "README.md"]
    return sorted(page for page in found if page.parent.name not in ("api", "cards", "rules"))


def prose(text: str) -> str:
    """Return a page without code, generated parts, addresses and references."""
    text = re.sub(r"<!-- begin ([\w ]+) -->.*?<!-- end \1 -->|```.*?```", "", text, flags=re.DOTALL)
    return re.sub(r"<[^>]+>|(?<=\])\([^)]*\)", "", text.partition("\n## References\n")[0])


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of prose, item by item and cell by cell."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |[|#])", text):
        for part in re.split(r"[|;]", block) if block.startswith("|") else [block]:
            yield from re.split(r"(?<=[.!?])[\"”)*]*\s+(?=[A-Z\"`*\[(“])", " ".join(part.split()))


def faults() -> Iterator[str]:
    """Yield what is too long or not plain, with its place."""
    texts = {path: path.read_text("utf-8") for path in pages()}
    for path, text in texts.items():
        page, plain = path.relative_to(ROOT), prose(text)
        paper = path == ROOT / "docs" / "report" / "index.md"
        limit = MOST_WORDS.get("report" if paper else path.name, OTHERWISE)
        appendix = path.parent.name == "report" and not paper
        if path.name not in UNBOUNDED and not appendix and len(words(plain)) > limit:
            yield f"{page} has {len(words(plain))} words, and may have {limit} (MOST_WORDS)"
        if path.name != "CHANGELOG.md":
            for sentence in sentences(plain):
                if len(words(sentence)) > LONGEST_SENTENCE:
                    yield f"{page}: {len(words(sentence))} words in a sentence: {sentence}"
        if re.search(r"--$", text, re.MULTILINE):
            yield f"{page}: an option is broken between lines"
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
