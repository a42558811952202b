#!/usr/bin/env python3
"""Say how close predictions are to measured runs, and draw it.

    accuracy.py REAL_DIR PREDICTED_DIR [--noise NOISE_TSV] [--only REGEX] [--out DIR] [--readme FILE]

Writes DIR/accuracy.md and the pictures in DIR/accuracy/ (by default beside this script): the error of
each kind of number, ten runs in detail, and every headline number that is off by more than 10 % with
the mechanism behind it, as far as explanations.tsv knows it. With --readme the short table between
``<!-- accuracy -->`` and ``<!-- end -->`` of that file, too. Needs matplotlib for the pictures.
"""

import argparse
import re
import sys
from pathlib import Path

import score
import scores

HERE = Path(__file__).resolve().parent
TELLING_RUNS = 10
UNKNOWN = "not understood"
# Experiments about channels, barriers and the coordinator: without state to speak of, or failures.
CHANNELS = "^[A-GR]"

# Colours that differ in lightness, too.
GOOD = "#2a6f97"
BAD = "#d1495b"
MEASURED = "#777777"


def percent(value):
    return "" if value is None else f"{value:.1%}".replace("%", " %")


def shown(value):
    if value is None:
        return "missing"
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Explanations:
    """Mechanisms of errors: lines of run and number (regular expressions) and text."""

    def __init__(self, path):
        self.lines = []
        if not path.is_file():
            return
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                run, name, text = line.split("\t", 2)
                self.lines.append((re.compile(run), re.compile(name), text))

    def of(self, row):
        for run, name, text in self.lines:
            if run.fullmatch(row.run) and name.fullmatch(row.name):
                return text
        return UNKNOWN


def telling_runs(measured):
    """Ids of runs that differ in kind: in turn of each group the one with the longest checkpoints.

    A measured median is used to choose what is shown, never to predict it.
    """

    def length(run):
        numbers = score.numbers(measured[run])
        durations = [v for n, (v, _) in numbers.items() if n.startswith("checkpoint.e2e_ms.p50")]
        return max(durations, default=0.0)

    groups = {}
    for run in sorted(measured):
        groups.setdefault(measured[run]["config"]["group"], []).append(run)
    for runs in groups.values():
        runs.sort(key=lambda run: (-length(run), run))
    chosen = []
    turn = 0
    while len(chosen) < min(TELLING_RUNS, len(measured)):
        chosen += [runs[turn] for runs in groups.values() if turn < len(runs)]
        turn += 1
    return sorted(chosen[:TELLING_RUNS])


# --- text ---------------------------------------------------------------------------------------------


def summary_row(label, rows):
    return [
        label,
        str(len(rows)),
        str(sum(row.predicted is None for row in rows)),
        percent(scores.quantile(rows, 0.5)),
        percent(scores.quantile(rows, 0.9)),
        percent(sum(row.error <= scores.BAND for row in rows) / len(rows)),
        percent(sum(row.right for row in rows) / len(rows)),
    ]


SUMMARY_HEAD = [
    "", "numbers", "missing", "median error", "90th percentile", "within 10 %",
    "within 10 % or twice the noise",
]  # fmt: skip


def by(rows, key):
    """Rows by a key, in the order in which the keys first appear."""
    parts = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return parts


