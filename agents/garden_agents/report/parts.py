"""Parts of a page: texts, tables and sections, as HTML. What strangers may have written goes through `words`."""

from __future__ import annotations

import datetime
import html
from collections.abc import Iterable, Mapping, Sequence

from garden_core.checks import one_line


def words(value: object, limit: int = 300) -> str:
    """Return a value as escaped text on one line, cut after `limit` characters."""
    try:
        text = str(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits
        text = "…"
    return html.escape(one_line(text, limit))


def quiet(reason: object) -> str:
    """Return a paragraph that says why something is missing."""
    return f'<p class="quiet">{words(reason, 600)}</p>'


def section(heading: str, content: str) -> str:
    """Return a section; heading and content are HTML already."""
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    first = "".join(f"<th>{cell}</th>" for cell in head)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="table"><table><tr>{first}</tr>\n{body}</table></div>'


def facts(named: Mapping[str, str]) -> str:
    """Return a list of names and values that are HTML already; empty values are left out."""
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{value}</dd>' for name, value in named.items() if value)}</dl>"


def share(part: float) -> str:
    """Return a share from 0 to 1 for a table's cell, in percent and as the cell's tint."""
    text = f"{part:.0%}" if part >= 0.005 or not part else "&lt;1%"
    return f'<span class="tint" style="--share:{part:.3f}">{text}</span>' if part else "–"


def duration(seconds: float) -> str:
    """Return a time in days, hours, minutes and seconds."""
    return str(datetime.timedelta(seconds=min(round(seconds), 10**13)))
