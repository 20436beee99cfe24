"""Compares two binaries: each measurement alternates between them, so that other load on the machine affects both."""

import os
import re

from bench.harness import Row, agw, median

# The noticeable properties of a mostly idle gateway. The other measurements have their own baselines.
MEASURES = ["start", "idle", "health", "inserts", "threads", "search", "size"]
ROUNDS = 3
TOLERANCE = 0.02


def first_number(value):
    """Returns the first number in `value`, or None."""
    found = re.search(r"\d[\d,]*\.?\d*", value)
    return float(found[0].replace(",", "")) if found else None


def rows_of(measure, binary):
    os.environ["AGW"] = str(binary)
    return {row.measure: row for row in measure()}


def is_higher_better(row):
    return row.target.startswith((">", "=")) or row.value.endswith("/s")


def comparison_row(rounds):
    """Compares pairs of rows of one measurement, this binary's first. This binary is worse if it is worse in each round,
    and by more than 2 % in the median."""
    pairs = [(first_number(this.value), first_number(other.value)) for this, other in rounds]
    row = rounds[0][0]
    if not all(mine and theirs for mine, theirs in pairs):
        return Row(row.measure, row.value, rounds[0][1].value, "-", "-", None)
    this, other = (median(column) for column in zip(*pairs))
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    losses = [1 / ratio - 1 if is_higher_better(row) else ratio - 1 for ratio in ratios]
    return Row(row.measure, f"{this:,.2f}", f"{other:,.2f}", f"{median(ratios):.3f}",
               f"{ratios[0]:.3f} to {ratios[-1]:.3f}", not (min(losses) > 0 and median(losses) > TOLERANCE))


def compare(measure, other):
    """Returns rows with the medians of both binaries, and the range of their ratio."""
    this, rounds = agw(), {}
    for number in range(ROUNDS):
        order = (this, other) if number % 2 == 0 else (other, this)
        rows = {binary: rows_of(measure, binary) for binary in order}
        for name in rows[this].keys() & rows[other].keys():
            rounds.setdefault(name, []).append((rows[this][name], rows[other][name]))
    os.environ["AGW"] = str(this)
    return [comparison_row(rounds[name]) for name in rows[this] if len(rounds.get(name, [])) == ROUNDS]