def report(measured, predicted, rows, explanations):
    """The text of accuracy.md."""
    head = [row for row in rows if row.headline]
    kinds = by(rows, lambda row: row.kind)
    ordered = [k for k in score.FLOORS if k in kinds]
    off = sorted((r for r in head if r.error > scores.BAND), key=lambda r: (-r.error, r.run, r.name))
    telling = telling_runs(measured)
    parts = [
        "# How close to real Flink",
        f"{len(measured)} measured runs of Flink, of which {sum(r in predicted for r in measured)} "
        "are predicted from their configuration, the moments of their first checkpoints and when their "
        "tasks began. Jobs that keep state in RocksDB, which is not modelled, are run with heap state and "
        "count. The error of a number is |predicted - measured| / "
        "measured, with a floor below that keeps tiny values from being judged on noise; a number "
        "that is missing has an error of 100 %. Written by `accuracy.py` from the scores.",
        "![predicted over measured](accuracy/numbers.svg)",
        "## By kind of number",
        "Kinds in *italics* do not count for the headline.",
        table(
            SUMMARY_HEAD,
            [summary_row("**headline**", head)] * bool(head)
            + [
                summary_row(k if score.FLOORS[k][2] else f"*{k}*", kinds[k])
                for k in ordered
            ],
        ),
        "## By group of experiments",
        table(
            SUMMARY_HEAD,
            [summary_row(g, part) for g, part in by(head, lambda row: row.group).items()],
        ),
        "## Ten runs",
        "Of each group in turn the run with the longest checkpoints.",
        "![ten runs](accuracy/runs.svg)",
        table(
            ["run", "number", "measured", "predicted", "error"],
            [
                [row.run, f"`{row.name}`", unit(row, row.measured), unit(row, row.predicted),
                 percent(row.error)]
                for run in telling
                for row in rows
                if row.run == run and re.match(TELLING_NUMBERS, row.name)
            ],  # fmt: skip
        ),
        "## Off by more than 10 %",
        f"{len(off)} of {len(head)} headline numbers, and why.",
        table(
            ["run", "number", "measured", "predicted", "error", "two real runs", "mechanism"],
            [
                [row.run, f"`{row.name}`", unit(row, row.measured), unit(row, row.predicted),
                 percent(row.error), percent(row.noise), explanations.of(row)]
                for row in off
            ],  # fmt: skip
        ),
    ]
    return "\n\n".join(parts) + "\n"


TELLING_NUMBERS = (
    r"checkpoint\.(completed|e2e_ms\.p50|processed_inflight|persisted_inflight)|rate\.sink"
    r"|latency_ms\.mean|recovery|rescale"
)


def unit(row, value):
    what = score.FLOORS[row.kind][1]
    return shown(value) + (f" {what}" if what and value is not None else "")


def short_table(rows):
    """What the README shows: the headline kinds, of CHANNELS alone and of all experiments."""
    head = [row for row in rows if row.headline]
    kinds = by(head, lambda row: row.kind)
    channels = by([row for row in head if re.search(CHANNELS, row.run)], lambda row: row.kind)

    def cells(chosen):
        if not chosen:
            return ["", "", ""]
        quantiles = [percent(scores.quantile(chosen, q)) for q in (0.5, 0.9)]
        return [str(len(chosen)), *quantiles]

    lines = [[k, *cells(channels.get(k)), *cells(kinds[k])] for k in score.FLOORS if k in kinds]
    columns = ["median error", "90th percentile"]
    return table(["number", "barriers and network", *columns, "all", *columns], lines)


README_MARK = re.compile(r"<!-- accuracy -->\n.*?<!-- end -->", re.S)


def write_readme(path, rows):
    text = path.read_text(encoding="utf-8")
    if not README_MARK.search(text):
        sys.exit(f"accuracy.py: {path} has no <!-- accuracy --> ... <!-- end -->")
    filled = f"<!-- accuracy -->\n{short_table(rows)}\n<!-- end -->"
    path.write_text(README_MARK.sub(lambda _: filled, text), encoding="utf-8")


# --- pictures -----------------------------------------------------------------------------------------


def start_drawing():
    """matplotlib, set so that equal numbers give equal files."""
    import matplotlib

    import matplotlib.ticker  # noqa: F401  (plt.matplotlib.ticker)

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "accuracy",
            "font.size": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 9,
        }
    )
    import matplotlib.pyplot

    return matplotlib.pyplot


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})


def tick(value, _position):
    for unit_value, letter in ((1e6, "M"), (1e3, "k")):
        if value >= unit_value:
            return f"{value / unit_value:g}{letter}"
    return f"{value:g}"


