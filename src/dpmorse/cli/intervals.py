"""Numbers and their intervals as text."""

from dpmorse.profiles import shown_decimals


def with_ends(value: float, low: float, high: float) -> str:
    """Write a number and its interval to two digits of half the interval's width."""
    decimals = shown_decimals(low, high)
    if max(abs(low), abs(high)) >= 1e7 or decimals > 6:
        return f"{value:.5g} [{low:.5g}, {high:.5g}]"
    value, low, high = (round(number, decimals) + 0.0 for number in (value, low, high))
    shown = max(decimals, 0)
    return f"{value:.{shown}f} [{low:.{shown}f}, {high:.{shown}f}]"
