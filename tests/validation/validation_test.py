#!/usr/bin/env python3
"""Predictions are as close to measured runs of Flink as they are said to be.

    validation_test.py --program TAILRACE

Four kept results are always predicted. If $TAILRACE_SHARED/lab (by default ../shared/lab) is there,
its experiments of the groups without state, too: all of them take a quarter of a minute. If not, that
part says that it is skipped.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import predict
import score
import scores
import shared_lab

HERE = Path(__file__).resolve().parent

# Which experiments, by id: baseline, aligned, unaligned, debloat, skew, at least once, coordinator,
# random.
GROUPS = "^[A-GR]"

# Over all headline numbers of the shared experiments.
MEDIAN_MAX = 0.02
P90_MAX = 0.15
RIGHT_MIN = 0.88  # within 10 %, or within twice the noise

# Of the aligned runs alone, medians over the runs: names of numbers (regular expressions), the
# largest error of the median run, and of the worst one.
ALIGNED = "^B"
ALIGNED_MAX = (
    ("checkpoint duration", r"checkpoint\.e2e_ms\.p50.*", 0.01, 0.04),
    ("mean latency", r"latency_ms\.mean.*", 0.015, None),
    ("start delay", r".*\.startDelayMs\.mean", 0.05, None),
    ("alignment", r".*\.alignmentMs\.mean", 0.12, None),
    ("in-flight bytes", r"checkpoint\.(processed|persisted)_inflight_bytes", 0.12, None),
    ("rate", r"rate\.sink.*", 0.005, None),
)

# Of the kept results: few numbers, so that one of them weighs more.
KEPT_MEDIAN_MAX = 0.03
KEPT_P90_MAX = 0.20
KEPT_RIGHT_MIN = 0.85


class Checks:
    """Prints one line for each thing that is checked."""

    def __init__(self):
        self.failed = 0

    def at_most(self, what, value, bound):
        self._line(what, value is not None and value <= bound, value, "<=", bound)

    def at_least(self, what, value, bound):
        self._line(what, value is not None and value >= bound, value, ">=", bound)

    def _line(self, what, held, value, relation, bound):
        self.failed += not held
        shown = "nothing to compare" if value is None else f"{value:.4g}"
        print(f"{'ok    ' if held else 'FAILED'} {what}: {shown} (wanted {relation} {bound:g})")


def predict_all(folder, ids, program, out):
    """Predicts some results of a folder into another; False if one could not be."""
    only = "^(" + "|".join(map(re.escape, ids)) + ")$"
    command = [sys.executable, HERE / "predict.py", folder, out, "--only", only]
    return subprocess.run([*command, "--program", program], check=False).returncode == 0


def headline(checks, label, rows, median, p90, right):
    head = [row for row in rows if row.headline]
    checks.at_most(f"{label}: missing numbers", sum(r.predicted is None for r in head), 0)
    checks.at_most(f"{label}: median error", scores.quantile(head, 0.5), median)
    checks.at_most(f"{label}: 90th percentile", scores.quantile(head, 0.9), p90)
    share = sum(row.right for row in head) / len(head) if head else None
    checks.at_least(f"{label}: within 10 % or twice the noise", share, right)


def errors_by_run(rows, name):
    """Mean error of the numbers of each run that match, in ascending order."""
    errors = {}
    for row in rows:
        if re.fullmatch(name, row.name):
            errors.setdefault(row.run, []).append(row.error)
    return sorted(sum(e) / len(e) for e in errors.values())


def kept(checks, program):
    data = HERE / "data"
    with tempfile.TemporaryDirectory() as out:
        ids = [path.stem for path in predict.experiments(data, None)]
        predicted = predict_all(data, ids, program, out)
        checks.at_least("kept results: all predicted", int(predicted), 1)
        noise = scores.read_noise(data / "noise.tsv")
        rows = scores.compare(scores.load(data), scores.load(out), noise)
    headline(checks, "kept results", rows, KEPT_MEDIAN_MAX, KEPT_P90_MAX, KEPT_RIGHT_MIN)


def shared(checks, program, lab):
    ids = [path.stem for path in predict.experiments(lab / "results", GROUPS)]
    with tempfile.TemporaryDirectory() as out:
        predicted = predict_all(lab / "results", ids, program, out)
        checks.at_least(f"{len(ids)} shared results: all predicted", int(predicted), 1)
        measured = {run: r for run, r in scores.load(lab / "results", GROUPS).items() if run in ids}
        noise = scores.read_noise(lab / "noise.tsv")
        rows = scores.compare(measured, scores.load(out), noise)
        agree_with_score(checks, lab, out, ids, rows)
    headline(checks, "shared results", rows, MEDIAN_MAX, P90_MAX, RIGHT_MIN)
    aligned = [row for row in rows if re.search(ALIGNED, row.run)]
    for label, name, median, worst in ALIGNED_MAX:
        errors = errors_by_run(aligned, name)
        middle = score.quantile(errors, 0.5)
        checks.at_most(f"aligned, {label}: median run", middle, median)
        if worst is not None:
            last = errors[-1] if errors else None
            checks.at_most(f"aligned, {label}: worst run", last, worst)


def agree_with_score(checks, lab, out, ids, rows):
    """The kept score.py and these rows say what the shared score.py says."""
    only = "^(" + "|".join(map(re.escape, ids)) + ")$"
    command = [sys.executable, lab / "score.py", lab / "results", out, "--only", only, "--json"]
    command += ["--noise", lab / "noise.tsv"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["headline"]
    head = [row for row in rows if row.headline]
    ours = {
        "numbers": len(head),
        "median": scores.quantile(head, 0.5),
        "p90": scores.quantile(head, 0.9),
        "within_10_percent_or_twice_the_noise": sum(row.right for row in head) / len(head),
    }
    for name, value in ours.items():
        checks.at_most(f"{name}: difference to score.py", abs(said[name] - value), 1e-9)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=Path, default=predict.PROGRAM)
    args = parser.parse_args()
    checks = Checks()
    kept(checks, args.program)
    lab = shared_lab.folder()
    if lab is not None:
        shared(checks, args.program, lab)
    else:
        print("skipped: the shared experiments; there is no $TAILRACE_SHARED/lab, nor ../shared/lab")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