def draw_numbers(plt, rows, path):
    """Predicted over measured, a panel for each kind, with the 10 % band."""
    kinds = by([row for row in rows if row.predicted is not None], lambda row: row.kind)
    ordered = [k for k in score.FLOORS if k in kinds]
    columns = 4
    lines = max(1, -(-len(ordered) // columns))
    figure, axes = plt.subplots(
        lines, columns, figsize=(11, 2.75 * lines), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(ordered) :]:
        axis.set_visible(False)
    for kind, axis in zip(ordered, axes.flat):
        floor, what, counts = score.FLOORS[kind]
        part = kinds[kind]
        low = min(max(min(abs(r.measured), abs(r.predicted)), floor / 4) for r in part)
        high = max(max(abs(r.measured), abs(r.predicted), floor) for r in part)
        low, high = low / 1.4, high * 1.4
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.fill_between(
            [low, high],
            [low * (1 - scores.BAND), high * (1 - scores.BAND)],
            [low * (1 + scores.BAND), high * (1 + scores.BAND)],
            color="#dddddd",
            linewidth=0,
        )
        axis.plot([low, high], [low, high], color="#999999", linewidth=0.6)
        for good, colour, marker in ((True, GOOD, "o"), (False, BAD, "D")):
            chosen = [r for r in part if r.right == good]
            axis.plot(
                [max(r.measured, low) for r in chosen],
                [max(r.predicted, low) for r in chosen],
                marker,
                color=colour,
                markersize=3,
                markeredgewidth=0,
                alpha=0.7,
            )
        # A panel that spans less than two decades needs more than powers of ten.
        steps = (1.0, 2.0, 5.0) if high / low < 100 else (1.0,)
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_major_locator(plt.matplotlib.ticker.LogLocator(subs=steps))
            scale.set_major_formatter(plt.matplotlib.ticker.FuncFormatter(tick))
            scale.set_minor_formatter(plt.matplotlib.ticker.NullFormatter())
        axis.set_xlim(low, high)
        axis.set_ylim(low, high)
        axis.set_aspect("equal")
        title = kind if counts else f"({kind})"
        axis.set_title(f"{title}{', ' + what if what else ''}\nmedian {percent(scores.quantile(part, 0.5))}")
    figure.supxlabel(
        "measured; grey band: 10 %; blue: within it or twice the noise of two real runs, red: outside;"
        " (kind): does not count"
    )
    figure.supylabel("predicted")
    save(figure, path)
    plt.close(figure)


def durations(result):
    """Seconds after t0 and milliseconds of completed periodic checkpoints."""
    t0 = result["time"]["t0EpochMs"]
    done = [
        c
        for job in result["jobs"]
        for c in job["checkpoints"]["history"]
        if c["status"] == "COMPLETED" and not c["savepoint"]
    ]
    return [(c["triggerEpochMs"] - t0) / 1000 for c in done], [c["endToEndMs"] for c in done]


def latencies(result):
    """Seconds after t0 (middle of the window) and mean latency in milliseconds."""
    shift = (result["time"]["baseEpochMs"] - result["time"]["t0EpochMs"]) / 1000
    windows = [w for w in result["latency"]["windows"] if w["n"]]
    return [w["w"] + 0.5 + shift for w in windows], [w["mean"] / 1000 for w in windows]


def draw_runs(plt, measured, predicted, path):
    """Checkpoint durations and mean latency over time, measured and predicted."""
    runs = [run for run in telling_runs(measured) if run in predicted]
    if not runs:
        return False
    columns = 2
    lines = -(-len(runs) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(11, 2.1 * lines), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(runs) :]:
        axis.set_visible(False)
    for run, axis in zip(runs, axes.flat):
        for result, colour, size in ((measured[run], MEASURED, 5), (predicted[run], BAD, 2.5)):
            axis.plot(*latencies(result), color=colour, linewidth=1)
            axis.plot(*durations(result), "o", color=colour, markersize=size, markeredgewidth=0)
        axis.set_title(run, loc="left")
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
        axis.set_ylabel("ms")
    figure.supxlabel(
        "seconds after the sources were released; lines: mean latency by second, dots: durations of"
        " checkpoints by trigger; grey: measured, red: predicted"
    )
    save(figure, path)
    plt.close(figure)
    return True


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("real", metavar="REAL_DIR")
    parser.add_argument("predicted", metavar="PREDICTED_DIR")
    parser.add_argument("--noise", type=Path)
    parser.add_argument("--only", metavar="REGEX")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--explanations", type=Path, default=HERE / "explanations.tsv")
    parser.add_argument("--readme", type=Path)
    args = parser.parse_args()
    measured = scores.load(args.real, args.only)
    if not measured:
        sys.exit(f"accuracy.py: no results in {args.real}")
    predicted = scores.load(args.predicted, args.only)
    rows = scores.compare(measured, predicted, scores.read_noise(args.noise))
    pictures = args.out / "accuracy"
    pictures.mkdir(parents=True, exist_ok=True)
    plt = start_drawing()
    draw_numbers(plt, rows, pictures / "numbers.svg")
    draw_runs(plt, measured, predicted, pictures / "runs.svg")
    text = report(measured, predicted, rows, Explanations(args.explanations))
    (args.out / "accuracy.md").write_text(text, encoding="utf-8")
    if args.readme:
        write_readme(args.readme, rows)


if __name__ == "__main__":
    main()
