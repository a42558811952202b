"""Compares predicted results with measured ones, number by number, as score.py does.

The numbers of a result, their kinds and the floors of their errors are score.py's own; only the rows
that it prints in part are all kept here.
"""

from dataclasses import dataclass

import score

# A number counts as right if it is off by less than this, or by less than twice what two real runs
# differ by.
BAND = 0.10


@dataclass(frozen=True)
class Row:
    """One number of one run.

    Attributes
    ----------
    predicted : float or None
        None: the prediction lacks it.
    error : float
        |predicted - measured| / max(|measured|, floor of the kind); 1 if it is missing.
    noise : float
        The same between two real runs, as far as it is known; else 0.
    """

    run: str
    group: str
    name: str
    kind: str
    measured: float
    predicted: float | None
    error: float
    noise: float

    @property
    def headline(self):
        return score.FLOORS[self.kind][2]

    @property
    def right(self):
        return self.error <= max(BAND, 2 * self.noise)


def read_noise(path):
    """{(id or "group:NAME", number or kind): difference} of a noise.tsv; {} without a path."""
    if path is None:
        return {}
    noise = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        run, name, value = line.split("\t")[:3]
        noise[run, name] = float(value)
    return noise


def load(folder, only=None):
    """{id: result} of a folder."""
    return score.load(folder, only)


def compare(measured, predicted, noise):
    """All rows of `measured`, in the order of ids and numbers."""
    rows = []
    for run, result in measured.items():
        group = result["config"]["group"]
        guess = {}
        if run in predicted:
            predicted[run].setdefault("config", result["config"])
            guess = score.numbers(predicted[run])
        for name, (value, kind) in score.numbers(result).items():
            floor = score.FLOORS[kind][0]
            got = guess.get(name, (None,))[0]
            if abs(value) < floor and (got is None or abs(got) < floor):
                continue
            error = 1.0 if got is None else abs(got - value) / max(abs(value), floor)
            known = noise.get((run, name), noise.get(("group:" + group, kind), 0.0))
            rows.append(Row(run, group, name, kind, value, got, error, known))
    return rows


def quantile(rows, q):
    """Of the errors of rows; None without rows."""
    return score.quantile([row.error for row in rows], q)


def median_of_runs(rows, name_prefix):
    """Median over the runs of the mean error of their numbers that begin so; None without any."""
    by_run = {}
    for row in rows:
        if row.name.startswith(name_prefix):
            by_run.setdefault(row.run, []).append(row.error)
    means = [sum(errors) / len(errors) for errors in by_run.values()]
    return score.quantile(means, 0.5)
