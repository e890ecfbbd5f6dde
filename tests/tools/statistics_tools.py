"""Statistics for tests of chance."""

from collections import Counter


def assert_uniform(drawn, possible):
    """Chi-square: `drawn`, counts by outcome, is spread over `possible` by its weights and nothing else occurs."""
    assert set(drawn) == set(possible)
    unit = sum(drawn.values()) / sum(possible.values())
    chi_square = sum(
        (drawn[outcome] - unit * weight) ** 2 / (unit * weight) for outcome, weight in possible.items()
    )
    freedom = len(possible) - 1
    z = ((chi_square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5
    assert z < 4, f"chi-square {chi_square:.0f} with {freedom} degrees of freedom"


def uniform(drawn, possible):
    """Whether all that is possible was drawn, about equally often (5 standard deviations)."""
    mean = len(drawn) / possible
    often = Counter(drawn).values()
    return len(often) == possible and all(abs(n - mean) < 5 * mean**0.5 for n in often)
